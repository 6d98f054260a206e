"""Lookup tables with np.interp, which works on numbers and on symbols, for tables of any size.

A table that jumps has two points at each jump, one unit in the last place apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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
