"""Which values of a parameter its block accepts. A program itself takes any number, since it does
not run the checks of a block's constructor.

The accepted values of each element are assumed to form an interval. A value with the sign of the
diagram's own value is accepted without a check, as most limits are at zero. For the others the
diagram is loaded with the value, and a bisection from the outermost one finds the limit, so that a
few loads suffice for any number of runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Problem = Callable[[Any], str | None]
"""A function that returns why the diagram cannot be loaded with a value; None if it can."""


@dataclass(eq=False)
class _Side:
    """What is known of an element's values in one direction: the farthest accepted value, the
    nearest refused one, and the reason.
    """

    good: float
    bad: float = np.inf
    why: str = ""


@dataclass(eq=False)
class Accepted:
    """The values of a path that the diagram accepts. nominal: the diagram's own value. problem:
    checks a value.
    """

    nominal: Floats
    problem: Problem
    _sides: dict[tuple[int, int], _Side] = field(default_factory=dict)
    _asks: bool | None = None

    def wrong(self, values: Floats) -> dict[int, str]:
        """For each row of values (n, ...) that is not accepted, the reason."""
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
        """Whether the diagram can be loaded with its own value as an override; otherwise values
        cannot be checked.
        """
        if self._asks is None:
            self._asks = self.problem(self.nominal.tolist()) is None
        return self._asks

    def _extend(self, side: _Side, asked: Floats, width: int, element: int, sign: int) -> None:
        """Find by bisection which of the values `asked`, in rising order, are accepted."""
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
        """The nominal value with one element, or with all, replaced by a number."""
        if width == 1:
            return np.full(self.nominal.shape, value).tolist() if self.nominal.size == 1 else value
        flat = self.nominal.ravel().copy()
        flat[element] = value
        return flat.reshape(self.nominal.shape).tolist()
