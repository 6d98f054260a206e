"""Repetition of a step of one of SciPy's solvers that has a bend within it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
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
    """A trial step is not accurate because of a bend within it."""


@cache
def telling(method: type) -> type:
    """An explicit Runge-Kutta method of SciPy's with `look`, which is called with each trial step
    that is not accurate: its length [s], its end, and the slope there. It may raise. SciPy 1.11 to
    1.17 estimate errors here, and have changed nothing before."""

    class Telling(method):  # type: ignore[misc]
        look: Callable[[float, Floats, Floats], None]

        def _estimate_error_norm(self, K: Floats, h: float, scale: Floats) -> float:
            norm = float(super()._estimate_error_norm(K, h, scale))
            if norm >= 1:
                stages = K[: self.n_stages]
                self.look(h, self.y + h * (stages.T @ self.B), K[self.n_stages])
            return norm

    return Telling
