"""Interpolation of poses as in the viewer, and selection of the rows that it needs.

The error of a pose is an estimate for the points of its body: the distance [m] of the positions,
plus the angle [rad] between the rotations times the body's lever [m], which is about its size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.animation.body_curves import stretches
from spart_blocks.animation.packed import Floats, Packed, plain, steps

LEAST_DOT = 0.75
"""Least dot product of the quaternions of adjacent rows, for a rotation of less than a quarter turn
between them."""
_LINEAR = 0.9995  # above this dot product the slerp's weights are linear
_PARTS = 64


def between(p: Floats, q: Floats, k: Any, s: Floats) -> tuple[Floats, Floats]:
    """The positions (m, ..., 3) and quaternions (m, ..., 4) between rows k and k + 1 (m,) of p (N,
    ..., 3) and q (N, ..., 4). s (m,): fraction of each interval, 0 to 1."""
    s = s.reshape(-1, *[1] * (p.ndim - 1))
    found = (1 - s) * p[k] + s * p[k + 1]
    a, b = q[k], q[k + 1]
    dot = np.sum(a * b, axis=-1, keepdims=True)
    b = np.where(dot < 0, -b, b)
    dot = np.minimum(np.abs(dot), 1.0)
    angle = np.arccos(np.minimum(dot, _LINEAR))
    sine = np.sin(angle)
    near = dot > _LINEAR
    first = np.where(near, 1 - s, np.sin((1 - s) * angle) / sine)
    second = np.where(near, s, np.sin(s * angle) / sine)
    turned = first * a + second * b
    return found, turned / np.linalg.norm(turned, axis=-1, keepdims=True)


def pose_errors(p: Floats, q: Floats, p2: Floats, q2: Floats, lever: Any) -> Floats:
    """The errors (m, ...) [m] if poses p, q are replaced by p2, q2. lever: of each body [m]."""
    dot = np.sum(q * q2, axis=-1, keepdims=True)
    chord = np.linalg.norm(q - np.where(dot < 0, -q2, q2), axis=-1)
    found: Floats = np.linalg.norm(p - p2, axis=-1) + 2 * lever * chord
    return found


def needed(t: Floats, p: Floats, q: Floats, lever: float, tolerance: float) -> NDArray[np.bool_]:
    """Which of the samples t (N,), p (N, 3), q (N, 4) the track of a body needs, as a mask (N,).
    Interpolation between them gives the others within the tolerance [m]."""

    def worst(rows: Any) -> Floats:
        at, k, s = _inner(t, rows)
        errors = pose_errors(p[at], q[at], *between(p[rows], q[rows], k, s), lever) / tolerance
        turned = np.abs(np.sum(q[rows[:-1]] * q[rows[1:]], axis=1)) < LEAST_DOT
        largest = np.maximum.reduceat(errors, rows[:-1] - rows[0])
        found: Floats = np.maximum(largest, 4.0 * turned)
        return found

    return _chosen(t, worst)


def needed_lines(t: Floats, v: Floats, tolerance: Floats) -> NDArray[np.bool_]:
    """Which of the samples t (N,), v (N, m) linear interpolation needs, as a mask (N,). tolerance
    (m,): of each column."""

    def worst(rows: Any) -> Floats:
        at, k, s = _inner(t, rows)
        line = v[rows[k]] + s[:, None] * (v[rows[k + 1]] - v[rows[k]])
        errors = (np.abs(v[at] - line) / tolerance).max(axis=1, initial=0.0)
        found: Floats = np.maximum.reduceat(errors, rows[:-1] - rows[0])
        return found

    return _chosen(t, worst)


def _inner(t: Floats, rows: Any) -> tuple[Any, Any, Floats]:
    """For each sample but the last: its index, the index of the interval of rows that contains it,
    and its fraction of the interval."""
    at = np.arange(rows[0], rows[-1])
    k = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
    a, b = t[rows[k]], t[rows[k + 1]]
    return at, k, (t[at] - a) / (b - a)


def _chosen(t: Floats, worst: Callable[[Any], Floats]) -> NDArray[np.bool_]:
    """A mask of the samples that are needed. worst: for rows (k,), the largest error in each
    interval (k - 1,), relative to the tolerance. Intervals are divided by the square root of their
    error, as for a parabola; then superfluous rows are dropped."""
    keep = np.ones(len(t), dtype=bool)
    if len(t) < 3:
        return keep
    keep[1:-1] = False
    while True:
        rows = np.flatnonzero(keep)
        parts = np.clip(np.ceil(np.sqrt(worst(rows))), 1, _PARTS).astype(int)
        split = (parts > 1) & (np.diff(rows) > 1)
        if not split.any():
            break
        for a, b, n in zip(rows[:-1][split], rows[1:][split], parts[split], strict=True):
            times = np.linspace(t[a], t[b], n + 1)[1:-1]
            keep[np.clip(np.searchsorted(t, times), a + 1, b - 1)] = True
    for first in (1, 2, 1, 2):
        tried = np.flatnonzero(keep)[first:-1:2]
        if len(tried):
            keep[tried] = False
            left = np.flatnonzero(keep)
            bad = worst(left) > 1
            keep[tried[bad[np.searchsorted(left, tried) - 1]]] = True
    return keep


# --- Vectors over time ----------------------------------------------------------------------------


PART = 1e-3
"""Largest deviation of the lines of a signal, relative to its range: half for omitted rows, half
for rounding and the record."""
MOST_ROWS = 100_000
"""Largest number of rows of one signal; of more, evenly spaced ones are kept."""


def packed_lines(t: Floats, v: Floats, tick: float) -> dict[str, Packed]:
    """A signal v (N, m) at times t (N,) [s] as packed rows t (k,), v (k, m). tick: step of times
    [s]."""
    range_ = np.ptp(v, axis=0)
    largest = float(range_.max(initial=0.0))
    if not largest > 0:
        return {"t": plain(t[:1]), "v": plain(v[:1])}
    tolerance = np.maximum(PART / 2 * range_, 1e-9 * largest)
    times, rows = [], []
    for part in stretches(t):
        keep = needed_lines(t[part], v[part], tolerance)
        times.append(t[part][keep])
        rows.append(v[part][keep])
    t, v = np.concatenate(times), np.concatenate(rows)
    if len(t) > MOST_ROWS:
        some = np.linspace(0, len(t) - 1, MOST_ROWS).astype(int)
        t, v = t[some], v[some]
    least = float(range_[range_ > 0].min())
    return {"t": steps(t, tick), "v": steps(v, max(PART / 4 * least, 1e-9 * largest))}
