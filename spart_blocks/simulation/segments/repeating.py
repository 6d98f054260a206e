"""Repetition of a step of one of SciPy's solvers that has a bend within it."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

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
