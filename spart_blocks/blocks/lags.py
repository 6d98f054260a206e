"""Lags of first and second order, and leads; in time and at the ticks of a clock."""

from __future__ import annotations

from typing import Any

from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.block_support.linear import (
    Discretised,
    Polynomials,
    Rational,
    channels,
    discretised,
)
from spart_blocks.block_support.values import not_negative, positive, scalar_or_vector


def _pt1(gain: Any, tau: Any) -> Polynomials:
    return [gain], [tau, 1.0]


def _pt2(gain: Any, omega: Any, damping: Any) -> Polynomials:
    return [gain * omega * omega], [1.0, 2.0 * damping * omega, omega * omega]


def _lead_lag(gain: Any, lead: Any, lag: Any) -> Polynomials:
    return [gain * lead, gain], [lag, 1.0]


class Pt1(Rational, ContinuousBlock):
    """A first-order lag. tau y' + y = gain u, for each entry of u.

    Nothing feeds through. Its step response is gain (1 - exp(-t / tau)).

    Source: K. Astrom and R. Murray, "Feedback Systems" (2008), sec. 5.3.

    :param gain: gain at rest
    :type gain: float or array_like(n)
    :param tau: time constant [s]
    :type tau: float or array_like(n)
    :param u0: input before the start, under which it is at rest then; y begins with gain u0
    :type u0: float or array_like(n)
    :param width: length of u, if all other parameters are scalars; by default u is a scalar then
    :type width: int, optional
    """

    nin = 1
    nout = 1
    tunable = ("gain", "tau")

    def __init__(
        self, gain: Any, tau: Any, u0: Any = 0.0, width: int | None = None, **blockargs: Any
    ) -> None:
        self.gain, self.tau = scalar_or_vector(gain, "gain"), positive(tau, "tau")
        shape = channels(width, gain=self.gain, tau=self.tau, u0=u0)
        super().__init__(**self._start(u0, shape), **blockargs)

    def law(self) -> Polynomials:
        return _pt1(self.gain, self.tau)


class Pt1_S(Discretised, SampledBlock):
    """A first-order lag at the ticks of a clock, for each entry of u.

    PT1, discretised: `zoh` is exact for inputs that are constant between ticks, `tustin` is the
    trapezoidal rule, which feeds through. y is held between ticks.

    Source: G. F. Franklin et al., "Digital Control of Dynamic Systems" (1998), sec. 4.3 and 6.1;
    scipy.signal.cont2discrete.

    :param clock: clock source
    :type clock: Clock
    :param gain: gain at rest
    :type gain: float or array_like(n)
    :param tau: time constant [s]
    :type tau: float or array_like(n)
    :param u0: input before the start, under which it is at rest then; y begins with gain u0
    :type u0: float or array_like(n)
    :param width: length of u, if all other parameters are scalars; by default u is a scalar then
    :type width: int, optional
    :param method: zoh or tustin
    :type method: str
    """

    nin = 1
    nout = 1
    tunable = ("gain",)

    def __init__(
        self, clock: Any, gain: Any, tau: Any, u0: Any = 0.0, width: int | None = None,
        method: str = "zoh", **blockargs: Any,
    ) -> None:  # fmt: skip
        self.gain, tau = scalar_or_vector(gain, "gain"), positive(tau, "tau")
        shape = channels(width, gain=self.gain, tau=tau, u0=u0)
        each = discretised(clock, _pt1(1.0, tau), shape, method)
        super().__init__(**self._start(clock, each, u0, shape), **blockargs)


class Pt2(Rational, ContinuousBlock):
    """A second-order lag. y'' + 2 damping omega y' + omega^2 y = gain omega^2 u, for each entry of
    u.

    Nothing feeds through. With damping below 1 it oscillates with omega sqrt(1 - damping^2).

    Source: K. Astrom and R. Murray, "Feedback Systems" (2008), sec. 6.3.

    :param gain: gain at rest
    :type gain: float or array_like(n)
    :param omega: undamped natural frequency [rad/s]
    :type omega: float or array_like(n)
    :param damping: damping ratio, 1 is critical
    :type damping: float or array_like(n)
    :param u0: input before the start, under which it is at rest then; y begins with gain u0
    :type u0: float or array_like(n)
    :param width: length of u, if all other parameters are scalars; by default u is a scalar then
    :type width: int, optional
    """

    nin = 1
    nout = 1
    tunable = ("gain", "omega", "damping")

    def __init__(
        self, gain: Any, omega: Any, damping: Any = 1.0, u0: Any = 0.0, width: int | None = None,
        **blockargs: Any,
    ) -> None:  # fmt: skip
        self.gain, self.omega = scalar_or_vector(gain, "gain"), positive(omega, "omega")
        self.damping = not_negative(damping, "damping")
        shape = channels(width, gain=self.gain, omega=self.omega, damping=self.damping, u0=u0)
        super().__init__(**self._start(u0, shape), **blockargs)

    def law(self) -> Polynomials:
        return _pt2(self.gain, self.omega, self.damping)


class Pt2_S(Discretised, SampledBlock):
    """A second-order lag at the ticks of a clock, for each entry of u.

    PT2, discretised: `zoh` is exact for inputs that are constant between ticks, `tustin` is the
    trapezoidal rule, which feeds through. y is held between ticks.

    Source: G. F. Franklin et al., "Digital Control of Dynamic Systems" (1998), sec. 4.3 and 6.1;
    scipy.signal.cont2discrete.

    :param clock: clock source
    :type clock: Clock
    :param gain: gain at rest
    :type gain: float or array_like(n)
    :param omega: undamped natural frequency [rad/s]
    :type omega: float or array_like(n)
    :param damping: damping ratio, 1 is critical
    :type damping: float or array_like(n)
    :param u0: input before the start, under which it is at rest then; y begins with gain u0
    :type u0: float or array_like(n)
    :param width: length of u, if all other parameters are scalars; by default u is a scalar then
    :type width: int, optional
    :param method: zoh or tustin
    :type method: str
    """

    nin = 1
    nout = 1
    tunable = ("gain",)

    def __init__(
        self, clock: Any, gain: Any, omega: Any, damping: Any = 1.0, u0: Any = 0.0,
        width: int | None = None, method: str = "zoh", **blockargs: Any,
    ) -> None:  # fmt: skip
        self.gain, omega = scalar_or_vector(gain, "gain"), positive(omega, "omega")
        damping = not_negative(damping, "damping")
        shape = channels(width, gain=self.gain, omega=omega, damping=damping, u0=u0)
        each = discretised(clock, _pt2(1.0, omega, damping), shape, method)
        super().__init__(**self._start(clock, each, u0, shape), **blockargs)


class Lead_Lag(Rational, ContinuousBlock):
    """A lead or lag compensator. y = gain (lead s + 1) / (lag s + 1) u, for each entry of u.

    With lead > lag it advances the phase, at most at the frequency 1 / sqrt(lead lag) [rad/s]; with
    lead < lag it raises the gain at low frequencies. u feeds through, at once by gain lead / lag.

    Source: G. F. Franklin et al., "Feedback Control of Dynamic Systems" (2010), sec. 6.7.

    :param lead: time constant of the numerator [s]
    :type lead: float or array_like(n)
    :param lag: time constant of the denominator [s]
    :type lag: float or array_like(n)
    :param gain: gain at rest
    :type gain: float or array_like(n)
    :param u0: input before the start, under which it is at rest then
    :type u0: float or array_like(n)
    :param width: length of u, if all other parameters are scalars; by default u is a scalar then
    :type width: int, optional
    """

    nin = 1
    nout = 1
    tunable = ("lead", "lag", "gain")

    def __init__(
        self, lead: Any, lag: Any, gain: Any = 1.0, u0: Any = 0.0, width: int | None = None,
        **blockargs: Any,
    ) -> None:  # fmt: skip
        self.lead, self.lag = not_negative(lead, "lead"), positive(lag, "lag")
        self.gain = scalar_or_vector(gain, "gain")
        shape = channels(width, lead=self.lead, lag=self.lag, gain=self.gain, u0=u0)
        super().__init__(**self._start(u0, shape), **blockargs)

    def law(self) -> Polynomials:
        return _lead_lag(self.gain, self.lead, self.lag)


class Lead_Lag_S(Discretised, SampledBlock):
    """A lead or lag compensator at the ticks of a clock, for each entry of u.

    LEAD_LAG, discretised: `tustin` is the trapezoidal rule, `zoh` is exact for inputs that are
    constant between ticks. u feeds through; y is held between ticks.

    Source: G. F. Franklin et al., "Digital Control of Dynamic Systems" (1998), sec. 4.3 and 6.1;
    scipy.signal.cont2discrete.

    :param clock: clock source
    :type clock: Clock
    :param lead: time constant of the numerator [s]
    :type lead: float or array_like(n)
    :param lag: time constant of the denominator [s]
    :type lag: float or array_like(n)
    :param gain: gain at rest
    :type gain: float or array_like(n)
    :param u0: input before the start, under which it is at rest then
    :type u0: float or array_like(n)
    :param width: length of u, if all other parameters are scalars; by default u is a scalar then
    :type width: int, optional
    :param method: tustin or zoh
    :type method: str
    """

    nin = 1
    nout = 1
    tunable = ("gain",)

    def __init__(
        self, clock: Any, lead: Any, lag: Any, gain: Any = 1.0, u0: Any = 0.0,
        width: int | None = None, method: str = "tustin", **blockargs: Any,
    ) -> None:  # fmt: skip
        lead, lag = not_negative(lead, "lead"), positive(lag, "lag")
        self.gain = scalar_or_vector(gain, "gain")
        shape = channels(width, lead=lead, lag=lag, gain=self.gain, u0=u0)
        each = discretised(clock, _lead_lag(1.0, lead, lag), shape, method)
        super().__init__(**self._start(clock, each, u0, shape), **blockargs)
