"""Multilinear interpolation on a grid, which works on numbers and on symbols."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from spart_blocks.base.curves.intervals import Floats, Intervals

_FEW = 512
"""Number of values up to which each enters a weighted sum; beyond, the corners of a cell are looked
up.
"""


def place(points: Floats, u: Any) -> tuple[Any, Any]:
    """The index of the interval that contains u, and the relative position in it, from 0 to 1."""
    count = np.arange(len(points) - 1, dtype=float)
    number, start, width = Intervals(points[:-1]).pick(u, count, points[:-1], np.diff(points))
    return number, (u - start) / width


def weighted(axes: Sequence[Floats], values: Any, at: Sequence[Any]) -> Any:
    """The values (n1, ..., nd, ...) on a grid of d axes, interpolated at d coordinates: an array
    of the dimensions after the first d. Each value has a weight, so that it may be a symbol too.

    Outside, the cells at the edge are continued.
    """
    for points, u in zip(axes, at, strict=True):
        index, a = place(points, u)
        cells = [np.where(np.abs(index - k) < 0.5, 1.0, 0.0) for k in range(len(points) - 1)]
        first, second = [*cells, 0.0], [0.0, *cells]
        weights = [(1 - a) * low + a * high for low, high in zip(first, second, strict=True)]
        values = sum(weight * row for weight, row in zip(weights, values, strict=True))
    return values


def multilinear(axes: Sequence[Floats], values: Floats, at: Sequence[Any]) -> Any:
    """The same for constant values, of which there may be many."""
    if values.size <= _FEW:
        return weighted(axes, values, at)
    shape, size = values.shape[len(axes) :], values[(0,) * len(axes)].size
    columns = values.reshape(-1, size).T
    places = [place(points, u) for points, u in zip(axes, at, strict=True)]
    strides = np.cumprod([1, *(len(points) for points in axes[:0:-1])])[::-1]
    nodes = Intervals(np.arange(columns.shape[1], dtype=float))
    total: Any = 0.0
    for corner in product((0, 1), repeat=len(axes)):
        steps = zip(places, corner, strides, strict=True)
        node = sum((index + side) * stride for (index, _), side, stride in steps)
        weight = 1.0
        for (_, a), side in zip(places, corner, strict=True):
            weight = weight * (a if side else 1 - a)
        total = total + weight * np.array(nodes.numbered(node, *columns))
    return total.reshape(shape) if shape else total[0]
