"""What controllers of a frame's motion share: which of its six components they control,
their ports, and the error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.blocks._gains import gain
from spart_blocks.blocks._ports import Port
from spart_blocks.blocks._quantities import link_id, ports
from spart_blocks.dynamics import FrameMotion, frame_motion, joint_equations, joint_jacobian
from spart_blocks.dynamics.components import rows_of
from spart_blocks.robot import Robot
from spart_blocks.spatial import (
    Array,
    eye,
    normalised,
    quaternion_rotation,
    rotation_error,
    solve_spd,
)


@dataclass(frozen=True)
class Task:
    """The components of a link frame's motion that are controlled: rows of a twist, in its
    order. link: its id."""

    link: int
    rows: tuple[int, ...]

    @property
    def turns(self) -> bool:
        """Whether it asks for an orientation, or a part of one."""
        return min(self.rows) < 3

    @property
    def moves(self) -> bool:
        """Whether it asks for a position, or a part of one."""
        return max(self.rows) >= 3

    def gain(self, value: Any, name: str) -> Array:
        """A gain, one number or one for each component."""
        return gain(value, name, len(self.rows), of="{} components are controlled")

    def pick(self, six: Array) -> Array:
        """The controlled ones of six components."""
        picked: Array = six[list(self.rows)]
        return picked

    def error(self, rd: Array, quatd: Array, frame: FrameMotion) -> Array:
        """From the frame to its reference: the turn [rad] and the way [m], inertial."""
        turn = np.zeros(3)
        if self.turns:  # else quatd need not be wired, and is no rotation
            turn = rotation_error(frame.R, quaternion_rotation(normalised(quatd)))
        return self.pick(np.concatenate([turn, rd - frame.r]))


def task_of(robot: Robot, frame: Any, components: Any, inverted: bool = True) -> Task:
    """The task of a controller. frame: name or id of a link; components: names among wx wy
    wz vx vy vz, as one text or a list. Raises ValueError where they cannot be, or where
    there are more of them than joints that move the frame and the law divides by its inertia."""
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
    """How many joints move a link: all of them where the base is free."""
    if robot.base == "floating":
        return robot.nu
    count = 0
    while link:
        count += robot.u_index[link - 1] is not None
        link = robot.parents[link - 1]
    return count


def reference_ports(task: Task, acceleration: bool) -> tuple[Port, ...]:
    """Pose, twist and perhaps twist rate that are wanted; a pose that no component asks
    for need not be wired."""
    pose = (
        Port("rd", (3,), "m", optional=not task.moves),
        Port("quatd", (4,), optional=not task.turns),
        Port("td", (6,), "rad/s, m/s", optional=True),
    )
    return pose + ((Port("tdotd", (6,), "rad/s^2, m/s^2", optional=True),) if acceleration else ())


def state_ports(robot: Robot) -> tuple[Port, ...]:
    """The robot's own motion; a fixed base has no rates."""
    u0 = "u0" if robot.base == "floating" else "u0?"
    return ports(robot, f"R0 r0 qm {u0} um")


def output_ports(robot: Robot, task: Task) -> tuple[Port, ...]:
    return (
        Port("tau", (robot.nu,), "N m, N"),
        Port("error", (len(task.rows),), "rad, m"),
    )


class ForceLaw:
    """A controller with the whole dynamics in it: tau = J' F + h, and what does not move
    the frame of a torque of the user's."""

    robot: Robot
    task: Task

    def _ports(self, robot: Robot) -> None:
        rest = (Port("taun", (robot.nu,), "N m, N", optional=True),)
        loads = ports(robot, "tau0? wF0? wFm?")
        self.in_ports = (*reference_ports(self.task, True), *loads, *state_ports(robot), *rest)
        self.out_ports = output_ports(robot, self.task)

    def _law(
        self,
        inputs: list[Any],
        pull: tuple[Any, Any] = (0.0, 0.0),
        spring: tuple[Any, Any] = (0.0, 0.0),
        softness: Any = 0.0,
    ) -> list[Any]:
        """tau and the error. pull: gains (position, rate) that make accelerations of the
        errors, spring: those that make forces; softness: added to the task's mobility."""
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
