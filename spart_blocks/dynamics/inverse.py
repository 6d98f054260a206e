"""Inverse dynamics: the forces of a motion.

Source: SPART's manual, ID and Floating_ID (their parameter lists there have slips).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from spart_blocks.base.spatial import Array, array, cross, filled, solve_spd, zeros
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
from spart_blocks.dynamics.joint_effects import joint_load, joint_motion
from spart_blocks.dynamics.kinematics import accelerations
from spart_blocks.dynamics.screws import MovingBody, Vector, bodies_of
from spart_blocks.robot import Robot


class GeneralizedForces(NamedTuple):
    """tau0 (6,) [N m in base axes, N inertial] on the base; taum (nu,) [N m, N]."""

    tau0: Array
    taum: Array


class FloatingInverse(NamedTuple):
    """taum (nu,) [N m, N] and the base's reaction u0dot (6,) [rad/s^2 base axes, m/s^2]."""

    taum: Array
    u0dot: Array


def _inertial_wrench(inertia: Array, mass: float, t: Array, tdot: Array) -> Array:
    """Newton and Euler: the wrench (6,) that gives a body its twist rate."""
    out = zeros(6, inertia, t, tdot)
    out[:3] = inertia @ tdot[:3] + cross(t[:3], inertia @ t[:3])
    out[3:] = mass * tdot[3:]
    return out


def inverse_dynamics(
    wF0: Any,
    wFm: Any,
    t0: Array,
    tL: Array,
    t0dot: Array,
    tLdot: Array,
    P0: Array,
    pm: Array,
    I0: Array,
    Im: Array,
    Bij: Array,
    Bi0: Array,
    robot: Robot,
    qm: Any = None,
) -> GeneralizedForces:
    """Generalized forces that give the tree its twist rates under the wrenches wF.

    wF0 (6,), wFm (n,6) [N m, N]: wrenches on base and links at their centres of mass, inertial. For
    a fixed base (t0 and t0dot zero), tau0 is supplied by the ground. Motors, friction (zero for a
    joint at rest) and stops, which need qm (nq,), are included if the robot's effects name them.
    """
    n = robot.n_links_joints
    wF0, wFm = array(wF0, (6,), "wF0"), array(wFm, (n, 6), "wFm")
    w0 = _inertial_wrench(I0, robot.base_link.mass, t0, t0dot) - wF0
    wm = zeros((n, 6), wFm, tL, tLdot, Im, Bij, Bi0)
    taum = zeros(robot.nu, wm, pm)
    for i in reversed(range(n)):
        mass = robot.links[i].mass
        wm[i] = wm[i] + _inertial_wrench(Im[i], mass, tL[i], tLdot[i]) - wFm[i]
        k = robot.u_index[i]
        if k is not None:
            taum[k : k + 1] = pm[i].reshape(1, 6) @ wm[i]
        parent = robot.parents[i]
        if parent == 0:
            w0 = w0 + Bi0[i].T @ wm[i]
        else:
            wm[parent - 1] = wm[parent - 1] + Bij[i, parent - 1].T @ wm[i]
    if robot.effects:
        um, umdot = joint_motion(t0, tL, t0dot, tLdot, pm, Bij, Bi0, robot)
        taum = taum + robot.motor_inertia * umdot + joint_load(um, robot, qm)
    return GeneralizedForces(P0.T @ w0, taum)


def floating_inverse_dynamics(
    wF0: Any,
    wFm: Any,
    Mm_tilde: Array,
    H0: Array,
    t0: Array,
    tL: Array,
    P0: Array,
    pm: Array,
    I0: Array,
    Im: Array,
    Bij: Array,
    Bi0: Array,
    u0: Any,
    um: Any,
    umdot: Any,
    robot: Robot,
    qm: Any = None,
) -> FloatingInverse:
    """Joint forces of a joint motion while the base is not driven (tau0 = 0). The base at rest
    would need tau0; a free base reacts with u0dot = -H0^-1 tau0, which adds H0m' u0dot to the joint
    forces. qm: as for `inverse_dynamics`.
    Raises SingularInertiaError where H0 is singular.
    """
    motion = accelerations(t0, tL, P0, pm, Bi0, Bij, u0, um, zeros(6, t0), umdot, robot)
    held = inverse_dynamics(
        wF0, wFm, t0, tL, motion.t0dot, motion.tLdot, P0, pm, I0, Im, Bij, Bi0, robot, qm
    )
    u0dot = -solve_spd(H0, held.tau0, "the inertia of the base H0")
    taum = zeros(robot.nu, held.taum, u0dot, Mm_tilde)
    for i, k in enumerate(robot.u_index):
        if k is not None:
            moved = Mm_tilde[i] @ (Bi0[i] @ (P0 @ u0dot))
            taum[k : k + 1] = held.taum[k : k + 1] + pm[i].reshape(1, 6) @ moved
    return FloatingInverse(taum, u0dot)


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
