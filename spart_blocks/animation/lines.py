"""Vectors over time, as straight lines between as few rows as possible."""

from __future__ import annotations

import numpy as np

from spart_blocks.animation.body_curves import stretches
from spart_blocks.animation.interpolation import needed_lines
from spart_blocks.animation.packed import Floats, Packed, plain, steps

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
