"""Histograms of durations as the loop counts them: bins, 64 per octave."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from spart_blocks.realtime.structs import BINS, HistogramStruct

NANO = 1e-9


@cache
def edges() -> NDArray[np.float64]:
    """The lower edges of the bins, and the upper edge of the last [s]: (BINS + 1,)."""
    starts = [b if b < 64 else (64 + b % 64) << (b // 64 - 1) for b in range(BINS + 1)]
    return np.array(starts, dtype=float) * NANO


@dataclass(frozen=True)
class Durations:
    """A histogram of durations. counts (BINS,): number of durations in each bin. longest: the
    longest duration [s].
    """

    counts: NDArray[np.int64]
    longest: float

    @staticmethod
    def of(struct: HistogramStruct) -> Durations:
        return Durations(np.array(struct.bins, dtype=np.int64), struct.max * NANO)

    @property
    def count(self) -> int:
        return int(self.counts.sum())

    def percentile(self, percent: float) -> float:
        """Percentile of the durations [s], within 1.6 %.

        NaN if there are none.
        """
        total = self.count
        if not total:
            return math.nan
        rank = max(1, math.ceil(total * percent / 100))
        bin_ = int(np.searchsorted(np.cumsum(self.counts), rank))
        return min(float(edges()[bin_ + 1]), self.longest)

    def together(self, other: Durations) -> Durations:
        """The durations of both, in one histogram."""
        return Durations(self.counts + other.counts, max(self.longest, other.longest))

    def between(self, low: float, high: float) -> int:
        """Number of durations in the bins whose lower edge is in [low, high) [s]."""
        starts = edges()[:-1]
        return int(self.counts[(starts >= low) & (starts < high)].sum())

    def rows(self) -> list[tuple[float, float, int]]:
        """(lower edge [s], upper edge [s], count) of each bin that is not empty."""
        bounds = edges()
        found = np.flatnonzero(self.counts).tolist()
        return [(float(bounds[b]), float(bounds[b + 1]), int(self.counts[b])) for b in found]
