"""Inverse dynamics of the plant: Newton's and Euler's equations in axial screws.

The same quantities as `inverse_dynamics`, SPART's ID, which is its oracle, in the bodies'
own axes, where it costs a tenth. Notation and frames as in `axial.py`.

Sources: J. Luh, M. Walker, R. Paul, "On-line computational scheme for mechanical
manipulators", ASME J. Dynamic Systems, Measurement, and Control 102 (1980); R.
Featherstone, "Rigid Body Dynamics Algorithms" (2008), table 5.1.
"""

from __future__ import annotations

from typing import Any

from spart_blocks.base.spatial import Array, array, filled, solve_spd, zeros
from spart_blocks.dynamics.axial import (
    Motion,
    Paths,
    add,
    along_the_tree,
    apart_from_weight,
    carried_in,
    motions_of,
    needed_wrenches,
    paths_of,
)
from spart_blocks.dynamics.composite import multibody_inertia
from spart_blocks.dynamics.inverse import GeneralizedForces
from spart_blocks.dynamics.joint_effects import joint_load
from spart_blocks.dynamics.screws import MovingBody, Vector, bodies_of
from spart_blocks.robot import Robot


def multibody_forces(
    R0: Any, u0: Any, qm: Any, um: Any, u0dot: Any, umdot: Any, wF0: Any, wFm: Any, robot: Robot
) -> GeneralizedForces:
    """Forces of a motion of a robot with a fixed or floating base, as `robot.base` says.

    R0 (3,3), u0 (6,), qm (nq,), um (nu,): configuration and rates; u0dot (6,) [rad/s^2 base axes,
    m/s^2 inertial], umdot (nu,) [rad/s^2, m/s^2]: accelerations; a fixed base ignores u0 and u0dot.
    wF0 (6,), wFm (n,6) [N m, N]: wrenches on base and links at their centres of mass, inertial.
    Cost linear in the links. Motors, friction and stops are included if the robot's effects name
    them. Returns tau0, which the ground supplies for a fixed base, and taum.
    """
    R0, u0, u0dot = array(R0, (3, 3), "R0"), array(u0, (6,), "u0"), array(u0dot, (6,), "u0dot")
    qm, um = array(qm, (robot.nq,), "qm"), array(um, (robot.nu,), "um")
    umdot = array(umdot, (robot.nu,), "umdot")
    wF0, wFm = array(wF0, (6,), "wF0"), array(wFm, (robot.n_links_joints, 6), "wFm")
    like = (R0, u0, qm, um, u0dot, umdot, wF0, wFm)
    bodies, loads = bodies_of(robot), apart_from_weight(wF0, wFm, robot)
    if robot.base != "floating":
        u0, u0dot = zeros(6), zeros(6)
    paths = paths_of(bodies, qm)
    base = Motion(u0[:3].tolist(), u0dot[:3].tolist(), (R0.T @ (u0dot[3:] - loads.g)).tolist())
    rates, rises = (along_the_tree(v, robot).tolist() for v in (um, umdot))
    motions = motions_of(bodies, paths, base, rates, rises)
    wrenches = needed_wrenches(bodies, paths, motions, R0, loads)
    taum = felt_at_joints(bodies, paths, wrenches, robot.nu)
    n, f = wrenches[0]
    tau0 = filled(n + f, *like)
    tau0[3:] = R0 @ tau0[3:]
    effort = robot.motor_inertia * umdot + joint_load(um, robot, qm)
    return GeneralizedForces(tau0, along_the_tree(filled(taum, *like), robot) + effort)


def felt_at_joints(
    bodies: tuple[MovingBody, ...], paths: Paths, wrenches: list[tuple[Vector, Vector]], nu: int
) -> list[Any]:
    """What the joints pass on (nu,), along the tree, of the wrenches that the bodies need;
    wrenches become those with all that hangs on each body."""
    felt: list[Any] = [0.0] * nu
    for i in range(len(bodies) - 1, 0, -1):
        body, (n, f) = bodies[i], wrenches[i]
        felt[body.k] = (n if body.revolute else f)[body.axis]
        for screw in paths[i]:
            n, f = carried_in(screw, n, f)
        n0, f0 = wrenches[body.parent]
        wrenches[body.parent] = add(n0, n), add(f0, f)
    return felt


# --- the forces on a base whose joints move freely ------------------------------------------------
# The forces on the base for a desired acceleration while the joints move freely.
#
#     H0 u0dot + H0m umdot + c0 = tau0          c: what velocities and known wrenches need
#     H0m' u0dot + Hm umdot + cm = taum
#
# The second line gives umdot, then the first tau0. Where the motion of the joints is
# prescribed instead, umdot is known: see `multibody_forces`.


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
