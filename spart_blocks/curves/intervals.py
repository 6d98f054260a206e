"""Which interval a number is in, by np.interp alone, which runs on numbers and on symbols."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]

_SMALLEST_GAP = 1e-200
"""Between the two points of a jump at zero, so that slopes across it can be computed."""
_FEW = 128
"""Intervals up to which each quantity is chosen by itself; beyond, a piece is searched once."""


@dataclass(frozen=True)
class Intervals:
    """Intervals of a line: starts (n,), which rise. What is below the first start belongs to
    the first interval."""

    starts: Floats

    @cached_property
    def _points(self) -> Floats:
        """The starts but the first, each after the number before it."""
        later = self.starts[1:]
        before = np.minimum(np.nextafter(later, -np.inf), later - _SMALLEST_GAP)
        return np.column_stack([before, later]).ravel()

    def _held(self, u: Any, values: Floats) -> Any:
        if len(values) == 1:
            return 0.0 * u + values[0]
        return np.interp(u, self._points, np.repeat(values, 2)[1:-1])

    def pick(self, u: Any, *values: Floats) -> list[Any]:
        """The entries of each of some arrays (n,) for the interval that holds u."""
        if len(self.starts) <= _FEW:
            return [self._held(u, value) for value in values]
        return self.numbered(self._held(u, self._numbers), *values)

    def numbered(self, index: Any, *values: Floats) -> list[Any]:
        """The same for the interval of this number, a whole one."""
        if len(self.starts) <= _FEW:
            halves = Intervals(self._numbers - 0.5)
            return [halves._held(index, value) for value in values]
        return [np.interp(index, self._numbers, value) for value in values]

    @cached_property
    def _numbers(self) -> Floats:
        return np.arange(len(self.starts), dtype=float)
