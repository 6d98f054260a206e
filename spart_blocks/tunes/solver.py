"""Makes the largest of some functions small under constraints, with derivatives.

The largest of a group of functions is made small in epigraph form: a further variable s is made
small under f_i <= s, so that derivatives stay exact where two functions are the largest. The search
is SciPy's SLSQP, sequential quadratic programming. Source: D. Kraft, "A software package for
sequential quadratic programming", DFVLR-FB 88-28 (1988).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize

from spart_blocks.gradients.tangents import Floats
from spart_blocks.tunes.demands import Linear

FAR = 1e6
"""The size, in units of what is asked, of all that is asked at a point that has no numbers: the
line search steps back from it."""
LEAST_FALL = 1e-9
"""A search ends where the objective changes by less, in units of its size."""
_LIMIT = 9
"""SLSQP's status at its largest number of steps."""

Numbers = Callable[[Floats], "tuple[Floats, Floats] | None"]
"""The numbers M (r,) at a point x (n,), and their derivatives (r, n); None if there are none."""


@dataclass
class Solver:
    """One search. low, high (n,): bounds of x. more: the number of variables s besides."""

    linear: Linear
    numbers: Numbers
    low: Floats
    high: Floats
    iterations: int
    more: int = field(default=0, init=False)
    n: int = field(default=0, init=False)
    _at: Floats | None = field(default=None, init=False)
    _found: tuple[Floats, Floats] | None = field(default=None, init=False)
    _last: tuple[Floats, Floats] | None = field(default=None, init=False)

    def run(self, x: Floats) -> str | None:
        """Search from x. Returns why the search has not ended by itself, None if it has."""
        asked, self.n = self.linear, len(x)
        first = self._numbers(x)
        if first is None:
            return "the search cannot begin where there are no numbers"
        alone = len(asked.A) == 1 and np.isneginf(asked.floors).all()
        self.more = 0 if alone else len(asked.floors)
        bounds = list(zip(self.low, self.high, strict=True))
        start = x
        if self.more:
            heights = asked.A @ first[0]
            tops = [heights[asked.group == g].max() for g in range(self.more)]
            start = np.concatenate([x, np.maximum(tops, asked.floors)])
            bounds += [(floor, np.inf) for floor in asked.floors]
        constraints = []
        if self.more or len(asked.B):
            constraints.append({"type": "ineq", "fun": self._slack, "jac": self._slack_slopes})
        if len(asked.C):
            constraints.append({"type": "eq", "fun": self._off, "jac": self._off_slopes})
        options = {"maxiter": self.iterations, "ftol": LEAST_FALL}
        end: Any = minimize(
            self._objective, start, jac=self._objective_slopes, bounds=bounds,
            constraints=constraints, method="SLSQP", options=options,
        )  # fmt: skip
        if end.status == _LIMIT:
            return f"no end after {self.iterations} steps"
        return None

    def _numbers(self, x: Floats) -> tuple[Floats, Floats] | None:
        """Those at a point, kept for the next call."""
        if self._at is None or not np.array_equal(self._at, x):
            self._at, self._found = x.copy(), self.numbers(x)
            if self._found is not None:
                self._last = self._found
        return self._found

    def _slopes(self, x: Floats) -> Floats:
        """The derivatives at a point; those of the last that has any, where there are none."""
        found = self._numbers(x[: self.n]) or self._last
        assert found is not None
        return found[1]

    def _objective(self, x: Floats) -> float:
        if self.more:
            return float(x[self.n :].sum())
        found = self._numbers(x)
        return FAR if found is None else float(self.linear.A[0] @ found[0])

    def _objective_slopes(self, x: Floats) -> Floats:
        if self.more:
            return np.where(np.arange(len(x)) < self.n, 0.0, 1.0)
        return np.asarray(self.linear.A[0] @ self._slopes(x))

    def _slack(self, x: Floats) -> Floats:
        found, asked = self._numbers(x[: self.n]), self.linear
        if found is None:
            return np.full((len(asked.A) if self.more else 0) + len(asked.B), -FAR)
        slack = asked.b - asked.B @ found[0]
        if not self.more:
            return np.asarray(slack)
        return np.concatenate([x[self.n + asked.group] - asked.A @ found[0], slack])

    def _slack_slopes(self, x: Floats) -> Floats:
        slopes, asked = self._slopes(x), self.linear
        below = self._wide(-asked.B @ slopes)
        if not self.more:
            return below
        ones = np.eye(self.more)[asked.group]
        return np.concatenate([np.column_stack([-asked.A @ slopes, ones]), below])

    def _off(self, x: Floats) -> Floats:
        found = self._numbers(x[: self.n])
        if found is None:
            return np.full(len(self.linear.C), FAR)
        return np.asarray(self.linear.C @ found[0] - self.linear.c)

    def _off_slopes(self, x: Floats) -> Floats:
        return self._wide(self.linear.C @ self._slopes(x))

    def _wide(self, rows: Floats) -> Floats:
        """Rows of derivatives with a column for each s."""
        return np.column_stack([rows, np.zeros((len(rows), self.more))])
