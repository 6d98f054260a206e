"""States within limits, each of which may be None."""

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
