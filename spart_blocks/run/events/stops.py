"""Times just before and after a stop of a run (known event or tick). Signals must be evaluated on
one side of it, and switching times are known only to a few units in the last place.
"""

from __future__ import annotations

import math

from spart_blocks.run.constants import INSIDE


def just_before(t: float) -> float:
    """The time just before a stop at t, at which its events have not happened."""
    return t - INSIDE * (t - math.nextafter(t, -math.inf))


def just_after(t: float) -> float:
    """The time just after a stop at t, at which its events have happened."""
    return t + INSIDE * (math.nextafter(t, math.inf) - t)


def within(start: float, end: float) -> tuple[float, float]:
    """The ends of the segment between two stops, moved just inside it."""
    return just_after(start), just_before(end)
