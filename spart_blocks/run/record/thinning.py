"""Thins a long record evenly: of each stretch of time it keeps the rows at which a number has its
least and its greatest value.

These are true rows of the run, all numbers of one time, so that what is computed from the states of
a row, or drawn against another signal, remains right. Stretches are equal parts of the run, and
twice as long whenever the record is full again. The extremes of a stretch are among those of its
halves, so the result is the same as if all rows were thinned at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.rows import extreme_rows

Floats = NDArray[np.float64]

MOST_NUMBERS = 10_000_000
"""The size of a record [numbers] beyond which it is thinned."""
LEAST_STRETCHES = 200
"""A thinned record is divided into at least this number of stretches, however wide its rows are."""


@dataclass(frozen=True, eq=False)
class Bound:
    """The bound of a record. start [s]: of the run; length [s]: of the whole run. marks: times (m,)
    [s] whose rows are always kept.
    """

    start: float
    length: float
    marks: Floats = field(default_factory=lambda: np.zeros(0))

    def stretch_for(self, until: float, width: int, looked: int) -> float:
        """The length of the stretches [s] when a record is full at the time `until` for the first
        time. It is the run's length divided by a power of two. width: numbers in a row; looked:
        those whose extremes are kept.
        """
        rows = min(2 * looked, most_rows(width))
        stretches = max(MOST_NUMBERS // 2 // max(rows * width, 1), LEAST_STRETCHES)
        shortest = (until - self.start) / stretches
        halvings = max(math.floor(math.log2(self.length / shortest)), 0)
        return math.ldexp(self.length, -halvings)

    def kept(self, t: Floats, values: Iterable[Floats], width: int, stretch: float) -> Any:
        """Which of N rows are kept (N,). t (N,) [s]; values: of each number that is looked at,
        (N,). The last row, at which the record continues, and the first of the run always are.
        """
        numbers = np.floor((t - self.start) / stretch).astype(np.int64)
        kept = extreme_rows(numbers, values, most_rows(width))
        kept |= np.isin(t, self.marks)
        kept[-1] = True
        kept[0] |= t[0] <= self.start
        return kept

    def last_stretch(self, t: Floats, stretch: float) -> int:
        """The number of rows before the last stretch, which may not be complete."""
        numbers = np.floor((t - self.start) / stretch)
        return int(np.searchsorted(numbers, numbers[-1]))


def most_rows(width: int) -> int:
    """The largest number of rows of a stretch. width: numbers in a row."""
    return max(2, MOST_NUMBERS // 2 // (LEAST_STRETCHES * max(width, 1)))
