"""Explicit Runge-Kutta steps without error control, in the frame of SciPy's solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import OdeSolver
from scipy.interpolate import CubicHermiteSpline

from spart_blocks.simulation.engine import Floats
from spart_blocks.tableaus import Tableau

BEFORE, PART = 5e-11, 1e-3
"""How far before a located crossing the stages lie, in seconds and as a part of the step:
further than the crossing, or a stage, may be off."""


class FixedStep(OdeSolver):  # type: ignore[misc]
    """A tableau without error control, in the frame of SciPy's solvers. Steps are equal
    within an interval and at most `step` [s] long. advance (t, h, x, x_next): the entries
    of x_next that have a one-step map of their own are put into it."""

    t: float
    y: Floats
    t_bound: float

    def __init__(
        self,
        rates: Callable[[float, Floats], Floats],
        t0: float,
        x0: Floats,
        t1: float,
        method: Tableau,
        step: float,
        advance: Callable[[float, float, Floats, Floats], None] | None = None,
    ) -> None:
        super().__init__(rates, t0, x0, t1, vectorized=False)
        self.method, self.step_limit, self.advance = method, step, advance
        self.slope: Floats = self.fun(t0, self.y)
        self.stage: Floats = self.y
        """The state of the last stage."""

    def _step_impl(self) -> tuple[bool, str | None]:
        left = self.t_bound - self.t
        h = left / max(1.0, np.ceil(left / self.step_limit - 1e-9))
        t = self.t_bound if h >= left * (1 - 1e-12) else self.t + h
        x = self._stepped(self.t, self.y, self.slope, h)
        slope = self.fun(t, x)
        if not np.isfinite(x).all() or not np.isfinite(slope).all():
            return False, "a step gives no finite number"
        self._ends = (np.array([self.t, t]), [self.y, x], [self.slope, slope])
        self.t, self.y, self.slope = t, x, slope
        return True, None

    def _stepped(self, t: float, x: Floats, slope: Floats, h: float) -> Floats:
        m = self.method
        K = np.zeros((len(m.b), self.n))
        K[0] = slope
        for s in range(1, len(m.b)):
            self.stage = x + h * (m.A[s, :s] @ K[:s])
            K[s] = self.fun(t + m.c[s] * h, self.stage)
        after = x + h * (m.b @ K)
        if self.advance is not None:
            self.advance(t, h, x, after)
        return after

    def at(self, t: float) -> Floats:
        """The state at t in the last step, by a shorter step: no stage of it lies behind t,
        where the equations may have changed."""
        (start, _), (x, _), (slope, _) = self._ends
        return self._stepped(start, x, slope, t - start)

    def move(self, x: Floats) -> None:
        """Let the next step start at x."""
        self.y, self.slope = x, self.fun(self.t, x)

    def shorten(self, t: float, crossed: Callable[[Floats], bool]) -> None:
        """End the last step at t, just behind a crossing, with all its stages before it: where
        the rates jump there, one stage behind it would count as for the whole step. crossed:
        whether a state at t lies behind the crossing."""
        (start, _), (x, _), (slope, _) = self._ends
        gap = min(t - start, max(BEFORE, PART * (t - start)))
        near = self.at(t - gap)
        middle = near + gap / 2 * self.fun(t - gap, near)  # the rest by the midpoint rule
        end = self.fun(t - gap / 2, middle)
        self.t, self.y, self.slope = t, near + gap * end, end
        if not crossed(self.y):
            self.y = self.at(t)
            self.slope = self.fun(t, self.y)
        self._ends = (np.array([start, t]), [x, self.y], [slope, self.slope])

    def _dense_output_impl(self) -> Any:
        curve = CubicHermiteSpline(*self._ends)
        return lambda t: curve(t).T
