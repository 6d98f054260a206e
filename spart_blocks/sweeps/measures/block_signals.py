"""The signals of a diagram that has no program, as metrics and claims know those of one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

import numpy as np

from spart_blocks.base.errors import SpartError
from spart_blocks.program import Program
from spart_blocks.program.program import Slot
from spart_blocks.run.engines.engine import Engine
from spart_blocks.sweeps.work import FileWork

_TRIED = 8
"""First runs of which one must load."""


def signals_of(work: FileWork) -> Program:
    """A program that has the signals, names and crossings of a diagram's blocks, and nothing that
    runs or is a parameter. Raises what no run loads for."""
    first: SpartError | None = None
    for texts in work.overrides[:_TRIED]:
        try:
            file = replace(work.file, overrides=(*work.file.overrides, *texts))
            return _of_engine(file.reference())
        except SpartError as error:
            first = first or error
    assert first is not None
    raise first


def _of_engine(engine: Engine) -> Program:
    x, xd = engine.initial()
    slots: list[Slot] = []
    at = 0
    for name in engine.signals():
        with suppress(
            SpartError, TypeError, ValueError
        ):  # a signal without numbers is not measured
            [value] = engine.over((name,), np.zeros(1), x[None], xd[None])
            slots.append(Slot(name, at, np.shape(value)[1:]))
            at += int(np.prod(np.shape(value)[1:], dtype=int))
    nothing: dict[str, Any] = {field.name: () for field in fields(Program)}
    mappings = ("start", "origins", "plants", "updates", "resets")
    nothing |= {name: {} for name in mappings} | {"outputs": None, "p": np.zeros(0)}
    return Program(
        **nothing
        | {
            "name": engine.title,
            "run": engine.run,
            "display": engine.display,
            "signals": tuple(slots),
            "crossings": tuple(engine.crossings),
        }
    )
