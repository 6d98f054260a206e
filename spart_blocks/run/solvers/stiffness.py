"""Detects stiffness: the steps of an explicit method are limited by stability, not by accuracy.

Source: E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II" (1996), sec. IV.2. The
slopes of two states at the same time give the product of the step and the modulus of the dominant
eigenvalue. If this is at the stability border of the method for 15 steps, and not inside it for
six consecutive ones, the problem is stiff. A test starts with six steps every thousand steps, so
that it costs little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base.errors import warn
from spart_blocks.base.tableaus import STIFF, tableau
from spart_blocks.program.tracing.switching import BENDS
from spart_blocks.run.constants import CALM_STEPS, DEARER, STIFF_STEPS, TESTED_EVERY
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.run import Run

RK23 = 2, 2.45
"""The stage of RK23 that is compared with the end of the step, and the stability border; it is
stable up to 2.51.
"""
INTERPRETED = 1000
"""The same as COMPILED, for steps that are not compiled."""
WORTH_TELLING = 5
"""There is no warning if the remaining steps cost less than the change divided by this."""


@dataclass
class StiffnessTest:
    """Counts the steps of one of SciPy's explicit solvers that are at the stability border."""

    solver: str
    stiff: int = 0
    calm: int = 0

    def sees(self, solver: Any, steps: int) -> bool:
        """Whether, with the step just taken, the problem is found to be stiff. steps: number of
        steps of the run.
        """
        stage, border = _compared(self.solver)
        if not border or not self.tests(steps):
            return False
        h = solver.t - solver.t_old
        inner = solver.y_old + h * (solver.K[:stage].T @ solver.A[stage, :stage])
        # Of RK23 no other stage lies at the end of the step.
        slope = solver.K[stage] if solver.C[stage] == 1 else solver.fun(solver.t, inner)
        return self.seems_stiff(at_border(solver.y - inner, solver.f - slope, h, border))

    def tests(self, steps: int) -> bool:
        """Whether the `steps`th step is tested."""
        return steps >= TESTED_EVERY and (steps % TESTED_EVERY < CALM_STEPS or self.stiff > 0)

    def seems_stiff(self, at_border: bool) -> bool:
        """Count a step that is tested. Returns whether the run is stiff."""
        if at_border:
            self.calm, self.stiff = 0, self.stiff + 1
        else:
            self.calm += 1
            if self.calm == CALM_STEPS:
                self.stiff = self.calm = 0
        if self.stiff < STIFF_STEPS:
            return False
        self.stiff = self.calm = 0
        return True


def _compared(solver: str) -> tuple[int, float]:
    """The stage of a method that is compared with the end of its step, where it lies too, and the
    stability border; 0 where there is no test.
    """
    if solver == "RK23":
        return RK23
    method = tableau(solver)
    border = None if method is None else method.border
    return (0, 0.0) if method is None or border is None else (len(method.b) - 2, border)


def at_border(states: Floats, slopes: Floats, h: float, border: float) -> bool:
    """Hairer's test: whether stability limits a step of length h. states, slopes (nx,): the
    differences of two stages at the same time, and of their rates.
    """
    parted = float(np.linalg.norm(states))
    return parted > 0 and bool(h * np.linalg.norm(slopes) > border * parted)


def heeds(run: Run) -> bool:
    """Whether the run still tests for stiffness: until stiffness is reported or the solver
    changes.
    """
    # No implicit method passes poses in which loops lose rank.
    return len(run.solvers) == 1 and not run.stiff and not run.engine.damped


def meet(run: Run, t: float, h: float, price: int) -> bool:
    """React to stiffness at time t with steps of length h. A run with solver 'auto' changes to an
    implicit method if that is cheaper; otherwise there is a warning. Returns whether the solver
    has changed.

    price: cost of the change, in explicit steps.
    """
    left = (float(run.end) - t) / h
    if run.engine.run.solver == "auto":
        if left < price + DEARER * run.stops_left(t):
            return False
        run.change_solver(implicit_solver(run.engine), t)
        return True
    if left < price / WORTH_TELLING:
        return False
    run.stiff = True
    warn(
        f"the diagram is stiff at t = {t:.6g} s: {run.options.solver} has to take steps of "
        f"{h:.2g} s to stay stable, about {left:,.0f} more until T; "
        f"give run: {{solver: {implicit_solver(run.engine)}}}, or leave the choice to solver: auto"
    )
    return False


def implicit_solver(engine: Engine) -> str:
    """The implicit method for an engine: of a program one of our own, or CVODES if its derivatives
    are too long to be compiled and nothing must be located or projected within its steps;
    otherwise BDF, or Radau if frequent ticks would keep BDF at low order.
    """
    if engine.can_linearise:
        return STIFF
    plain = engine.traced and not engine.drifting
    if plain and all(crossing.kind in BENDS for crossing in engine.crossings):
        return "CVODES"
    return "Radau" if engine.clocks else "BDF"
