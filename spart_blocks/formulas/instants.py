"""Instants as floats: edges that are sums of floats, on the right side of the instants of a run.

The instants of a run are exact fractions, and a block gets each of them rounded once. An edge that
a block computes from its parameters, such as delay + k period, is off by its own rounding: by a few
units in the last place. Compared with a time that is later by a little more, it has come at its
instant, and not before: a run evaluates what is before a stop sixteen units earlier
(run/events/stops.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

HAIR = 2.0**-50
"""Four units in the last place of 1."""
LOCATED_WITHIN = 1e-10
"""Tolerance [s] of a crossing's time."""


def settled(t: Any) -> Any:
    """The time t [s] at which edges are compared."""
    return t + HAIR * np.abs(t)
