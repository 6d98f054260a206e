"""Choice of the segment solver of a run, by its states and its solver option."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spart_blocks.run.solvers.cvodes import METHODS
from spart_blocks.run.solvers.idle import Idle
from spart_blocks.run.solvers.multistep import Multistep
from spart_blocks.run.solvers.solver import SegmentSolver
from spart_blocks.run.solvers.stepwise import Stepwise

if TYPE_CHECKING:
    from spart_blocks.run.loop import Run


def segment_solver(run: Run) -> SegmentSolver:
    """The way in which this run advances, by its states and its solver."""
    if not len(run.x):
        return Idle(run)
    solver: str = run.options.solver
    if run.slides:  # along surfaces go rates that CVODES cannot call
        solver = {"CVODES": "BDF", "Adams": "RK45"}.get(solver, solver)
    return Multistep(run) if solver in METHODS else Stepwise(run, solver)
