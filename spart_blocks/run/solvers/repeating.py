"""Repeats a step of one of SciPy's solvers so that it ends before a bend of the equations."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

from spart_blocks.run.engines.engine import Floats

SUBSTITUTE = "Radau"
"""The method that repeats a step of LSODA, whose history is not accessible from Python. It needs
no history.
"""


class Ahead(NamedTuple):
    """A bend before which a step must end. t [s]: that end. gap: distance from t to the bend, as a
    fraction of the way to it.
    """

    t: float
    gap: float


def remembered(solver: Any) -> Any:
    """A copy of a solver before a step; None for LSODA, whose history is not accessible from
    Python.
    """
    if hasattr(solver, "_lsoda_solver"):
        return None
    past = copy.copy(solver)
    if hasattr(solver, "D"):  # BDF changes its differences in place
        past.D = solver.D.copy()
    return past


class BentStepError(Exception):
    """A trial step was abandoned by the solver because of a bend within it."""


@dataclass
class Trial:
    """The evaluations of the present step so far.

    states: for each time [s] the last two states (an explicit method evaluates its last stage and
    its end there). rates: at the latest time. An evaluation before all of these times belongs to a
    new, shorter trial; the previous trial has been abandoned. The evaluations of the accepted
    trial are the stages of the step.
    """

    states: dict[float, list[Floats]]
    rates: Floats

    @property
    def first(self) -> float:
        return min(self.states)

    @property
    def last(self) -> float:
        return max(self.states)

    @property
    def end(self) -> Floats:
        return self.states[self.last][-1]

    @property
    def has_stages(self) -> bool:
        """Whether there are evaluations before the end of the step."""
        return len(self.states) > 1

    def middle(self, t0: float) -> tuple[float, Floats]:
        """The time and state of the stage nearest to the middle of a step from t0."""
        t = min(self.states, key=lambda t: abs(t - 0.5 * (t0 + self.last)))
        return t, self.states[t][-1]

    def add(self, t: float, x: Floats, rates: Floats) -> None:
        self.states[t] = [*self.states.get(t, [])[-1:], x.copy()]
        if t >= self.last:
            self.rates = rates
