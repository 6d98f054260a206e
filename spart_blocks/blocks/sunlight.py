"""Sun, Moon and Earth as seen from a spacecraft, eclipses, and the pressure of light."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from bdsim.components import FunctionBlock, SourceBlock

from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.space import (
    ATTITUDE,
    FORCE,
    POSITION,
    SUN,
    WRENCH,
    OfEpoch,
    plates_of,
)
from spart_blocks.environment.constants import EARTH_RADIUS, IRRADIANCE
from spart_blocks.environment.plates import light_forces, light_pressure
from spart_blocks.environment.sun import (
    apparent_discs,
    behind_cylinder,
    moon_position,
    sun_position,
    visible_fraction,
)
from spart_blocks.formulas.crossings import bare, zero_or_one

_LIT = PortSpec("lit", "", "", "part of the Sun that is seen, 0 to 1, as of ECLIPSE")


def _unit(v: Any) -> Any:
    return v / np.sqrt(np.sum(v * v))


class _Body(OfEpoch):
    """The position of a body of the sky, a function of the time in Julian centuries of TT."""

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

    nin = 0
    nout = 2
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

    nin = 0
    nout = 2
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
