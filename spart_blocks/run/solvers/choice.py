"""Chooses the segment solver of a run."""

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
    """The segment solver for a run's states and its option `solver`."""
    if not len(run.x):
        return Idle(run)
    solver: str = run.options.solver
    if run.slides:  # along surfaces go rates that CVODES cannot call
        solver = {"CVODES": "BDF", "Adams": "RK45"}.get(solver, solver)
    return Multistep(run) if solver in METHODS else Stepwise(run, solver)
