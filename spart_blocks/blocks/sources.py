"""Periodic and test signals as functions of time."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import SampledBlock, SourceBlock

from spart_blocks.base.curves.lines import LineTable
from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.tables import rising, table_numbers
from spart_blocks.block_support.values import above_zero, common_shape, scalar_or_vector
from spart_blocks.formulas.crossings import settled

MOST_BENDS = 256
"""Largest number of points of a repeated table at whose kinks steps end."""
LARGEST_TABLE = 16
"""Largest order of a PRBS that is a table of its period, of 2^16 - 1 values."""


class Pulse(Declared, SourceBlock):
    """Rectangular pulses at known times.

    y = offset + amplitude while delay + k period <= t < delay + (k + width) period, k = 0, 1, ...;
    otherwise offset. Steps end at the edges.

    :arg amplitude: height of a pulse, in the unit of y
    :arg period: time from a pulse to the next
    :arg width: part of the period during which the pulse lasts, above 0 and below 1
    :arg delay: time of the first pulse
    :arg offset: output between pulses, in the unit of y
    """

    nin = 0
    nout = 1
    gives = (PortSpec("y", "float or n", "", "the pulses"),)
    amplitude = tunable("float or n", "", 1.0)
    period = tunable("float", "s", 1.0, above=0)
    width = tunable("float", "", 0.5)
    delay = tunable("float", "s", 0.0)
    offset = tunable("float or n", "", 0.0)

    def build(self) -> dict[str, Any]:
        if not 0 < self.width < 1:
            hint = "it is a part of the period: 0.5 is half of it"
            raise InputError(
                Fault(f"width must be above 0 and below 1, not {self.width}", hint=hint)
            )
        return self.resolve_ports(n=self.shared_shape())

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        t = settled(t)  # at an edge itself y has its new value
        nearest = np.floor((t - self.delay) / self.period + 0.5)
        k = nearest - np.where(t < self.delay + nearest * self.period, 1.0, 0.0)
        end = self.delay + self.width * self.period + k * self.period
        on = np.logical_and(k >= 0, t < end)
        return [self.offset + self.amplitude * np.where(on, 1.0, 0.0)]

    def edges(self) -> list[tuple[Any, Any]]:
        """The start and the end of each pulse."""
        return [
            (self.delay, self.period),
            (self.delay + self.width * self.period, self.period),
        ]


class Chirp(Declared, SourceBlock):
    """A sine whose frequency changes with time.

    y = offset + amplitude sin(phase + 2 pi integral of f dt). In a sweep of the given duration D
    the frequency goes from f0 to f1: ``linear`` f = f0 + (f1 - f0) t / D, ``logarithmic``
    f = f0 (f1 / f0)^(t / D). After it ``hold`` stays at f1, ``repeat`` sweeps again from f0. The
    signal is continuous; a step ends where the frequency jumps.

    Source: the phase is that of `scipy.signal.chirp`, with a sine in place of its cosine.

    :arg f0: frequency at the start
    :arg f1: frequency at the end of the sweep
    :arg duration: duration of the sweep
    :arg method: linear or logarithmic
    :arg after: hold or repeat
    :arg amplitude: amplitude, in the unit of y
    :arg phase: phase at t = 0
    :arg offset: mean, in the unit of y
    """

    nin = 0
    nout = 1
    gives = (PortSpec("y", "", "", "the signal"),)
    f0 = tunable("float", "Hz")
    f1 = tunable("float", "Hz")
    duration = tunable("float", "s", above=0)
    method = fixed("str", "", "linear", choices=("linear", "logarithmic"))
    after = fixed("str", "", "hold", choices=("hold", "repeat"))
    amplitude = tunable("float", "", 1.0)
    phase = tunable("float", "rad", 0.0)
    offset = tunable("float", "", 0.0)

    def build(self) -> dict[str, Any]:
        if self.method == "logarithmic":
            above_zero(self.f0, "f0", "Hz")
            above_zero(self.f1, "f1", "Hz")
            if self.f0 == self.f1:
                hint = "a WAVEFORM has a constant frequency"
                raise InputError(
                    Fault("a logarithmic sweep needs f0 and f1 that differ", hint=hint)
                )
        return self.resolve_ports()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        t = settled(t)
        s, whole = t / self.duration, self._turns(1.0)
        if self.after == "repeat":
            sweeps = np.floor(s)
            turns = sweeps * whole + self._turns(s - sweeps)
        else:
            turns = self._turns(np.minimum(s, 1.0)) + self.f1 * np.maximum(t - self.duration, 0.0)
        return [self.offset + self.amplitude * np.sin(self.phase + 2 * np.pi * turns)]

    def _turns(self, s: Any) -> Any:
        """The periods in the part s of a sweep, from 0 to 1."""
        if self.method == "linear":
            return self.duration * (self.f0 * s + 0.5 * (self.f1 - self.f0) * s * s)
        ratio = np.log(self.f1 / self.f0)
        return self.duration * self.f0 * (np.exp(ratio * s) - 1.0) / ratio

    def edges(self) -> list[tuple[Any, Any]]:
        return [(self.duration, self.duration if self.after == "repeat" else 0.0)]


class Multisine(Declared, SourceBlock):
    """A sum of cosines, to excite a system at chosen frequencies.

    y = sum of A_k cos(2 pi f_k t + phi_k). By default the phases are Schroeder's, phi_k = -2 pi
    sum over l < k of (k - l) p_l, with the relative powers p_l = A_l^2 / sum of A^2; for harmonics
    of one frequency they keep the peaks low.

    Source: M. R. Schroeder, "Synthesis of low-peak-factor signals and binary sequences with low
    autocorrelation", IEEE Transactions on Information Theory 16 (1970), 85-89.

    :arg frequencies: the frequencies f_k
    :arg amplitudes: their amplitudes A_k, in the unit of y
    :arg phases: their phases, by default Schroeder's
    """

    nin = 0
    nout = 1
    gives = (PortSpec("y", "", "", "the signal"),)
    frequencies = tunable("n", "Hz")
    amplitudes = tunable("float or n", "", 1.0)
    phases = tunable("float or n", "rad", None)

    def build(self, frequencies: Any, amplitudes: Any, phases: Any) -> dict[str, Any]:
        self.frequencies = np.atleast_1d(scalar_or_vector(frequencies, "frequencies"))
        above_zero(self.frequencies, "frequencies", "Hz")
        given = {"frequencies": self.frequencies}
        self.amplitudes = given["amplitudes"] = amplitudes
        self.phases = None
        if phases is not None:
            self.phases = given["phases"] = phases
        (count,) = common_shape(**given)
        if not np.any(np.asarray(self.amplitudes)):
            raise InputError("amplitudes must not all be zero")
        place = np.arange(count)
        # The relative powers of the lines below each, weighted by their distance.
        self._distances: Array = np.maximum(place[:, None] - place, 0.0)
        return self.resolve_ports()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        A = self.amplitudes * np.ones(len(self._distances))
        phases = self.phases
        if phases is None:
            power = A * A
            phases = -2 * np.pi * (self._distances @ power) / np.sum(power)
        return [np.sum(A * np.cos(2 * np.pi * t * self.frequencies + phases))]


class _Prbs(Declared):
    """The bits of a shift register of maximum length as one of two levels."""

    nin = 0
    nout = 1
    gives = (PortSpec("y", "", "", "one of the two levels"),)
    order = fixed("int", "", 7)
    interval = tunable("float", "s", 1.0, above=0)
    amplitude = tunable("float", "", 1.0)
    offset = tunable("float", "", 0.0)
    seed = fixed("int", "", 0)


class Prbs(_Prbs, SourceBlock):
    """A pseudo-random binary signal, at known switching times.

    A maximum-length sequence: a shift register of N bits gives 2^N - 1 bits before it repeats, each
    for the time of an interval. y = offset + amplitude for a one, offset - amplitude for a zero.
    Over a period its mean is offset + amplitude / (2^N - 1), and its autocorrelation at the other
    shifts is -amplitude^2 / (2^N - 1) about the offset. PRBS_S gives the bits on a clock.

    Source: L. Ljung, "System Identification" (1999), sec. 13.3; the bits are those of
    `scipy.signal.max_len_seq`.

    :arg order: bits N of the shift register, from 2 to 16
    :arg interval: time of a bit
    :arg amplitude: distance of both levels from the offset, in the unit of y
    :arg offset: mean of the levels, in the unit of y
    :arg seed: a whole number that selects where in its period it starts
    """

    def build(self, order: Any, seed: Any) -> dict[str, Any]:
        self.bits = two_levels(start_of(order, seed, LARGEST_TABLE))
        return self.resolve_ports()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        count = len(self.bits)
        k = np.floor(settled(t) / self.interval)
        level = np.interp(k - count * np.floor(k / count), np.arange(float(count)), self.bits)
        return [self.offset + self.amplitude * level]

    def edges(self) -> list[tuple[Any, Any]]:
        return [(0.0, self.interval)]


class Prbs_S(_Prbs, SampledBlock):
    """A pseudo-random binary signal, a bit at each tick of a clock.

    A maximum-length sequence: a shift register of N bits gives 2^N - 1 bits before it repeats.
    y = offset + amplitude for a one, offset - amplitude for a zero. The register is its state. PRBS
    gives the same bits as a function of time.

    Source: L. Ljung, "System Identification" (1999), sec. 13.3; the bits are those of
    `scipy.signal.max_len_seq`.

    :arg order: bits N of the shift register, from 2 to 32
    :arg amplitude: distance of both levels from the offset, in the unit of y
    :arg offset: mean of the levels, in the unit of y
    :arg seed: a whole number that selects where in its period it starts
    """

    omits = ("interval",)
    delays = True

    def build(self, order: Any, seed: Any) -> dict[str, Any]:
        start = start_of(order, seed, max(TAPS))
        self.taps = TAPS[len(start)]
        return {"x0": start, **self.resolve_ports()}

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self.offset + self.amplitude * (2.0 * x[0] - 1.0)]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        fed = x[0]
        for tap in self.taps:
            fed = np.abs(fed - x[tap])  # exclusive or
        return np.concatenate([x[1:], np.ravel(fed)])

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random register that is not zero."""
        near = rng.integers(2, size=len(x)).astype(float)
        return near if near.any() else x


class Repeating(Declared, SourceBlock):
    """A table of times and values, repeated.

    The first time is 0, the last one the period. ``linear`` interpolates linearly, ``previous``
    holds each value until the next time, so that the last value is never reached. Where the first
    and the last value differ, the signal jumps at the end of each period. Steps end at the times,
    with ``linear`` at those of tables of up to 256.

    :arg times: times within the period, increasing from 0, two or more
    :arg values: the values there, numbers or vectors
    :arg interpolation: linear or previous
    """

    nin = 0
    nout = 1
    gives = (PortSpec("y", "any", "", "the value of the table"),)
    times = fixed("n", "s")
    values = fixed("n or n, m")
    interpolation = fixed("str", "", "linear", choices=("linear", "previous"))

    def build(self, times: Any, values: Any) -> dict[str, Any]:
        self._times, found = rising(times, "times"), table_numbers(values, "values")
        if self._times[0] != 0:
            hint = "the last one is the period; shift them all"
            raise InputError(Fault(f"times must begin at 0, not {self._times[0]:g}", hint=hint))
        if found.ndim not in (1, 2) or len(found) != len(self._times):
            raise ValueError(
                f"values must have a number or a vector for each of the {len(self._times)} "
                f"times, it has shape {found.shape}"
            )
        self._line = LineTable(self._times, found.reshape(len(found), -1), self.interpolation)
        self._vectors = found.ndim == 2
        return self.resolve_ports(any=found.shape[1:])

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        period = self._times[-1]
        t = settled(t)
        out = self._line.at(t - period * np.floor(t / period))
        return [np.array(out) if self._vectors else out[0]]

    def edges(self) -> list[tuple[float, float]]:
        period = float(self._times[-1])
        every = self.interpolation == "previous" or len(self._times) <= MOST_BENDS
        times = self._times[1:] if every else self._times[-1:]
        return [(float(t), period) for t in times]


TAPS: dict[int, tuple[int, ...]] = {
    2: (1,), 3: (2,), 4: (3,), 5: (3,), 6: (5,), 7: (6,), 8: (7, 6, 1), 9: (5,), 10: (7,),
    11: (9,), 12: (11, 10, 4), 13: (12, 11, 8), 14: (13, 12, 2), 15: (14,), 16: (15, 13, 4),
    17: (14,), 18: (11,), 19: (18, 17, 14), 20: (17,), 21: (19,), 22: (21,), 23: (18,),
    24: (23, 22, 17), 25: (22,), 26: (25, 24, 20), 27: (26, 25, 22), 28: (25,), 29: (27,),
    30: (29, 28, 7), 31: (28,), 32: (31, 30, 10),
}  # fmt: skip
"""Bits besides the first whose exclusive or enters at the end, by the number of bits. Each is a
primitive polynomial; they are those of `scipy.signal.max_len_seq`."""


def start_of(order: Any, seed: Any, most: int) -> Array:
    """The bits (order,) of a register at the start, of which the first is given first: all ones for
    the seed 0. InputError for wrong numbers.
    """
    whole = isinstance(order, int | np.integer) and not isinstance(order, bool)
    if not whole or not min(TAPS) <= order <= most:
        hint = None if most == max(TAPS) else f"PRBS_S takes up to {max(TAPS)}"
        text = f"order must be a whole number from {min(TAPS)} to {most}, not {brief(order)}"
        raise InputError(Fault(text, hint=hint))
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise InputError(f"seed must be a whole number from 0 on, not {brief(seed)}")
    period = 2 ** int(order) - 1
    number = period - int(seed) % period  # from 1 on: a register of zeros stays there
    return np.array([number >> bit & 1 for bit in range(order)], dtype=float)


def two_levels(start: Array) -> Array:
    """The period (2^order - 1,) of the register as 1 and -1."""
    taps, bits = TAPS[len(start)], [int(bit) for bit in start]
    period = 2 ** len(bits) - 1
    for k in range(period - len(bits)):
        fed = bits[k]
        for tap in taps:
            fed ^= bits[k + tap]
        bits.append(fed)
    return 2.0 * np.array(bits) - 1.0
