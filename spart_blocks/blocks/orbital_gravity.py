"""Gravity of the Earth, the Sun and the Moon on spacecraft."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.errors import InputError, brief
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import MU, ROBOT, fixed, tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.block_support.space import (
    ACCELERATION,
    ATTITUDE,
    POSITION,
    earth_axis,
    symmetric_inertia,
    zonals,
)
from spart_blocks.block_support.values import positive_number
from spart_blocks.dynamics import inertias, kinematics
from spart_blocks.environment.constants import GRAVITY_RADIUS, MU_MOON, MU_SUN
from spart_blocks.environment.gravity import (
    central_acceleration,
    differential_attraction,
    gradient_torque,
    third_body_acceleration,
    zonal_acceleration,
)


class Two_Body(Declared, FunctionBlock):
    """The attraction by a point mass: a = -mu r / |r|^3."""

    nin = 1
    nout = 1
    takes = (POSITION,)
    gives = (ACCELERATION,)
    mu = MU

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [central_acceleration(inputs[0], self.mu)]


class Zonal_Gravity(Declared, FunctionBlock):
    """The attraction by the oblate Earth: the gradient of mu/r (1 - sum J_n (radius/r)^n P_n(u)), u
    the sine of the geocentric latitude.

    Coefficients are those of EGM96. Without an epoch the Earth's axis is z of ECI, from which it is
    0.15 degree away in 2026. It has no singularity at the poles.

    Source: Vallado (2013), 8.6; Lemoine et al., NASA/TP-1998-206861, for EGM96.

    :arg degree: the last zonal term, 2 to 6; 0 for the central attraction alone
    :arg J: J2, J3, ... in the place of those of EGM96
    :arg epoch: UTC of the Earth's axis, such as 2026-03-20T12:00:00
    :arg radius: radius that belongs to J
    """

    nin = 1
    nout = 2
    takes = (POSITION,)
    gives = (
        PortSpec("a", "3", "m/s^2", "the whole acceleration, ECI"),
        PortSpec("a_zonal", "3", "m/s^2", "the part of the zonal terms, ECI"),
    )
    degree = fixed("int", "", 2)
    J = tunable("n", "", None)
    epoch = fixed("str", "", None)
    mu = MU
    radius = tunable("float", "m", GRAVITY_RADIUS, above=0)

    def build(self, degree: Any, J: Any, epoch: Any) -> dict[str, Any]:
        self.J = zonals(degree, J)
        self.axis = earth_axis(epoch)
        return self.resolve_ports()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        (r,) = inputs
        zonal = zonal_acceleration(r, self.mu, self.radius, self.J, self.axis)
        return [central_acceleration(r, self.mu) + zonal, zonal]


class Third_Body(Declared, FunctionBlock):
    """The attraction by the Sun, the Moon or another body, relative to that on the Earth.

    a = mu (d / |d|^3 - s / |s|^3), d = s - r, computed without cancellation.

    Source: Battin (1999), 8.4; Vallado (2013), 8.6.

    :arg body: sun or moon, for its mu
    :arg mu: gravitational parameter of another body
    """

    nin = 2
    nout = 1
    takes = (POSITION, PortSpec("s", "3", "m", "position of the body from the Earth's centre, ECI"))
    gives = (ACCELERATION,)
    body = fixed("str", "", "sun")
    mu = tunable("float", "m^3/s^2", None)

    def build(self, body: Any, mu: Any) -> dict[str, Any]:
        known = {"sun": MU_SUN, "moon": MU_MOON}
        if mu is None and body not in known:
            raise InputError(f"body must be sun or moon, or mu given, not {brief(body)}")
        self.mu = positive_number(known[body] if mu is None else mu, "mu", "m^3/s^2")
        return self.resolve_ports()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        r, body = inputs
        return [third_body_acceleration(r, body, self.mu)]


class Gravity_Gradient(Declared, FunctionBlock):
    """The torque of gravity on a rigid body: 3 mu / |r|^5 r x (I r), in body axes.

    By the central attraction; the zonal terms change it by 0.3 % on a low orbit. For the links of a
    robot use ORBITAL_GRAVITY.

    Source: Markley and Crassidis (2014), eq. 3.155.

    :arg inertia: inertia about the centre of mass in body axes, or its diagonal
    """

    nin = 2
    nout = 1
    takes = (ATTITUDE, POSITION)
    gives = (PortSpec("torque", "3", "N m", "torque, body axes"),)
    inertia = tunable("3, 3 or 3", "kg m^2", check=symmetric_inertia)
    mu = MU

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R, r = inputs
        return [gradient_torque(R.T @ r, self.inertia, self.mu)]


class Orbital_Gravity(Declared, FunctionBlock):
    """Gravity of the Earth on base and links of a robot: at each centre of mass the attraction
    there with zonal terms, and the torque 3 mu / |r|^5 r x (I r) of each link's own inertia.

    The gravity gradient on the whole robot follows. The plant's coordinates are ECI. With
    ``orbiting`` their origin falls freely along an orbit, without turning: wire the orbit's
    position to r; the wrenches then are those of the difference to the attraction at the origin,
    without cancellation, and the plant stays near its origin.

    Source: Markley and Crassidis (2014), eq. 3.155; Battin (1999), 8.4, for differences.

    :arg degree: the last zonal term, 2 to 6; 0 for the central attraction alone
    :arg J: J2, J3, ... in the place of those of EGM96
    :arg epoch: UTC of the Earth's axis, such as 2026-03-20T12:00:00; z without it
    :arg orbiting: whether the plant's origin moves along the orbit r, which needs the same zonal
        terms
    :arg radius: radius that belongs to J
    """

    nin = 5
    nout = 2
    takes = (
        *quantities("R0 r0 qm"),
        PortSpec("a", "3", "m/s^2", "acceleration of all links, of other bodies", optional=True),
        PortSpec("r", "3", "m", "position of the plant's origin, ECI; with orbiting"),
    )
    gives = quantities("wF0 wFm")
    robot = ROBOT
    degree = fixed("int", "", 0)
    J = tunable("n", "", None)
    epoch = fixed("str", "", None)
    orbiting = fixed("bool", "", False)
    mu = MU
    radius = tunable("float", "m", GRAVITY_RADIUS, above=0)

    def build(self, degree: Any, J: Any, epoch: Any, orbiting: bool) -> dict[str, Any]:
        self.J = zonals(degree, J)
        self.axis = earth_axis(epoch)
        return self.resolve_ports(self.robot, without="" if orbiting else "r")

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, a, *origin = inputs
        found = kinematics(R0, r0, qm, self.robot)
        places = np.concatenate([r0[None, :], found.rL])
        own = inertias(R0, found.RL, self.robot)
        inertia = np.concatenate([own.I0[None, :, :], own.Im])
        r = places + origin[0][None, :] if origin else places
        if origin:
            pull = differential_attraction(origin[0][None, :], places, self.mu)
            pull = pull + self._zonal(r) - self._zonal(origin[0])[None, :]
        else:
            pull = central_acceleration(r, self.mu) + self._zonal(r)
        torques = gradient_torque(r, inertia, self.mu)
        masses = [self.robot.base_link.mass, *(link.mass for link in self.robot.links)]
        forces = np.array(masses).reshape(-1, 1) * (pull + a[None, :])
        wrenches = np.concatenate([torques, forces], axis=1)
        return [wrenches[0], wrenches[1:]]

    def _zonal(self, r: Any) -> Any:
        return zonal_acceleration(r, self.mu, self.radius, self.J, self.axis)
