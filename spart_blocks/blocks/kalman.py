"""Kalman filters of linear plants, steady and time-varying; in time and at the ticks of a clock."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.blocks._declared import Declared, PortSpec
from spart_blocks.blocks._estimation import (
    column,
    corrected,
    covariance,
    gain_of,
    intensity_at_ticks,
    packed,
    plant,
    scalar_or,
    steady_covariance,
    unpacked,
    where,
)
from spart_blocks.blocks._linear import Matrices, state_of_size
from spart_blocks.blocks._values import chosen

_TAKES = (
    PortSpec("u", "float or m", "", "inputs of the plant", optional=True),
    PortSpec("y", "float or p", "", "measurements"),
)
_GIVES = (
    PortSpec("x_hat", "n", "", "estimate of the state"),
    PortSpec("P", "n, n", "", "covariance of its error"),
)


class _Kalman(Declared):
    A: Any
    B: Any
    C: Any
    D: Any
    Q: Any
    R: Any
    steady: bool
    _P: Any  # the steady covariance

    def _take(self, given: Matrices, Q: Any, R: Any) -> dict[str, Any]:
        """Keep the matrices; returns the ports."""
        self.A, self.B, self.C, self.D = given
        n, m, p = len(given.A), given.B.shape[1], len(given.C)
        self.Q, self.R = covariance(Q, "Q", n), covariance(R, "R", p, definite=True)
        return self.resolve_ports(n=n, m=scalar_or(m), p=scalar_or(p))

    def _start(self, x0: Any, P0: Any) -> Any:
        """The initial state: x, and unless the filter is steady P."""
        x = state_of_size(x0, len(self.A))
        if P0 is None:
            return x
        return np.concatenate([x, packed(covariance(P0, "P0", len(x)))])

    def _split(self, x: Any) -> tuple[Any, Any]:
        """The estimate and its covariance."""
        n = len(self.A)
        return x[:n], self._P if self.steady else unpacked(x[n:], n)


class Kalman(_Kalman, ContinuousBlock):
    """The Kalman-Bucy filter of a linear plant x' = A x + B u + w, y = C x + D u + v.

    x^' = A x^ + B u + K (y - C x^ - D u) with K = P C' R^-1, and P' = A P + P A' + Q - K R K'
    from P0 on. Without P0 the filter is steady: P solves the Riccati equation P' = 0.
    Nothing feeds through, and the block may close a loop.

    Source: R. E. Kalman and R. S. Bucy, "New Results in Linear Filtering and Prediction Theory",
    J. Basic Engineering 83 (1961); A. Gelb, "Applied Optimal Estimation" (1974), sec. 4.3.

    :param A: system matrix
    :type A: array_like(n, n)
    :param C: output matrix
    :type C: array_like(p, n)
    :param Q: intensity of the process noise w: a number, n numbers or a matrix
    :type Q: float or array_like(n, n)
    :param R: intensity of the measurement noise v, positive definite
    :type R: float or array_like(p, p)
    :param B: input matrix; without it the plant has no input
    :type B: array_like(n, m), optional
    :param D: feedthrough matrix, zeros by default
    :type D: array_like(p, m), optional
    :param x0: initial estimate
    :type x0: float or array_like(n)
    :param P0: its covariance; without it the filter is steady
    :type P0: float or array_like(n, n), optional
    """

    nin = 2
    nout = 2
    takes = _TAKES
    gives = _GIVES
    tunable: tuple[str, ...] = ("A", "B", "C", "D", "Q", "R")

    def __init__(
        self, A: Any, C: Any, Q: Any, R: Any, B: Any = None, D: Any = None, x0: Any = 0.0,
        P0: Any = None, **blockargs: Any,
    ) -> None:  # fmt: skip
        ports = self._take(plant(A, B, C, D), Q, R)
        self.steady = P0 is None
        if self.steady:
            self._P = steady_covariance(self.A, self.C, self.Q, self.R, sampled=False)
            self.tunable = ()
        start = self._start(x0, P0)
        super().__init__(nstates=len(start), x0=start, **ports, **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return list(self._split(x))

    def deriv(self, t: float, inputs: list[Any], x: Any) -> Any:
        mean, P = self._split(x)
        u, y = column(inputs[0]), column(inputs[1])
        K = gain_of(P @ self.C.T, self.R)
        rate = self.A @ mean + self.B @ u + K @ (y - self.C @ mean - self.D @ u)
        if self.steady:
            return rate
        moved = self.A @ P
        return np.concatenate([rate, packed(moved + moved.T + self.Q - K @ self.R @ K.T)])


class Kalman_S(_Kalman, SampledBlock):
    """The Kalman filter of a linear plant at the ticks of a clock.

    x(k+1) = A x + B u + w, y = C x + D u + v. With P0 the filter is time-varying: P is predicted as
    A P A' + Q, and corrected in Joseph's form. Without P0 it is steady: P solves the Riccati
    equation. x_hat and P are corrected by the measurement of the tick, and the block feeds through.
    With `current: false` they are the predictions from the ticks before, and innovation is that of
    the last tick: then it may close a loop. At a tick with `skip` above zero there is no
    measurement, and y may be anything. All outputs are held.

    With `zoh`, A, B and Q are those of a plant in continuous time, as of KALMAN, whose input is
    held between ticks; with `none` those of the sampled plant. R is the covariance of a
    measurement at a tick.

    Source: R. E. Kalman, "A New Approach to Linear Filtering and Prediction Problems", J. Basic
    Engineering 82 (1960); A. Gelb, "Applied Optimal Estimation" (1974), sec. 4.2; C. Van Loan,
    "Computing Integrals Involving the Matrix Exponential", IEEE Trans. Automatic Control 23 (1978).

    :param clock: clock source
    :type clock: Clock
    :param A: system matrix
    :type A: array_like(n, n)
    :param C: output matrix
    :type C: array_like(p, n)
    :param Q: intensity of the process noise w, with `none` its covariance at a tick: a number, n
        numbers or a matrix
    :type Q: float or array_like(n, n)
    :param R: covariance of the measurement noise v, positive definite
    :type R: float or array_like(p, p)
    :param B: input matrix; without it the plant has no input
    :type B: array_like(n, m), optional
    :param D: feedthrough matrix, zeros by default
    :type D: array_like(p, m), optional
    :param x0: estimate before the first measurement
    :type x0: float or array_like(n)
    :param P0: its covariance; without it the filter is steady
    :type P0: float or array_like(n, n), optional
    :param method: zoh or none
    :type method: str
    :param current: whether the outputs use the measurement of the tick
    :type current: bool
    """

    nin = 3
    nout = 3
    takes = (*_TAKES, PortSpec("skip", "", "", "above zero: no measurement", optional=True))
    gives = (*_GIVES, PortSpec("innovation", "float or p", "", "y less its prediction"))
    tunable: tuple[str, ...] = ("A", "B", "C", "D", "Q", "R")
    delays = True

    def __init__(
        self, clock: Any, A: Any, C: Any, Q: Any, R: Any, B: Any = None, D: Any = None,
        x0: Any = 0.0, P0: Any = None, method: str = "zoh", current: bool = True, **blockargs: Any,
    ) -> None:  # fmt: skip
        system = plant(A, B, C, D)
        ports = self._take(system, Q, R)
        self.steady, self.current = P0 is None, current
        self.tunable = () if self.steady else ("C", "D", "R")
        if chosen(method, "method", ("zoh", "none")) == "zoh":
            self.Q = intensity_at_ticks(self.A, self.Q, clock.T)
            self.A, self.B, _, _ = system.at(float(clock.T), "zoh")
        elif not self.steady:
            self.tunable = ("A", "B", "C", "D", "Q", "R")
        if self.steady:
            self._P = steady_covariance(self.A, self.C, self.Q, self.R, sampled=True)
        start = self._start(x0, P0)
        self._last = slice(len(start), len(start) + len(self.C))
        if not current:
            start = np.concatenate([start, np.zeros(len(self.C))])
        super().__init__(clock=clock, x0=start, feedthrough=current, **ports, **blockargs)

    def _corrected(self, inputs: list[Any], x: Any) -> tuple[Any, Any, Any]:
        """The estimate, its covariance and the innovation, with the measurement."""
        mean, P = self._split(x[: self._last.start])
        u, y, skip = column(inputs[0]), column(inputs[1]), inputs[2] > 0.0
        e = np.where(skip, 0.0, y - self.C @ mean - self.D @ u)
        after = where(skip, (mean, P), corrected(mean, P, e, self.C, self.R))
        return (*after, e)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        if self.current:
            mean, P, e = self._corrected(inputs, x)
        else:
            (mean, P), e = self._split(x[: self._last.start]), x[self._last]
        return [mean, P, e if self.out_ports[2].shape else e[0]]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        mean, P, e = self._corrected(inputs, x)
        parts = [self.A @ mean + self.B @ column(inputs[0])]
        if not self.steady:
            parts.append(packed(self.A @ P @ self.A.T + self.Q))
        return np.concatenate(parts if self.current else [*parts, e])
