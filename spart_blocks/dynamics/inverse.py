"""Inverse dynamics: the forces of a motion.

Source: SPART's manual, ID and Floating_ID (their parameter lists there have slips).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from spart_blocks.base.spatial import Array, array, cross, solve_spd, zeros
from spart_blocks.dynamics.joint_effects import joint_load, joint_motion
from spart_blocks.dynamics.kinematics import accelerations
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
