"""Chooses the segment solver of a run."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.events.acting import cross
from spart_blocks.run.events.shrinking import report
from spart_blocks.run.events.stops import just_before
from spart_blocks.run.run import Run
from spart_blocks.run.solvers.cvodes import METHODS
from spart_blocks.run.solvers.multistep import Multistep
from spart_blocks.run.solvers.solver import SegmentSolver
from spart_blocks.run.solvers.stepwise import Stepwise

# --- Segments without continuous states -----------------------------------------------------------


class Idle(SegmentSolver):
    """Advances time only, since there are no continuous states."""

    def advance(self, a: Fraction, b: Fraction) -> Fraction:
        run = self.run

        def standing(t: Any) -> Floats:
            return np.zeros((0, *np.shape(t)))

        last_look = just_before(float(b))  # one beyond it would be at the stop
        for t in (*run.samples.within(a, b), b):
            t0 = float(run.t)
            t1 = max(min(float(t), last_look), t0) if t < b else float(np.nextafter(float(t), t0))
            before, after = run.watch(t0, run.x), run.watch(t1, run.x)
            found = self.crossed(before, after, lambda _: run.x, t0, t1)
            until = found[0] if found else t1
            last = just_before(until) if found or t == b else t1
            near = self.near_side(before, lambda _: run.x, t0, until) if found else None
            run.keeper.step(standing, last, run.xd, near)
            if found:
                return cross(run, found[1], found[0])
            run.before = after
            run.t = t
            if t < b and run.look < np.inf:
                report(run, float(t), settled=True)
        report(run, float(b))
        return b


def segment_solver(run: Run) -> SegmentSolver:
    """The segment solver for a run's states and its option `solver`."""
    if not len(run.x):
        return Idle(run)
    solver: str = run.options.solver
    if run.slides:  # along surfaces go rates that CVODES cannot call
        solver = {"CVODES": "BDF", "Adams": "RK45"}.get(solver, solver)
    return Multistep(run) if solver in METHODS else Stepwise(run, solver)
