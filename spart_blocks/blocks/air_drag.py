"""Density of the upper atmosphere, and drag."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.space import ATTITUDE, FORCE, POSITION, VELOCITY, WRENCH, plates_of
from spart_blocks.block_support.tables import rising
from spart_blocks.block_support.values import numbers
from spart_blocks.environment.atmosphere import EXPONENTIAL, relative_wind, tabulated
from spart_blocks.environment.constants import EARTH_RATE
from spart_blocks.environment.frames import ellipsoid_height
from spart_blocks.environment.plates import drag_forces

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
