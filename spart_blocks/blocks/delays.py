"""Delays by samples, and by a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bdsim.components import SampledBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed
from spart_blocks.block_support.values import numbers

MOST_HELD = 20_000
"""Largest count of numbers that a delay holds; each is a state of the diagram."""
_WHOLE = 1e-9
"""Tolerance, in periods, within which a delay counts as a whole number of periods."""


def _start(initial: Any, shape: Any) -> Array:
    """The output before the first input arrives, in the signal's shape."""
    start = numbers(initial, "initial")
    if shape is None:
        return start
    wanted = np.atleast_1d(numbers(shape, "shape"))
    if wanted.ndim != 1 or (wanted < 1).any() or (wanted % 1).any():
        raise ValueError(f"shape must be whole numbers above 0, such as [3, 3], not {shape}")
    size = tuple(int(n) for n in wanted)
    _refuse_many(math.prod(size), "give it a smaller shape")
    if start.shape not in ((), size):
        raise ValueError(f"initial has shape {start.shape}, shape says {size}")
    return np.broadcast_to(start, size).copy()


def _of(values: Any, shape: tuple[int, ...]) -> Any:
    """Part of a state as a signal; a number where it has no dimension."""
    return values.reshape(shape) if shape else values[0]


class Unit_Delay(Declared, SampledBlock):
    """The signal one or more clock ticks earlier.

    z^-N: from tick k of its clock to tick k + 1 y is u(k - N), for every reader. It breaks loops of
    sampled blocks, as in Simulink.

    Source: G. F. Franklin et al., "Digital Control of Dynamic Systems" (1998), sec. 4.2.

    :arg initial: output before the first input arrives; it has the shape of the signal
    :arg shape: shape of the signal, if ``initial`` is a number that fills it
    :arg N: number of ticks
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "a number or an array of any shape"),)
    gives = (
        PortSpec("y", "any", "", "the input N ticks before the last tick; before that, initial"),
    )
    delays = True
    initial = fixed("float or array_like", "", 0.0)
    shape = fixed("d", "", None)
    N = fixed("int", "", 1, least=1)

    def build(self, initial: Any, shape: Any, N: Any) -> dict[str, Any]:
        start = _start(initial, shape)
        _refuse_many(N * start.size, "make N smaller, or its clock slower")
        self.signal_shape = start.shape
        return {"x0": np.tile(start.ravel(), N), **self.resolve_ports(any=start.shape)}

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [_of(x[-math.prod(self.signal_shape) :], self.signal_shape)]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        return np.concatenate([np.ravel(inputs[0]), x[: -math.prod(self.signal_shape)]])


class Transport_Delay(Declared, SampledBlock):
    """A continuous signal, delayed by a time.

    The input is sampled at every tick of the clock, of period T [s]; between the samples the output
    is interpolated at t - delay. With linear interpolation its error is at most T^2 / 8 max |u''|,
    with cubics through four samples 3 T^4 / 128 max |d4u/dt4|, except in the very first interval,
    which is linear. The delay must be at least T, with cubics 2 T, so that the output depends only
    on the past and the block may close a loop. Where its clock stands still, in a subsystem that is
    not enabled, the delay does too: it counts the time for which the clock ticks.

    Source: the remainder of Lagrange's interpolation, as in A. Quarteroni et al., "Numerical
    Mathematics" (2007), sec. 8.1.

    :arg delay: the delay
    :arg initial: output before the first input arrives; it has the shape of the signal
    :arg shape: shape of the signal, if ``initial`` is a number that fills it
    :arg interpolation: linear or cubic
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "a number or an array of any shape"),)
    gives = (PortSpec("y", "any", "", "u(t - delay); initial until the first sample is that old"),)
    delays = True
    varies_between_ticks = True
    needs_period = True
    delay = fixed("float", "s")
    initial = fixed("float or array_like", "", 0.0)
    shape = fixed("d", "", None)
    interpolation = fixed("str", "", "linear", choices=("linear", "cubic"))

    def build(self, delay: Any, initial: Any, shape: Any, interpolation: Any) -> dict[str, Any]:
        self.cubic = interpolation == "cubic"
        start = _start(initial, shape)
        self.ticks = _ticks(delay, self.T, 2 if self.cubic else 1)
        self.signal_shape, self.initial = start.shape, start.ravel()
        # From the newest sample to the oldest that an interpolation reads.
        self.held = math.ceil(self.ticks) + 1 + self.cubic
        _refuse_many(self.held * start.size, "give it a clock of a longer period")
        x0 = np.concatenate([[0.0, 0.0], np.tile(self.initial, self.held)])
        return {"x0": x0, **self.resolve_ports(any=start.shape)}

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        """The state is the time of the last tick, the number of stored samples, and the samples,
        newest first. An age is counted in periods from the newest sample.
        """
        last, count, samples = x[0], x[1], x[2:].reshape(self.held, -1)
        age = self.ticks - np.minimum((t - last) / self.T, 1.0)  # a clock may stand still
        whole = math.floor(self.ticks)
        parts = [self._between(samples, k, age, count) for k in (whole - 1, whole)]
        value = np.where(age >= whole, parts[1], parts[0])
        value = np.where(age > count - 1, self.initial, value)
        return [_of(value, self.signal_shape)]

    def _between(self, samples: Any, k: int, age: Any, count: Any) -> Any:
        """The signal at an age from k to k + 1."""
        a = age - k
        if k + 1 >= self.held:  # of a delay that is a whole number, at that age itself
            return samples[k]
        line = (1 - a) * samples[k] + a * samples[k + 1]
        if not self.cubic or k + 2 >= self.held:
            return line
        weights = (
            -a * (a - 1) * (a - 2) / 6,
            (a + 1) * (a - 1) * (a - 2) / 2,
            -(a + 1) * a * (a - 2) / 2,
            (a + 1) * a * (a - 1) / 6,
        )
        curve = sum(w * samples[k - 1 + i] for i, w in enumerate(weights))
        return np.where(count > k + 2, curve, line)

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        count, u = np.minimum(x[1:2] + 1, self.held), np.ravel(inputs[0])
        return np.concatenate([np.ravel(t), count, u, x[2 : -len(self.initial)]])

    def edges(self) -> list[tuple[float, float]]:
        """The output has a kink where t - delay is the time of a sample, and a jump at the first;
        if the delay is a whole number of periods, these are the ticks.
        """
        rest = self.ticks % 1
        return [(float(self._clock.offset) + rest * self.T, self.T)] if rest else []


class Variable_Delay(Declared, SampledBlock):
    """A continuous signal, delayed by a time that varies.

    The input u and the delay are sampled at every tick of the clock, of period T [s]; between the
    samples of u the output is interpolated linearly at t - delay, the delay that of the last tick.
    The delay is limited to T at least, so that the output depends only on the past and the block
    may close a loop, and to max_delay at most. For a constant delay within these it is
    TRANSPORT_DELAY, with an error of at most T^2 / 8 max |u''|; the held delay adds T times the
    largest rate of the delay times max |u'|. Where its clock stands still the delay does too.

    Source: A. Quarteroni et al., "Numerical Mathematics" (2007), sec. 8.1.

    :arg max_delay: the largest delay, T or more
    :arg initial: output before the first input arrives; it has the shape of the signal
    :arg shape: shape of the signal, if ``initial`` is a number that fills it
    """

    nin = 2
    nout = 1
    takes = (
        PortSpec("u", "any", "", "a number or an array of any shape"),
        PortSpec("delay", "", "s", "the delay"),
    )
    gives = (PortSpec("y", "any", "", "u(t - delay); initial until the first sample is that old"),)
    delays = True
    varies_between_ticks = True
    needs_period = True
    max_delay = fixed("float", "s")
    initial = fixed("float or array_like", "", 0.0)
    shape = fixed("d", "", None)

    def build(self, max_delay: Any, initial: Any, shape: Any) -> dict[str, Any]:
        start = _start(initial, shape)
        self.most = _ticks(max_delay, self.T, 1, "max_delay")
        self.signal_shape, self.initial = start.shape, start.ravel()
        self.held = math.ceil(self.most) + 1
        _refuse_many(self.held * start.size, "give it a clock of a longer period")
        x0 = np.concatenate([[0.0, 0.0, 1.0], np.tile(self.initial, self.held)])
        return {"x0": x0, **self.resolve_ports(shapes={"u": start.shape, "y": start.shape})}

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        """The state is the time of the last tick, the number of stored samples, the delay in
        periods, and the samples, newest first. An age is counted in periods from the newest sample.
        """
        last, count, ticks, samples = x[0], x[1], x[2], x[3:].reshape(self.held, -1)
        age = np.maximum(ticks - np.minimum((t - last) / self.T, 1.0), 0.0)
        weights = np.maximum(1.0 - np.abs(age - np.arange(self.held, dtype=float)), 0.0)
        value = np.where(age > count - 1, self.initial, weights @ samples)
        return [_of(value, self.signal_shape)]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        u, delay = inputs
        count = np.minimum(x[1:2] + 1, self.held)
        ticks = np.clip(delay / self.T, 1.0, self.most)
        kept = x[3 : -len(self.initial)]
        return np.concatenate([np.ravel(t), count, np.ravel(ticks), np.ravel(u), kept])


def _ticks(delay: Any, period: float, least: int, what: str = "delay") -> float:
    """A delay in periods of its clock, at least `least`."""
    if isinstance(delay, bool) or not isinstance(delay, int | float) or not math.isfinite(delay):
        raise ValueError(f"{what} must be a time [s], not {delay}")
    ticks = delay / period
    if abs(ticks - round(ticks)) < _WHOLE:
        ticks = float(round(ticks))
    if ticks < least:
        of = "its clock's period" if least == 1 else f"{least} periods of its clock, with cubics"
        raise ValueError(f"{what} must be at least {of}, {least * period:g} s, not {delay:g} s")
    return ticks


def _refuse_many(count: int, hint: str) -> None:
    if count > MOST_HELD:
        raise ValueError(f"it would hold {count:,} numbers, at most {MOST_HELD:,}: {hint}")
