"""Runge-Kutta steps without error control, explicit or linearly implicit, with the interface of
SciPy's solvers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import OdeSolver

from spart_blocks.base.tableaus import Tableau
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.solvers.steps import (
    Derivatives,
    OwnSteps,
    Rates,
    Trial,
    dense,
    equal_length,
    is_last,
    linear_over,
    try_,
    up_to,
)


class FixedStep(OdeSolver):  # type: ignore[misc]
    """A Runge-Kutta method without error control, with the interface of SciPy's solvers. Steps are
    equal within an interval and at most `step` [s] long.

    derivatives: (t, x) -> df/dx (n,n) and df/dt (n,), for a linearly implicit method.
    """

    t: float
    y: Floats
    t_bound: float

    def __init__(
        self,
        rates: Rates,
        t0: float,
        x0: Floats,
        t1: float,
        method: Tableau,
        step: float,
        own_steps: OwnSteps | None = None,
        derivatives: Callable[[float, Floats], Derivatives] | None = None,
    ) -> None:
        super().__init__(rates, t0, x0, t1, vectorized=False)
        self.method, self.step_limit, self.own_steps = method, step, own_steps
        self.derivatives = derivatives if method.implicit is not None else None
        self._linear: Derivatives | None = None
        """The derivatives at the start of the last step."""
        self.slope: Floats = self.fun(t0, self.y)
        self.stage: Floats = self.y
        """The state of the last stage."""

    def _step_impl(self) -> tuple[bool, str | None]:
        left = self.t_bound - self.t
        h = equal_length(left, self.step_limit)
        t = self.t_bound if is_last(h, left) else self.t + h
        if self.derivatives is not None:
            self._linear = self.derivatives(self.t, self.y)
        x, _, stage = self._tried(self.t, self.y, self.slope, h)
        slope = self.fun(t, x)
        if not np.isfinite(x).all() or not np.isfinite(slope).all():
            return False, "a step gives no finite number"
        self._ends = (np.array([self.t, t]), [self.y, x], [self.slope, slope])
        self.t, self.y, self.slope, self.stage = t, x, slope, stage
        return True, None

    def _tried(self, t: float, x: Floats, slope: Floats, h: float) -> Trial:
        linear = linear_over(self.method, self._linear, h)
        return try_(self.method, self.fun, t, x, slope, h, self.own_steps, linear)

    def tried(self, t: float) -> Trial:
        """The last step repeated so that it ends at t. No stage is after t, where the equations
        may have changed.
        """
        (start, _), (x, _), (slope, _) = self._ends
        return self._tried(start, x, slope, t - start)

    def at(self, t: float) -> Floats:
        """The state at t within the last step, computed by a shorter step."""
        return self.tried(t).x

    def move(self, x: Floats) -> None:
        """Set the state from which the next step starts."""
        self.y, self.slope = x, self.fun(self.t, x)

    def shorten(self, t: float, crossed: Callable[[Floats], bool]) -> None:
        """Make the last step end at t, just after a crossing. crossed: whether a state at t is
        beyond the crossing.
        """
        (start, _), (x, _), (slope, _) = self._ends
        h = t - start
        self.t = t
        how = (self.own_steps, self._linear)
        self.y, self.slope = up_to(self.method, self.fun, start, x, slope, h, *how)
        if not crossed(self.y):
            self.y = self.at(t)
            self.slope = self.fun(t, self.y)
        self._ends = (np.array([start, t]), [x, self.y], [slope, self.slope])

    def _dense_output_impl(self) -> Any:
        (start, end), (x, after), (slope, last) = self._ends
        h = end - start
        return lambda t: dense(self.method, x, [slope], after, last, h, (t - start) / h)
