"""Kalman filters of linear plants, steady and time-varying; in time and at the ticks of a clock."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.estimation import (
    column,
    corrected,
    covariance,
    covariance_near,
    gain_of,
    intensity_at_ticks,
    packed,
    plant,
    scalar_or,
    steady_covariance,
    unpacked,
)
from spart_blocks.block_support.filters import Filter
from spart_blocks.block_support.linear import Matrices, state_of_size
from spart_blocks.block_support.parameters import fixed, tunable


class _Matrices(Declared):
    """A plant x' = A x + B u, y = C x + D u with the noise Q of x and R of y.

    :arg A: system matrix
    :arg B: input matrix; without it the plant has no input
    :arg C: output matrix
    :arg D: feedthrough matrix, zeros by default
    :arg Q: intensity of the process noise w: a number, n numbers or a matrix
    :arg R: intensity of the measurement noise v, positive definite
    :arg x0: initial estimate
    :arg P0: its covariance; without it the filter is steady
    """

    A = tunable("n, n")
    B = tunable("n, m", "", None)
    C = tunable("p, n")
    D = tunable("p, m", "", None)
    Q = tunable("float or n, n")
    R = tunable("float or p, p")
    x0 = fixed("float or n", "", 0.0)
    P0 = fixed("float or n, n", "", None)

    def _take(self, Q: Any, R: Any, **matrices: Any) -> dict[str, Any]:
        """Keep the matrices; returns the ports."""
        self.A, self.B, self.C, self.D = given = plant(**matrices)
        n, m, p = len(given.A), given.B.shape[1], len(given.C)
        self.Q, self.R = covariance(Q, "Q", n), covariance(R, "R", p, definite=True)
        return self.resolve_ports(n=n, m=scalar_or(m), p=scalar_or(p))


class Kalman(_Matrices, ContinuousBlock):
    """The Kalman-Bucy filter of a linear plant x' = A x + B u + w, y = C x + D u + v.

    x^' = A x^ + B u + K (y - C x^ - D u) with K = P C' R^-1, and P' = A P + P A' + Q - K R K'
    from P0 on. Without P0 the filter is steady: P solves the Riccati equation P' = 0.
    Nothing feeds through, and the block may close a loop.

    Source: R. E. Kalman and R. S. Bucy, "New Results in Linear Filtering and Prediction Theory",
    J. Basic Engineering 83 (1961); A. Gelb, "Applied Optimal Estimation" (1974), sec. 4.3.
    """

    nin = 2
    nout = 2
    takes = Filter.takes[:2]
    gives = Filter.gives[:2]

    def build(self, x0: Any, P0: Any, **given: Any) -> dict[str, Any]:
        ports = self._take(**given)
        self._P: Any = None
        start = state_of_size(x0, len(self.A))
        if P0 is None:
            self._P = steady_covariance(self.A, self.C, self.Q, self.R, sampled=False)
            self.tunable = ()
        else:
            start = np.concatenate([start, packed(covariance(P0, "P0", len(start)))])
        return {"x0": start, **ports}

    def _split(self, x: Any) -> tuple[Any, Any]:
        """The estimate and its covariance."""
        n = len(self.A)
        return x[:n], unpacked(x[n:], n) if self._P is None else self._P

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return list(self._split(x))

    def deriv(self, t: float, inputs: list[Any], x: Any) -> Any:
        mean, P = self._split(x)
        u, y = column(inputs[0]), column(inputs[1])
        K = gain_of(P @ self.C.T, self.R)
        rate = self.A @ mean + self.B @ u + K @ (y - self.C @ mean - self.D @ u)
        if self._P is not None:
            return rate
        moved = self.A @ P
        return np.concatenate([rate, packed(moved + moved.T + self.Q - K @ self.R @ K.T)])

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random state near x, with a positive definite P."""
        near = x + rng.normal(scale=spread, size=len(x))
        if self._P is None:
            near[len(self.A) :] = packed(covariance_near(self._split(x)[1], spread, rng))
        return near


class Kalman_S(_Matrices, Filter, SampledBlock):
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

    :arg Q: intensity of the process noise w, with `none` its covariance at a tick: a number, n
        numbers or a matrix
    :arg R: covariance of the measurement noise v, positive definite
    :arg x0: estimate before the first measurement
    :arg method: zoh or none
    :arg current: whether the outputs use the measurement of the tick
    """

    nin = 3
    nout = 3
    method = fixed("str", "", "zoh", choices=("zoh", "none"))
    current = fixed("bool", "", True)

    def build(self, x0: Any, P0: Any, method: Any, current: bool, **given: Any) -> dict[str, Any]:
        self.current = current
        ports = self._take(**given)
        self._n = len(self.A)
        self.tunable: tuple[str, ...] = () if P0 is None else ("C", "D", "R")
        if method == "zoh":
            self.Q = intensity_at_ticks(self.A, self.Q, self.T)
            self.A, self.B, _, _ = Matrices(self.A, self.B, self.C, self.D).at(self.T, "zoh")
        elif P0 is not None:
            self.tunable = ("A", "B", "C", "D", "Q", "R")
        if P0 is None:
            self._P = steady_covariance(self.A, self.C, self.Q, self.R, sampled=True)
        start = self.begin(x0, P0, len(self.C))
        return {"x0": start, "feedthrough": self.current, **ports}

    def correct(self, t: Any, mean: Any, P: Any, u: Any, y: Any) -> tuple[Any, Any, Any]:
        e = y - self.C @ mean - self.D @ u
        return (*corrected(mean, P, e, self.C, self.R), e)

    def predict(self, t: Any, mean: Any, P: Any, u: Any) -> tuple[Any, Any]:
        return self.A @ mean + self.B @ u, self.A @ P @ self.A.T + self.Q
