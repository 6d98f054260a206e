"""How far straight lines through the rows of a run are from a finer run."""

from __future__ import annotations

import numpy as np


def stray(coarse, fine, name):
    """At each time of the finer run, as a part of each element's range."""
    t = fine.t[(fine.t > coarse.t[0]) & (fine.t < coarse.t[-1])]
    want = fine[name].reshape(len(fine.t), -1)[np.searchsorted(fine.t, t)]
    rows = coarse[name].reshape(len(coarse.t), -1)
    after = np.searchsorted(coarse.t, t, side="right")
    t0, t1 = coarse.t[after - 1], coarse.t[after]
    share = ((t - t0) / (t1 - t0))[:, None]
    line = (1 - share) * rows[after - 1] + share * rows[after]
    extent = np.ptp(want, axis=0)
    return (np.abs(line - want) - 1e-8 * np.abs(want).max() - 1e-9) / np.maximum(extent, 1e-300)
