"""Signals of a diagram that cannot be traced into a program, in the form that metrics and claims
use.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields
from typing import Any

import numpy as np

from spart_blocks.base.errors import SpartError
from spart_blocks.program import Program
from spart_blocks.program.program import Slot
from spart_blocks.run.engines.engine import Engine
from spart_blocks.sweeps.work import MOST_TRIED, FileWork


def signals_of(work: FileWork) -> Program:
    """A program with the signals, names and crossings of the diagram's blocks.

    It cannot be run and has no parameters; metrics and claims look up signals in it. Raises the
    error of the first run if none of the first runs can be loaded.
    """
    first: SpartError | None = None
    for k in range(min(MOST_TRIED, len(work.runs))):
        try:
            return _of_engine(work.file_of(k).reference())
        except SpartError as error:
            first = first or error
    assert first is not None
    raise first


def _of_engine(engine: Engine) -> Program:
    x, xd = engine.initial()
    slots: list[Slot] = []
    at = 0
    for name in engine.signals():
        # A signal without numbers is not measured.
        with suppress(SpartError, TypeError, ValueError):
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
