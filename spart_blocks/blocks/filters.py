"""Notches and low-pass filters; in time and at the ticks of a clock."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.blocks._linear import (
    Cascade,
    Discretised,
    Polynomials,
    Rational,
    channels,
    discretised,
    in_series,
    sections_of,
)
from spart_blocks.blocks._values import not_negative, positive, positive_number
from spart_blocks.errors import Fault, InputError, brief

HIGHEST_ORDER = 20
"""Highest order of a filter."""


def _notch(frequency: Any, width: Any, depth: Any) -> Polynomials:
    omega, band = 2 * math.pi * frequency, 2 * math.pi * width
    return [1.0, depth * band, omega * omega], [1.0, band, omega * omega]


class Notch(Rational, ContinuousBlock):
    """A notch filter, which takes one frequency out of a signal, for each entry of u.

    y = (s^2 + depth b s + w^2) / (s^2 + b s + w^2) u, w = 2 pi frequency, b = 2 pi bandwidth: its
    gain is `depth` at `frequency`, and 1 far from it. With depth 0 it is below 1/sqrt(2) on an
    interval as wide as `bandwidth`. u feeds through.

    Source: S. J. Orfanidis, "Introduction to Signal Processing" (1996), sec. 11.3, in continuous
    time.

    :param frequency: the frequency to take out [Hz]
    :type frequency: float or array_like(n)
    :param bandwidth: width of the notch [Hz]
    :type bandwidth: float or array_like(n)
    :param depth: gain at the frequency
    :type depth: float or array_like(n)
    :param u0: input before the start, under which it is at rest then
    :type u0: float or array_like(n)
    :param width: length of u, if all other parameters are scalars; by default u is a scalar then
    :type width: int, optional
    """

    nin = 1
    nout = 1
    tunable = ("frequency", "bandwidth", "depth")

    def __init__(
        self, frequency: Any, bandwidth: Any, depth: Any = 0.0, u0: Any = 0.0,
        width: int | None = None, **blockargs: Any,
    ) -> None:  # fmt: skip
        self.frequency = positive(frequency, "frequency")
        self.bandwidth = positive(bandwidth, "bandwidth")
        self.depth = not_negative(depth, "depth")
        shape = channels(
            width, frequency=self.frequency, bandwidth=self.bandwidth, depth=self.depth, u0=u0
        )
        super().__init__(**self._start(u0, shape), **blockargs)

    def law(self) -> Polynomials:
        return _notch(self.frequency, self.bandwidth, self.depth)


class Notch_S(Discretised, SampledBlock):
    """A notch filter at the ticks of a clock, for each entry of u.

    Its gain is `depth` at `frequency` exactly, as the trapezoidal rule is warped to it, and 1 at
    rest and at half the clock's rate; with depth 0 it is below 1/sqrt(2) on an interval as wide as
    `bandwidth`, as scipy.signal.iirnotch has it. u feeds through; y is held between ticks.

    Source: S. J. Orfanidis, "Introduction to Signal Processing" (1996), sec. 11.3.

    :param clock: clock source
    :type clock: Clock
    :param frequency: the frequency to take out [Hz], below half the clock's rate
    :type frequency: float or array_like(n)
    :param bandwidth: width of the notch [Hz], below half the clock's rate
    :type bandwidth: float or array_like(n)
    :param depth: gain at the frequency
    :type depth: float or array_like(n)
    :param u0: input before the start, under which it is at rest then
    :type u0: float or array_like(n)
    :param width: length of u, if all other parameters are scalars; by default u is a scalar then
    :type width: int, optional
    """

    nin = 1
    nout = 1

    def __init__(
        self, clock: Any, frequency: Any, bandwidth: Any, depth: Any = 0.0, u0: Any = 0.0,
        width: int | None = None, **blockargs: Any,
    ) -> None:  # fmt: skip
        frequency, bandwidth = positive(frequency, "frequency"), positive(bandwidth, "bandwidth")
        depth = not_negative(depth, "depth")
        _below_half(frequency, clock, "frequency")
        _below_half(bandwidth, clock, "bandwidth")
        shape = channels(width, frequency=frequency, bandwidth=bandwidth, depth=depth, u0=u0)
        # In z = exp(i w T) the trapezoidal rule takes w to tan(w T / 2).
        w, b = np.tan(np.pi * frequency * clock.T), np.tan(np.pi * bandwidth * clock.T)
        band = b * (1 + w * w)
        warped = 2 / clock.T
        law = (
            [1.0, depth * band * warped, (w * warped) ** 2],
            [1.0, band * warped, (w * warped) ** 2],
        )
        each = discretised(clock, law, shape, "tustin")
        super().__init__(**self._start(clock, each, u0, shape), **blockargs)


class Low_Pass(Cascade, ContinuousBlock):
    """A Butterworth low-pass filter, for each entry of u.

    |y / u| = 1 / sqrt(1 + (f / cutoff)^(2 order)) at the frequency f: 1 at rest, 1/sqrt(2) at the
    cut-off. It is realised as sections of second order in series; nothing feeds through.

    Source: S. Butterworth, "On the theory of filter amplifiers", Experimental Wireless 7 (1930);
    scipy.signal.butter.

    :param cutoff: cut-off frequency [Hz]
    :type cutoff: float or array_like(n)
    :param order: order of the filter, 1 to 20
    :type order: int
    :param u0: input before the start, under which it is at rest then; y begins with u0
    :type u0: float or array_like(n)
    :param width: length of u; by default u is a scalar, or as long as cutoff and u0
    :type width: int, optional
    """

    nin = 1
    nout = 1
    tunable = ("cutoff",)

    def __init__(
        self, cutoff: Any, order: int = 2, u0: Any = 0.0, width: int | None = None, **blockargs: Any
    ) -> None:
        from scipy.signal import butter

        self.cutoff = positive(cutoff, "cutoff")
        shape = channels(width, cutoff=self.cutoff, u0=u0)
        # The filter of 1 rad/s, whose time runs faster by the cut-off.
        zeros, poles, gain = butter(_order(order), 1.0, analog=True, output="zpk")
        one = in_series(sections_of(zeros, poles, gain, analog=True))
        super().__init__(**self._start(one, u0, shape), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self._signal(self._y(inputs, x))]

    def deriv(self, t: float, inputs: list[Any], x: Any) -> Any:
        rate = 2 * math.pi * self.cutoff
        return np.ravel(rate * self._rows(super().deriv(t, inputs, x)))


class Low_Pass_S(Discretised, SampledBlock):
    """A Butterworth low-pass filter at the ticks of a clock, for each entry of u.

    |y / u| = 1 / sqrt(1 + r^(2 order)) with r = tan(pi f T) / tan(pi cutoff T) at the frequency f:
    1 at rest, 1/sqrt(2) at the cut-off, 0 at half the clock's rate. u feeds through; y is held
    between ticks.

    Source: A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing" (2010), sec. 7.2;
    scipy.signal.butter.

    :param clock: clock source
    :type clock: Clock
    :param cutoff: cut-off frequency [Hz], below half the clock's rate
    :type cutoff: float
    :param order: order of the filter, 1 to 20
    :type order: int
    :param u0: input before the start, under which it is at rest then; y begins with u0
    :type u0: float or array_like(n)
    :param width: length of u; by default u is a scalar, or as long as u0
    :type width: int, optional
    """

    nin = 1
    nout = 1

    def __init__(
        self, clock: Any, cutoff: float, order: int = 2, u0: Any = 0.0, width: int | None = None,
        **blockargs: Any,
    ) -> None:  # fmt: skip
        from scipy.signal import butter

        cutoff = positive_number(cutoff, "cutoff", "Hz")
        _below_half(cutoff, clock, "cutoff")
        shape = channels(width, u0=u0)
        zeros, poles, gain = butter(_order(order), cutoff, fs=1 / clock.T, output="zpk")
        one = in_series(sections_of(zeros, poles, gain, analog=False))
        super().__init__(**self._start(clock, [one], u0, shape), **blockargs)


def _order(order: Any) -> int:
    if isinstance(order, bool) or not isinstance(order, int) or not 0 < order <= HIGHEST_ORDER:
        text = f"order must be a whole number from 1 to {HIGHEST_ORDER}, not {brief(order)}"
        raise InputError(text)
    return order


def _below_half(frequency: Any, clock: Any, name: str) -> None:
    """InputError for a frequency [Hz] from half the clock's rate on."""
    half = 0.5 / clock.T
    if np.any(np.asarray(frequency) >= half):
        text = f"{name} must be below half the clock's rate, {half:g} Hz, not {brief(frequency)}"
        raise InputError(Fault(text, hint="give it a faster clock"))
