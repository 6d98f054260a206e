"""Forces of air and of sunlight on a body made of flat plates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base.spatial import Array, cross
from spart_blocks.environment.constants import AU, LIGHT_SPEED


@dataclass(frozen=True)
class Plates:
    """Plates that face outwards, in body axes: area (k,) [m^2], unit normal (k,3), centre (k,3) [m]
    from the centre of mass, and which part of the light is reflected specularly and diffusely (k,).
    Plates cast no shadow on each other.
    """

    area: Array
    normal: Array
    centre: Array
    specular: Array
    diffuse: Array

    def facing(self, direction: Any) -> Any:
        """Cosines (k,) between the normals and a unit vector (3,), negative behind."""
        return self.normal @ direction

    def wrench(self, forces: Any, R: Any) -> Any:
        """The wrench (6,) [N m, N] of forces (k,3) in body axes, in inertial axes."""
        torque = np.sum(cross(self.centre, forces), axis=0)
        return np.concatenate([R @ torque, R @ np.sum(forces, axis=0)])


def drag_forces(plates: Plates, density: Any, wind: Any, drag: Any) -> Any:
    """The drag (k,3) [N] of each plate: -1/2 rho Cd A cos(theta) |v| v for those that face the
    velocity v (3,) [m/s] relative to the air, body axes. Source: Markley and Crassidis (2014),
    eq. 3.161.
    """
    flow = np.maximum(plates.facing(wind), 0.0)  # |v| cos(theta)
    return (-0.5 * density * drag) * (plates.area * flow)[:, None] * wind[None, :]


def light_pressure(distance: Any, irradiance: Any) -> Any:
    """The pressure of sunlight [N/m^2] at a distance [m]; irradiance [W/m^2] at 1 au."""
    return irradiance / LIGHT_SPEED * (AU / distance) * (AU / distance)


def light_forces(plates: Plates, pressure: Any, sun: Any) -> Any:
    """The force of sunlight (k,3) [N] on each plate that faces the unit vector `sun` (3,), body
    axes: -P A cos(theta) ((1 - rs) s + 2 (rs cos(theta) + rd / 3) n). Source: Markley and Crassidis
    (2014), eq. 3.167; Wertz, "Spacecraft Attitude Determination and Control" (1978), eq. 17-24.
    """
    cosine = np.maximum(plates.facing(sun), 0.0)
    along = (1.0 - plates.specular)[:, None] * sun[None, :]
    normal = (2.0 * (plates.specular * cosine + plates.diffuse / 3.0))[:, None] * plates.normal
    return -pressure * (plates.area * cosine)[:, None] * (along + normal)
