"""Positions, velocities and accelerations of the links of a tree.

SPART's recursions, from the base to the tips. Every result is projected in inertial
axes. Source: SPART's manual; S. K. Saha, "Dynamics of serial multibody systems using
the decoupled natural orthogonal complement matrices", J. Appl. Mech. 66 (1999), for
the twist-propagation matrices B and vectors p.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from spart_blocks.base.spatial import (
    Array,
    array,
    axis_angle_rotation,
    cross,
    eye,
    quaternion_rotation,
    skew,
    transpose,
    zeros,
)
from spart_blocks.robot import JointType, Robot


class Kinematics(NamedTuple):
    """RJ, RL (n,3,3): rotations of joints and links; rJ, rL (n,3) [m]: their positions;
    e (n,3): joint axes; g (n,3) [m]: from joint origin to the link's centre of mass."""

    RJ: Array
    RL: Array
    rJ: Array
    rL: Array
    e: Array
    g: Array


class DiffKinematics(NamedTuple):
    """Bij (n,n,6,6), zero off the branch; Bi0 (n,6,6); P0 (6,6); pm (n,6)."""

    Bij: Array
    Bi0: Array
    P0: Array
    pm: Array


class Twists(NamedTuple):
    """t0 (6,), tL (n,6) [rad/s, m/s]: twists of base and links, inertial axes."""

    t0: Array
    tL: Array


class TwistRates(NamedTuple):
    """t0dot (6,), tLdot (n,6) [rad/s^2, m/s^2]: twist rates, inertial axes."""

    t0dot: Array
    tLdot: Array


def kinematics(R0: Any, r0: Any, qm: Any, robot: Robot) -> Kinematics:
    """Positions and orientations of joints and links.

    R0 (3,3): base-link axes to inertial. r0 (3,) [m]: centre of mass of the base-link. qm (nq,)
    [rad, m]. A displacement moves the bodies beyond its joint, not the joint's own frame. The three
    rows of a spherical joint have the axes of the link that it moves. Source: SPART's manual,
    Kinematics.
    """
    R0, r0 = array(R0, (3, 3), "R0"), array(r0, (3,), "r0")
    qm = array(qm, (robot.nq,), "qm")
    n, like = robot.n_links_joints, (R0, r0, qm, robot.base_link.T)
    RJ, RL = zeros((n, 3, 3), *like), zeros((n, 3, 3), *like)
    rJ, rL = zeros((n, 3), *like), zeros((n, 3), *like)
    e = zeros((n, 3), *like)
    for i, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True)):
        p = joint.parent_link - 1
        R_parent, r_parent = (RL[p], rL[p]) if p >= 0 else (R0, r0)
        RJ[i] = R_parent @ joint.T[:3, :3]
        rJ[i] = r_parent + R_parent @ joint.T[:3, 3]
        e[i] = RJ[i] @ joint.axis
        R, r = RJ[i], rJ[i]
        q = robot.q_slices[i]
        if q is not None and joint.type is JointType.REVOLUTE:
            R = R @ axis_angle_rotation(joint.axis, qm[q])
        elif q is not None and joint.type is JointType.PRISMATIC:
            r = r + e[i] * qm[q]
        elif q is not None:
            turn = quaternion_rotation(qm[q])
            R = R @ (turn.T if joint.axis[0] < 0 else turn)
            e[i] = R @ joint.axis
        RL[i] = R @ link.T[:3, :3]
        rL[i] = r + R @ link.T[:3, 3]
    return Kinematics(RJ, RL, rJ, rL, e, rL - rJ)


def diff_kinematics(R0: Any, r0: Any, rL: Any, e: Any, g: Any, robot: Robot) -> DiffKinematics:
    """Twist-propagation matrices and vectors.

    A twist moves from link j out to link i as Bij t_j; joint i adds pm_i times its rate.
    rL, e, g (n,3): from `kinematics`. Source: SPART's manual, DiffKinematics.
    """
    n = robot.n_links_joints
    R0, r0 = array(R0, (3, 3), "R0"), array(r0, (3,), "r0")
    rL, e, g = (array(a, (n, 3), name) for a, name in ((rL, "rL"), (e, "e"), (g, "g")))
    on_branch = robot.con.branch.astype(int)
    Bij = zeros((n, n, 6, 6), rL)
    Bij[...] = on_branch[..., None, None] * eye(6)
    Bij[..., 3:, :3] = on_branch[..., None, None] * skew(rL[None, :, :] - rL[:, None, :])
    Bi0 = zeros((n, 6, 6), r0, rL)
    Bi0[...] = eye(6)
    Bi0[:, 3:, :3] = skew(r0 - rL)
    P0 = eye(6, R0)
    P0[:3, :3] = R0
    pm = zeros((n, 6), e, g)
    lever = cross(e, g)
    for i, joint in enumerate(robot.joints):
        if joint.type is JointType.PRISMATIC:
            pm[i, 3:] = e[i]
        elif joint.type is not JointType.FIXED:
            pm[i, :3], pm[i, 3:] = e[i], lever[i]
    return DiffKinematics(Bij, Bi0, P0, pm)


def velocities(
    Bij: Array, Bi0: Array, P0: Array, pm: Array, u0: Any, um: Any, robot: Robot
) -> Twists:
    """Twists of base and links.

    u0 (6,) [rad/s, m/s]: base rate, angular part in base axes, linear part inertial.
    um (nu,) [rad/s, m/s]. Source: SPART's manual, Velocities; right on every tree (SPART
    takes link i-1 for the parent, which fails on nested branches).
    """
    u0, um = array(u0, (6,), "u0"), array(um, (robot.nu,), "um")
    t0 = P0 @ u0
    tL = zeros((robot.n_links_joints, 6), Bij, Bi0, pm, t0, um)
    for i, parent in enumerate(robot.parents):
        tL[i] = Bi0[i] @ t0 if parent == 0 else Bij[i, parent - 1] @ tL[parent - 1]
        k = robot.u_index[i]
        if k is not None:
            tL[i] = tL[i] + pm[i] * um[k : k + 1]
    return Twists(t0, tL)


def turned(omega: Array, p: Array) -> Array:
    """[omega x p_angular, omega x p_linear]: the rate of a vector pair p (6,) that turns
    with omega (3,)."""
    out = zeros(6, omega, p)
    out[:3], out[3:] = cross(omega, p[:3]), cross(omega, p[3:])
    return out


def accelerations(
    t0: Array,
    tL: Array,
    P0: Array,
    pm: Array,
    Bi0: Array,
    Bij: Array,
    u0: Any,
    um: Any,
    u0dot: Any,
    umdot: Any,
    robot: Robot,
) -> TwistRates:
    """Twist rates of base and links.

    t0 (6,), tL (n,6): from `velocities`. u0dot (6,), umdot (nu,): rates of u0 and um.
    Source: SPART's manual, Accelerations.
    """
    u0, um = array(u0, (6,), "u0"), array(um, (robot.nu,), "um")
    u0dot, umdot = array(u0dot, (6,), "u0dot"), array(umdot, (robot.nu,), "umdot")
    t0dot = P0 @ u0dot
    # P0 u0 turns with the base in its angular part only: omega_0 x omega_0 = 0.
    tLdot = zeros((robot.n_links_joints, 6), tL, Bij, Bi0, pm, t0dot, um, umdot)
    for i, parent in enumerate(robot.parents):
        B, t, tdot = (
            (Bi0[i], t0, t0dot)
            if parent == 0
            else (Bij[i, parent - 1], tL[parent - 1], tLdot[parent - 1])
        )
        tLdot[i] = B @ tdot
        tLdot[i, 3:] = tLdot[i, 3:] + cross(t[3:] - tL[i, 3:], t[:3])
        k = robot.u_index[i]
        if k is not None:
            rate = pm[i] * um[k : k + 1]
            carrier = tL[robot.carriers[i] - 1]
            tLdot[i] = tLdot[i] + pm[i] * umdot[k : k + 1] + turned(carrier[:3], rate)
    return TwistRates(t0dot, tLdot)


def center_of_mass(r0: Any, rL: Any, robot: Robot) -> Array:
    """Centre of mass (3,) [m] of the whole system, inertial axes.

    Given velocities or accelerations of base and links in place of r0 (3,) and rL (n,3),
    it returns those of the centre of mass. Source: SPART's manual, Center_of_Mass.
    """
    r0 = array(r0, (3,), "r0")
    rL = array(rL, (robot.n_links_joints, 3), "rL")
    total: Array = robot.base_link.mass * r0
    for link, r in zip(robot.links, rL, strict=True):
        total = total + link.mass * r
    center: Array = total / robot.mass
    return center


def frame_of_link(link_id: int, R0: Any, r0: Any, RL: Array, rL: Array, robot: Robot) -> Array:
    """The body frame (4,4) [m] of a link (0 is the base-link), inertial: its URDF link frame.

    SPART's link axes are those of the inertial frame at the centre of mass; users name
    end-effectors and targets by body frames.
    """
    R, r = (RL[link_id - 1], rL[link_id - 1]) if link_id else (R0, r0)
    T = robot.body(link_id).to_mass
    out = eye(4, R, r, T)
    out[:3, :3] = R @ transpose(T[:3, :3])
    out[:3, 3] = r - out[:3, :3] @ T[:3, 3]
    return out
