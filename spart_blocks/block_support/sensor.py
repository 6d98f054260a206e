"""Sensors at the ticks of a clock: noise, latency and outages, written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.random_numbers import NUMBERS, advanced, normal, seeded, uniform
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.axes import at_least_zero, directions_of, for_each, positive_each
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.values import numbers

OUTAGE = PortSpec("outage", "", "", "above 0.5 where there is no measurement", optional=True)
VALID = PortSpec("valid", "", "", "1 if y is of this measurement, 0 during an outage")
_MOST_LATE = 1000


class Sensor(Declared):
    """A sensor that measures at each tick. `measure` gives the value (m,) of a tick, what the
    sensor remembers (k,), and whether it fails; its last input is the outage.

    The state is the random numbers, the memory, and a row of value and validity for each tick of
    latency, the newest first. Nothing feeds through.
    """

    is_random: ClassVar[bool] = True
    random_entries: int

    def _begin(
        self, clock: Any, seed: Any, channels: int, start: Array, memory: Array, latency: Any,
        outages: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """Check and store what all sensors have; returns arguments of bdsim's constructor."""
        self._outages = _outages(outages)
        self._channels, self.random_entries = channels, channels * NUMBERS
        self._memory, self._values = len(memory), len(start)
        rows = 1 + _ticks(latency)
        drawn = advanced(seeded(_seed(seed), channels)) if channels else np.zeros((0, NUMBERS))
        held = np.tile(np.append(start, 0.0), rows)
        return {"clock": clock, "x0": np.concatenate([drawn.ravel(), memory, held])}

    def measure(self, t: Any, inputs: list[Any], z: Any, memory: Any) -> tuple[Any, Any, Any]:
        """z (channels,): normal numbers of this tick."""
        raise NotImplementedError

    def signals(self, values: Any) -> list[Any]:
        """The outputs besides validity, of a row of values (m,)."""
        return [values]

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        oldest = x[-self._values - 1 :]
        return [*self.signals(oldest[:-1]), oldest[-1]]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        begin = self.random_entries + self._memory
        drawn = x[: self.random_entries].reshape(self._channels, NUMBERS)
        z = normal(uniform(drawn)) if self._channels else None
        value, memory, fails = self.measure(t, inputs[:-1], z, x[self.random_entries : begin])
        for first, last in self._outages:
            fails = np.logical_or(fails, np.logical_and(t >= first, t < last))
        fails = np.logical_or(fails, inputs[-1] > 0.5)
        newest = np.where(fails, x[begin : begin + self._values], value)
        valid = np.ravel(np.where(fails, 0.0, 1.0))
        moved = np.ravel(advanced(drawn)) if self._channels else np.zeros(0)
        return np.concatenate([moved, memory, newest, valid, x[begin : -self._values - 1]])


_OF_AXES: dict[str, Callable[[Any, str, int], Any]] = {
    **dict.fromkeys(("bias", "scale"), for_each),
    **dict.fromkeys(("noise", "random_walk", "instability"), at_least_zero),
    **dict.fromkeys(("resolution", "limit"), positive_each),
}


class Axes(Sensor):
    """A sensor of a vector along its axes: y = (1 + scale) (axes + misalignment) u + bias + noise,
    within its range and in its resolution.
    """

    bias: Any
    noise: Any
    scale: Any
    random_walk: Any
    instability: Any
    resolution: Any
    limit: Any
    _kept: Any

    def build(
        self, clock: Any, axes: Any, misalignment: Any, correlation_time: Any, seed: Any,
        latency: Any, outages: Any,
    ) -> dict[str, Any]:  # fmt: skip
        along = np.eye(3) if axes is None else directions_of(axes, "axes")
        if misalignment is not None:
            along = along + numbers(misalignment, "misalignment", (len(along), 3))
        return self.along(along, clock, correlation_time, seed, latency, outages)

    def along(
        self, axes: Array, clock: Any, correlation_time: Any, seed: Any, latency: Any, outages: Any
    ) -> dict[str, Any]:
        """The arguments of bdsim's constructor for axes (n,m) as they are."""
        n = len(axes)
        self._axes, self.T = axes, float(clock.T)
        for name, check in _OF_AXES.items():
            value = getattr(self, name)
            setattr(self, name, None if value is None else check(value, name, n))
        self._kept = 0.0
        if self.instability is not None:
            if correlation_time is None:
                hint = "give correlation_time, after which the bias has changed"
                raise InputError(Fault("instability needs a time", hint=hint))
            time = positive_each(correlation_time, "correlation_time", n)
            self._kept = np.exp(-self.T / time)
        drifts = (self.random_walk is not None) + (self.instability is not None)
        begun = self._begin(
            clock, seed, n * (1 + drifts), np.zeros(n), np.zeros(n * drifts), latency, outages
        )
        return {**begun, **self.resolve_ports(n=n)}

    def measured(self, u: Any, z: Any, memory: Any) -> tuple[Any, Any]:
        """The measurement (n,) of a vector u (m,) in base axes, and the drifts."""
        n, drifts, bias, var = len(self._axes), [], self.bias, self.noise * self.noise / self.T
        if self.random_walk is not None:
            before = memory[:n]
            after = before + self.random_walk * np.sqrt(self.T) * z[n : 2 * n]
            bias, var = bias + 0.5 * (before + after), var + self.random_walk**2 * self.T / 12
            drifts.append(after)
        if self.instability is not None:
            before, step = memory[-n:], np.sqrt(1.0 - self._kept**2)
            bias = bias + before
            drifts.append(self._kept * before + self.instability * step * z[-n:])
        y = (1.0 + self.scale) * (self._axes @ u) + bias + np.sqrt(var) * z[:n]
        if self.limit is not None:
            y = np.clip(y, -self.limit, self.limit)
        if self.resolution is not None:
            y = self.resolution * np.floor(y / self.resolution + 0.5)
        return y, np.concatenate([np.zeros(0), *drifts])


def _outages(value: Any) -> tuple[tuple[float, float], ...]:
    found = numbers([] if value is None else value, "outages")
    if found.size and (found.ndim != 2 or found.shape[1] != 2 or (found[:, 0] > found[:, 1]).any()):
        text = f"outages must be pairs of times [from, to], not {brief(value)}"
        raise InputError(Fault(text, hint="such as [[10, 12.5], [30, 31]]"))
    return tuple((float(a), float(b)) for a, b in found.reshape(-1, 2))


def _ticks(value: Any) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not 0 <= value <= _MOST_LATE:
        text = f"latency must be a whole number of ticks from 0 to {_MOST_LATE}"
        raise InputError(f"{text}, not {brief(value)}")
    return int(value)


def _seed(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"seed must be a whole number from 0 on, not {brief(value)}")
    return int(value)
