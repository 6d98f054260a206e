"""Executions of what is exported: C, the model of the real-time loop, FMUs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from compositions.files import opened
from compositions.outcomes import Outcome
from spart_blocks.base.errors import DiagramError, InputError
from spart_blocks.export import StepCode, export_fmu, step_code, verify, verify_fmu
from spart_blocks.export.loaded import LoadedStep
from spart_blocks.program.subdiagram import ALL, subdiagram_of

MOST_STEPS = 2000


@contextmanager
def compiler(used: bool) -> Iterator[None]:
    """With the machine's compiler, or as without one."""
    before = os.environ.get("SPART_COMPILER")
    if not used:
        os.environ["SPART_COMPILER"] = "none"
    try:
        yield
    finally:
        os.environ.pop("SPART_COMPILER", None)
        if before is not None:
            os.environ["SPART_COMPILER"] = before


def exported(way: str, path: Path) -> Outcome:
    """An execution by export; error: why what is exported does not do what its own reference does,
    or `refused: ...` where it cannot be exported."""
    diagram = opened(path)
    try:
        part = subdiagram_of(diagram, [ALL], diagram.run.log)
        if way.startswith("fmu"):
            with tempfile.TemporaryDirectory() as folder:
                made = export_fmu(part, folder, 3 if way == "fmu3" else 2)
                with compiler(False):  # for what it is compared with
                    found = verify_fmu(made, part, horizon=diagram.run.T)
            return Outcome(way, error="; ".join(found.wrong))
        code = step_code(part)
    except (InputError, DiagramError) as error:
        return Outcome(way, error=f"refused: {error}")
    steps = min(MOST_STEPS, int(diagram.run.T / float(code.schedule.step)) + 1)
    if way == "c":
        checked = verify(code, np.zeros((steps, 0)))
        if not checked.passed:
            wrong = {k: e for k, e in checked.errors.items() if not e <= checked.tolerance}
            return Outcome(way, error=f"the C differs from its program: {wrong}")
        return stepped(way, code, LoadedStep(code), steps)
    return stepped(way, code, LoopModel(code), steps)


def stepped(way: str, code: StepCode, model: Any, steps: int) -> Outcome:
    """The outputs at the steps, each after the ticks that are due."""
    rows = []
    for _ in range(steps):
        status, y = model.output()
        if status:
            return Outcome(way, error=f"status {status}")
        rows.append(y)
        model.update()
    table = np.array(rows)
    signals = {m.name: table[:, m.place : m.place + m.size] for m in code.interface.outputs}
    return Outcome(way, np.array([code.schedule.time(k) for k in range(steps)]), signals)


class LoopModel:
    """The model that the real-time loop calls, without its clock."""

    def __init__(self, code: StepCode) -> None:
        from spart_blocks.export.interface import numbers_of
        from spart_blocks.realtime.library import model_library

        self.library = model_library(code)
        self.state = np.zeros(self.library.sb_state_size() // 8 + 1, np.int64)
        self.u, self.y = np.zeros(1), np.zeros(numbers_of(code.interface.outputs) + 1)
        self.p = LoadedStep(code).p
        self.library.sb_init(self.state.ctypes.data, self.p.ctypes.data)

    def output(self) -> tuple[int, np.ndarray]:
        at = (a.ctypes.data for a in (self.state, self.u, self.p, self.y))
        return self.library.sb_output(*at), self.y[:-1].copy()

    def update(self) -> int:
        at = (a.ctypes.data for a in (self.state, self.u, self.p))
        found: int = self.library.sb_update(*at)
        return found
