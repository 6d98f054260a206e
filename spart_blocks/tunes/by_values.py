"""A search for a design by values alone, where there are no derivatives.

Source: T. M. Ragonneau, Z. Zhang, "COBYQA: a derivative-free trust-region SQP method for general
constrained optimization" (2022), as SciPy has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import NonlinearConstraint, minimize

from spart_blocks.gradients.tangents import Floats
from spart_blocks.tunes.demands import TIGHTER, Demands

CLOSE = 1e-6
"""Last radius of the trust region."""


class Judge:
    """The objective and the excesses of designs x (n,), each of about unit size.

    numbers: those of a design (r,); NaN where it has none: it counts as twice as bad as any.
    """

    def __init__(self, demands: Demands, numbers: Callable[[Floats], Floats]) -> None:
        self.demands, self.numbers = demands, numbers
        self._worst, self._excess = demands.size, 1.0
        self._known: dict[bytes, tuple[float, Floats]] = {}

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """The objective, and the excess (d,) of each demand, not above 0 where it holds; without an
        objective, the largest excess instead."""
        key = x.tobytes()
        if key not in self._known:
            self._known[key] = self._judged(self.numbers(x))
        return self._known[key]

    def _judged(self, numbers: Floats) -> tuple[float, Floats]:
        asked = self.demands
        if np.isfinite(numbers).all():
            objective = float(asked.objective(numbers))
            excess = np.array([one.over_cases(numbers) for one in asked.demands])
            self._worst = max(self._worst, abs(objective))
            self._excess = max(self._excess, float(excess.max(initial=0.0)))
        else:
            objective = 2 * self._worst
            excess = np.full(len(asked.demands), 2 * self._excess)
        if not len(asked.weights):
            return float(excess.max()), excess[:0]
        return objective / asked.size, excess + TIGHTER


def search_by_values(
    judge: Judge, x: Floats, bounds: tuple[Floats, Floats], radius: float, most: int
) -> bool:
    """Search from x (n,). bounds: of x, each (n,). radius: first of the trust region. most:
    designs. Returns whether the search has ended by itself.
    """
    asked = len(judge.demands.weights) > 0 and len(judge.demands.demands) > 0
    rows = [NonlinearConstraint(lambda x: judge(x)[1], -np.inf, 0.0)] if asked else []
    end: Any = minimize(
        lambda x: judge(x)[0], x, method="COBYQA", constraints=rows,
        bounds=np.column_stack(bounds),
        options={"maxfev": most, "initial_tr_radius": radius, "final_tr_radius": CLOSE},
    )  # fmt: skip
    return bool(end.nfev < most)
