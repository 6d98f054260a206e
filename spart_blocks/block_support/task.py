"""Common parts of controllers of a frame's motion: the controlled components, the ports, and the
error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spart_blocks.base.spatial import (
    Array,
    eye,
    normalised,
    quaternion_rotation,
    rotation_error,
    solve_spd,
)
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import ROBOT, fixed
from spart_blocks.block_support.quantities import KNOWN, link_id, quantities
from spart_blocks.dynamics import FrameMotion, frame_motion, joint_equations, joint_jacobian
from spart_blocks.dynamics.components import ALL, rows_of
from spart_blocks.robot import Robot


@dataclass(frozen=True)
class Task:
    """The components of a link frame's motion that are controlled: rows of a twist, in its
    order. link: its id."""

    link: int
    rows: tuple[int, ...]

    @property
    def turns(self) -> bool:
        """Whether it controls a component of the orientation."""
        return min(self.rows) < 3

    @property
    def moves(self) -> bool:
        """Whether it controls a component of the position."""
        return max(self.rows) >= 3

    def pick(self, six: Array) -> Array:
        """The controlled components out of six."""
        picked: Array = six[list(self.rows)]
        return picked

    def error(self, rd: Array, quatd: Array, frame: FrameMotion) -> Array:
        """From the frame to its reference: rotation [rad] and translation [m], inertial."""
        turn = np.zeros(3)
        if self.turns:  # otherwise quatd need not be wired, and is not a rotation
            turn = rotation_error(frame.R, quaternion_rotation(normalised(quatd)))
        return self.pick(np.concatenate([turn, rd - frame.r]))


def task_of(robot: Robot, frame: Any, components: Any, inverted: bool = True) -> Task:
    """The task of a controller. frame: name or id of a link; components: names among wx wy wz vx vy
    vz, as one text or a list. Raises ValueError if they are invalid, or if the law divides by the
    inertia of the frame and there are more components than joints that move it."""
    try:
        link = link_id(robot, frame)
    except ValueError as error:
        raise ValueError(f"frame: {error}") from None
    held = ", ".join(e.name for e in robot.layout if robot.joints[e.joint_id - 1].kinematic)
    if held:
        raise ValueError(f"robot must drive all its joints for this law; prescribed are {held}")
    rows = tuple(rows_of(components))
    joints = _moving(robot, link)
    if len(rows) > joints and inverted:
        raise ValueError(
            f"components are {len(rows)}, but the joints that move {frame!r} are {joints}"
        )
    return Task(link, rows)


def _moving(robot: Robot, link: int) -> int:
    """The number of joints that move a link: all of them if the base is free."""
    if robot.base == "floating":
        return robot.nu
    count = 0
    while link:
        count += robot.u_index[link - 1] is not None
        link = robot.parents[link - 1]
    return count


class OfTask(Declared):
    """A controller of a task: its outputs, and its optional inputs."""

    gives = (
        *quantities("tau"),
        PortSpec("error", "k", "rad, m", "from the frame to its reference"),
    )
    inverts: ClassVar[bool] = True
    task: Task
    robot = ROBOT
    frame = fixed("str or int", text="name or id of the link whose frame is controlled")
    components = fixed(
        *("str or list", "", ALL),
        text="the k controlled components of wx wy wz vx vy vz, inertial, in this order",
    )

    def build(self, frame: Any, components: Any) -> dict[str, Any]:
        self.task = task_of(self.robot, frame, components, self.inverts)
        needed = {
            "rd": self.task.moves,
            "quatd": self.task.turns,
            "u0": self.robot.base == "floating",
        }
        optional = " ".join(name for name, is_needed in needed.items() if not is_needed)
        return self.resolve_ports(self.robot, optional=optional, k=len(self.task.rows))


class ForceLaw(OfTask):
    """A controller with the full dynamics: tau = J' F + h, plus the null-space part of a user's
    torque.
    """

    takes = (
        *quantities("rd quatd td? tdotd? tau0? wF0? wFm? R0 r0 qm u0 um", **KNOWN),
        PortSpec(
            "taun",
            "nu",
            "N m, N",
            "null-space torque: does not move the frame",
            optional=True,
        ),
    )

    def _law(
        self,
        inputs: list[Any],
        pull: tuple[Any, Any] = (0.0, 0.0),
        spring: tuple[Any, Any] = (0.0, 0.0),
        softness: Any = 0.0,
    ) -> list[Any]:
        """tau and the error. pull: gains (position, rate) from errors to accelerations; spring:
        gains from errors to forces; softness: added to the task's mobility.
        """
        rd, quatd, td, tdotd, tau0, wF0, wFm, R0, r0, qm, u0, um, taun = inputs
        frame = frame_motion(self.task.link, R0, r0, qm, u0, um, self.robot)
        H, h, G, g = joint_equations(R0, u0, qm, um, tau0, wF0, wFm, self.robot)
        pick = self.task.pick
        J = pick(joint_jacobian(frame.J, G))
        e, edot = self.task.error(rd, quatd, frame), pick(td - frame.t)
        wanted = pick(tdotd - frame.drift - frame.J.J0 @ g) + pull[0] * e + pull[1] * edot
        X = solve_spd(H, J.T, "the inertia of the joints")
        mobility = J @ X + softness * eye(len(self.task.rows))
        F = solve_spd(mobility, wanted - X.T @ taun, "the inertia of the task")
        F = F + spring[0] * e + spring[1] * edot
        return [J.T @ F + taun + h, e]
