"""Location of the zero of a zero-crossing function within a step, on its dense output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spart_blocks.program.tracing.switching import Crossing
from spart_blocks.run.constants import CHATTER, CHATTERED, LEAST_PART, LOCATED, MOVED
from spart_blocks.run.engines.engine import Floats


def locate(
    watched: Callable[[float], Floats],
    crossed: Callable[[Floats, Floats], Sequence[int]],
    before: Floats,
    after: Floats,
    t0: float,
    t1: float,
) -> tuple[float, int]:
    """The time [s] at or just after the first of some crossings in [t0, t1], and its index.

    watched: the values at a time. crossed: the indices of these crossings that have happened
    between two values, in ascending order. before, after: the values at the ends, between which
    one has: the end counts as beyond, even if the dense output differs or a value is not a number.
    C has the same under the name sb_first_of, where the method is explained.
    """
    h, low, high, spare = t1 - t0, 0.0, 1.0, 2.0
    near, far, found = before, after, crossed(before, after)
    while (high - low) * h > LOCATED and high - low > LEAST_PART:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        at = _next_probe(low, high, _estimate(low, high, near[found], far[found]), h, spare)
        spare *= 0.5
        values = watched(t0 + at * h)
        over = crossed(before, values)
        if over:
            high, far, found = at, values, over
        else:
            low, near = at, values
    return t1 if high == 1 else t0 + high * h, found[0]


def _estimate(low: float, high: float, near: Floats, far: Floats) -> float:
    """The first zero of the straight lines between values at both ends; the middle if there is
    none.
    """
    with np.errstate(all="ignore"):
        lines = low + (high - low) * near / (near - far)
    inside = lines[lines < high]
    return float(inside.min()) if len(inside) else 0.5 * (low + high)


def _next_probe(low: float, high: float, at: float, h: float, spare: float) -> float:
    """The next point to look at: an estimate `at`, moved towards the middle of its interval."""
    width, middle = high - low, 0.5 * (low + high)
    far = abs(middle - at)
    left = max(far - max(0.4 * LOCATED / h, MOVED * width**2), 0.0)
    left = min(left, max(spare - 0.5 * width, 0.0))
    at = middle - left if at < middle else middle + left
    return at if low < at < high else middle


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
