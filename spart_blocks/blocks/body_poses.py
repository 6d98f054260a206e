"""Poses of the bodies of a robot."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import ROBOT, fixed
from spart_blocks.block_support.quantities import link_id, quantities
from spart_blocks.dynamics import frame_of_link, kinematics
from spart_blocks.robot import Robot


class Body_Poses(Declared, FunctionBlock):
    """Positions and rotations of the bodies of a robot.

    The frame of a body is that of its file: the URDF link frame, or the body frame in a list of
    bodies. Row j belongs to the j-th name in bodies. A program computes only the branches with
    these bodies.

    Source: SPART's manual, Kinematics.

    :arg bodies: names of links, by default all that have mass, in their order, the base-link first
        if it floats
    """

    nin = 3
    nout = 2
    takes = quantities(
        "R0 r0 qm",
        R0="rotation of the base-link, body to inertial (optional for a fixed base, identity)",
        r0="centre of mass of the base-link (optional for a fixed base, zeros)",
    )
    gives = (
        PortSpec("r", "k, 3", "m", "origins of the body frames, inertial"),
        PortSpec("R", "k, 3, 3", "", "rotations of the body frames, to inertial"),
    )
    robot = ROBOT
    bodies = fixed("str or list of str", "", None)

    def build(self, bodies: Any) -> dict[str, Any]:
        self.links = _links(self.robot, bodies)
        optional = "R0 r0" if self.robot.base == "fixed" else ""
        return self.resolve_ports(self.robot, optional=optional, k=len(self.links))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm = inputs
        if self.robot.base == "fixed":  # without a wire R0 is zeros
            R0 = np.where(np.sum(R0 * R0) > 0.5, R0, np.eye(3))
        K = kinematics(R0, r0, qm, self.robot)
        frames = [frame_of_link(i, R0, r0, K.RL, K.rL, self.robot) for i in self.links]
        return [np.stack([T[:3, 3] for T in frames]), np.stack([T[:3, :3] for T in frames])]


def _links(robot: Robot, bodies: Any) -> tuple[int, ...]:
    """The ids of the links of these names. ValueError for unknown or repeated names."""
    if bodies is None:
        base = [0] if robot.base == "floating" and robot.base_link.mass else []
        found = base + [link.id for link in robot.links if link.mass]
        if not found:
            raise ValueError(f"no link of {robot.name} has mass: name some in bodies")
        return tuple(found)
    names = [bodies] if isinstance(bodies, (str, int)) else list(bodies)
    try:
        chosen = tuple(link_id(robot, name) for name in names)
    except ValueError as error:
        raise ValueError(f"bodies: {error}") from None
    if not chosen:
        raise ValueError("bodies is an empty list: name a link, or leave it out for all")
    for name, link in zip(names, chosen, strict=True):
        if chosen.count(link) > 1:
            raise ValueError(f"bodies names {name!r} twice")
    return chosen
