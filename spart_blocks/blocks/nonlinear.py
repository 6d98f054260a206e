"""Signals with limits, dead zones, quantisation and hysteresis. A solver step ends where such a
signal has a kink or a jump.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock, SampledBlock

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.channels import Channels
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import WIDTH, fixed, tunable
from spart_blocks.block_support.values import in_order, scalar_or_vector
from spart_blocks.formulas.crossings import bare, flat, level_crossings

_MODES = {"off": 0.0, "on": 1.0, "auto": 0.5}


class Saturation(Declared, FunctionBlock):
    """A signal limited to an interval. y = min(max(u, lower), upper). Either limit may be left out.
    bdsim's CLIP does the same; this block checks its limits in the constructor (finite, of one
    length, lower below upper), takes signals of that length only, and both limits are named
    parameters.

    :arg lower: smallest value, in the unit of u
    :arg upper: largest value, in the unit of u
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "any signal"),)
    gives = (PortSpec("y", "any", "", "the signal within its limits, in the unit of u"),)
    lower = tunable("float or n", "", None)
    upper = tunable("float or n", "", None)

    def build(self) -> dict[str, Any]:
        if self.lower is None and self.upper is None:
            raise InputError(Fault("it has no limit", hint="give lower, upper or both"))
        shape = self.shared_shape()
        in_order(self.lower, self.upper, ("lower", "upper"))
        return self.resolve_ports(any=shape or None)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [bare(np.clip(inputs[0], self.lower, self.upper))]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        limits = [limit for limit in (self.lower, self.upper) if limit is not None]
        return flat(*(inputs[0] - limit for limit in limits))


class Deadzone(Declared, FunctionBlock):
    """Zero within a zone; outside, the distance to it.

    y = u - lower below the zone, 0 within it, u - upper above it.

    :arg lower: lower end of the zone, in the unit of u
    :arg upper: upper end of the zone, in the unit of u
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "any signal"),)
    gives = (PortSpec("y", "any", "", "what exceeds the zone, in the unit of u"),)
    lower = tunable("float or n")
    upper = tunable("float or n")

    def build(self) -> dict[str, Any]:
        shape = self.shared_shape()
        in_order(self.lower, self.upper, ("lower", "upper"))
        return self.resolve_ports(any=shape or None)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [bare(inputs[0] - np.clip(inputs[0], self.lower, self.upper))]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return flat(inputs[0] - self.lower, inputs[0] - self.upper)


class Quantizer(Declared, FunctionBlock):
    """A quantised signal, as from a sensor with few bits.

    y = offset + interval round((u - offset) / interval), halves away from zero as in Simulink's
    Quantizer. A solver step ends where the level changes; a step over up to 15 levels is ended at
    the first of them.

    :arg interval: distance between levels, in the unit of u
    :arg offset: one of the levels, in the unit of u
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "any signal"),)
    gives = (PortSpec("y", "any", "", "the nearest level, in the unit of u"),)
    interval = tunable("float or n", above=0)
    offset = tunable("float or n", "", 0.0)

    def build(self) -> dict[str, Any]:
        return self.resolve_ports(any=self.shared_shape() or None)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        levels = (inputs[0] - self.offset) / self.interval
        whole = np.sign(levels) * np.floor(np.abs(levels) + 0.5)
        return [bare(self.offset + self.interval * whole)]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return level_crossings((inputs[0] - self.offset) / self.interval + 0.5)


class Relay(Declared, ContinuousBlock):
    """A switch with hysteresis: a Schmitt trigger, a thermostat, a thruster's valve.

    It turns on when u rises above `on`, and off when u falls below `off`; in between it does not
    change. The mode is the block's state: 1 on, 0 off, for each entry. It changes at the time of
    the zero crossing, and the block has no direct feedthrough, so it may close a loop. If its
    initial mode contradicts its input, it switches at once. With `initial: auto` it starts on if u
    is above the middle of `on` and `off`.

    :arg on: value at which it turns on, in the unit of u
    :arg off: value at which it turns off, at most `on`
    :arg on_value: output when on
    :arg off_value: output when off
    :arg initial: off, on or auto
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "float or n", "", "any signal"),)
    gives = (PortSpec("y", "float or n", "", "`on_value` or `off_value`"),)
    on = tunable("float or n")
    off = tunable("float or n")
    on_value = tunable("float or n", "", 1.0)
    off_value = tunable("float or n", "", 0.0)
    initial = fixed("str", "", "off", choices=tuple(_MODES))
    width = WIDTH

    def build(self, initial: Any, width: Any) -> dict[str, Any]:
        shape = self.shared_shape(width)
        in_order(self.off, self.on, ("off", "on"))
        start = np.full(shape or (1,), _MODES[initial])
        return {"x0": start, **self.resolve_ports(n=shape)}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [bare(np.where(self._mode(x) > 0.75, self.on_value, self.off_value))]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Array:
        return np.zeros(len(x))

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        mode, u = self._mode(x), inputs[0]
        value = np.where(mode > 0.75, self.off - u, u - self.on)
        return flat(np.where(_undecided(mode), 1.0, value))

    def switch(self, t: float, inputs: list[Any], x: Array) -> Array:
        mode, u = self._mode(x), inputs[0]
        middle = 0.5 * (self.on + self.off)
        after = np.where(
            mode > 0.75, np.where(u < self.off, 0.0, 1.0), np.where(u > self.on, 1.0, 0.0)
        )
        after = np.where(_undecided(mode), np.where(u > middle, 1.0, 0.0), after)
        return np.reshape(after, (len(x),))

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """Random modes."""
        return rng.choice(list(_MODES.values()), len(x))

    def _mode(self, x: Array) -> Any:
        return x if self.in_ports[0].shape else x[0]


def _undecided(mode: Any) -> Any:
    return np.logical_and(mode > 0.25, mode < 0.75)


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

    nin = 1
    nout = 1

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

    omits = ("bandwidth",)

    def next(self, t: float, inputs: list[Any], x: Array) -> Any:
        step = self._each(inputs[0]) - x
        return x + np.clip(step, self.falling * self.T, self.rising * self.T)


class _Play(Channels):
    """What BACKLASH and BACKLASH_S share.

    :arg gap: width of the gap, in the unit of u
    :arg bandwidth: bandwidth of the contact
    :arg y0: initial y, in the unit of u
    """

    nin = 1
    nout = 1

    takes = (PortSpec("u", "float or n", "", "position of the driving part"),)
    gives = (PortSpec("y", "float or n", "", "position of the driven part, in the unit of u"),)
    gap = tunable("float or n", least=0)
    bandwidth = tunable("float or n", "1/s", 1000.0, above=0)
    y0 = fixed("float or n", "", 0.0)

    def build(self, y0: Any) -> dict[str, Any]:
        return self.begin(None, y0=y0)


class Backlash(_Play, ContinuousBlock):
    """Play in a gear or a linkage: the output rests while the input moves within a gap.

    y' = bandwidth d, where d is what u - y exceeds -gap/2 to gap/2 by: in the gap y rests, at its
    ends it follows u at the distance gap/2, with a first-order lag. For u of the rate r the lag is
    r / bandwidth. A step ends where the parts meet and part. BACKLASH_S is exact, at the ticks of a
    clock.

    Source: A. Gelb and W. E. Vander Velde, "Multiple-Input Describing Functions and Nonlinear
    System Design" (1968), app. B, for its describing function.

    """

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        apart, half = self._apart(inputs, x), 0.5 * self.gap
        return self.bandwidth * (apart - np.clip(apart, -half, half))

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        apart, half = self._apart(inputs, x), 0.5 * self.gap
        return flat(apart - half, apart + half)

    def _apart(self, inputs: list[Any], x: Array) -> Any:
        return self._each(inputs[0]) - x


class Backlash_S(_Play, SampledBlock):
    """Play in a gear or a linkage, at the ticks of a clock.

    At a tick y becomes y moved as little as needed for |u - y| <= gap/2: y rests while u moves
    within the gap, and follows it at its ends. It is held until the next tick.

    Source: A. Gelb and W. E. Vander Velde, "Multiple-Input Describing Functions and Nonlinear
    System Design" (1968), app. B, for its describing function.

    :arg y0: y before the first tick, in the unit of u
    """

    omits = ("bandwidth",)

    def next(self, t: float, inputs: list[Any], x: Array) -> Any:
        u, half = self._each(inputs[0]), 0.5 * self.gap
        return np.minimum(np.maximum(x, u - half), u + half)
