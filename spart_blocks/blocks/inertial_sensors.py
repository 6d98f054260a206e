"""Gyros, accelerometers and magnetometers."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import SampledBlock

from spart_blocks.base.spatial import cross
from spart_blocks.block_support.declared import PortSpec
from spart_blocks.block_support.quantities import quantities
from spart_blocks.block_support.sensor import OUTAGE, VALID, Axes
from spart_blocks.block_support.values import numbers

_TUNABLE = ("bias", "scale", "noise", "random_walk", "instability", "resolution", "limit")


class Gyro(Axes, SampledBlock):
    """A gyro on the base, at the ticks of a clock.

    y = (1 + scale) (axes + misalignment) w + b + noise, held between ticks, where w is the base's
    angular rate. b is the sum of `bias`, of a random walk, and of a first-order Markov process of
    the standard deviation `instability`, which stands for flicker noise. The Allan variance after a
    time tau is N^2 / tau of the noise N (angle random walk), K^2 tau / 3 of the random walk K (rate
    random walk), and of the Markov process at most (0.62 instability)^2, after 1.9 correlation
    times. y is clipped to `limit` and rounded to `resolution`.

    Source: R. Farrenkopf, "Analytic steady-state accuracy solutions for two common spacecraft
    attitude estimators", J. Guidance and Control 1 (1978) 282; J. Crassidis and J. Junkins,
    "Optimal Estimation of Dynamic Systems" (2012), sec. 4.7, for the steps; IEEE Std 952-1997,
    annexes B and C.

    :param clock: clock source
    :type clock: Clock
    :param noise: N, angle random walk [rad/sqrt(s)]
    :type noise: float or array_like(n)
    :param bias: constant part of b [rad/s]
    :type bias: float or array_like(n)
    :param random_walk: K, rate random walk [rad/s/sqrt(s)]
    :type random_walk: float or array_like(n), optional
    :param instability: standard deviation of the Markov process [rad/s]
    :type instability: float or array_like(n), optional
    :param correlation_time: of the Markov process [s]
    :type correlation_time: float, optional
    :param scale: scale factor errors
    :type scale: float or array_like(n)
    :param axes: sensitive axes in base axes, of any length; x, y and z by default
    :type axes: array_like(n,3), optional
    :param misalignment: what is added to these axes [rad]
    :type misalignment: array_like(n,3), optional
    :param resolution: step of the output [rad/s], none by default
    :type resolution: float or array_like(n), optional
    :param limit: largest output [rad/s], none by default
    :type limit: float or array_like(n), optional
    :param latency: ticks until a measurement is given
    :type latency: int
    :param outages: pairs of times [from, to] without measurements [s]
    :type outages: array_like(k,2), optional
    :param seed: an integer that selects the noise
    :type seed: int
    """

    nin = 2
    nout = 2
    takes = (*quantities("u0"), OUTAGE)
    gives = (PortSpec("y", "n", "rad/s", "measured rates; the last ones in an outage"), VALID)
    tunable = _TUNABLE

    def __init__(
        self, clock: Any, noise: Any = 0.0, bias: Any = 0.0, random_walk: Any = None,
        instability: Any = None, correlation_time: Any = None, scale: Any = 0.0, axes: Any = None,
        misalignment: Any = None, resolution: Any = None, limit: Any = None, latency: int = 0,
        outages: Any = None, seed: int = 0, **blockargs: Any,
    ) -> None:  # fmt: skip
        given = self._take(
            clock, axes, misalignment, correlation_time, seed, latency, outages, noise=noise,
            bias=bias, random_walk=random_walk, instability=instability, scale=scale,
            resolution=resolution, limit=limit,
        )  # fmt: skip
        super().__init__(**given, **blockargs)

    def measure(self, t: Any, inputs: list[Any], z: Any, memory: Any) -> tuple[Any, Any, Any]:
        return *self.measured(inputs[0][:3], z, memory), False


class Accelerometer(Axes, SampledBlock):
    """An accelerometer on the base, at the ticks of a clock: it measures the specific force.

    The errors are those of a GYRO, of the specific force f = R0' (r0'' - g) + w' x p + w x (w x p)
    at its position p: g is the acceleration of gravity, zero where it has no wire.

    Source: J. Farrell, "Aided Navigation" (2008), sec. 11.1; IEEE Std 1293-1998.

    :param clock: clock source
    :type clock: Clock
    :param position: p, from the base's centre of mass, base axes [m]
    :type position: array_like(3), optional
    :param noise: N, velocity random walk [m/s/sqrt(s)]
    :type noise: float or array_like(n)
    :param bias: constant part of b [m/s^2]
    :type bias: float or array_like(n)
    :param random_walk: K, random walk of the bias [m/s^2/sqrt(s)]
    :type random_walk: float or array_like(n), optional
    :param instability: standard deviation of the Markov process [m/s^2]
    :type instability: float or array_like(n), optional
    :param correlation_time: of the Markov process [s]
    :type correlation_time: float, optional
    :param scale: scale factor errors
    :type scale: float or array_like(n)
    :param axes: sensitive axes in base axes, of any length; x, y and z by default
    :type axes: array_like(n,3), optional
    :param misalignment: what is added to these axes [rad]
    :type misalignment: array_like(n,3), optional
    :param resolution: step of the output [m/s^2], none by default
    :type resolution: float or array_like(n), optional
    :param limit: largest output [m/s^2], none by default
    :type limit: float or array_like(n), optional
    :param latency: ticks until a measurement is given
    :type latency: int
    :param outages: pairs of times [from, to] without measurements [s]
    :type outages: array_like(k,2), optional
    :param seed: an integer that selects the noise
    :type seed: int
    """

    nin = 5
    nout = 2
    takes = (
        *quantities("R0 u0 u0dot"),
        PortSpec("gravity", "3", "m/s^2", "acceleration of gravity, inertial axes", optional=True),
        OUTAGE,
    )
    gives = (PortSpec("y", "n", "m/s^2", "measured force; the last one in an outage"), VALID)
    tunable = _TUNABLE

    def __init__(
        self, clock: Any, position: Any = None, noise: Any = 0.0, bias: Any = 0.0,
        random_walk: Any = None, instability: Any = None, correlation_time: Any = None,
        scale: Any = 0.0, axes: Any = None, misalignment: Any = None, resolution: Any = None,
        limit: Any = None, latency: int = 0, outages: Any = None, seed: int = 0, **blockargs: Any,
    ) -> None:  # fmt: skip
        self._position = np.zeros(3) if position is None else numbers(position, "position", (3,))
        given = self._take(
            clock, axes, misalignment, correlation_time, seed, latency, outages, noise=noise,
            bias=bias, random_walk=random_walk, instability=instability, scale=scale,
            resolution=resolution, limit=limit,
        )  # fmt: skip
        super().__init__(**given, **blockargs)

    def measure(self, t: Any, inputs: list[Any], z: Any, memory: Any) -> tuple[Any, Any, Any]:
        return *self.measured(_specific_force(inputs, self._position), z, memory), False


class Imu(Axes, SampledBlock):
    """An inertial measurement unit on the base, at the ticks of a clock: rates and specific force.

    It is a GYRO and an ACCELEROMETER at one position, with one clock, latency and outages; their
    equations hold. A parameter is a number for all six axes, a pair of numbers for the gyro and for
    the accelerometer, or six numbers, the gyro's first.

    Source: as of GYRO and ACCELEROMETER.

    :param clock: clock source
    :type clock: Clock
    :param position: p, from the base's centre of mass, base axes [m]
    :type position: array_like(3), optional
    :param noise: N, random walks of angle [rad/sqrt(s)] and of velocity [m/s/sqrt(s)]
    :type noise: float or array_like(2) or array_like(6)
    :param bias: constant part of b [rad/s, m/s^2]
    :type bias: float or array_like(2) or array_like(6)
    :param random_walk: K, random walk of the bias [rad/s/sqrt(s), m/s^2/sqrt(s)]
    :type random_walk: float or array_like(2) or array_like(6), optional
    :param instability: standard deviation of the Markov process [rad/s, m/s^2]
    :type instability: float or array_like(2) or array_like(6), optional
    :param correlation_time: of the Markov process [s]
    :type correlation_time: float or array_like(2) or array_like(6), optional
    :param scale: scale factor errors
    :type scale: float or array_like(2) or array_like(6)
    :param misalignment: what is added to the axes x, y, z of the gyro, then of the accelerometer
        [rad]
    :type misalignment: array_like(6,3), optional
    :param resolution: steps of the outputs [rad/s, m/s^2], none by default
    :type resolution: float or array_like(2) or array_like(6), optional
    :param limit: largest outputs [rad/s, m/s^2], none by default
    :type limit: float or array_like(2) or array_like(6), optional
    :param latency: ticks until a measurement is given
    :type latency: int
    :param outages: pairs of times [from, to] without measurements [s]
    :type outages: array_like(k,2), optional
    :param seed: an integer that selects the noise
    :type seed: int
    """

    nin = 5
    nout = 3
    takes = Accelerometer.takes
    gives = (
        PortSpec("rate", "3", "rad/s", "measured rates; the last ones in an outage"),
        PortSpec("force", "3", "m/s^2", "measured specific force; the last one in an outage"),
        VALID,
    )
    tunable = _TUNABLE

    def __init__(
        self, clock: Any, position: Any = None, noise: Any = 0.0, bias: Any = 0.0,
        random_walk: Any = None, instability: Any = None, correlation_time: Any = None,
        scale: Any = 0.0, misalignment: Any = None, resolution: Any = None, limit: Any = None,
        latency: int = 0, outages: Any = None, seed: int = 0, **blockargs: Any,
    ) -> None:  # fmt: skip
        self._position = np.zeros(3) if position is None else numbers(position, "position", (3,))
        along = np.eye(6)
        if misalignment is not None:
            off = numbers(misalignment, "misalignment", (6, 3))
            along[:3, :3] += off[:3]
            along[3:, 3:] += off[3:]
        given = self._along(
            along, clock, _six(correlation_time, "correlation_time"), seed, latency, outages,
            noise=_six(noise, "noise"), bias=_six(bias, "bias"), scale=_six(scale, "scale"),
            random_walk=_six(random_walk, "random_walk"), limit=_six(limit, "limit"),
            instability=_six(instability, "instability"),
            resolution=_six(resolution, "resolution"),
        )  # fmt: skip
        super().__init__(**given, **blockargs)

    def measure(self, t: Any, inputs: list[Any], z: Any, memory: Any) -> tuple[Any, Any, Any]:
        force = _specific_force(inputs, self._position)
        return *self.measured(np.concatenate([inputs[1][:3], force]), z, memory), False

    def signals(self, values: Any) -> list[Any]:
        return [values[:3], values[3:]]


class Magnetometer(Axes, SampledBlock):
    """A magnetometer on the base, at the ticks of a clock.

    y = (1 + scale) (axes + misalignment) R0' B + b + noise, held between ticks, where B is the
    magnetic field; the errors are those of a GYRO. The noise at a tick has the standard deviation
    noise / sqrt(T) with the clock's period T.

    Source: J. Wertz (ed.), "Spacecraft Attitude Determination and Control" (1978), sec. 6.3 and
    7.5.

    :param clock: clock source
    :type clock: Clock
    :param noise: density of the noise [T/sqrt(Hz)]
    :type noise: float or array_like(n)
    :param bias: constant part of b [T]
    :type bias: float or array_like(n)
    :param random_walk: random walk of the bias [T/sqrt(s)]
    :type random_walk: float or array_like(n), optional
    :param instability: standard deviation of the Markov process [T]
    :type instability: float or array_like(n), optional
    :param correlation_time: of the Markov process [s]
    :type correlation_time: float, optional
    :param scale: scale factor errors
    :type scale: float or array_like(n)
    :param axes: sensitive axes in base axes, of any length; x, y and z by default
    :type axes: array_like(n,3), optional
    :param misalignment: what is added to these axes [rad]
    :type misalignment: array_like(n,3), optional
    :param resolution: step of the output [T], none by default
    :type resolution: float or array_like(n), optional
    :param limit: largest output [T], none by default
    :type limit: float or array_like(n), optional
    :param latency: ticks until a measurement is given
    :type latency: int
    :param outages: pairs of times [from, to] without measurements [s]
    :type outages: array_like(k,2), optional
    :param seed: an integer that selects the noise
    :type seed: int
    """

    nin = 3
    nout = 2
    takes = (
        PortSpec("field", "3", "T", "magnetic field, inertial axes"),
        *quantities("R0"),
        OUTAGE,
    )
    gives = (PortSpec("y", "n", "T", "measured field; the last one in an outage"), VALID)
    tunable = _TUNABLE

    def __init__(
        self, clock: Any, noise: Any = 0.0, bias: Any = 0.0, random_walk: Any = None,
        instability: Any = None, correlation_time: Any = None, scale: Any = 0.0, axes: Any = None,
        misalignment: Any = None, resolution: Any = None, limit: Any = None, latency: int = 0,
        outages: Any = None, seed: int = 0, **blockargs: Any,
    ) -> None:  # fmt: skip
        given = self._take(
            clock, axes, misalignment, correlation_time, seed, latency, outages, noise=noise,
            bias=bias, random_walk=random_walk, instability=instability, scale=scale,
            resolution=resolution, limit=limit,
        )  # fmt: skip
        super().__init__(**given, **blockargs)

    def measure(self, t: Any, inputs: list[Any], z: Any, memory: Any) -> tuple[Any, Any, Any]:
        field, R0 = inputs
        return *self.measured(R0.T @ field, z, memory), False


def _specific_force(inputs: list[Any], position: Any) -> Any:
    """R0' (r0'' - g) + w' x p + w x (w x p), of the point p (3,) of the base."""
    R0, u0, u0dot, gravity = inputs
    w, p = u0[:3], position + 0.0 * u0[:3]
    return R0.T @ (u0dot[3:] - gravity) + cross(u0dot[:3], p) + cross(w, cross(w, p))


def _six(value: Any, name: str) -> Any:
    """A pair for gyro and accelerometer as six numbers; anything else as it is."""
    if value is None:
        return None
    found = numbers(value, name)
    return np.repeat(found, 3) if found.shape == (2,) else found
