"""Lookup tables with np.interp, which works on numbers and on symbols, for tables of any size.

A table that jumps has two points at each jump, one unit in the last place apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from spart_blocks.base.curves.intervals import Floats, Intervals
from spart_blocks.base.curves.piecewise import PiecewisePolynomial, cubic_spline

INTERPOLATIONS = ("linear", "previous", "nearest", "cubic")

_SIDES = 32
"""Largest distance, in units in the last place, between the two sides of an event in a
recording.
"""


@dataclass(frozen=True)
class LineTable:
    """An interpolation of values (n, m) at points (n,), by one of INTERPOLATIONS. extends: whether
    `linear` extrapolates outside; `cubic` always does, the others hold the end values.
    """

    points: Floats
    values: Floats
    interpolation: str = "linear"
    extends: bool = False

    @cached_property
    def bends(self) -> Floats:
        """The points of kinks and jumps, including the ends."""
        if self.interpolation != "nearest":
            return self.points
        return (self.points[1:] + self.points[:-1]) / 2

    @cached_property
    def _columns(self) -> list[Floats]:
        return [np.ascontiguousarray(column) for column in self.values.T]

    @cached_property
    def _splines(self) -> list[PiecewisePolynomial]:
        return [cubic_spline(self.points, column, "not-a-knot") for column in self._columns]

    @cached_property
    def _steps(self) -> Intervals:
        nearest = self.interpolation == "nearest"
        starts = np.append(self.points[0], self.bends) if nearest else self.points
        return Intervals(starts)

    def at(self, u: Any) -> list[Any]:
        """Its value at u for each column, an array where u is one."""
        if self.interpolation == "linear":
            return [self._linear(u, column) for column in self._columns]
        if self.interpolation == "cubic":
            return [polynomials.at(u)[0] for polynomials in self._splines]
        return self._steps.pick(u, *self._columns)

    def _linear(self, u: Any, y: Floats) -> Any:
        x = self.points
        inside = np.interp(u, x, y)
        if not self.extends:
            return inside
        first = (y[1] - y[0]) / (x[1] - x[0])
        last = (y[-1] - y[-2]) / (x[-1] - x[-2])
        below, above = np.minimum(u - x[0], 0.0), np.maximum(u - x[-1], 0.0)
        return inside + first * below + last * above


def parted(times: Floats) -> Floats:
    """Non-decreasing times (n,) made increasing: of equal times the last is unchanged."""
    out = times.copy()
    for k in np.flatnonzero(np.diff(times) <= 0)[::-1]:
        out[k] = np.nextafter(out[k + 1], -np.inf)
    return out


def without_sides(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Times (n,) and values (n, m) with one of any two samples that differ in time only by
    rounding: the later one, which lies after the event between them.
    """
    kept = np.append(np.diff(times) > _SIDES * np.spacing(np.abs(times).max()), True)
    return times[kept], values[kept]


# --- Grids ----------------------------------------------------------------------------------------


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
