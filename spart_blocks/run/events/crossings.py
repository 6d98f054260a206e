"""Location of the zero of a zero-crossing function within a step, on its dense output."""

from __future__ import annotations

from collections.abc import Callable

from spart_blocks.formulas.instants import LOCATED_WITHIN
from spart_blocks.program.tracing.switching import Crossing


def locate(
    watched: Callable[[float], float],
    crossing: Crossing,
    sign: float,
    t0: float,
    t1: float,
) -> float:
    """Time [s] at or just after a crossing within [t0, t1]; sign: +1 if the value rises."""

    def beyond(t: float) -> bool:
        value = watched(t)
        if sign > 0:
            return value > 0
        return value < 0 if crossing.direction else not value > 0

    # The end of the step counts as beyond the crossing, even if the dense output differs or a value
    # is not a number: bisection needs no signs at the ends.
    while t1 - t0 > LOCATED_WITHIN / 4:
        middle = 0.5 * (t0 + t1)
        if not t0 < middle < t1:
            break
        t0, t1 = (t0, middle) if beyond(middle) else (middle, t1)
    return t1


def upward(crossing: Crossing, after: float) -> float:
    """+1 or -1: the side on which a crossing ended."""
    return crossing.direction or (1.0 if after > 0 else -1.0)
