"""Adds loops to a robot's tree of joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from spart_blocks.robot._bodies_joints import Distance
from spart_blocks.robot._record import Floats
from spart_blocks.robot.loop import Loop
from spart_blocks.robot.parts import Joint, JointType, Link
from spart_blocks.robot.robot_model import RobotModel

_Z = np.array([0.0, 0.0, 1.0])


def closed_robot(
    robot: RobotModel,
    loops: Sequence[Loop],
    distances: Sequence[Distance],
    prescribed: Sequence[str],
    home: Mapping[str, Floats],
) -> RobotModel:
    """The robot with these loops, the joints of those distances that are prescribed, these
    prescribed joints beside its own, and its home with these positions by coordinate."""
    lengths = [distance.loop.name for distance in distances if distance.q is not None]
    q = robot.neutral if robot.home is None else robot.home
    already = robot.kinematic_joints
    robot = replace(_with_lengths(robot, lengths), loops=(*robot.loops, *loops))
    robot = robot.with_kinematic(dict.fromkeys([*already, *prescribed, *lengths]))
    full = np.concatenate([q, np.zeros(len(lengths))])
    for entry in robot.layout:
        if entry.name in home:
            full[entry.q] = home[entry.name]
    return replace(robot, home=full)


def _with_lengths(robot: RobotModel, names: Sequence[str]) -> RobotModel:
    """The robot with the joints of prescribed lengths, on which no link depends."""
    links, joints = list(robot.links), list(robot.joints)
    for q_id, name in enumerate(names, start=robot.n_q + 1):
        i = len(links) + 1
        joints.append(Joint(i, name, JointType.PRISMATIC, q_id, 0, i, _Z, np.eye(4)))
        links.append(Link(i, name, i, np.eye(4), 0.0, np.zeros((3, 3))))
    return replace(robot, links=tuple(links), joints=tuple(joints))
