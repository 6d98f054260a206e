"""Inverse kinematics as a block."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import SampledBlock

from spart_blocks.base.spatial import Array, eye, filled
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import CLOCK, ROBOT, fixed, tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.block_support.values import numbers
from spart_blocks.dynamics.inverse_kinematics import (
    damped_step,
    error_norms,
    frame_id,
    joint_limits,
    pose_error,
)
from spart_blocks.dynamics.screws import COMPONENTS, rows_of
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

    :arg frame: the link whose URDF link frame is moved, by name or id
    :arg q0: joint positions at the start, unit quaternions of spherical joints
    :arg components: components of the error to bring to zero, of wx wy wz vx vy vz (inertial),
        defaults to all of them
    :arg iterations: steps at each tick, defaults to 3
    :arg damping: damping of the least squares, in addition to half the squared error; it slows down
        the joints near a singularity, defaults to 1e-6
    :arg limits: whether joints keep within their position limits, defaults to true
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
    robot = ROBOT
    frame = fixed("str or int")
    q0 = fixed("nq", "rad, m")
    components = fixed("str or list of str", "", COMPONENTS)
    iterations = fixed("int", "", 3, least=1, most=MOST_ITERATIONS)
    damping = tunable("float", "", 1e-6, above=0)
    limits = fixed("bool", "", True)
    clock = CLOCK

    def build(self, frame: Any, q0: Any, components: Any, limits: Any) -> dict[str, Any]:
        self.frame = frame_id(self.robot, frame)
        self.rows = rows_of(components)
        none = np.full(self.robot.nq, np.inf)
        self.limits = joint_limits(self.robot) if limits else (-none, none)
        start = _within(self.limits, numbers(q0, "q0", (self.robot.nq,)), self.robot)
        optional = "Rd" if min(self.rows) > 2 else ""
        return {
            "x0": np.concatenate([start, [0.0, 0.0]]),
            **self.resolve_ports(self.robot, optional=optional),
        }

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
