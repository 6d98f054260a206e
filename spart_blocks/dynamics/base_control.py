"""The forces on the base for a desired acceleration while the joints move freely.

    H0 u0dot + H0m umdot + c0 = tau0          c: what velocities and known wrenches need
    H0m' u0dot + Hm umdot + cm = taum

The second line gives umdot, then the first tau0. Where the motion of the joints is
prescribed instead, umdot is known: see `multibody_forces`.
"""

from __future__ import annotations

from typing import Any

from spart_blocks.base.spatial import Array, array, solve_spd, zeros
from spart_blocks.dynamics.composite import multibody_inertia
from spart_blocks.dynamics.newton_euler import multibody_forces
from spart_blocks.robot import Robot


def base_control_free_joints(
    R0: Any, u0: Any, qm: Any, um: Any, u0dot: Any, taum: Any, wF0: Any, wFm: Any, robot: Robot
) -> Array:
    """tau0 (6,) [N m in base axes, N inertial] that gives the base of a floating robot the
    acceleration u0dot (6,) while its joints move freely under taum (nu,) [N m, N].

    The rest as for `multibody_forces`. Raises SingularInertiaError where Hm is singular.
    """
    taum = array(taum, (robot.nu,), "taum")
    held = multibody_forces(R0, u0, qm, um, u0dot, zeros(robot.nu), wF0, wFm, robot)
    H = multibody_inertia(R0, qm, robot)
    umdot = solve_spd(H.Hm, taum - held.taum, "the inertia matrix of the joints Hm")
    return held.tau0 + H.H0m @ umdot  # type: ignore[no-any-return]
