"""Repetition of a step of one of SciPy's solvers that has a bend within it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

from spart_blocks.simulation.engine import Floats

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
    """The evaluations of a step so far: the state last seen at each time [s], and the rates at the
    latest. A time before all others begins another trial, which is shorter: the one before has been
    given up. Those of the trial that is accepted are the step's stages."""

    states: dict[float, Floats]
    rates: Floats

    @property
    def first(self) -> float:
        return min(self.states)

    @property
    def last(self) -> float:
        return max(self.states)

    def add(self, t: float, x: Floats, rates: Floats) -> None:
        self.states[t] = x.copy()
        if t >= self.last:
            self.rates = rates
