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
from spart_blocks.run.engines.engine import Engine

if TYPE_CHECKING:
    from spart_blocks.run.loop import Run

BEGINS, STIFF, CALM = 1000, 15, 6
"""The test begins every BEGINS steps; STIFF steps at the stability border mean stiff, CALM
consecutive steps within it mean not stiff.
"""
BORDERS = {"RK45": (5, 3.25), "DOP853": (11, 6.1), "RK23": (2, 2.45)}
"""The stage whose state is compared with that at the end of the step, and the border; those of
RK45 and DOP853 are Hairer's, RK23 is stable to 2.51."""
COMPILED, INTERPRETED = 1_000, 20
"""Number of explicit steps, compiled or not, that cost as much as one restart of an implicit
method.
"""
STARTS = 50
"""Cost of the steps of an implicit method, in restarts, in addition to its restarts at every
stop.
"""
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
        if self.solver not in BORDERS or steps < BEGINS:
            return False
        if steps % BEGINS >= CALM and not self.stiff:
            return False
        stage, border = BORDERS[self.solver]
        h = solver.t - solver.t_old
        inner = solver.y_old + h * (solver.K[:stage].T @ solver.A[stage, :stage])
        # Of RK23 no other stage lies at the end of the step.
        slope = solver.K[stage] if solver.C[stage] == 1 else solver.fun(solver.t, inner)
        parted = np.linalg.norm(solver.y - inner)
        if parted > 0 and h * np.linalg.norm(solver.f - slope) > border * parted:
            self.calm, self.stiff = 0, self.stiff + 1
        else:
            self.calm += 1
            if self.calm == CALM:
                self.stiff = self.calm = 0
        if self.stiff < STIFF:
            return False
        self.stiff = self.calm = 0
        return True


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
