"""Search of the interval that contains a number, with np.interp, which works on numbers and on
symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]

_SMALLEST_GAP = 1e-200
"""Distance between the two points of a jump at zero, so that slopes across it are finite."""
_FEW = 128
"""Number of intervals up to which each quantity is selected separately; beyond, the interval is
searched once.
"""


@dataclass(frozen=True)
class Intervals:
    """Intervals of the real line: starts (n,), increasing. Values below the first start belong
    to the first interval.
    """

    starts: Floats

    @cached_property
    def _points(self) -> Floats:
        """The starts except the first, each preceded by the next lower float."""
        later = self.starts[1:]
        before = np.minimum(np.nextafter(later, -np.inf), later - _SMALLEST_GAP)
        return np.column_stack([before, later]).ravel()

    def _held(self, u: Any, values: Floats) -> Any:
        if len(values) == 1:
            return 0.0 * u + values[0]
        return np.interp(u, self._points, np.repeat(values, 2)[1:-1])

    def pick(self, u: Any, *values: Floats) -> list[Any]:
        """The entries of arrays (n,) for the interval that contains u."""
        if len(self.starts) <= _FEW:
            return [self._held(u, value) for value in values]
        return self.numbered(self._held(u, self._numbers), *values)

    def numbered(self, index: Any, *values: Floats) -> list[Any]:
        """The same for the interval of this index."""
        if len(self.starts) <= _FEW:
            halves = Intervals(self._numbers - 0.5)
            return [halves._held(index, value) for value in values]
        return [np.interp(index, self._numbers, value) for value in values]

    @cached_property
    def _numbers(self) -> Floats:
        return np.arange(len(self.starts), dtype=float)
