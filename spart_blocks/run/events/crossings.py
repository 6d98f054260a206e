"""Location of the zero of a zero-crossing function within a step, on its dense output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spart_blocks.program.tracing.switching import Crossing
from spart_blocks.run.constants import CHATTER, CHATTERED, LOCATED
from spart_blocks.run.engines.engine import Floats


def locate(
    watched: Callable[[float], float],
    crossing: Crossing,
    sign: float,
    t0: float,
    t1: float,
) -> float:
    """The time [s] at or just after a crossing in [t0, t1], by bisection. watched: its value at a
    time. sign: +1 if the value rises, -1 if it falls.
    """

    def beyond(t: float) -> bool:
        value = watched(t)
        if sign > 0:
            return value > 0
        return value < 0 if crossing.direction else not value > 0

    # The end of the step counts as beyond the crossing, even if the dense output differs or a value
    # is not a number: bisection needs no signs at the ends.
    while t1 - t0 > LOCATED:
        middle = 0.5 * (t0 + t1)
        if not t0 < middle < t1:
            break
        t0, t1 = (t0, middle) if beyond(middle) else (middle, t1)
    return t1


def upward(crossing: Crossing, after: float) -> float:
    """The side on which a value is after its crossing, +1 or -1."""
    return crossing.direction or (1.0 if after > 0 else -1.0)


def jumped(
    crossings: Sequence[Crossing], crossed: Sequence[int], now: Floats, ticks_follow: bool
) -> list[int]:
    """The crossings that take effect at a stop: those whose values have jumped over zero, and
    those that act whenever their value is positive: modes, and unless ticks follow also STOPs and
    faults.

    crossed: indices of crossings whose value has crossed zero. now: the values.
    """
    ends = ("mode",) if ticks_follow else ("stop", "mode", "fault")
    return [
        k
        for k in sorted({*np.flatnonzero(now > 0).tolist(), *crossed})
        if (crossings[k].kind in ends and now[k] > 0)
        or (crossings[k].kind == "event" and k in crossed)
    ]


@dataclass
class Chatter:
    """Counts crossings. since [s]: the time of the first that counts."""

    since: float = 0.0
    count: int = 0


def chatters(chatter: Chatter, t: float, whole: float) -> bool:
    """Count a crossing at t in a run of this length. Returns whether there have been too many
    within a short time.
    """
    if t - chatter.since > CHATTERED * whole:
        chatter.since, chatter.count = t, 0
    chatter.count += 1
    return chatter.count >= CHATTER
