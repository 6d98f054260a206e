"""Progress reports at a limited rate."""

from __future__ import annotations

import time
from collections.abc import Callable

Report = Callable[[float, float], None]
"""Called with the amount done and the total, such as the present time and end time of a run."""

_PERIOD = 0.1  # s


def throttled(report: Report) -> Report:
    """A report that passes on at most ten calls per second."""
    due = 0.0

    def limited(done: float, whole: float) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = now + _PERIOD
            report(done, whole)

    return limited
