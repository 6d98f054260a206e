"""Inverse kinematics as a block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bdsim.components import SampledBlock

from spart_blocks.base.errors import brief
from spart_blocks.base.spatial import Array, eye, filled
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.quantities import need_robot, quantities
from spart_blocks.block_support.values import numbers, positive_number
from spart_blocks.dynamics.components import COMPONENTS, rows_of
from spart_blocks.dynamics.inverse_kinematics import (
    damped_step,
    error_norms,
    frame_id,
    joint_limits,
    pose_error,
)
from spart_blocks.robot import Robot
from spart_blocks.robot.coordinates import checked_configuration

MOST_ITERATIONS = 50
"""Largest number of steps at one tick; each is a separate expression in a program."""


class IK(Declared, SampledBlock):
    """Inverse kinematics: joint positions that bring a link frame to a pose.

    At every tick it takes some damped least-squares steps from its last solution towards the pose,
    within the joints' limits, like `spart_blocks.ik`. One or two steps follow a slowly moving pose
    closely. Start it near the first pose: `spart_blocks.ik` finds q0. Between ticks the outputs are
    held; before the first tick the errors are zero. For a quaternion, put QUAT_R before Rd.

    Source: T. Sugihara, "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt
    method", IEEE Trans. Robotics 27 (2011).

    :param robot: the robot model
    :type robot: Robot
    :param frame: the link whose URDF link frame is moved, by name or id
    :type frame: str or int
    :param q0: joint positions at the start [rad, m], unit quaternions of spherical joints
    :type q0: array_like(nq)
    :param components: components of the error to bring to zero, of wx wy wz vx vy vz (inertial),
        defaults to all of them
    :type components: str or list of str, optional
    :param iterations: steps at each tick, defaults to 3
    :type iterations: int, optional
    :param damping: damping of the least squares, in addition to half the squared error; it slows
        down the joints near a singularity, defaults to 1e-6
    :type damping: float, optional
    :param limits: whether joints keep within their position limits, defaults to true
    :type limits: bool, optional
    """

    nin = 4
    nout = 3
    takes = (
        *quantities("rd", rd="desired position of the frame"),
        PortSpec(
            "Rd",
            "3, 3",
            "",
            "desired rotation of the frame, body to inertial "
            "(optional if no component of the rotation is used)",
        ),
        *quantities("R0 r0"),
    )
    gives = (
        *quantities("qm"),
        PortSpec("position_error", "", "m", "remaining distance at the last tick"),
        PortSpec("rotation_error", "", "rad", "remaining angle at the last tick"),
    )
    tunable = ("damping",)

    def __init__(
        self,
        robot: Robot,
        frame: str | int,
        q0: Any,
        components: str | Sequence[str] = COMPONENTS,
        iterations: int = 3,
        damping: float = 1e-6,
        limits: bool = True,
        **blockargs: Any,
    ) -> None:
        self.robot = need_robot(robot, "IK")
        self.frame = frame_id(robot, frame)
        self.rows = rows_of(components)
        if isinstance(iterations, bool) or iterations not in range(1, MOST_ITERATIONS + 1):
            raise ValueError(
                f"iterations is {brief(iterations)}; it takes 1 to {MOST_ITERATIONS} steps"
            )
        self.iterations, self.damping = int(iterations), positive_number(damping, "damping")
        none = np.full(robot.nq, np.inf)
        self.limits = joint_limits(robot) if limits else (-none, none)
        start = _within(self.limits, numbers(q0, "q0", (robot.nq,)), robot)
        optional = "Rd" if min(self.rows) > 2 else ""
        super().__init__(
            x0=np.concatenate([start, [0.0, 0.0]]),
            **self.resolve_ports(robot, optional=optional),
            **blockargs,
        )

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [x[:-2], x[-2], x[-1]]

    def next(self, t: float, inputs: list[Any], x: Any) -> Array:
        rd, Rd, R0, r0 = inputs
        target = eye(4, rd, Rd)
        target[:3, :3], target[:3, 3] = Rd, rd
        q = x[:-2]
        for _ in range(self.iterations):
            e, J = pose_error(target, self.frame, R0, r0, q, self.robot)
            q = damped_step(e[self.rows], J[self.rows], q, self.limits, self.robot, self.damping)
        e, _ = pose_error(target, self.frame, R0, r0, q, self.robot)
        return np.concatenate([q, filled(list(error_norms(e, self.rows)), e)])


def _within(limits: tuple[Array, Array], q0: Array, robot: Robot) -> Array:
    """Joint positions (nq,), or a ValueError that names the first beyond its limits."""
    for name, q, lower, upper in zip(robot.position_names, q0, *limits, strict=True):
        if not lower <= q <= upper:
            raise ValueError(f"q0 of joint {name} is {q:g}; its limits are {lower:g} and {upper:g}")
    start: Array = checked_configuration(q0, robot.layout, "q0")
    return start
