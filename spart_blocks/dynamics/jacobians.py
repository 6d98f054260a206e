"""Geometric Jacobians of points and the natural orthogonal complement, with their rates.

Source: SPART's manual, Jacob, Jacobdot, NOC, NOCdot.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.errors import InputError
from spart_blocks.base.spatial import (
    Array,
    array,
    conjugate,
    cos,
    cross,
    dcm_quat,
    eye,
    filled,
    quaternion_product,
    sin,
    skew,
    zeros,
)
from spart_blocks.dynamics.kinematics import diff_kinematics, frame_of_link, kinematics, turned
from spart_blocks.robot import JointType, Robot


class Jacobian(NamedTuple):
    """J0 (6,6) and Jm (6,nu): the twist of the point is J0 u0 + Jm um."""

    J0: Array
    Jm: Array


class JacobianRate(NamedTuple):
    """J0dot (6,6) and Jmdot (6,nu): the rates of J0 and Jm."""

    J0dot: Array
    Jmdot: Array


def _path(i: int, robot: Robot) -> list[int]:
    """Ids of the links on the way from link i to the base, i first; link 0 has none."""
    if not 0 <= i <= robot.n_links_joints:
        raise InputError(f"link id is {i}, it must be within 0 and {robot.n_links_joints}")
    path = []
    while i:
        path.append(i)
        i = robot.parents[i - 1]
    return path


def jacobian(rp: Any, r0: Any, rL: Array, P0: Array, pm: Array, i: int, robot: Robot) -> Jacobian:
    """Geometric Jacobian of a point fixed to link i (0 is the base-link).

    rp (3,) [m]: the point, inertial. rL (n,3), P0 (6,6), pm (n,6): from the kinematics.
    """
    rp, r0 = array(rp, (3,), "rp"), array(r0, (3,), "r0")
    J0 = eye(6, rp, r0, P0)
    J0[3:, :3] = skew(r0 - rp)
    J0 = J0 @ P0
    Jm = zeros((6, robot.nu), rp, rL, pm)
    for j in _path(i, robot):
        k = robot.u_index[j - 1]
        if k is not None:
            p = pm[j - 1]
            Jm[:3, k] = p[:3]
            Jm[3:, k] = p[3:] + cross(rL[j - 1] - rp, p[:3])
    return Jacobian(J0, Jm)


def jacobian_dot(
    rp: Any,
    tp: Any,
    r0: Any,
    t0: Array,
    rL: Array,
    tL: Array,
    P0: Array,
    pm: Array,
    i: int,
    robot: Robot,
) -> JacobianRate:
    """Time derivative of `jacobian`: J0dot (6,6), Jmdot (6,nu).

    tp (6,) [rad/s, m/s]: twist of the point, inertial; t0 (6,), tL (n,6): of the links.
    """
    rp, tp, r0 = array(rp, (3,), "rp"), array(tp, (6,), "tp"), array(r0, (3,), "r0")
    # d/dt(B P0): the angular columns of P0 turn with the base, the arm r0 - rp moves.
    P0dot = zeros((6, 6), t0, P0)
    P0dot[:3, :3] = skew(t0[:3]) @ P0[:3, :3]
    J0dot = zeros((6, 6), rp, tp, r0, t0, P0)
    J0dot[:3] = P0dot[:3]
    J0dot[3:] = skew(r0 - rp) @ P0dot[:3] + skew(t0[3:] - tp[3:]) @ P0[:3]
    Jmdot = zeros((6, robot.nu), rp, tp, rL, tL, pm)
    for j in _path(i, robot):
        k = robot.u_index[j - 1]
        if k is not None:
            p, pdot = pm[j - 1], turned(tL[robot.carriers[j - 1] - 1, :3], pm[j - 1])
            Jmdot[:3, k] = pdot[:3]
            Jmdot[3:, k] = (
                pdot[3:] + cross(rL[j - 1] - rp, pdot[:3]) + cross(tL[j - 1, 3:] - tp[3:], p[:3])
            )
    return JacobianRate(J0dot, Jmdot)


def noc(r0: Any, rL: Array, P0: Array, pm: Array, robot: Robot) -> Array:
    """Natural orthogonal complement N (6+6n, 6+nu): all twists, base first, are N u."""
    blocks = [jacobian(r0, r0, rL, P0, pm, 0, robot)]
    blocks += [jacobian(rL[i], r0, rL, P0, pm, i + 1, robot) for i in range(len(rL))]
    return np.vstack([np.hstack(block) for block in blocks])


def noc_dot(r0: Any, t0: Array, rL: Array, tL: Array, P0: Array, pm: Array, robot: Robot) -> Array:
    """Time derivative of `noc`, (6+6n, 6+nu)."""
    blocks = [jacobian_dot(r0, t0, r0, t0, rL, tL, P0, pm, 0, robot)]
    blocks += [
        jacobian_dot(rL[i], tL[i], r0, t0, rL, tL, P0, pm, i + 1, robot) for i in range(len(rL))
    ]
    return np.vstack([np.hstack(block) for block in blocks])


# --- the end-effector -----------------------------------------------------------------------------


class EndEffector(NamedTuple):
    """rp (3,) [m]: the point, inertial; R (3,3): its frame's axes to inertial; J0 (6,6),
    Jm (6,nu): its twist is J0 u0 + Jm um."""

    rp: Array
    R: Array
    J0: Array
    Jm: Array


def end_effector(R0: Any, r0: Any, qm: Any, link: int, offset: Any, robot: Robot) -> EndEffector:
    """Pose and Jacobian of a point fixed to a link (0 is the base-link).

    R0 (3,3), r0 (3,) [m], qm (nq,): the configuration. offset (3,) [m]: from the origin of
    the link's URDF frame to the point, in the axes of that frame.
    """
    K = kinematics(R0, r0, qm, robot)
    D = diff_kinematics(R0, r0, K.rL, K.e, K.g, robot)
    T = frame_of_link(link, array(R0, (3, 3), "R0"), array(r0, (3,), "r0"), K.RL, K.rL, robot)
    rp = T[:3, 3] + T[:3, :3] @ array(offset, (3,), "offset")
    J = jacobian(rp, r0, K.rL, D.P0, D.pm, link, robot)
    return EndEffector(rp, T[:3, :3], J.J0, J.Jm)


def link_quaternion(qm: Any, link: int, robot: Robot) -> Array:
    """The quaternion (4,), scalar last, from a link's URDF axes to those of the base's
    centre-of-mass frame.

    Continuous in qm over any number of turns: a product with half the angle of each joint.
    """
    qm = array(qm, (robot.nq,), "qm")
    robot = robot.nominal
    carried = robot.body(link).to_mass
    q = dcm_quat(carried[:3, :3])  # from the link's URDF axes to its inertial ones
    i = link
    while i:
        joint, place = robot.joints[i - 1], robot.q_slices[i - 1]
        q = quaternion_product(dcm_quat(robot.links[i - 1].T[:3, :3].T), q)
        if place is not None and joint.type is JointType.SPHERICAL:
            turn = conjugate(qm[place]) if joint.axis[0] < 0 else qm[place]
            q = quaternion_product(turn, q)
        elif place is not None and joint.type is JointType.REVOLUTE:
            half = qm[place] / 2
            turn = filled([*(joint.axis * sin(half)), *cos(half)], qm)
            q = quaternion_product(turn, q)
        q = quaternion_product(dcm_quat(joint.T[:3, :3].T), q)
        i = robot.parents[i - 1]
    return q
