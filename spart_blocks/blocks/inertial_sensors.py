"""Gyros, accelerometers and magnetometers."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import SampledBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import cross
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.block_support.sensor import OUTAGE, VALID, Axes
from spart_blocks.block_support.values import scalar_or_vector


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

    :arg noise: N, angle random walk
    :arg random_walk: K, rate random walk
    """

    nin = 2
    nout = 2
    takes = (*quantities("u0"), OUTAGE)
    gives = (PortSpec("y", "n", "rad/s", "measured rates; the last ones in an outage"), VALID)
    noise = tunable("float or n", "rad/sqrt(s)", 0.0, least=0)

    def measure(self, t: Any, inputs: list[Any], z: Any, memory: Any) -> tuple[Any, Any, Any]:
        return *self.measured(inputs[0][:3], z, memory), False


class _OffCentre(Declared):
    """A sensor at a point of the base.

    :arg position: p, from the base's centre of mass, base axes
    """

    position = fixed("3", "m", (0.0, 0.0, 0.0))


class Accelerometer(Axes, _OffCentre, SampledBlock):
    """An accelerometer on the base, at the ticks of a clock: it measures the specific force.

    The errors are those of a GYRO, of the specific force f = R0' (r0'' - g) + w' x p + w x (w x p)
    at its position p: g is the acceleration of gravity, zero where it has no wire.

    Source: J. Farrell, "Aided Navigation" (2008), sec. 11.1; IEEE Std 1293-1998.

    :arg noise: N, velocity random walk
    :arg random_walk: K, random walk of the bias
    """

    nin = 5
    nout = 2
    takes = (
        *quantities("R0 u0 u0dot"),
        PortSpec("gravity", "3", "m/s^2", "acceleration of gravity, inertial axes", optional=True),
        OUTAGE,
    )
    gives = (PortSpec("y", "n", "m/s^2", "measured force; the last one in an outage"), VALID)
    noise = tunable("float or n", "m/s/sqrt(s)", 0.0, least=0)

    def measure(self, t: Any, inputs: list[Any], z: Any, memory: Any) -> tuple[Any, Any, Any]:
        return *self.measured(_specific_force(inputs, self.position), z, memory), False


def _six(value: Any, name: str) -> Any:
    """A number, or six; a pair for gyro and accelerometer as six numbers."""
    found = scalar_or_vector(value, name)
    found = np.repeat(found, 3) if np.shape(found) == (2,) else found
    if np.shape(found) not in ((), (6,)):
        hint = "give a number, a pair for gyro and accelerometer, or one for each of 6"
        raise InputError(Fault(f"{name} has {len(found)} entries", hint=hint))
    return found


class Imu(Axes, _OffCentre, SampledBlock):
    """An inertial measurement unit on the base, at the ticks of a clock: rates and specific force.

    It is a GYRO and an ACCELEROMETER at one position, with one clock, latency and outages; their
    equations hold. A parameter is a number for all six axes, a pair of numbers for the gyro and for
    the accelerometer, or six numbers, the gyro's first.

    Source: as of GYRO and ACCELEROMETER.

    :arg noise: N, random walks of angle [rad/sqrt(s)] and of velocity [m/s/sqrt(s)]
    :arg random_walk: K, random walk of the bias
    :arg misalignment: what is added to the axes x, y, z of the gyro, then of the accelerometer
    :arg resolution: steps of the outputs, none by default
    :arg limit: largest outputs, none by default
    """

    nin = 5
    nout = 3
    takes = Accelerometer.takes
    gives = (
        PortSpec("rate", "3", "rad/s", "measured rates; the last ones in an outage"),
        PortSpec("force", "3", "m/s^2", "measured specific force; the last one in an outage"),
        VALID,
    )
    noise = tunable("float or 2 or 6", "", 0.0, check=_six, least=0)
    bias = tunable("float or 2 or 6", "rad/s, m/s^2", 0.0, check=_six)
    random_walk = tunable(
        "float or 2 or 6", "rad/s/sqrt(s), m/s^2/sqrt(s)", None, check=_six, least=0
    )
    instability = tunable("float or 2 or 6", "rad/s, m/s^2", None, check=_six, least=0)
    correlation_time = fixed("float or 2 or 6", "s", None, check=_six, above=0)
    scale = tunable("float or 2 or 6", "", 0.0, check=_six)
    misalignment = fixed("6, 3", "rad", None)
    resolution = tunable("float or 2 or 6", "rad/s, m/s^2", None, check=_six, above=0)
    limit = tunable("float or 2 or 6", "rad/s, m/s^2", None, check=_six, above=0)

    omits = ("axes",)

    def build(self, misalignment: Any) -> dict[str, Any]:  # type: ignore[override]
        along = np.eye(6)
        if misalignment is not None:
            along[:3, :3] += misalignment[:3]
            along[3:, 3:] += misalignment[3:]
        return self.along(along)

    def measure(self, t: Any, inputs: list[Any], z: Any, memory: Any) -> tuple[Any, Any, Any]:
        force = _specific_force(inputs, self.position)
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

    :arg noise: density of the noise
    :arg random_walk: random walk of the bias
    """

    nin = 3
    nout = 2
    takes = (
        PortSpec("field", "3", "T", "magnetic field, inertial axes"),
        *quantities("R0"),
        OUTAGE,
    )
    gives = (PortSpec("y", "n", "T", "measured field; the last one in an outage"), VALID)
    noise = tunable("float or n", "T/sqrt(Hz)", 0.0, least=0)

    def measure(self, t: Any, inputs: list[Any], z: Any, memory: Any) -> tuple[Any, Any, Any]:
        field, R0 = inputs
        return *self.measured(R0.T @ field, z, memory), False


def _specific_force(inputs: list[Any], position: Any) -> Any:
    """R0' (r0'' - g) + w' x p + w x (w x p), of the point p (3,) of the base."""
    R0, u0, u0dot, gravity = inputs
    w, p = u0[:3], position + 0.0 * u0[:3]
    return R0.T @ (u0dot[3:] - gravity) + cross(u0dot[:3], p) + cross(w, cross(w, p))
