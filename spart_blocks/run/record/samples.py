"""The times k * every at which a run keeps samples; each is passed once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from spart_blocks.diagram.network.clocks import Floats, grid

_ROUNDED = 4
"""Largest rounding error of n * (T / n), in units in the last place of T."""


class Samples:
    """The grid of sample times k * every, each of which is passed once.

    A time that differs from the start or end of the run by rounding only counts as equal to it: a
    multiple of the rounded interval T / 300 may end just before T.
    """

    def __init__(self, start: Fraction, every: Fraction, end: Fraction) -> None:
        self.every, self.end = every, end
        self.k = -(-start // every)  # the first grid time at or after start
        self.passed_over: set[int] = {k for t in (start, end) for k in self._beside(t)}
        self._skip()

    def _beside(self, t: Fraction) -> list[int]:
        """The index k of the grid time that equals t up to rounding, in a list; empty if it is
        exact or there is none.
        """
        k = round(t / self.every)
        away = abs(k * self.every - t)
        hair = _ROUNDED * Fraction(float(np.spacing(float(t))))
        return [k] if 0 < away <= min(hair, self.every / 4) else []

    def _skip(self) -> None:
        while self.k in self.passed_over:
            self.k += 1

    def due_at(self, t: Fraction) -> bool:
        return self.k * self.every == t

    def pass_by(self, t: Fraction) -> None:
        self.k = t // self.every + 1
        self._skip()

    def before(self, b: Fraction) -> list[Fraction]:
        """The grid times below b that were not passed yet; they are passed by this call."""
        times = []
        while self.k * self.every < b:
            times.append(self.k * self.every)
            self.k += 1
            self._skip()
        return times

    def within(self, a: Fraction, b: Fraction) -> list[Fraction]:
        """All grid times between a and b, whether passed or not."""
        first, last = a // self.every + 1, -(-b // self.every)
        return [k * self.every for k in range(first, last) if k not in self.passed_over]

    def ahead(self) -> Floats:
        """The grid times not yet passed, up to the end of the run [s]."""
        times = grid(Fraction(0), self.every, self.k, self.end)
        beside = [k - self.k for k in self.passed_over if 0 <= k - self.k < len(times)]
        return np.delete(times, beside)
