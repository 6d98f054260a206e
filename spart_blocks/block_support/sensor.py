"""Sensors at the ticks of a clock: noise, latency and outages, written once."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.random_numbers import NUMBERS, advanced, normal, seeded, uniform
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.values import directions_of, numbers

OUTAGE = PortSpec("outage", "", "", "above 0.5 where there is no measurement", optional=True)
VALID = PortSpec("valid", "", "", "1 if y is of this measurement, 0 during an outage")
SEED = fixed("int", "", 0, least=0, late=True, text="an integer that selects the noise")
LATENCY = fixed(
    "int", "", 0, least=0, most=1000, late=True, text="ticks until a measurement is given"
)


def _outages(value: Any, name: str) -> tuple[tuple[float, float], ...]:
    found = numbers(value, name)
    if found.size and (found.ndim != 2 or found.shape[1] != 2 or (found[:, 0] > found[:, 1]).any()):
        text = f"{name} must be pairs of times [from, to], not {brief(value)}"
        raise InputError(Fault(text, hint="such as [[10, 12.5], [30, 31]]"))
    return tuple((float(a), float(b)) for a, b in found.reshape(-1, 2))


class Sensor(Declared):
    """A sensor that measures at each tick. `measure` gives the value (m,) of a tick, what the
    sensor remembers (k,), and whether it fails; its last input is the outage.

    The state is the random numbers, the memory, and a row of value and validity for each tick of
    latency, the newest first. Nothing feeds through.
    """

    is_random: ClassVar[bool] = True
    random_entries: int
    latency = LATENCY
    outages = fixed(
        *("k, 2", "s", None),
        check=_outages,
        late=True,
        text="pairs of times [from, to] without measurements",
    )
    seed = SEED

    def _begin(self, channels: int, start: Array, memory: Array, **sizes: Any) -> dict[str, Any]:
        """The arguments of bdsim's constructor. channels: number of random numbers at a tick.
        start: the values before the first measurement. sizes: those of the ports.
        """
        self._channels, self.random_entries = channels, channels * NUMBERS
        self._memory, self._values = len(memory), len(start)
        drawn = advanced(seeded(self.seed, channels)) if channels else np.zeros((0, NUMBERS))
        held = np.tile(np.append(start, 0.0), 1 + self.latency)
        x0 = np.concatenate([drawn.ravel(), memory, held])
        return {"x0": x0, **self.resolve_ports(**sizes)}

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
        for first, last in self.outages or ():
            fails = np.logical_or(fails, np.logical_and(t >= first, t < last))
        fails = np.logical_or(fails, inputs[-1] > 0.5)
        newest = np.where(fails, x[begin : begin + self._values], value)
        valid = np.ravel(np.where(fails, 0.0, 1.0))
        moved = np.ravel(advanced(drawn)) if self._channels else np.zeros(0)
        return np.concatenate([moved, memory, newest, valid, x[begin : -self._values - 1]])


class Axes(Sensor):
    """A sensor of a vector along its axes: y = (1 + scale) (axes + misalignment) u + bias + noise,
    within its range and in its resolution.
    """

    noise = tunable("float or n", "", 0.0, least=0)
    bias = tunable("float or n", "{y}", 0.0, text="constant part of b")
    random_walk = tunable("float or n", "{y}/sqrt(s)", None, least=0)
    instability = tunable(
        "float or n", "{y}", None, least=0, text="standard deviation of the Markov process"
    )
    correlation_time = fixed("float or n", "s", None, above=0, text="of the Markov process")
    scale = tunable("float or n", "", 0.0, text="scale factor errors")
    axes = fixed(
        *("n, 3", "", None),
        check=directions_of,
        text="sensitive axes in base axes, of any length; x, y and z by default",
    )
    misalignment = fixed("n, 3", "rad", None, text="what is added to these axes")
    resolution = tunable(
        "float or n", "{y}", None, above=0, text="step of the output, none by default"
    )
    limit = tunable("float or n", "{y}", None, above=0, text="largest output, none by default")
    _kept: Any
    tunable = ("bias", "scale", "noise", "random_walk", "instability", "resolution", "limit")

    def build(self, axes: Any, misalignment: Any) -> dict[str, Any]:
        along = np.eye(3) if axes is None else axes
        if misalignment is not None:
            along = along + numbers(misalignment, "misalignment", (len(along), 3))
        return self.along(along)

    def along(self, axes: Array) -> dict[str, Any]:
        """The arguments of bdsim's constructor for axes (n,m) as they are."""
        n = len(axes)
        self._axes, self._kept = axes, 0.0
        if self.instability is not None:
            if self.correlation_time is None:
                hint = "give correlation_time, after which the bias has changed"
                raise InputError(Fault("instability needs a time", hint=hint))
            self._kept = np.exp(-self.T / self.correlation_time)
        drifts = (self.random_walk is not None) + (self.instability is not None)
        return self._begin(n * (1 + drifts), np.zeros(n), np.zeros(n * drifts), n=n)

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
