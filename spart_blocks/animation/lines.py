"""Vectors over time, as straight lines between as few rows as they need."""

from __future__ import annotations

import numpy as np

from spart_blocks.animation.body_curves import stretches
from spart_blocks.animation.interpolation import needed_lines
from spart_blocks.animation.packed import Floats, Packed, plain, steps

PART = 1e-3
"""Largest deviation of the lines of one signal, as a part of its range; half of it from rows that
are left out, half from rounding and from the record."""
MOST_ROWS = 100_000
"""Of one signal; more are left out, evenly."""


def packed_lines(t: Floats, v: Floats, tick: float) -> dict[str, Packed]:
    """The rows t (k,), v (k, m) of a signal v (N, m) at times t (N,) [s]."""
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
