"""Motion through via points: its polynomial segments, and the shortest times within limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.base.curves.piecewise import (
    PiecewisePolynomial,
    cubic_spline,
    passing_rates,
    quintic_pieces,
)
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.reference_values import limit_of


def through(times: Array, points: Array, method: str, rates: Array | None) -> PiecewisePolynomial:
    """The segments of a motion through points, by a method of VIA_POINTS."""
    if method == "quintic":
        return quintic_pieces(
            times, points, passing_rates(times, points) if rates is None else rates
        )
    return cubic_spline(times, points, method)


def times_within(
    points: Array, velocity: Any, acceleration: Any, method: str, rates: Array | None, T: float
) -> Array:
    """The times (m,) [s] at the points for a motion within the limits."""
    if velocity is None:
        raise ValueError("VIA_POINTS needs times, or a limit: velocity")
    if rates is not None:
        raise ValueError("rates at the points need times")
    shape = points.shape[1:]
    fastest = limit_of(velocity, "velocity", shape)
    ways = (np.abs(np.diff(points, axis=0)) / fastest).reshape(len(points) - 1, -1).max(axis=1)
    if not ways.all():
        k = int(np.flatnonzero(ways == 0)[0])
        raise ValueError(f"points {k} and {k + 1} are the same; give times to wait there")
    times = np.concatenate([[0.0], np.cumsum(ways)])
    rate, bend = _largest(through(times, points, method, None), times)
    stretch = float(np.max(rate / fastest))
    if acceleration is not None:
        most = limit_of(acceleration, "acceleration", shape)
        stretch = max(stretch, float(np.sqrt(np.max(bend / most))))
    return T + stretch * times


def _largest(pieces: PiecewisePolynomial, times: Array) -> tuple[Array, Array]:
    """The largest rate and acceleration of each joint: at the ends of segments, or where the next
    derivative is zero within one.
    """
    largest = []
    for order in (1, 2):
        found = [np.zeros(pieces.coefficients.shape[2:])]
        for start, end, piece in zip(times[:-1], times[1:], pieces.coefficients, strict=True):
            flat = piece.reshape(len(piece), -1)
            peaks = [_peak(np.polynomial.Polynomial(c).deriv(order), end - start) for c in flat.T]
            found.append(np.reshape(peaks, piece.shape[1:]))
        largest.append(np.max(found, axis=0))
    return largest[0], largest[1]


def _peak(polynomial: Any, width: float) -> float:
    """The largest magnitude of a polynomial between 0 and width."""
    roots = polynomial.deriv().roots()
    inside = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real > 0) & (roots.real < width)]
    return float(np.abs(polynomial(np.concatenate([[0.0, width], inside]))).max())
