"""Lags of first and second order, and leads; in time and at the ticks of a clock."""

from __future__ import annotations

from typing import Any

from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.linear import (
    METHODS,
    Discretised,
    Polynomials,
    Rational,
    discretised,
)
from spart_blocks.block_support.parameters import U0, WIDTH, fixed, tunable


class _Lag(Declared):
    """Base class of the lag blocks, continuous and sampled: a transfer function whose parameter
    `gain` is its DC gain.
    """

    nin = 1
    nout = 1

    gain: Any

    def of_gain(self, gain: Any) -> Polynomials:
        """The transfer function with another gain at rest."""
        raise NotImplementedError

    def law(self) -> Polynomials:
        """The transfer function."""
        return self.of_gain(self.gain)


class _Sampled(_Lag, Discretised):
    """The law of a Lag, discretised: its gain alone is tunable.

    :arg method: zoh or tustin
    """

    method = fixed("str", "", "zoh", choices=METHODS)

    def build(self, u0: Any, width: Any, method: str) -> dict[str, Any]:
        shape = self.shared_shape(width, u0=u0)
        return self._start(discretised(self.T, self.of_gain(1.0), shape, method), u0, width)


class _Pt1(_Lag):
    """The law of PT1 and PT1_S.

    :arg gain: gain at rest
    :arg tau: time constant
    :arg u0: input before the start, under which it is at rest then; y begins with gain u0
    """

    gain = tunable("float or n")
    tau = tunable("float or n", "s", above=0)
    u0 = fixed("float or n", "", 0.0)
    width = WIDTH

    def of_gain(self, gain: Any) -> Polynomials:
        return [gain], [self.tau, 1.0]


class Pt1(_Pt1, Rational, ContinuousBlock):
    """A first-order lag. tau y' + y = gain u, for each entry of u.

    Nothing feeds through. Its step response is gain (1 - exp(-t / tau)).

    Source: K. Astrom and R. Murray, "Feedback Systems" (2008), sec. 5.3.
    """


class Pt1_S(_Sampled, _Pt1, SampledBlock):
    """A first-order lag at the ticks of a clock, for each entry of u.

    PT1, discretised: `zoh` is exact for inputs that are constant between ticks, `tustin` is the
    trapezoidal rule, which feeds through. y is held between ticks.

    Source: G. F. Franklin et al., "Digital Control of Dynamic Systems" (1998), sec. 4.3 and 6.1;
    scipy.signal.cont2discrete.
    """

    tunable = ("gain",)


class _Pt2(_Lag):
    """The law of PT2 and PT2_S.

    :arg gain: gain at rest
    :arg omega: undamped natural frequency
    :arg damping: damping ratio, 1 is critical
    :arg u0: input before the start, under which it is at rest then; y begins with gain u0
    """

    gain = tunable("float or n")
    omega = tunable("float or n", "rad/s", above=0)
    damping = tunable("float or n", "", 1.0, least=0)
    u0 = fixed("float or n", "", 0.0)
    width = WIDTH

    def of_gain(self, gain: Any) -> Polynomials:
        omega = self.omega
        return [gain * omega * omega], [1.0, 2.0 * self.damping * omega, omega * omega]


class Pt2(_Pt2, Rational, ContinuousBlock):
    """A second-order lag. y'' + 2 damping omega y' + omega^2 y = gain omega^2 u, for each entry of
    u.

    Nothing feeds through. With damping below 1 it oscillates with omega sqrt(1 - damping^2).

    Source: K. Astrom and R. Murray, "Feedback Systems" (2008), sec. 6.3.
    """


class Pt2_S(_Sampled, _Pt2, SampledBlock):
    """A second-order lag at the ticks of a clock, for each entry of u.

    PT2, discretised: `zoh` is exact for inputs that are constant between ticks, `tustin` is the
    trapezoidal rule, which feeds through. y is held between ticks.

    Source: G. F. Franklin et al., "Digital Control of Dynamic Systems" (1998), sec. 4.3 and 6.1;
    scipy.signal.cont2discrete.
    """

    tunable = ("gain",)


class _LeadLag(_Lag):
    """The law of LEAD_LAG and LEAD_LAG_S.

    :arg lead: time constant of the numerator
    :arg lag: time constant of the denominator
    :arg gain: gain at rest
    """

    lead = tunable("float or n", "s", least=0)
    lag = tunable("float or n", "s", above=0)
    gain = tunable("float or n", "", 1.0)
    u0 = U0
    width = WIDTH

    def of_gain(self, gain: Any) -> Polynomials:
        return [gain * self.lead, gain], [self.lag, 1.0]


class Lead_Lag(_LeadLag, Rational, ContinuousBlock):
    """A lead or lag compensator. y = gain (lead s + 1) / (lag s + 1) u, for each entry of u.

    With lead > lag it advances the phase, at most at the frequency 1 / sqrt(lead lag) [rad/s]; with
    lead < lag it raises the gain at low frequencies. u feeds through, at once by gain lead / lag.

    Source: G. F. Franklin et al., "Feedback Control of Dynamic Systems" (2010), sec. 6.7.
    """


class Lead_Lag_S(_Sampled, _LeadLag, SampledBlock):
    """A lead or lag compensator at the ticks of a clock, for each entry of u.

    LEAD_LAG, discretised: `tustin` is the trapezoidal rule, `zoh` is exact for inputs that are
    constant between ticks. u feeds through; y is held between ticks.

    Source: G. F. Franklin et al., "Digital Control of Dynamic Systems" (1998), sec. 4.3 and 6.1;
    scipy.signal.cont2discrete.

    :arg method: tustin or zoh
    """

    method = fixed("str", "", "tustin", choices=METHODS)
    tunable = ("gain",)
