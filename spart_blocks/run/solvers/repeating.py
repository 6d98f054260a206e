"""Repetition of a step of one of SciPy's solvers that has a bend within it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

from spart_blocks.run.engines.engine import Floats

SUBSTITUTE = "Radau"
"""Repeats steps of a solver whose past lies outside of Python: its steps need no past."""


class Ahead(NamedTuple):
    """A bend before which a step shall end. t [s]: that end; gap: the distance from there to the
    bend, as a fraction of the way to it."""

    t: float
    gap: float


def remembered(solver: Any) -> Any:
    """A solver as it is before a step; None of LSODA, whose past lies outside of Python."""
    if hasattr(solver, "_lsoda_solver"):
        return None
    past = copy.copy(solver)
    if hasattr(solver, "D"):  # BDF changes its differences in place
        past.D = solver.D.copy()
    return past


class BentStepError(Exception):
    """A solver has given up a trial step because of a bend within it."""


@dataclass
class Trial:
    """The evaluations of a step so far: the last two states seen at each time [s] (an explicit
    method sees its last stage and its end there), and the rates at the latest time. A time before
    all others begins another trial, which is shorter: the one before has been given up. Those of
    the trial that is accepted are the step's stages."""

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
        """Whether there are any before its end."""
        return len(self.states) > 1

    def middle(self, t0: float) -> tuple[float, Floats]:
        """The stage nearest to the middle of a step from t0."""
        t = min(self.states, key=lambda t: abs(t - 0.5 * (t0 + self.last)))
        return t, self.states[t][-1]

    def add(self, t: float, x: Floats, rates: Floats) -> None:
        self.states[t] = [*self.states.get(t, [])[-1:], x.copy()]
        if t >= self.last:
            self.rates = rates
