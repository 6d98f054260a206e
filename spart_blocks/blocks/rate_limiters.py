"""Rate limiters: a lag with a limited rate, and a sampled limiter."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.channels import Channels
from spart_blocks.block_support.declared import PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.values import scalar_or_vector
from spart_blocks.formulas.crossings import flat


def _below_zero(value: Any, name: str) -> Any:
    found = scalar_or_vector(value, name)
    if np.any(np.asarray(found) >= 0):
        hint = "it is the rate on the way down, such as -2"
        raise InputError(Fault(f"{name} must be below 0, not {brief(value)}", hint=hint))
    return found


class _Limiter(Channels):
    """What RATE_LIMITER and RATE_LIMITER_S share.

    :arg rising: largest rate, in the unit of u per second
    :arg falling: smallest rate, negative; by default -rising
    :arg bandwidth: bandwidth of the lag within the limits
    :arg x0: initial y, in the unit of u
    """

    takes = (PortSpec("u", "float or n", "", "any signal"),)
    gives = (PortSpec("y", "float or n", "", "the rate-limited signal, in the unit of u"),)
    rising = tunable("float or n", above=0)
    falling = tunable("float or n", "", None, check=_below_zero)
    bandwidth = tunable("float or n", "1/s", 100.0, above=0)
    x0 = fixed("float or n", "", 0.0)

    def build(self, x0: Any) -> dict[str, Any]:
        if self.falling is None:
            self.falling = -self.rising
        return self.begin(None, x0=x0)


class Rate_Limiter(_Limiter, ContinuousBlock):
    """A rate limiter in continuous time.

    y' = clip(bandwidth (u - y), falling, rising): a first-order lag whose rate is limited. A ramp
    of slope r within the limits is followed with the error r / bandwidth, at most rising /
    bandwidth; the rate limits are never exceeded. RATE_LIMITER_S is the exact limiter for sampled
    signals.
    """

    nin = 1
    nout = 1

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        return np.clip(self._wanted(inputs, x), self.falling, self.rising)

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        wanted = self._wanted(inputs, x)
        return flat(wanted - self.rising, wanted - self.falling)

    def _wanted(self, inputs: list[Any], x: Array) -> Any:
        """The rate of the lag without limits (n,)."""
        return self.bandwidth * (self._each(inputs[0]) - x)


class Rate_Limiter_S(_Limiter, SampledBlock):
    """A rate limiter for sampled signals.

    At a tick y becomes y + clip(u - y, falling T, rising T), with the clock's period T, and is held
    until the next tick: if u changes no faster, y is exactly u of the last tick.

    :arg x0: y before the first tick, in the unit of u
    """

    nin = 1
    nout = 1
    omits = ("bandwidth",)

    def next(self, t: float, inputs: list[Any], x: Array) -> Any:
        step = self._each(inputs[0]) - x
        return x + np.clip(step, self.falling * self.T, self.rising * self.T)
