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

    nin = 3
    nout = 2

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

    def _start(
        self, system: Matrices, x0: Any, T: float | None = None, W_of: Matrices | None = None, *,
        Q: Any, R: Any, W: Any, V: Any, K: Any, L: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """The arguments of bdsim's constructor. The gains are given or designed from weights and
        noise. T [s]: of a clock. W_of: the plant in continuous time of which W is, None if W is
        that at a tick.
        """
        self.A, self.B, self.C, _ = system
        (n, m), p = system.B.shape, len(system.C)
        if K is not None:
            self.K = _gain(K, "K", (m, n))
        elif Q is None or R is None:
            raise InputError(Fault("it takes Q and R, or K", hint="give Q and R"))
        else:
            _, _, self.K, _ = regulated(system, Q, R, sampled=T is not None)
        if L is not None:
            self.L = _gain(L, "L", (n, p))
        elif W is None or V is None:
            raise InputError(Fault("it takes W and V, or L", hint="give W and V"))
        else:
            W, V = covariance(W, "W", n), covariance(V, "V", p, definite=True)
            if T is not None and W_of is not None:
                W = intensity_at_ticks(W_of.A, W, T)
            P = steady_covariance(self.A, self.C, W, V, sampled=T is not None)
            self.L = gain_of(P @ self.C.T, V if T is None else self.C @ P @ self.C.T + V)
        ports = self.resolve_ports(n=n, m=scalar_or(m), p=scalar_or(p))
        return {"x0": state_of_size(x0, n), "feedthrough": True, **ports}

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

    def build(self, A: Any, B: Any, C: Any, x0: Any, **design: Any) -> dict[str, Any]:
        return self._start(plant(A, B, C, None), x0, **design)

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

    method = fixed("str", "", "zoh", choices=_METHODS)
    delays = True

    def build(self, A: Any, B: Any, C: Any, x0: Any, method: Any, **design: Any) -> dict[str, Any]:
        system, of_noise = plant(A, B, C, None), None
        if method == "zoh":
            system, of_noise = system.at(self.T, method), system
        return self._start(system, x0, self.T, of_noise, **design)

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
