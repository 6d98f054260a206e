"""Explicit Runge-Kutta methods as tables, for the compiled driver and for SciPy's frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import OdeSolver
from scipy.interpolate import CubicHermiteSpline

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tableau:
    """A (s,s), b (s,), c (s,). e (s,): error weights of the embedded method, or None for
    fixed steps. P (s,m): dense output x + h sum_j K_j sum_m P_jm theta^(m+1), or None for
    cubic Hermite. A method with P ends on the slope at the new point."""

    A: Floats
    b: Floats
    c: Floats
    order: int
    e: Floats | None = None
    P: Floats | None = None


def _explicit(rows: list[list[float]], b: list[float], order: int) -> Tableau:
    s = len(b)
    A = np.zeros((s, s))
    for i, row in enumerate(rows, start=1):
        A[i, : len(row)] = row
    return Tableau(A, np.array(b), A.sum(axis=1), order)


def _dormand_prince() -> Tableau:
    """Dormand and Prince's 5(4) pair, J. Comput. Appl. Math. 6 (1980), with L. F.
    Shampine's dense output, Math. Comp. 46 (1986), as SciPy's RK45 has them."""
    from scipy.integrate import RK45

    A = np.zeros((7, 7))
    A[:6, :5] = RK45.A
    A[6, :6] = RK45.B
    b = np.append(RK45.B, 0.0)
    return Tableau(A, b, np.append(RK45.C, 1.0), 5, RK45.E, RK45.P)


def tableau(name: str) -> Tableau | None:
    """The method of that name, or None for one that is not a table here."""
    match name:
        case "euler":
            return _explicit([], [1.0], 1)
        case "heun":
            return _explicit([[1.0]], [0.5, 0.5], 2)
        case "RK4":
            return _explicit([[0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6], 4)
        case "RK45":
            return _dormand_prince()
        case _:
            return None


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
            K[s] = self.fun(t + m.c[s] * h, x + h * (m.A[s, :s] @ K[:s]))
        after = x + h * (m.b @ K)
        if self.advance is not None:
            self.advance(t, h, x, after)
        return after

    def at(self, t: float) -> Floats:
        """The state at t in the last step, by a shorter step: no stage of it lies behind t,
        where the equations may have changed."""
        (start, _), (x, _), (slope, _) = self._ends
        return self._stepped(start, x, slope, t - start)

    def shorten(self, t: float) -> None:
        """End the last step at t."""
        (start, _), (x, _), (slope, _) = self._ends
        self.t, self.y = t, self.at(t)
        self.slope = self.fun(t, self.y)
        self._ends = (np.array([start, t]), [x, self.y], [slope, self.slope])

    def _dense_output_impl(self) -> Any:
        return CubicHermiteSpline(*self._ends)
