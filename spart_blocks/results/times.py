"""Interpolation of recorded arrays at other times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class RowInterpolation:
    """Linear interpolation between rows: before, after (m,) are the rows on both sides of each
    time, and share (m,) is its relative position between them.
    """

    before: Array
    after: Array
    share: Array

    @staticmethod
    def between(t: Array, wanted: Array) -> RowInterpolation:
        """The interpolation from rows at t (N,), which increase, to times wanted (m,) within
        them."""
        before = np.searchsorted(t, wanted, side="right") - 1
        after = np.minimum(before + 1, len(t) - 1)
        length, reached = t[after] - t[before], wanted - t[before]
        share = np.divide(reached, length, out=np.zeros_like(wanted), where=length > 0)
        return RowInterpolation(before, after, share)

    def __call__(self, array: Array) -> Array:
        """An array (N, ...) interpolated at the wanted times, (m, ...)."""
        part = self.share.reshape(-1, *(1 for _ in array.shape[1:]))
        return np.asarray((1 - part) * array[self.before] + part * array[self.after])


@dataclass(frozen=True, eq=False)
class Moved:
    """Computes signals that were not kept for results at other times: from the original run, by
    interpolation.

    find: returns a signal of that run; None if there is none. computable: returns the names of
    the signals that it can compute.
    """

    find: Callable[[str], Array | None]
    computable: Callable[[], tuple[str, ...]]
    lines: RowInterpolation

    def __call__(self, name: str) -> Array:
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return self.lines(found)

    @property
    def names(self) -> tuple[str, ...]:
        """The signals that can be computed."""
        return self.computable()

    def portable(self, t: Array, states: object) -> Moved:
        """The replacement of this object in a pickle: itself, with the original run."""
        return self
