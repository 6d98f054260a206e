"""Times just beside a stop of a run, known event or tick: signals are seen from one side of it,
and the times at which they switch are known to some units in the last place alone."""

from __future__ import annotations

import numpy as np

INSIDE = 8
"""Units in the last place that such a time lies off the stop."""


def just_before(t: float) -> float:
    """The time from which a stop at t is seen before what happens there."""
    return float(t - INSIDE * np.spacing(t))


def just_after(t: float) -> float:
    """The time from which a stop at t is seen after it."""
    return float(t + INSIDE * np.spacing(t))


def within(start: float, end: float) -> tuple[float, float]:
    """The ends of what lies between two stops, as signals see them from there."""
    return just_after(start), just_before(end)
