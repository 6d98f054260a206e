"""Rate limiters: a lag with a limited rate, and a sampled limiter."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.values import above_zero, common_shape, scalar_or_vector
from spart_blocks.formulas.crossings import flat


def _slew_rates(rising: Any, falling: Any) -> tuple[Any, Any]:
    """Rates of a limiter; falling defaults to the negative of rising."""
    up = above_zero(scalar_or_vector(rising, "rising"), "rising")
    down = -up if falling is None else scalar_or_vector(falling, "falling")
    if np.any(np.asarray(down) >= 0):
        hint = "it is the rate on the way down, such as -2"
        raise InputError(Fault(f"falling must be below 0, not {brief(falling)}", hint=hint))
    return up, down


class Rate_Limiter(Declared, ContinuousBlock):
    """A rate limiter in continuous time.

    y' = clip(bandwidth (u - y), falling, rising): a first-order lag whose rate is limited. A ramp
    of slope r within the limits is followed with the error r / bandwidth, at most rising /
    bandwidth; the rate limits are never exceeded. RATE_LIMITER_S is the exact limiter for sampled
    signals.

    :arg rising: largest rate, in the unit of u per second
    :arg falling: smallest rate, negative; by default -rising
    :arg bandwidth: bandwidth of the lag within the limits
    :arg x0: initial y, in the unit of u
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "float or n", "", "any signal"),)
    gives = (PortSpec("y", "float or n", "", "the rate-limited signal, in the unit of u"),)
    rising = tunable("float or n")
    falling = tunable("float or n", "", None)
    bandwidth = tunable("float or n", "1/s", 100.0, above=0)
    x0 = fixed("float or n", "", 0.0)

    def build(self, rising: Any, falling: Any, x0: Any) -> dict[str, Any]:
        self.rising, self.falling = _slew_rates(rising, falling)
        start = x0
        shape = common_shape(
            rising=self.rising, falling=self.falling, bandwidth=self.bandwidth, x0=start
        )
        start = np.broadcast_to(start, shape or (1,)).copy()
        return {"nstates": start.size, "x0": start, **self.resolve_ports(n=shape)}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [x if self.in_ports[0].shape else x[0]]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        return np.clip(self._wanted(inputs, x), self.falling, self.rising)

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        wanted = self._wanted(inputs, x)
        return flat(wanted - self.rising, wanted - self.falling)

    def _wanted(self, inputs: list[Any], x: Array) -> Any:
        """The rate of the lag without limits (n,)."""
        return self.bandwidth * (np.reshape(inputs[0], (len(x),)) - x)


class Rate_Limiter_S(Declared, SampledBlock):
    """A rate limiter for sampled signals.

    At a tick y becomes y + clip(u - y, falling T, rising T), with the clock's period T, and is held
    until the next tick: if u changes no faster, y is exactly u of the last tick.

    :arg rising: largest rate, in the unit of u per second
    :arg falling: smallest rate, negative; by default -rising
    :arg x0: y before the first tick, in the unit of u
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "float or n", "", "any signal"),)
    gives = (PortSpec("y", "float or n", "", "the rate-limited signal, in the unit of u"),)
    rising = tunable("float or n")
    falling = tunable("float or n", "", None)
    x0 = fixed("float or n", "", 0.0)

    def build(self, clock: Any, rising: Any, falling: Any, x0: Any) -> dict[str, Any]:
        self.rising, self.falling = _slew_rates(rising, falling)
        start = x0
        shape = common_shape(rising=self.rising, falling=self.falling, x0=start)
        start = np.broadcast_to(start, shape or (1,)).copy()
        self.T = clock.T
        return {"ndstates": start.size, "x0": start, **self.resolve_ports(n=shape)}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [x if self.in_ports[0].shape else x[0]]

    def next(self, t: float, inputs: list[Any], x: Array) -> Any:
        step = np.reshape(inputs[0], (len(x),)) - x
        return x + np.clip(step, self.falling * self.T, self.rising * self.T)
