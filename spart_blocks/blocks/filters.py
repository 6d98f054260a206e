"""Notches and low-pass filters; in time and at the ticks of a clock."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.linear import (
    Cascade,
    Discretised,
    Matrices,
    Polynomials,
    Rational,
    discretised,
    in_series,
    leveled,
    sections_of,
)
from spart_blocks.block_support.parameters import U0, WIDTH, fixed, tunable

HIGHEST_ORDER = 20
"""Highest order of a filter."""
_SCIPY_NORMS = {"magnitude": "mag", "delay": "delay", "phase": "phase"}
NORMS = tuple(_SCIPY_NORMS)
"""What the cut-off of a Bessel filter is."""
Roots = tuple[Array, Array, float]
"""Zeros, poles and gain."""


def _scipy(name: str) -> Callable[..., Roots]:
    """The prototype of 1 rad/s of this name in SciPy, which is imported when it is called."""

    def roots(order: int, *given: Any) -> Roots:
        import scipy.signal

        found: Roots = getattr(scipy.signal, name)(order, *given)
        return found

    return roots


def _critical(order: int) -> Roots:
    """The prototype of equal lags."""
    pole = 1 / math.sqrt(2 ** (1 / order) - 1)
    return np.zeros(0), np.full(order, -pole), pole**order


class _Design(NamedTuple):
    """A design: its prototype, and its parameter with the default."""

    roots: Callable[..., Roots]
    parameter: str | None = None
    default: Any = None


_DESIGNS = {
    "butterworth": _Design(_scipy("buttap")),
    "critical": _Design(_critical),
    "bessel": _Design(_scipy("besselap"), "norm", "magnitude"),
    "chebyshev1": _Design(_scipy("cheb1ap"), "ripple", 0.5),
    "chebyshev2": _Design(_scipy("cheb2ap"), "attenuation", 40.0),
}
DESIGNS = tuple(_DESIGNS)


def low_pass(design: Any, order: Any, **given: Any) -> Roots:
    """The zeros, poles and gain of a low-pass filter of 1 rad/s.

    given: the parameters of single designs, None where they have their defaults. Raises InputError
    for one that belongs to another design.
    """
    found = _DESIGNS[design]
    for name, value in given.items():
        if value is not None and name != found.parameter:
            (home,) = (key for key, other in _DESIGNS.items() if other.parameter == name)
            text = f"{name} is a parameter of the design {home}, not of {design}"
            raise InputError(Fault(text, hint=f"write design: {home}, or leave {name} out"))
    if found.parameter is None:
        return found.roots(order)
    value = given.get(found.parameter)
    value = found.default if value is None else value
    return found.roots(order, _SCIPY_NORMS.get(value, value))


class _Notch(Declared):
    """The parameters of NOTCH and NOTCH_S.

    :arg frequency: the frequency to take out
    :arg bandwidth: width of the notch
    :arg depth: gain at the frequency
    """

    nin = 1
    nout = 1

    frequency = tunable("float or n", "Hz", above=0)
    bandwidth = tunable("float or n", "Hz", above=0)
    depth = tunable("float or n", "", 0.0, least=0)
    u0 = U0
    width = WIDTH


class Notch(_Notch, Rational, ContinuousBlock):
    """A notch filter, which takes one frequency out of a signal, for each entry of u.

    y = (s^2 + depth b s + w^2) / (s^2 + b s + w^2) u, w = 2 pi frequency, b = 2 pi bandwidth: its
    gain is `depth` at `frequency`, and 1 far from it. With depth 0 it is below 1/sqrt(2) on an
    interval as wide as `bandwidth`. u feeds through.

    Source: S. J. Orfanidis, "Introduction to Signal Processing" (1996), sec. 11.3, in continuous
    time.
    """

    def law(self) -> Polynomials:
        omega, band = 2 * math.pi * self.frequency, 2 * math.pi * self.bandwidth
        return [1.0, self.depth * band, omega * omega], [1.0, band, omega * omega]


class Notch_S(_Notch, Discretised, SampledBlock):
    """A notch filter at the ticks of a clock, for each entry of u.

    Its gain is `depth` at `frequency` exactly, as the trapezoidal rule is warped to it, and 1 at
    rest and at half the clock's rate; with depth 0 it is below 1/sqrt(2) on an interval as wide as
    `bandwidth`, as scipy.signal.iirnotch has it. u feeds through; y is held between ticks.

    Source: S. J. Orfanidis, "Introduction to Signal Processing" (1996), sec. 11.3.

    :arg frequency: the frequency to take out, below half the clock's rate
    :arg bandwidth: width of the notch, below half the clock's rate
    """

    tunable = ()

    def build(self, u0: Any, width: Any) -> dict[str, Any]:
        _below_half(self.frequency, self.T, "frequency")
        _below_half(self.bandwidth, self.T, "bandwidth")
        shape = self.shared_shape(width, u0=u0)
        # In z = exp(i w T) the trapezoidal rule takes w to tan(w T / 2).
        w, b = np.tan(np.pi * self.frequency * self.T), np.tan(np.pi * self.bandwidth * self.T)
        band = b * (1 + w * w)
        warped = 2 / self.T
        law = (
            [1.0, self.depth * band * warped, (w * warped) ** 2],
            [1.0, band * warped, (w * warped) ** 2],
        )
        return self._start(discretised(self.T, law, shape, "tustin"), u0, width)


class _LowPass(Declared):
    """The parameters of LOW_PASS and LOW_PASS_S.

    :arg cutoff: cut-off frequency
    :arg order: order of the filter, 1 to 20
    :arg width: length of u; by default u is a scalar, or as long as cutoff and u0
    :arg design: butterworth, critical, bessel, chebyshev1 or chebyshev2
    :arg ripple: of chebyshev1: how deep its gain falls below 1 in the pass band, by default 0.5
    :arg attenuation: of chebyshev2: how far its gain is below 1 in the stop band, by default 40
    :arg norm: of bessel: what the cut-off is, magnitude (the default), delay or phase
    """

    nin = 1
    nout = 1

    cutoff = tunable("float or n", "Hz", above=0)
    order = fixed("int", "", 2, least=1, most=HIGHEST_ORDER)
    u0 = U0
    width = fixed("int", "", None)
    design = fixed("str", "", "butterworth", choices=DESIGNS)
    ripple = fixed("float", "dB", None, above=0)
    attenuation = fixed("float", "dB", None, above=0)
    norm = fixed("str", "", None, choices=NORMS)

    def _roots(self) -> Roots:
        """Those of the filter of 1 rad/s."""
        given = {name: getattr(self, name) for name in ("ripple", "attenuation", "norm")}
        return low_pass(self.design, self.order, **given)


class Low_Pass(_LowPass, Cascade, ContinuousBlock):
    """A low-pass filter of a design, for each entry of u.

    With x = f / cutoff at the frequency f, abs(y / u) is

    - butterworth: 1 / sqrt(1 + x^(2 order)), flat at 0;
    - critical: 1 / (1 + a x^2)^(order / 2) with a = 2^(1 / order) - 1, that of equal lags, without
      overshoot;
    - bessel: that of the reverse Bessel polynomial, whose delay is flat at 0: a pulse keeps its
      shape;
    - chebyshev1: 1 / sqrt(1 + e^2 T(x)^2) with e^2 = 10^(ripple / 10) - 1 and the Chebyshev
      polynomial T of the order: between 1 and 1/sqrt(1 + e^2) up to the cut-off, and steep there;
    - chebyshev2: 1 / sqrt(1 + 1 / (e T(1 / x))^2) with e^2 = 1 / (10^(attenuation / 10) - 1): flat
      at 0, and at most 1/sqrt(1 + 1/e^2) from the cut-off on.

    At the cut-off it is 1/sqrt(2) for the first three, and so much below 1 as `ripple` or
    `attenuation` say for the others, as in scipy.signal; in Modelica's normalized filters it is
    10^(-3/20) for all. For bessel, norm: delay makes the delay at 0 instead 1 / (2 pi cutoff),
    norm: phase the asymptote at high frequencies that of a Butterworth filter. At rest it is 1,
    but for chebyshev1 of an even order, where it is the lowest.

    It is realised as sections of second order in series; u feeds through chebyshev2 of an even
    order only.

    Source: R. Schaumann and M. E. Van Valkenburg, "Design of Analog Filters" (2001), ch. 6 to 10;
    scipy.signal.butter, bessel, cheby1 and cheby2; Modelica.Blocks.Continuous.Filter.

    """

    def build(self, u0: Any, width: Any) -> dict[str, Any]:
        # Its time runs faster by the cut-off.
        return self._start(_realised(*self._roots(), analog=True), u0, width)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self._signal(self._y(inputs, x))]

    def deriv(self, t: float, inputs: list[Any], x: Any) -> Any:
        rate = 2 * math.pi * self.cutoff
        return np.ravel(rate * self._rows(super().deriv(t, inputs, x)))


class Low_Pass_S(_LowPass, Discretised, SampledBlock):
    """A low-pass filter of a design at the ticks of a clock, for each entry of u.

    It is the filter of LOW_PASS by the trapezoidal rule, warped so that at the cut-off its gain is
    the same: abs(y / u) is that of LOW_PASS at x = tan(pi f T) / tan(pi cutoff T), of the clock's
    period T. Half the clock's rate is infinity there. For bessel the warp makes the delay at 0 with
    norm: delay T / (2 tan(pi cutoff T)), nearly 1 / (2 pi cutoff) where the cut-off is far below
    the clock's rate. u feeds through; y is held between ticks.

    Source: A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing" (2010), sec. 7.2;
    scipy.signal.butter, bessel, cheby1 and cheby2.

    :arg cutoff: cut-off frequency, below half the clock's rate
    :arg width: length of u; by default u is a scalar, or as long as u0
    """

    cutoff = fixed("float", "Hz", above=0)

    def build(self, u0: Any, width: Any) -> dict[str, Any]:
        from scipy.signal import bilinear_zpk, lp2lp_zpk

        _below_half(self.cutoff, self.T, "cutoff")
        # In units of half the clock's period, as SciPy does it.
        warped = 4 * math.tan(math.pi * self.cutoff * self.T)
        zeros, poles, gain = bilinear_zpk(*lp2lp_zpk(*self._roots(), warped), fs=2.0)
        return self._start([_realised(zeros, poles, gain, analog=False)], u0, width)


def _realised(zeros: Array, poles: Array, gain: float, analog: bool) -> Matrices:
    """Sections in series of a low-pass filter."""
    still = 0.0 if analog else 1.0
    at_rest = gain * np.prod(still - zeros) / np.prod(still - poles)
    sections = sections_of(zeros, poles, gain, analog)
    return in_series(leveled(sections, float(np.real(at_rest)), analog))


def _below_half(frequency: Any, T: float, name: str) -> None:
    """InputError for a frequency [Hz] from half the rate on of a clock of the period T [s]."""
    half = 0.5 / T
    if np.any(np.asarray(frequency) >= half):
        text = f"{name} must be below half the clock's rate, {half:g} Hz, not {brief(frequency)}"
        raise InputError(Fault(text, hint="give it a faster clock"))
