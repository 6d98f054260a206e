"""Star tracker, Sun sensor, satellite navigation and encoders."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bdsim.components import SampledBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import (
    Array,
    quaternion_of_turn,
    quaternion_product,
    rotation_quaternion,
)
from spart_blocks.block_support.declared import PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.block_support.sensor import OUTAGE, VALID, Sensor
from spart_blocks.block_support.space import Z
from spart_blocks.block_support.values import direction_of

_NOWHERE = 1e-30
"""The square of a direction's length below which there is none."""


def _along(axis: Array, direction: Any) -> Any:
    """The cosine of the angle between a unit axis and a direction, times the direction's length,
    and this length.
    """
    return np.sum(axis * direction), np.sqrt(np.sum(direction * direction) + _NOWHERE)


class Star_Tracker(Sensor, SampledBlock):
    """A star tracker on the base, at the ticks of a clock: the attitude as a quaternion.

    quat is that of R0, turned by a random rotation: its components across the boresight have the
    standard deviation `across`, that about the boresight `about`. It does not measure where the
    base turns faster than the rate limit, or where the Sun is nearer to the boresight than
    `exclusion`; `sun`, of any length, has no effect where it has no wire. The scalar part of quat
    is not negative.

    Source: F. Markley and J. Crassidis, "Fundamentals of Spacecraft Attitude Determination and
    Control" (2014), sec. 4.2; C. Liebe, "Accuracy performance of star trackers - a tutorial", IEEE
    Trans. Aerospace and Electronic Systems 38 (2002) 587.

    :arg across: standard deviation about each axis across the boresight
    :arg about: standard deviation about the boresight
    :arg boresight: in base axes, of any length; z by default
    :arg rate_limit: largest angular rate at which it measures, none by default
    :arg exclusion: smallest angle from the boresight to the Sun, none by default
    """

    nin = 4
    nout = 2
    takes = (
        *quantities("R0 u0?"),
        PortSpec("sun", "3", "", "direction to the Sun, inertial axes", optional=True),
        OUTAGE,
    )
    gives = (
        PortSpec("quat", "4", "", "measured attitude, scalar last; the last one in an outage"),
        VALID,
    )
    across = tunable("float", "rad", 0.0, least=0)
    about = tunable("float", "rad", 0.0, least=0)
    boresight = fixed("3", "", None, check=direction_of)
    rate_limit = fixed("float", "rad/s", None, above=0)
    exclusion = fixed("float", "rad", None, above=0, most=np.pi)

    def build(self, boresight: Any, exclusion: Any) -> dict[str, Any]:
        self._axis = Z if boresight is None else boresight
        self._basis = np.linalg.svd(self._axis[None])[2]  # the boresight, or its negative, first
        self._near = None if exclusion is None else np.cos(exclusion)
        return self._begin(3, np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(0))

    def measure(self, t: Any, inputs: list[Any], z: Any, memory: Any) -> tuple[Any, Any, Any]:
        R0, u0, sun = inputs
        about, first, second = self._basis
        turn = self.about * z[0] * about + self.across * (z[1] * first + z[2] * second)
        q = quaternion_product(rotation_quaternion(R0), quaternion_of_turn(turn))
        fails: Any = False
        if self.rate_limit is not None:
            fails = np.sum(u0[:3] * u0[:3]) > self.rate_limit**2
        if self._near is not None:
            toward, length = _along(self._axis, R0.T @ sun)
            dazzled = np.logical_and(toward > self._near * length, length > 2 * _NOWHERE**0.5)
            fails = np.logical_or(fails, dazzled)
        return np.where(q[3:] < 0, -q, q), memory, fails


class Sun_Sensor(Sensor, SampledBlock):
    """A Sun sensor on the base, at the ticks of a clock: the direction to the Sun.

    direction is R0' s with a random rotation about each axis across it, of the standard deviation
    `noise`, for the direction s to the Sun. It does not measure where the Sun is farther from the
    boresight than `field_of_view`; wire the eclipse to `outage`.

    Source: F. Markley and J. Crassidis, "Fundamentals of Spacecraft Attitude Determination and
    Control" (2014), sec. 4.3 and 5.5.2, for the noise.

    :arg noise: standard deviation about each axis across the direction
    :arg boresight: in base axes, of any length; z by default
    :arg field_of_view: largest angle from the boresight; all directions by default
    """

    nin = 3
    nout = 2
    takes = (
        PortSpec("sun", "3", "", "direction to the Sun, of any length, inertial axes"),
        *quantities("R0"),
        OUTAGE,
    )
    gives = (
        PortSpec("direction", "3", "", "to the Sun, base axes; the last one in an outage"),
        VALID,
    )
    noise = tunable("float", "rad", 0.0, least=0)
    boresight = fixed("3", "", None, check=direction_of)
    field_of_view = fixed("float", "rad", np.pi, above=0, most=np.pi)

    def build(self, boresight: Any, field_of_view: Any) -> dict[str, Any]:
        self._axis = Z if boresight is None else boresight
        self._edge = float(np.cos(field_of_view))
        return self._begin(3, np.zeros(3), np.zeros(0))

    def measure(self, t: Any, inputs: list[Any], z: Any, memory: Any) -> tuple[Any, Any, Any]:
        sun, R0 = inputs
        s = R0.T @ sun
        toward, length = _along(self._axis, s)
        s = s / length
        found = s + self.noise * (z - s * np.sum(s * z))
        beyond = toward < (self._edge - 1e-12) * length
        fails = np.logical_or(beyond, length <= 2 * _NOWHERE**0.5)
        return found / np.sqrt(np.sum(found * found) + _NOWHERE), memory, fails


class Gnss(Sensor, SampledBlock):
    """A receiver of satellite navigation on the base, at the ticks of a clock.

    r and v are those of the base's centre of mass with independent normal errors, and r also with
    errors of a first-order Markov process, as of orbits and clocks of the satellites.

    Source: J. Farrell, "Aided Navigation" (2008), sec. 8.4 to 8.6.

    :arg noise_r: standard deviation of the position
    :arg noise_v: standard deviation of the velocity
    :arg drift: standard deviation of the Markov process
    """

    nin = 3
    nout = 3
    takes = (*quantities("r0 u0"), OUTAGE)
    gives = (
        PortSpec("r", "3", "m", "measured position, inertial; the last one in an outage"),
        PortSpec("v", "3", "m/s", "measured velocity, inertial; the last one in an outage"),
        VALID,
    )
    noise_r = tunable("float or 3", "m", 0.0, least=0)
    noise_v = tunable("float or 3", "m/s", 0.0, least=0)
    drift = tunable("float or 3", "m", None, least=0)
    correlation_time = fixed("float", "s", None, above=0, text="of the Markov process")

    def build(self, correlation_time: float | None) -> dict[str, Any]:
        if (self.drift is None) != (correlation_time is None):
            raise InputError(Fault("drift and correlation_time come together", hint="give both"))
        more, self._kept = 0, 0.0
        if correlation_time is not None:
            more, self._kept = 3, float(np.exp(-self.T / correlation_time))
        return self._begin(6 + more, np.zeros(6), np.zeros(more))

    def measure(self, t: Any, inputs: list[Any], z: Any, memory: Any) -> tuple[Any, Any, Any]:
        r = inputs[0] + self.noise_r * z[:3]
        if self.drift is not None:
            r = r + memory
            step = np.sqrt(1.0 - self._kept**2)
            memory = self._kept * memory + step * self.drift * z[6:]
        return np.concatenate([r, inputs[1][3:] + self.noise_v * z[3:6]]), memory, False

    def signals(self, values: Any) -> list[Any]:
        return [values[:3], values[3:]]


class Encoder(Sensor, SampledBlock):
    """An encoder, at the ticks of a clock: positions in whole counts.

    count = floor((q - offset) / resolution), y = offset + resolution count, and rate is the change
    of y since the measurement before, by the clock's period; 0 at first.

    Source: W. Bolton, "Mechatronics" (2015), sec. 2.3.7, for encoders; R. Petrella et al., "Speed
    measurement algorithms for low-resolution incremental encoder equipped drives", ACEMP (2007),
    for the rate.

    :arg resolution: of one count, 2 pi by the counts of a turn, in the unit of q
    :arg offset: position of count 0, in the unit of q
    :arg width: length of q, if all other parameters are scalars; by default q is a scalar then
    """

    nin = 2
    nout = 4
    takes = (PortSpec("q", "float or n", "", "positions of joints or angles of wheels"), OUTAGE)
    gives = (
        PortSpec("y", "float or n", "", "measured position; the last one in an outage"),
        PortSpec("rate", "float or n", "", "its rate [per s]"),
        PortSpec("count", "float or n", "", "whole counts"),
        VALID,
    )
    resolution = tunable("float or n", above=0)
    offset = tunable("float or n", "", 0.0)
    width = fixed("int", "", None, late=True)
    omits = ("seed",)
    is_random: ClassVar[bool] = False

    def build(self, width: Any) -> dict[str, Any]:
        shape = self.shared_shape(width)
        n = int(np.prod(shape))
        # The memory is the position before, and whether there was one.
        return self._begin(0, np.zeros(3 * n), np.zeros(n + 1), n=shape)

    def measure(self, t: Any, inputs: list[Any], z: Any, memory: Any) -> tuple[Any, Any, Any]:
        q = np.reshape(inputs[0], (self._values // 3,))
        count = np.floor((q - self.offset) / self.resolution)
        y = self.offset + self.resolution * count
        rate = np.where(memory[-1] > 0.5, (y - memory[:-1]) / self.T, 0.0)
        return np.concatenate([y, rate, count]), np.concatenate([y, np.ones(1)]), False

    def signals(self, values: Any) -> list[Any]:
        parts = [values[k : k + len(values) // 3] for k in range(0, len(values), len(values) // 3)]
        return parts if self.in_ports[0].shape else [part[0] for part in parts]
