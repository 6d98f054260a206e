"""Times just beside a stop of a run, known event or tick: signals are seen from one side of it,
and the times at which they switch are known to some units in the last place alone."""

from __future__ import annotations

import math

INSIDE = 8
"""Units in the last place, on the side where it lies, that such a time is off the stop; as in
sb_step.h."""


def just_before(t: float) -> float:
    """The time from which a stop at t is seen before what happens there."""
    return t - INSIDE * (t - math.nextafter(t, -math.inf))


def just_after(t: float) -> float:
    """The time from which a stop at t is seen after it."""
    return t + INSIDE * (math.nextafter(t, math.inf) - t)


def within(start: float, end: float) -> tuple[float, float]:
    """The ends of what lies between two stops, as signals see them from there."""
    return just_after(start), just_before(end)
