"""Tables by np.interp alone, which runs on numbers and on symbols, in tables of any size.

A table that jumps has two points at each jump, one unit in the last place apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

INTERPOLATIONS = ("linear", "previous", "nearest", "cubic")
Floats = np.ndarray[Any, np.dtype[np.float64]]

_SIDES = 32
"""Units in the last place between both sides of an event in a recording, at most."""
_SMALLEST_GAP = 1e-200
"""Between the two points of a jump at zero, so that slopes across it can be computed."""
_FEW = 128
"""Intervals up to which each quantity is chosen by itself; beyond, a piece is searched once."""


@dataclass(frozen=True)
class Intervals:
    """Intervals of a line: starts (n,), which rise. What is below the first start belongs to
    the first interval."""

    starts: Floats

    @cached_property
    def _points(self) -> Floats:
        """The starts but the first, each after the number before it."""
        later = self.starts[1:]
        before = np.minimum(np.nextafter(later, -np.inf), later - _SMALLEST_GAP)
        return np.column_stack([before, later]).ravel()

    def _held(self, u: Any, values: Floats) -> Any:
        if len(values) == 1:
            return 0.0 * u + values[0]
        return np.interp(u, self._points, np.repeat(values, 2)[1:-1])

    def pick(self, u: Any, *values: Floats) -> list[Any]:
        """The entries of each of some arrays (n,) for the interval that holds u."""
        if len(self.starts) <= _FEW:
            return [self._held(u, value) for value in values]
        return self.numbered(self._held(u, self._numbers), *values)

    def numbered(self, index: Any, *values: Floats) -> list[Any]:
        """The same for the interval of this number, a whole one."""
        if len(self.starts) <= _FEW:
            halves = Intervals(self._numbers - 0.5)
            return [halves._held(index, value) for value in values]
        return [np.interp(index, self._numbers, value) for value in values]

    @cached_property
    def _numbers(self) -> Floats:
        return np.arange(len(self.starts), dtype=float)


@dataclass(frozen=True)
class Polynomials:
    """A polynomial on each of some intervals, in u less the interval's start:
    coefficients (order + 1, n), of the highest power first."""

    pieces: Intervals
    coefficients: Floats

    def at(self, u: Any) -> Any:
        start, *coefficients = self.pieces.pick(u, self.pieces.starts, *self.coefficients)
        value: Any = 0.0
        for c in coefficients:
            value = value * (u - start) + c
        return value


@dataclass(frozen=True)
class Line:
    """What goes through values (n, m) at points (n,), by one of INTERPOLATIONS.

    extends: whether `linear` goes on outside with the first and the last line; `cubic` does
    in any case, and the others hold.
    """

    points: Floats
    values: Floats
    interpolation: str = "linear"
    extends: bool = False

    @cached_property
    def bends(self) -> Floats:
        """Where it bends or jumps, its ends included."""
        if self.interpolation != "nearest":
            return self.points
        return (self.points[1:] + self.points[:-1]) / 2

    @cached_property
    def _columns(self) -> list[Floats]:
        return [np.ascontiguousarray(column) for column in self.values.T]

    @cached_property
    def _splines(self) -> list[Polynomials]:
        return [spline(self.points, column) for column in self._columns]

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
            return [polynomials.at(u) for polynomials in self._splines]
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


def spline(points: Floats, values: Floats) -> Polynomials:
    """The cubic spline through values (n,) at points (n,), not-a-knot at its ends.

    Source: C. de Boor, "A Practical Guide to Splines" (1978), ch. IV; SciPy's CubicSpline.
    """
    from scipy.interpolate import CubicSpline

    found = CubicSpline(points, values)
    return Polynomials(Intervals(points[:-1]), np.ascontiguousarray(found.c))


def parted(times: Floats) -> Floats:
    """Times (n,) that do not fall, as such that rise: of equal ones the last stays."""
    out = times.copy()
    for k in np.flatnonzero(np.diff(times) <= 0)[::-1]:
        out[k] = np.nextafter(out[k + 1], -np.inf)
    return out


def without_sides(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Times (n,) and values (n, m) with one of each two samples that rounding parts: the later,
    which lies behind whatever happened between."""
    kept = np.append(np.diff(times) > _SIDES * np.spacing(np.abs(times).max()), True)
    return times[kept], values[kept]
