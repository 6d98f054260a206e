"""Air and drag, the magnetic field, Sun and Moon, eclipses, and the pressure of sunlight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from bdsim.components import FunctionBlock, SourceBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.space import (
    ATTITUDE,
    FORCE,
    POSITION,
    SUN,
    VELOCITY,
    WRENCH,
    OfEpoch,
    earth_frames,
    plates_of,
)
from spart_blocks.block_support.tables import rising
from spart_blocks.block_support.values import counted, numbers
from spart_blocks.environment.atmosphere import EXPONENTIAL, relative_wind, tabulated
from spart_blocks.environment.constants import EARTH_RADIUS, EARTH_RATE, IRRADIANCE
from spart_blocks.environment.frames import ellipsoid_height, geodetic, ned_rotation
from spart_blocks.environment.magnetic import MOST_DEGREE, field_model
from spart_blocks.environment.plates import drag_forces, light_forces, light_pressure
from spart_blocks.environment.sun import (
    apparent_discs,
    behind_cylinder,
    moon_position,
    sun_position,
    visible_fraction,
)
from spart_blocks.formulas.crossings import bare, zero_or_one

_DENSITY = PortSpec("rho", "", "kg/m^3", "density of the air")
_MOST_WATCHED = 32
"""Largest number of heights at which steps end."""


class Atmosphere(Declared, FunctionBlock):
    """The density of the air over the height: exponentials in 28 bands, or those of a table.

    In each band rho = scale rho_k exp(-(h - h_k) / H_k). The bands of Vallado's table 8-4 are a
    mean over the solar cycle: at 400 km the density varies by a factor of 5 about it. A table is
    interpolated linearly in its logarithm. Above the last height its law goes on, below the first
    its density holds. h is the height over the ellipsoid of WGS84 along the radius, z the Earth's
    axis. A step ends where h passes one of up to 32 heights.

    Source: Vallado (2013), 8.6.2.

    :arg heights: heights of a table, rising
    :arg densities: the densities there, falling
    :arg scale: factor of the density
    """

    nin = 1
    nout = 2
    takes = (POSITION,)
    gives = (_DENSITY, PortSpec("height", "", "m", "height over the ellipsoid"))
    heights = fixed("n", "m", None)
    densities = fixed("n", "kg/m^3", None)
    scale = tunable("float", "", 1.0, least=0)

    def build(self, heights: Any, densities: Any) -> dict[str, Any]:
        self.bands = EXPONENTIAL
        if heights is not None or densities is not None:
            self.bands = tabulated(*_table(heights, densities))
        return self.resolve_ports()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        height = ellipsoid_height(inputs[0])
        return [self.scale * self.bands.density(height), height]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        bends = self.bands.heights
        if len(bends) > _MOST_WATCHED:
            return []
        height = ellipsoid_height(inputs[0])
        return [height - bend for bend in bends]


def _table(heights: Any, densities: Any) -> tuple[Any, Any]:
    if heights is None or densities is None:
        raise InputError("heights and densities belong together: give both, or none")
    h = rising(heights, "heights")
    rho = numbers(densities, "densities", h.shape)
    if rho.min() <= 0 or np.any(np.diff(rho) >= 0):
        raise InputError(Fault("densities must be above zero and fall", hint="each in kg/m^3"))
    return h, rho


class Drag(Declared, FunctionBlock):
    """Drag on a body of one area: f = -1/2 rho Cd A |w| w.

    w = v - omega x r is the velocity relative to air that turns with the Earth about z.

    Source: Vallado (2013), eq. 8-28.

    :arg area: area across the flow
    :arg Cd: drag coefficient
    :arg omega: rate of the air's rotation
    """

    nin = 3
    nout = 1
    takes = (_DENSITY, POSITION, VELOCITY)
    gives = (FORCE,)
    area = tunable("float", "m^2", above=0)
    Cd = tunable("float", "", 2.2, above=0)
    omega = tunable("float", "rad/s", EARTH_RATE)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        rho, r, v = inputs
        wind = relative_wind(r, v, self.omega)
        return [(-0.5 * self.Cd * self.area) * rho * np.sqrt(np.sum(wind * wind)) * wind]


class Drag_Plates(Declared, FunctionBlock):
    """Drag on a body of flat plates, as a wrench at its centre of mass: on each plate that faces
    the flow f = -1/2 rho Cd A cos(theta) |w| w at its centre.

    w as in DRAG, theta between w and the outward normal. Plates cast no shadow on each other. A
    step ends where a plate turns into the flow or out of it.

    Source: Markley and Crassidis (2014), eq. 3.161.

    :arg plates: list of {area [m^2], normal, centre [m]}: outward normal and centre from the centre
        of mass, both in body axes
    :arg Cd: drag coefficient
    :arg omega: rate of the air's rotation
    """

    nin = 4
    nout = 1
    takes = (_DENSITY, POSITION, VELOCITY, ATTITUDE)
    gives = (WRENCH,)
    plates = fixed("list", entries={"area": "m^2", "centre": "m"}, check=plates_of)
    Cd = tunable("float", "", 2.2, above=0)
    omega = tunable("float", "rad/s", EARTH_RATE)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        rho, _, _, R = inputs
        forces = drag_forces(self.plates, rho, self._wind(inputs), self.Cd)
        return [self.plates.wrench(forces, R)]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return list(self.plates.facing(self._wind(inputs)))

    def _wind(self, inputs: list[Any]) -> Any:
        """The velocity relative to the air in body axes."""
        _, r, v, R = inputs
        return R.T @ relative_wind(r, v, self.omega)


class Magnetic_Field(Declared, FunctionBlock):
    """The Earth's main magnetic field: IGRF-14, from the core, with its secular variation.

    Its coefficients are linear between 1970, 1975, ..., 2030; the line at the epoch holds for the
    run. The recursion is in Cartesian coordinates and regular at the poles, where B_ned has north
    along the meridian 0. Degree 13 costs about 1,500 products; a lower degree leaves out small
    scales: on a low orbit about 100 nT at degree 6. The crust and currents around the Earth, about
    100 nT, are not part of IGRF.

    Source: IAGA Division V-MOD, IGRF-14 (2024), doi.org/10.5281/zenodo.14012302; Montenbruck and
    Gill (2000), 3.2.4, for the recursion of Cunningham.

    :arg epoch: UTC at t = 0, such as 2026-03-20T12:00:00; from 1972 to 2030
    :arg degree: degree of the model, 1 to 13; 1 is a dipole
    :arg frame: frame of r and B, eci or ecef
    """

    nin = 1
    nout = 2
    takes = (PortSpec("r", "3", "m", "position from the Earth's centre, ECI or ECEF"),)
    gives = (
        PortSpec("B", "3", "T", "magnetic field, in the frame of r"),
        PortSpec("B_ned", "3", "T", "the same to geodetic north, east, down"),
    )
    epoch = fixed("str")
    degree = fixed("int", "", MOST_DEGREE)
    frame = fixed("str", "", "eci", choices=("eci", "ecef"))

    def build(self, epoch: Any, degree: Any) -> dict[str, Any]:
        self.frames = earth_frames(epoch)
        self.model = field_model(self.frames.epoch, counted(degree, "degree", MOST_DEGREE))
        return self.resolve_ports()

    def output(self, t: Any, inputs: list[Any], x: Any) -> list[Any]:
        (r,) = inputs
        if self.frame == "eci":
            turn = self.frames.rotation(t)
            r = turn.T @ r
        field = self.model.field(r, t)
        latitude, longitude, _ = geodetic(r)
        ned = ned_rotation(latitude, longitude).T @ field
        return [turn @ field if self.frame == "eci" else field, ned]


_LIT = PortSpec("lit", "", "", "part of the Sun that is seen, 0 to 1, as of ECLIPSE")


def _unit(v: Any) -> Any:
    return v / np.sqrt(np.sum(v * v))


class _Body(OfEpoch):
    """The position of a body of the sky, a function of the time in Julian centuries of TT."""

    nin = 0
    nout = 2

    body: ClassVar[Callable[..., Any]]
    omits = ("dut1",)

    def output(self, t: Any, inputs: list[Any], x: Any) -> list[Any]:
        r = self.frames.mean.T @ type(self).body(self.frames.epoch.tt_centuries(t))
        return [r, _unit(r)]


class Sun_Vector(_Body, SourceBlock):
    """The position of the Sun from the Earth's centre.

    Within 0.013 degree from 1980 to 2050; from the mean equator of date to ECI by the precession at
    the epoch.

    Source: Vallado (2013), algorithm 29, after the Astronomical Almanac.
    """

    gives = (
        PortSpec("r", "3", "m", "position of the Sun, ECI"),
        PortSpec("e", "3", "", "unit vector to it, ECI"),
    )
    body = staticmethod(sun_position)


class Moon_Vector(_Body, SourceBlock):
    """The position of the Moon from the Earth's centre.

    Within 0.36 degree and 0.33 % of the distance from 1980 to 2050; to ECI as in SUN_VECTOR.

    Source: Vallado (2013), algorithm 31, after the Astronomical Almanac.
    """

    gives = (
        PortSpec("r", "3", "m", "position of the Moon, ECI"),
        PortSpec("e", "3", "", "unit vector to it, ECI"),
    )
    body = staticmethod(moon_position)


class Earth_Vector(Declared, FunctionBlock):
    """The Earth as seen from a spacecraft: the unit vector to its centre (nadir), and its apparent
    radius arcsin(radius / |r|).
    """

    nin = 1
    nout = 2
    takes = (POSITION,)
    gives = (
        PortSpec("e", "3", "", "unit vector to the Earth's centre, ECI"),
        PortSpec("angle", "", "rad", "apparent radius of the Earth"),
    )
    parameters = ()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        (r,) = inputs
        size = np.sqrt(np.sum(r * r))
        return [-r / size, np.arcsin(np.minimum(EARTH_RADIUS / size, 1.0))]


class Eclipse(Declared, FunctionBlock):
    """Which part of the Sun a spacecraft sees past the Earth.

    ``conical``: the discs of Sun and Earth overlap; 0 in the umbra, in between in the penumbra.
    ``cylindrical``: 0 inside the cylinder behind the Earth, otherwise 1. The Earth is a sphere of
    its equatorial radius: its oblateness moves an entry by up to 3 s on a low orbit. Steps end at
    entry and exit of penumbra and umbra.

    Source: Montenbruck and Gill, "Satellite Orbits" (2000), 3.4.2.

    :arg model: conical or cylindrical
    """

    nin = 2
    nout = 1
    takes = (POSITION, SUN)
    gives = (_LIT,)
    model = fixed("str", "", "conical", choices=("conical", "cylindrical"))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        if self.model == "cylindrical":
            return [zero_or_one(behind_cylinder(*inputs) >= 0)]
        return [bare(visible_fraction(*apparent_discs(*inputs)))]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        if self.model == "cylindrical":
            return [-behind_cylinder(*inputs)]
        sun, earth, apart = apparent_discs(*inputs)
        return [earth + sun - apart, np.abs(earth - sun) - apart]


class Solar_Pressure(Declared, FunctionBlock):
    """The pressure of sunlight on a body of one area: f = -lit P Cr A s.

    s is the unit vector to the Sun, P = irradiance / c (1 au / distance)^2.

    Source: Vallado (2013), 8.6.4.

    :arg area: area across the light
    :arg Cr: reflectivity: 1 absorbs, 2 is a mirror
    :arg irradiance: irradiance at 1 au
    """

    nin = 3
    nout = 1
    takes = (POSITION, SUN, _LIT)
    gives = (FORCE,)
    area = tunable("float", "m^2", above=0)
    Cr = tunable("float", "", 1.3, above=0)
    irradiance = tunable("float", "W/m^2", IRRADIANCE, above=0)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        r, sun, lit = inputs
        away = sun - r
        distance = np.sqrt(np.sum(away * away))
        pressure = light_pressure(distance, self.irradiance)
        return [(-self.Cr * self.area) * lit * pressure / distance * away]


class Solar_Pressure_Plates(Declared, FunctionBlock):
    """The pressure of sunlight on a body of flat plates, as a wrench at its centre of mass.

    On each plate that faces the Sun f = -lit P A cos(theta) ((1 - rs) s + 2 (rs cos(theta) + rd /
    3) n) at its centre: n the outward normal, theta between n and s, rs and rd what it reflects
    specularly and diffusely. Plates cast no shadow on each other. A step ends where a plate turns
    into the light or out of it.

    Source: Markley and Crassidis (2014), eq. 3.167.

    :arg plates: list of {area [m^2], normal, centre [m], specular, diffuse}: outward normal and
        centre from the centre of mass, both in body axes
    :arg irradiance: irradiance at 1 au
    """

    nin = 4
    nout = 1
    takes = (POSITION, SUN, _LIT, ATTITUDE)
    gives = (WRENCH,)
    plates = fixed("list", entries={"area": "m^2", "centre": "m"}, check=plates_of)
    irradiance = tunable("float", "W/m^2", IRRADIANCE, above=0)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        r, sun, lit, R = inputs
        away = sun - r
        pressure = light_pressure(np.sqrt(np.sum(away * away)), self.irradiance)
        forces = light_forces(self.plates, lit * pressure, R.T @ _unit(away))
        return [self.plates.wrench(forces, R)]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        r, sun, _, R = inputs
        return list(self.plates.facing(R.T @ _unit(sun - r)))
