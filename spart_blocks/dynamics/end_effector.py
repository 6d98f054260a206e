"""The end-effector: a point fixed to the URDF frame of a link, its pose and Jacobian."""

from __future__ import annotations

from typing import Any, NamedTuple

from spart_blocks.base.spatial import (
    Array,
    array,
    conjugate,
    cos,
    dcm_quat,
    filled,
    quaternion_product,
    sin,
)
from spart_blocks.dynamics.jacobians import jacobian
from spart_blocks.dynamics.kinematics import diff_kinematics, frame_of_link, kinematics
from spart_blocks.robot import JointType, Robot


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
