"""Stiffness: steps of an explicit method that stability bounds, where accuracy would not.

Source: E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II" (1996), sec. IV.2:
the slopes of two states at the same time give the product of the step with the modulus of the
dominant eigenvalue; where it lies at the border of the method's stability for 15 steps, and
is not within it for six in a row, the problem is stiff. The test begins with the six steps at
every thousandth: what takes fewer costs little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.base.errors import warn
from spart_blocks.run.constants import BORDER, CALM_STEPS, STARTS, STIFF_STEPS, TESTED_EVERY
from spart_blocks.run.engines.engine import Engine, Floats

if TYPE_CHECKING:
    from spart_blocks.run.loop import Run

BORDERS = {"RK45": (5, BORDER), "DOP853": (11, 6.1), "RK23": (2, 2.45)}
"""The stage whose state is compared with that at the end of the step, and the border; those of
RK45 and DOP853 are Hairer's, RK23 is stable to 2.51."""
INTERPRETED = 20
"""The same as COMPILED of steps that are not compiled."""
WORTH_TELLING = 10
"""Cost of the remaining steps, in restarts, up to which there is no warning."""


@dataclass
class StiffnessTest:
    """Counts the steps of one of SciPy's explicit solvers that lie at the border."""

    solver: str
    stiff: int = 0
    calm: int = 0

    def sees(self, solver: Any, steps: int) -> bool:
        """Whether the step just done, the run's `steps`th, shows the problem to be stiff."""
        if self.solver not in BORDERS or not self.tests(steps):
            return False
        stage, border = BORDERS[self.solver]
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


def at_border(states: Floats, slopes: Floats, h: float, border: float) -> bool:
    """Whether stability bounds a step of length h: Hairer's test. states, slopes (nx,): how far two
    stages at the same time part, and their rates."""
    parted = float(np.linalg.norm(states))
    return parted > 0 and bool(h * np.linalg.norm(slopes) > border * parted)


def heeds(run: Run) -> bool:
    """Whether to test for stiffness: until it has been reported or the solver changed."""
    # No implicit method passes poses in which loops lose rank.
    return len(run.solvers) == 1 and not run.stiff and not run.engine.damped


def meet(run: Run, t: float, h: float, price: int) -> bool:
    """Act on stiffness at time t, with steps of length h: change a solver that the run has chosen
    itself, if that is cheaper, or warn. Returns whether the solver has changed.

    price: of a start of an implicit method, in explicit steps.
    """
    left = (float(run.end) - t) / h
    if run.engine.run.solver == "auto":
        if left < price * (STARTS + run.stops_left(t)):
            return False
        run.change_solver(implicit_solver(run.engine), t)
        return True
    if left < price * WORTH_TELLING:
        return False
    run.stiff = True
    warn(
        f"the diagram is stiff at t = {t:.6g} s: {run.options.solver} has to take steps of "
        f"{h:.2g} s to stay stable, about {left:,.0f} more until T; "
        f"give run: {{solver: {implicit_solver(run.engine)}}}, or leave the choice to solver: auto"
    )
    return False


def implicit_solver(engine: Engine) -> str:
    """The implicit method for an engine: CVODES if nothing must be located or projected within its
    steps; else BDF, or Radau if ticks would keep BDF at low order."""
    plain = engine.traced and not engine.drifting
    if plain and all(crossing.kind == "bend" for crossing in engine.crossings):
        return "CVODES"
    return "Radau" if engine.clocks else "BDF"
