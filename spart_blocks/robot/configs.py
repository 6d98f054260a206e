"""Configuration variables: the coordinates of a robot's joints, dynamic and kinematic.

Source: E. R. Johnson and T. D. Murphey, "Scalable variational integrators for constrained
mechanical systems in generalized coordinates", IEEE Transactions on Robotics 25 (2009), for the two
kinds; trep's documentation for the attributes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spart_blocks.base.errors import Fault, RobotError, did_you_mean
from spart_blocks.robot._faults import quote
from spart_blocks.robot._record import FrozenArrays
from spart_blocks.robot.robot_model import RobotModel


@dataclass(frozen=True, eq=False)
class Config(FrozenArrays):
    """The variable of one joint; its name is the joint's. That of a spherical joint has four
    entries in qm, a quaternion, and three in um.

    kinematic: whether its acceleration is prescribed; the dynamics moves the others.
    index: its place in robot.configs. k_index: its place in robot.kin_configs, None for a
    dynamic one. frame: the link that it moves. masses: the links with mass or inertia that
    depend on it, directly or through other joints.
    The pose of a floating base is a state of the plant and not a configuration variable.
    """

    name: str
    kinematic: bool
    index: int
    k_index: int | None
    frame: str
    masses: tuple[str, ...]


def configs_of(robot: RobotModel) -> tuple[Config, ...]:
    """The configuration variables of a robot; see Robot.configs."""
    names = robot.active_joints
    if len(set(names)) < len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise RobotError(f"{robot.name}: joint name {quote(double)} is used twice")
    entries = sorted(robot.layout, key=lambda e: robot.joints[e.joint_id - 1].kinematic)
    free = sum(not robot.joints[entry.joint_id - 1].kinematic for entry in entries)
    mass, inertia = robot.matter
    heavy = [link for link in robot.links if mass[link.id] or inertia[link.id].any()]
    branch = robot.con.branch
    return tuple(
        Config(
            name=entry.name,
            kinematic=index >= free,
            index=index,
            k_index=index - free if index >= free else None,
            frame=robot.links[entry.joint_id - 1].name,
            masses=tuple(link.name for link in heavy if branch[link.id - 1, entry.joint_id - 1]),
        )
        for index, entry in enumerate(entries)
    )


def config_named(name: str, configs: Iterable[Config], robot: str) -> Config:
    """The configuration variable of this name; see Robot.config. robot: its name."""
    found = {config.name: config for config in configs}
    if name not in found:
        hint = did_you_mean(str(name), found)
        raise RobotError(Fault(f"no configuration variable {quote(name)} on {robot}", None, hint))
    return found[name]
