"""Limits of a state: its start within them, and which of them holds it."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.values import in_order


def within(start: Any, lower: Any, upper: Any, names: tuple[str, str, str]) -> None:
    """InputError unless a start is within limits; the names are its own and theirs."""
    in_order(lower, upper, names[1:])
    in_order(lower, start, (names[1], names[0]))
    in_order(start, upper, (names[0], names[2]))


def clipped(value: Any, lower: Any, upper: Any) -> Any:
    value = value if upper is None else np.minimum(value, upper)
    return value if lower is None else np.maximum(value, lower)


def near_limits(
    value: Array, lower: Any, upper: Any, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Values within limits, some of them at one, and which limit holds each: 1 the upper, -1 the
    lower, 0 none.
    """
    sides = [0.0, *([1.0] if upper is not None else []), *([-1.0] if lower is not None else [])]
    by = rng.choice(sides, len(value))
    value = np.where(by > 0.5, upper if upper is not None else 0.0, clipped(value, lower, upper))
    return np.where(by < -0.5, lower if lower is not None else 0.0, value), by


def unfit_limit(value: Any, by: Any, lower: Any, upper: Any, u: Any) -> Any:
    """A zero-crossing function: positive where the limit that holds a value is to change.

    by: 1 where the upper limit holds it, -1 the lower, 0 none. u: what a limit stops, its rate or
    its second derivative.
    """
    free, at_lower, at_upper = [], 0.0, 0.0
    if upper is not None:
        free.append(value - upper)
        at_upper = np.maximum(-u, np.abs(value - upper))
    if lower is not None:
        free.append(lower - value)
        at_lower = np.maximum(u, np.abs(value - lower))
    beyond = free[0] if len(free) == 1 else np.maximum(*free)
    return np.where(by > 0.5, at_upper, np.where(by < -0.5, at_lower, beyond))


def limit_that_holds(value: Any, by: Any, lower: Any, upper: Any, u: Any) -> Any:
    """Which limit holds a value from now on, as `by` of `unfit_limit`."""
    after = 0.0 * value
    for limit, side in ((lower, -1.0), (upper, 1.0)):
        if limit is not None:
            past = side * (value - limit)
            stays = np.logical_and(np.logical_and(side * by > 0.5, past >= 0), side * u >= 0)
            after = np.where(np.logical_or(past > 0, stays), side, after)
    return after
