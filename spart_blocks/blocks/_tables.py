"""Tables by np.interp alone, which runs on numbers and on symbols, in tables of any size.

A table that jumps has two points at each jump, one unit in the last place apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]

MOST_NUMBERS = 2_000_000
"""In a table; its compiled code holds each."""
_FEW = 128
"""Pieces up to which each quantity is chosen by itself; beyond, a piece is searched once."""


@dataclass(frozen=True)
class Pieces:
    """Intervals of a line: starts (n,), which rise. What is below the first start belongs to
    the first interval."""

    starts: Floats

    @cached_property
    def _points(self) -> Floats:
        """The starts but the first, each with the number before it."""
        later = self.starts[1:]
        return np.column_stack([np.nextafter(later, -np.inf), later]).ravel()

    def _held(self, u: Any, values: Floats) -> Any:
        if len(values) == 1:
            return 0.0 * u + values[0]
        return np.interp(u, self._points, np.repeat(values, 2)[1:-1])

    def pick(self, u: Any, *values: Floats) -> list[Any]:
        """The entries of each of some arrays (n,) for the interval that holds u."""
        if len(self.starts) <= _FEW:
            return [self._held(u, value) for value in values]
        index = self._held(u, self._numbers)
        return [np.interp(index, self._numbers, value) for value in values]

    @cached_property
    def _numbers(self) -> Floats:
        return np.arange(len(self.starts), dtype=float)


@dataclass(frozen=True)
class Polynomials:
    """A polynomial on each of some intervals, in u less the interval's start:
    coefficients (order + 1, n), of the highest power first."""

    pieces: Pieces
    coefficients: Floats

    def at(self, u: Any) -> Any:
        start, *coefficients = self.pieces.pick(u, self.pieces.starts, *self.coefficients)
        value: Any = 0.0
        for c in coefficients:
            value = value * (u - start) + c
        return value


def spline(points: Floats, values: Floats) -> Polynomials:
    """The cubic spline through values (n,) at points (n,), not-a-knot at its ends.

    Source: C. de Boor, "A Practical Guide to Splines" (1978), ch. IV; SciPy's CubicSpline.
    """
    from scipy.interpolate import CubicSpline

    found = CubicSpline(points, values)
    return Polynomials(Pieces(points[:-1]), np.ascontiguousarray(found.c))


def rising(points: Any, what: str) -> Floats:
    """Breakpoints as floats (n,), two or more, finite and rising; ValueError otherwise."""
    out = numbers(points, what)
    if out.ndim != 1 or len(out) < 2:
        raise ValueError(f"{what} must be a list of two numbers or more, not {np.shape(points)}")
    wrong = np.flatnonzero(np.diff(out) <= 0)
    if wrong.size:
        k = int(wrong[0])
        raise ValueError(f"{what} must rise: {out[k + 1]:g} follows {out[k]:g}")
    return out


def numbers(given: Any, what: str) -> Floats:
    """An array of finite floats, none too large for a table; ValueError otherwise."""
    try:
        out = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be numbers, as many in each row") from None
    if not np.isfinite(out).all():
        raise ValueError(f"{what} must be finite")
    if out.size > MOST_NUMBERS:
        raise ValueError(f"{what} has {out.size:,} numbers, a table takes up to {MOST_NUMBERS:,}")
    return out
