"""Piecewise polynomials of time, on numbers and on symbols.

A polynomial has its coefficients along the first axis, the constant first; segments are along an
axis before it. All formulas stand in B. Siciliano et al., "Robotics: Modelling, Planning and
Control" (2009), sec. 4.2, and C. de Boor, "A Practical Guide to Splines" (1978), chapter IV.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base.curves.intervals import Intervals
from spart_blocks.base.spatial import Array, kind_of_scalar

# --- a quintic between two points -----------------------------------------------------------------
# The motion by a polynomial of fifth order with zero acceleration at both ends.
#
#     value = v0 s + c3 s^3 + c4 s^4 + c5 s^5,    s from 0 to 1
#
# Source: B. Siciliano et al., "Robotics: Modelling, Planning and Control" (2009), sec. 4.2.1;
# K. Lynch and F. Park, "Modern Robotics" (2017), sec. 9.2.2.1.


def quintic_coefficients(way: Any, v0: Any, v1: Any) -> tuple[Any, Any, Any]:
    """c3, c4 and c5 of a motion from 0 to way, with rates v0 and v1 per unit of s at its ends."""
    return (
        10 * way - 6 * v0 - 4 * v1,
        -15 * way + 8 * v0 + 7 * v1,
        6 * way - 3 * v0 - 3 * v1,
    )


def quintic(s: Any, way: Any = 1.0, v0: Any = 0.0, v1: Any = 0.0) -> tuple[Any, Any, Any]:
    """The value at s, and its first and second derivative there."""
    c3, c4, c5 = quintic_coefficients(way, v0, v1)
    return (
        v0 * s + (c3 + (c4 + c5 * s) * s) * (s * s * s),
        v0 + (3 * c3 + (4 * c4 + 5 * c5 * s) * s) * (s * s),
        (6 * c3 + (12 * c4 + 20 * c5 * s) * s) * s,
    )


MOST_CHOSEN = 256
"""Number of segments up to which they become expressions, with some four operations per
coefficient; beyond, tables are called.
"""


@dataclass(frozen=True)
class PiecewisePolynomial:
    """starts (m,) [s], increasing; coefficients (m, k, ...): of t - starts[i] from there to the
    next start. The first segment also applies before the first start.
    """

    starts: Array
    coefficients: Array

    def held(self, end: float) -> PiecewisePolynomial:
        """The same between the first start and end [s]; outside, the end values, at rest."""
        powers = (end - self.starts[-1]) ** np.arange(self.coefficients.shape[1])
        outside = np.zeros((2, *self.coefficients.shape[1:]))
        outside[0, 0] = self.coefficients[0, 0]
        outside[1, 0] = np.tensordot(powers, self.coefficients[-1], 1)
        starts = np.concatenate([self.starts[:1], self.starts, [end]])
        return PiecewisePolynomial(
            starts, np.concatenate([outside[:1], self.coefficients, outside[1:]])
        )

    def at(self, t: Any, derivatives: int = 0) -> list[Any]:
        """The value at t, and the first derivatives, as many as asked for. t is a number; a symbol,
        for which the segment is found by a decision tree, m - 1 choices per coefficient, or by
        calls of tables; or, for scalar values, an array of numbers. Of equal starts the last
        counts.
        """
        if np.ndim(t) or (len(self.starts) > MOST_CHOSEN and kind_of_scalar(t) is not float):
            start, coefficients = _called(t, self.starts, self.coefficients)
        elif kind_of_scalar(t) is float:
            k = max(int(np.searchsorted(self.starts, t, side="right")) - 1, 0)
            start, coefficients = self.starts[k], self.coefficients[k]
        else:
            start = _chosen(t, self.starts[1:], self.starts)
            coefficients = _chosen(t, self.starts[1:], self.coefficients)
        return [_polynomial(t - start, _derived(coefficients, d)) for d in range(derivatives + 1)]


def _chosen(t: Any, starts: Array, values: Array) -> Any:
    """values[k], where k is the number of starts not after t, as a decision tree."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return np.where(
        t >= float(starts[half - 1]),
        _chosen(t, starts[half:], values[half:]),
        _chosen(t, starts[: half - 1], values[:half]),
    )


def _called(t: Any, starts: Array, coefficients: Array) -> tuple[Any, Any]:
    """The start and the coefficients of the segment that contains t, from tables."""
    columns = coefficients.reshape(len(starts), -1).T
    start, *found = Intervals(starts).pick(t, starts, *columns)
    if coefficients.ndim == 2:
        return start, found
    return start, np.array(found).reshape(coefficients.shape[1:])


def _derived(coefficients: Any, times: int) -> list[Any]:
    """The coefficients of a derivative of a polynomial."""
    out = list(coefficients)
    for _ in range(times):
        out = [k * c for k, c in enumerate(out)][1:]
    return out or [0.0 * coefficients[0]]


def _polynomial(s: Any, coefficients: list[Any]) -> Any:
    value = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = value * s + c
    return value


# --- what goes through points ------------------------------------------------------------------


def linear(times: Array, points: Array) -> PiecewisePolynomial:
    """Linear interpolation of points (m, ...) at times (m,) [s]."""
    slopes = np.diff(points, axis=0) / _column(np.diff(times), points)
    return PiecewisePolynomial(times[:-1], np.stack([points[:-1], slopes], axis=1))


def cubic_spline(times: Array, points: Array, ends: str) -> PiecewisePolynomial:
    """The cubic spline with continuous acceleration through points (m, ...) at times (m,) [s].

    ends: 'clamped' for rest there (rate zero), 'natural' for zero acceleration, 'not-a-knot'.
    Source: de Boor (1978), chapter IV; SciPy's CubicSpline.
    """
    from scipy.interpolate import CubicSpline

    found = CubicSpline(times, points, bc_type=ends)
    return highest_first(times[:-1], found.c)


def highest_first(starts: Array, coefficients: Array) -> PiecewisePolynomial:
    """A piecewise polynomial of SciPy's coefficients (k, m, ...), of the highest power first."""
    return PiecewisePolynomial(starts, np.ascontiguousarray(coefficients[::-1].swapaxes(0, 1)))


def quintic_pieces(times: Array, points: Array, rates: Array) -> PiecewisePolynomial:
    """Polynomials of fifth order between points (m, ...) at times (m,) [s], with these rates
    and zero acceleration at each."""
    h = _column(np.diff(times), points)
    way, v0, v1 = np.diff(points, axis=0), rates[:-1] * h, rates[1:] * h
    c3, c4, c5 = quintic_coefficients(way, v0, v1)
    coefficients = [points[:-1], rates[:-1], np.zeros_like(way), c3 / h**3, c4 / h**4, c5 / h**5]
    return PiecewisePolynomial(times[:-1], np.stack(coefficients, axis=1))


def passing_rates(times: Array, points: Array) -> Array:
    """Rates (m, ...) at points: the mean of the slopes beside a point, or zero where they
    differ in sign, and at both ends. Source: Siciliano et al. (2009), sec. 4.2.2."""
    slopes = np.diff(points, axis=0) / _column(np.diff(times), points)
    rates = np.zeros_like(points)
    before, after = slopes[:-1], slopes[1:]
    rates[1:-1] = np.where(before * after > 0, (before + after) / 2, 0.0)
    return rates


def _column(values: Array, like: Array) -> Array:
    """Values along the first axis, to multiply an array with."""
    return values.reshape(-1, *([1] * (like.ndim - 1)))
