"""Which values of a parameter its block accepts, where a program would take any number.

A program does not run the checks of a block's constructor. What a block accepts is taken to be an
interval for each element. A value with the sign of the diagram's own is not asked for: most limits
are at zero. Others are loaded with the diagram, the outermost first, so that a few loads do for any
number of runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Problem = Callable[[Any], str | None]
"""Why the diagram cannot be loaded with a value; None if it can."""


@dataclass(eq=False)
class _Side:
    """One side of the values of an element: the farthest that is accepted, the nearest that is
    not, and why."""

    good: float
    bad: float = np.inf
    why: str = ""


@dataclass(eq=False)
class Accepted:
    """The values that the diagram accepts for a path. nominal: its own. problem: of a value."""

    nominal: Floats
    problem: Problem
    _sides: dict[tuple[int, int], _Side] = field(default_factory=dict)
    _asks: bool | None = None

    def wrong(self, values: Floats) -> dict[int, str]:
        """Why values (n, ...) are not accepted, by row."""
        if values.shape[1:] not in ((), self.nominal.shape):
            return {}
        rows = values.reshape(len(values), -1)
        found: dict[int, str] = {}
        for element in range(rows.shape[1]):
            for sign in (1, -1):
                self._beyond(rows, element, sign, found)
        return found

    def _beyond(self, rows: Floats, element: int, sign: int, found: dict[int, str]) -> None:
        column = sign * rows[:, element]
        side = self._side(rows.shape[1], element, sign)
        asked = np.unique(column[(column > side.good) & (column < side.bad)])
        if len(asked) and self._can_ask():
            self._extend(side, asked, rows.shape[1], element, sign)
        for k in np.flatnonzero(column >= side.bad):
            found.setdefault(int(k), side.why)

    def _side(self, width: int, element: int, sign: int) -> _Side:
        key = (element if width > 1 else -1, sign)
        if key not in self._sides:
            own = sign * self.nominal.ravel()
            own = own[element : element + 1] if width > 1 else own
            free = bool(len(own)) and bool((own > 0).all())
            below = -5e-324 if bool(len(own)) and bool((own < 0).all()) else float(own.min())
            self._sides[key] = _Side(np.inf if free else below)
        return self._sides[key]

    def _can_ask(self) -> bool:
        """Whether the diagram can be loaded with its own value written in place."""
        if self._asks is None:
            self._asks = self.problem(self.nominal.tolist()) is None
        return self._asks

    def _extend(self, side: _Side, asked: Floats, width: int, element: int, sign: int) -> None:
        """Find how many of the values asked for, in rising order, are accepted."""
        low, high = -1, len(asked)  # accepted up to low, not from high on
        k = high - 1
        while high - low > 1:
            why = self.problem(self._with(sign * float(asked[k]), width, element))
            if why is None:
                low = k
            else:
                high, side.why = k, why
            k = (low + high) // 2
        if low >= 0:
            side.good = float(asked[low])
        if high < len(asked):
            side.bad = float(asked[high])

    def _with(self, value: float, width: int, element: int) -> Any:
        """The diagram's value with a number in place of one, or of all."""
        if width == 1:
            return np.full(self.nominal.shape, value).tolist() if self.nominal.size == 1 else value
        flat = self.nominal.ravel().copy()
        flat[element] = value
        return flat.reshape(self.nominal.shape).tolist()
