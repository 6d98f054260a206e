"""Linearly implicit steps with error control, with the interface of SciPy's solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import OdeSolver

from spart_blocks.base.tableaus import Tableau
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.solvers.steps import (
    Derivatives,
    Linear,
    Rates,
    dense,
    error,
    error_within,
    first_step,
    is_last,
    next_length,
    try_,
)

NO_STEP = "Required step size is less than spacing between numbers."
"""As SciPy's solvers say it."""


class LinearlyImplicit(OdeSolver):  # type: ignore[misc]
    """A linearly implicit method with error control, in Python: the reference of sb_trial.h.

    derivatives: (t, x) -> df/dx (n,n) and df/dt (n,). given_up: called when a trial step was not
    accurate, before the next one.
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
        derivatives: Callable[[float, Floats], Derivatives],
        given_up: Callable[[], None],
        *,
        rtol: float,
        atol: float,
        max_step: float = np.inf,
        first_step: float | None = None,
    ) -> None:
        super().__init__(rates, t0, x0, t1, vectorized=False)
        self.method, self.derivatives, self.given_up = method, derivatives, given_up
        self.rtol, self.atol, self.max_step = rtol, atol, max_step
        self.f: Floats = self.fun(t0, self.y)
        self.h_abs = first_step or self._first_step()

    def _first_step(self) -> float:
        left = self.t_bound - self.t
        return first_step(self.method, self.fun, self.t, self.y, self.f, left, self._error_of)

    def _error_of(self, sizes: Floats) -> Floats:
        return self.atol + self.rtol * sizes

    def _step_impl(self) -> tuple[bool, str | None]:
        t, x, left = self.t, self.y, self.t_bound - self.t
        derivatives = self.derivatives(t, x)
        while True:
            allowed = min(self.h_abs, self.max_step)
            last = is_last(allowed, left)
            h = left if last else allowed
            if not last and h < 10 * np.spacing(t):
                return False, NO_STEP
            linear = Linear(self.method, derivatives, h)
            trial = try_(self.method, self.fun, t, x, self.f, h, linear=linear)
            wrong = error(self.method, x, trial, h, self._error_of)
            if wrong < 1:
                rest = (self.fun, t, x, trial, linear, self._error_of)
                wrong = float(np.maximum(wrong, error_within(self.method, *rest)))
            pace = next_length(self.method, h, wrong)
            if wrong < 1:
                break
            self.h_abs = pace
            if last and pace < 10 * np.spacing(t):
                return False, NO_STEP
            self.given_up()
        if not last or pace > self.h_abs:  # one cut short says little
            self.h_abs = pace
        self._ends = (t, h, x, trial)
        self.t, self.y, self.f = self.t_bound if last else t + h, trial.x, trial.slopes[-1]
        return True, None

    def _dense_output_impl(self) -> Any:
        method, (start, h, x, trial) = self.method, self._ends
        last = trial.slopes[-1]
        return lambda t: dense(method, x, trial.slopes, trial.x, last, h, (t - start) / h)
