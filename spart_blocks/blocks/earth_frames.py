"""Time scales, and the frames of the Earth and of orbits.

ECI is the mean equator and equinox of J2000, ECEF turns with the Earth: docs/spacecraft.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock, SourceBlock

from spart_blocks.base.spatial import cross
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import EPOCH, fixed
from spart_blocks.block_support.space import POSITION, VELOCITY, OfEpoch
from spart_blocks.environment.constants import EARTH_RATE
from spart_blocks.environment.frames import ecef_position, geodetic, ned_rotation, orbit_frames
from spart_blocks.environment.time import epoch_of

_SPIN = np.array([0.0, 0.0, EARTH_RATE])
_R_ECEF = PortSpec("r_ecef", "3", "m", "position, ECEF")
_V_ECEF = PortSpec("v_ecef", "3", "m/s", "velocity relative to the turning Earth, ECEF")
_GEODETIC = (
    PortSpec("latitude", "", "rad", "geodetic latitude, north positive"),
    PortSpec("longitude", "", "rad", "longitude, east positive"),
    PortSpec("height", "", "m", "height over the ellipsoid"),
)


class Julian_Date(Declared, SourceBlock):
    """Julian dates of UTC, UT1 and TT, each in two parts: the date of 0 h of the epoch's day, and
    the days since.

    One double would leave 40 us; the second part leaves less than 0.1 us for 30 years. TT = TAI +
    32.184 s, UT1 = UTC + dut1 at the epoch. Leap seconds are those of IERS Bulletin C until the end
    of 2025; UTC falls back by one at each.

    Source: Vallado (2013), 3.5.

    :arg dut1: UT1 - UTC at the epoch, from IERS Bulletin A
    """

    nin = 0
    nout = 4
    gives = (
        PortSpec("utc", "2", "d", "UTC"),
        PortSpec("ut1", "2", "d", "UT1"),
        PortSpec("tt", "2", "d", "terrestrial time"),
        PortSpec("leaps", "", "s", "TAI - UTC"),
    )
    epoch = EPOCH
    dut1 = fixed("float", "s", 0.0)

    def build(self, epoch: Any, dut1: Any) -> dict[str, Any]:
        self.epoch = epoch_of(epoch, dut1)
        return self.resolve_ports()

    def output(self, t: Any, inputs: list[Any], x: Any) -> list[Any]:
        day = self.epoch.day + 0.0 * t
        parts = self.epoch.utc_days(t), self.epoch.ut1_days(t), self.epoch.tt_days(t)
        return [*(np.stack([day, part]) for part in parts), self.epoch.leaps(t)]

    def edges(self) -> list[tuple[float, float]]:
        """The leap seconds."""
        return [(at, 0.0) for at in self.epoch.later_leaps()]


class Earth_Rotation(OfEpoch, SourceBlock):
    """The attitude of the Earth: the rotation from ECEF to ECI, and sidereal time.

    Precession (IAU 1976), the four largest terms of nutation, both at the epoch, and apparent
    sidereal time (IAU 1982). Within 0.2" of IAU 2006/2000A at the epoch; precession during a
    run adds 0.16" a day, and the motion of the pole, up to 0.6", is left out.

    Source: Vallado (2013), 3.7; Meeus, "Astronomical Algorithms" (1998), ch. 22, for nutation.

    :arg dut1: UT1 - UTC, from IERS Bulletin A; without it the angle is off by up to 13"
    """

    nin = 0
    nout = 2
    gives = (
        PortSpec("R", "3, 3", "", "rotation, ECEF to ECI"),
        PortSpec("angle", "", "rad", "Greenwich apparent sidereal time, rising without jumps"),
    )

    def output(self, t: Any, inputs: list[Any], x: Any) -> list[Any]:
        return [self.frames.rotation(t), self.frames.sidereal_time(t)]


class Eci_Ecef(OfEpoch, FunctionBlock):
    """Position and velocity from ECI to ECEF: R' r and R' v - omega x R' r, R as in EARTH_ROTATION.

    Source: Vallado (2013), 3.7.
    """

    nin = 2
    nout = 2
    takes = (POSITION, PortSpec("v", "3", "m/s", "velocity, ECI", optional=True))
    gives = (_R_ECEF, _V_ECEF)

    def output(self, t: Any, inputs: list[Any], x: Any) -> list[Any]:
        turn = self.frames.rotation(t).T
        r, v = turn @ inputs[0], turn @ inputs[1]
        return [r, v - cross(_SPIN, r)]


class Ecef_Eci(OfEpoch, FunctionBlock):
    """Position and velocity from ECEF to ECI: R r and R (v + omega x r), R as in EARTH_ROTATION.

    Source: Vallado (2013), 3.7.
    """

    nin = 2
    nout = 2
    takes = (
        _R_ECEF,
        PortSpec("v_ecef", "3", "m/s", "velocity relative to the turning Earth", optional=True),
    )
    gives = (POSITION, VELOCITY)

    def output(self, t: Any, inputs: list[Any], x: Any) -> list[Any]:
        r, v = inputs
        turn = self.frames.rotation(t)
        return [turn @ r, turn @ (v + cross(_SPIN, r))]


class Ecef_Geodetic(Declared, FunctionBlock):
    """Latitude, longitude and height over the ellipsoid of WGS84, and the axes north, east, down.

    Exact to rounding from the surface to beyond the Moon. At the poles the longitude is 0. A step
    ends where the longitude jumps from pi to -pi or passes 0.

    Source: Bowring, Survey Review 23 (1976) 323.
    """

    nin = 1
    nout = 4
    takes = (_R_ECEF,)
    gives = (*_GEODETIC, PortSpec("R_ned", "3, 3", "", "rotation, north-east-down to ECEF"))
    parameters = ()

    def output(self, t: Any, inputs: list[Any], x: Any) -> list[Any]:
        latitude, longitude, height = geodetic(inputs[0])
        return [latitude, longitude, height, ned_rotation(latitude, longitude)]

    def watch(self, t: Any, inputs: list[Any], x: Any) -> list[Any]:
        return [inputs[0][1]]


class Geodetic_Ecef(Declared, FunctionBlock):
    """The position of a latitude, a longitude and a height over the ellipsoid of WGS84.

    Source: Vallado (2013), eq. 3-14.
    """

    nin = 3
    nout = 1
    takes = _GEODETIC
    gives = (_R_ECEF,)
    parameters = ()

    def output(self, t: Any, inputs: list[Any], x: Any) -> list[Any]:
        return [ecef_position(*inputs)]


class Orbit_Frame(Declared, FunctionBlock):
    """The axes that follow an orbit: LVLH and RSW.

    LVLH: z to the Earth's centre, y against the orbit's angular momentum h, x along the track. RSW:
    x radial, y along the track, z along h. Both turn with h / r^2; a force across the orbit's plane
    turns them about r too, which omega leaves out. Where r and v are zero, as those of a sensor
    before it measures, r is taken as x and v as y, and omega is zero.

    Source: Vallado (2013), 3.3.
    """

    nin = 2
    nout = 3
    takes = (POSITION, VELOCITY)
    gives = (
        PortSpec("R_lvlh", "3, 3", "", "rotation, LVLH to ECI"),
        PortSpec("R_rsw", "3, 3", "", "rotation, RSW to ECI"),
        PortSpec("omega", "3", "rad/s", "angular velocity of both, ECI"),
    )
    parameters = ()

    def output(self, t: Any, inputs: list[Any], x: Any) -> list[Any]:
        return list(orbit_frames(*inputs))
