"""Where in a step a watched value crosses zero, on the step's dense output."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from spart_blocks.program.switching import Crossing
from spart_blocks.simulation.engine import Engine, Floats

LOCATED_WITHIN = 1e-10
"""Width [s] within which a crossing's time is known."""


def locate(
    engine: Engine,
    k: int,
    sign: float,
    dense: Callable[[float], Floats],
    xd: Floats,
    t0: float,
    t1: float,
) -> float:
    """The time [s] just at or after crossing k within [t0, t1]; sign: +1 where it goes up."""

    # Zero is the lower side: gone to, where a crossing of either direction goes down.
    at_zero = np.finfo(float).tiny * (1 if sign < 0 and not engine.crossings[k].direction else -1)

    def watched(t: float) -> float:
        return float(engine.watch(t, dense(t), xd)[k]) * sign or at_zero

    if watched(t0) >= 0:
        return t0
    t = brentq(watched, t0, t1, xtol=LOCATED_WITHIN / 4, rtol=4 * np.finfo(float).eps)
    # The far side, so that the signal has its new sign and does not cross again.
    step = LOCATED_WITHIN / 4
    while watched(min(t, t1)) < 0 and t < t1:
        t, step = t + step, 2 * step
    return float(min(t, t1))


def upward(crossing: Crossing, after: float) -> float:
    """+1 or -1: the side on which a crossing ended."""
    return crossing.direction or (1.0 if after > 0 else -1.0)
