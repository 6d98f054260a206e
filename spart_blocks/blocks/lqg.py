"""Linear quadratic Gaussian control: a regulator of the state that a Kalman filter estimates."""

from __future__ import annotations

from typing import Any

from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.estimation import (
    column,
    covariance,
    gain_of,
    intensity_at_ticks,
    plant,
    regulated,
    scalar_or,
    steady_covariance,
)
from spart_blocks.block_support.linear import Matrices, state_of_size
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.values import numbers

_METHODS = ("zoh", "none")


class _Lqg(Declared):
    """What LQG and LQG_S share.

    :arg A: system matrix
    :arg B: input matrix
    :arg C: output matrix
    :arg Q: weight of the state: a number, n numbers or a matrix
    :arg R: weight of the input
    :arg W: intensity of the process noise
    :arg V: intensity of the measurement noise
    :arg K: gain of the regulator, in the place of Q and R
    :arg L: gain of the filter, in the place of W and V
    :arg x0: initial estimate
    """

    takes = (
        PortSpec("y", "float or p", "", "measurements"),
        PortSpec("xd", "n", "", "desired state", optional=True),
        PortSpec("uff", "float or m", "", "feedforward, added to u", optional=True),
    )
    gives = (
        PortSpec("u", "float or m", "", "control"),
        PortSpec("x_hat", "n", "", "estimate of the state"),
    )
    out_ports: Any
    A = fixed("n, n")
    B = fixed("n, m")
    C = fixed("p, n")
    Q = fixed("float or n, n", "", None)
    R = fixed("float or m, m", "", None)
    W = fixed("float or n, n", "", None)
    V = fixed("float or p, p", "", None)
    K = tunable("m, n", "", None)
    L = tunable("n, p", "", None)
    x0 = fixed("float or n", "", 0.0)

    def _design(
        self, system: Matrices, cost: tuple[Any, Any], noise: tuple[Any, Any], K: Any, L: Any,
        T: float | None = None, W_of: Matrices | None = None,
    ) -> None:  # fmt: skip
        """Keep the matrices and the gains, given or designed from weights and noise. T [s]: of a
        clock. W_of: the plant in continuous time of which W is, None if W is that at a tick.
        """
        self.A, self.B, self.C, _ = system
        (n, m), p = system.B.shape, len(system.C)
        if K is None:
            if cost[0] is None or cost[1] is None:
                raise InputError(Fault("it takes Q and R, or K", hint="give Q and R"))
            _, _, self.K, _ = regulated(system, *cost, sampled=T is not None)
        else:
            self.K = _gain(K, "K", (m, n))
        if L is not None:
            self.L = _gain(L, "L", (n, p))
            return
        if noise[0] is None or noise[1] is None:
            raise InputError(Fault("it takes W and V, or L", hint="give W and V"))
        W, V = covariance(noise[0], "W", n), covariance(noise[1], "V", p, definite=True)
        if T is not None and W_of is not None:
            W = intensity_at_ticks(W_of.A, W, T)
        P = steady_covariance(self.A, self.C, W, V, sampled=T is not None)
        self.L = gain_of(P @ self.C.T, V if T is None else self.C @ P @ self.C.T + V)

    def _ports(self) -> dict[str, Any]:
        n, m = self.B.shape
        return self.resolve_ports(n=n, m=scalar_or(m), p=scalar_or(len(self.C)))

    def _control(self, inputs: list[Any], mean: Any) -> Any:
        _, xd, uff = inputs
        return column(uff) - self.K @ (mean - xd)

    def _given(self, u: Any, mean: Any) -> list[Any]:
        return [u if self.out_ports[0].shape else u[0], mean]


class LQG(_Lqg, ContinuousBlock):
    """A linear quadratic Gaussian controller: the regulator of the state that the steady Kalman
    filter estimates.

    u = uff - K (x^ - xd), x^' = A x^ + B u + L (y - C x^). K minimises the integral of x' Q x + u'
    R u, and L = P C' V^-1 the error of x^ under noise of the intensities W of the process and V of
    the measurement. The gains K and L are tunable; y does not feed through.

    Source: B. D. O. Anderson and J. B. Moore, "Optimal Control: Linear Quadratic Methods" (1990),
    ch. 8.
    """

    nin = 3
    nout = 2

    def build(
        self, A: Any, B: Any, C: Any, Q: Any, R: Any, W: Any, V: Any, K: Any, L: Any, x0: Any
    ) -> dict[str, Any]:
        self._design(plant(A, B, C, None), (Q, R), (W, V), K, L)
        n = len(self.A)
        start = state_of_size(x0, n)
        return {"x0": start, "feedthrough": True, **self._ports()}

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return self._given(self._control(inputs, x), x)

    def deriv(self, t: float, inputs: list[Any], x: Any) -> Any:
        u = self._control(inputs, x)
        return self.A @ x + self.B @ u + self.L @ (column(inputs[0]) - self.C @ x)


class LQG_S(_Lqg, SampledBlock):
    """A linear quadratic Gaussian controller at the ticks of a clock.

    u = uff - K (x^ - xd) with the estimate x^ that uses the measurement of the tick, by the gain L.
    With `zoh`, A, B and W are those of a plant in continuous time whose input is held between
    ticks; with `none` those of the sampled plant. K minimises the sum of x' Q x + u' R u over
    the ticks, V is the covariance of a measurement. u is held.

    Source: G. F. Franklin et al., "Digital Control of Dynamic Systems" (1998), sec. 9.5.

    :arg W: intensity of the process noise, with `none` its covariance at a tick
    :arg V: covariance of the measurement noise
    :arg x0: estimate before the first measurement
    :arg method: zoh or none
    """

    nin = 3
    nout = 2
    method = fixed("str", "", "zoh", choices=_METHODS)
    delays = True

    def build(
        self, A: Any, B: Any, C: Any, Q: Any, R: Any, W: Any, V: Any, K: Any, L: Any,
        x0: Any, method: Any,
    ) -> dict[str, Any]:  # fmt: skip
        system, of_noise = plant(A, B, C, None), None
        if method == "zoh":
            system, of_noise = system.at(self.T, method), system
        self._design(system, (Q, R), (W, V), K, L, self.T, of_noise)
        start = state_of_size(x0, len(self.A))
        return {"x0": start, "feedthrough": True, **self._ports()}

    def _corrected(self, inputs: list[Any], x: Any) -> Any:
        return x + self.L @ (column(inputs[0]) - self.C @ x)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        mean = self._corrected(inputs, x)
        return self._given(self._control(inputs, mean), mean)

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        mean = self._corrected(inputs, x)
        return self.A @ mean + self.B @ self._control(inputs, mean)


def _gain(value: Any, name: str, shape: tuple[int, int]) -> Array:
    found = numbers(value, name)
    if found.ndim < 2 and found.size == shape[0] * shape[1]:
        found = found.reshape(shape)
    if found.shape != shape:
        raise InputError(f"{name} must have shape {shape}, not {found.shape}")
    return found
