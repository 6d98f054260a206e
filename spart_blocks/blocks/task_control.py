"""Control of the pose of a frame on a robot, with a fixed or a free base, and of the base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.spatial import (
    Array,
    eye,
    normalised,
    quaternion_rotation,
    rotation_error,
    solve_spd,
)
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.motion import need_floating
from spart_blocks.block_support.parameters import ROBOT, fixed, tunable
from spart_blocks.block_support.quantities import KNOWN, link_id, ports, quantities
from spart_blocks.dynamics import (
    FrameMotion,
    base_answer,
    base_control_free_joints,
    frame_motion,
    joint_equations,
    joint_jacobian,
    multibody_forces,
)
from spart_blocks.dynamics.screws import ALL, rows_of
from spart_blocks.robot import Robot


@dataclass(frozen=True)
class _Task:
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


def task_of(robot: Robot, frame: Any, components: Any, inverted: bool = True) -> _Task:
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
    return _Task(link, rows)


def _moving(robot: Robot, link: int) -> int:
    """The number of joints that move a link: all of them if the base is free."""
    if robot.base == "floating":
        return robot.nu
    count = 0
    while link:
        count += robot.u_index[link - 1] is not None
        link = robot.parents[link - 1]
    return count


class _OfTask(Declared):
    """A controller of a task: its outputs, and its optional inputs."""

    nout = 2

    gives = (
        *quantities("tau"),
        PortSpec("error", "k", "rad, m", "from the frame to its reference"),
    )
    inverts: ClassVar[bool] = True
    task: _Task
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


class _ForceLaw(_OfTask):
    """A controller with the full dynamics: tau = J' F + h, plus the null-space part of a user's
    torque.
    """

    nin = 13

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


class Operational_Space(_ForceLaw, FunctionBlock):
    """Operational-space control: commands the acceleration of a frame, with its inertia and all
    other forces compensated.

    tau = J' Lambda (tdotd + kd (td - t) + kp e - Jdot u) + h, Lambda = (J H^-1 J')^-1, so that for
    an exact model the frame obeys e'' + kd e' + kp e = 0 (for an orientation, e is 2 sin(angle / 2)
    along the axis). For a free base, J is the generalized Jacobian, H the inertia of the joints
    with the base free, and h and Jdot u include the motion of the base. taun (zeros) moves a
    redundant arm without moving the frame: it acts as (1 - J' Lambda J H^-1) taun. With damping,
    Lambda = (J H^-1 J' + damping)^-1: at singular configurations the forces stay bounded, and the
    frame lags. A reference that no component uses needs no wire.

    Source: O. Khatib, "A unified approach for motion and force control of robot
    manipulators: the operational space formulation", IEEE J. Robotics and Automation 3
    (1987), eqs. 15, 25 and 51; Y. Umetani and K. Yoshida, IEEE Trans. Robotics and
    Automation 5 (1989), for the free base.

    :arg kp: proportional gain
    :arg kd: derivative gain
    :arg damping: added to the task's mobility
    """

    kp = tunable("float or k", "1/s^2", least=0)
    kd = tunable("float or k", "1/s", least=0)
    damping = tunable("float or k", "1/(kg m^2), 1/kg", 0.0, least=0)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return self._law(inputs, pull=(self.kp, self.kd), softness=self.damping)


class Impedance(_ForceLaw, FunctionBlock):
    """Impedance control: a frame responds to contact like a spring and a damper with its natural
    inertia; no force is measured.

    tau = J' (Lambda (tdotd - Jdot u) + D (td - t) + K e) + h, Lambda = (J H^-1 J')^-1, so that an
    unmeasured wrench F on the frame gives Lambda e'' + D e' + K e = -F: at rest the deflection is F
    / K. Wrenches wired to wF0 and wFm, such as weights, are compensated; do not wire contact
    wrenches. For a free base, J, H, h and Jdot u are those of OPERATIONAL_SPACE.

    Source: N. Hogan, "Impedance control: an approach to manipulation", ASME J. Dynamic
    Systems, Measurement, and Control 107 (1985); B. Siciliano et al., "Robotics: Modelling,
    Planning and Control" (2009), sec. 9.2, with the natural inertia.

    :arg stiffness: K
    :arg damping: D
    """

    stiffness = tunable("float or k", "N m/rad, N/m", least=0)
    damping = tunable("float or k", "N m s/rad, N s/m", least=0)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return self._law(inputs, spring=(self.stiffness, self.damping))


class Transpose_Jacobian(_OfTask, FunctionBlock):
    """A virtual spring and damper between a frame and its reference.

    tau = J' (K e + D (td - t)): a fixed base needs no inertia and no inverse. For a free base J is
    the generalized Jacobian. Use GRAVITY_COMPENSATION for weights.

    Source: J. Craig, "Introduction to Robotics" (2005), sec. 10.8; Y. Masutani, F. Miyazaki,
    S. Arimoto, "Sensory feedback control for space manipulators", IEEE Int. Conf. Robotics
    and Automation (1989), for the free base.

    :arg stiffness: K
    :arg damping: D
    """

    nin = 8
    inverts = False
    takes = quantities("rd quatd td? R0 r0 qm u0 um")
    stiffness = tunable("float or k", "N m/rad, N/m", least=0)
    damping = tunable("float or k", "N m s/rad, N s/m", least=0)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        rd, quatd, td, R0, r0, qm, u0, um = inputs
        frame = frame_motion(self.task.link, R0, r0, qm, u0, um, self.robot)
        J = self.task.pick(joint_jacobian(frame.J, base_answer(R0, qm, self.robot).G))
        e = self.task.error(rd, quatd, frame)
        F = self.stiffness * e + self.damping * self.task.pick(td - frame.t)
        return [J.T @ F, e]


class Base_Control(Declared, FunctionBlock):
    """Base torques and forces for a desired motion of a floating base.

    The base gets the acceleration a = u0dotd + kd (u0d - u0) + kp e. The error e consists of the
    attitude error, the axis times the sine of the angle from R0 to R0d in base axes, and r0d - r0.
    H and c are from the equations of motion, and w is the effect of the known wrenches.

    Free joints, under the torques taum: tau0 = H0 a + H0m umdot + c0 - w0 with
    umdot = Hm^-1 (taum + wm - cm - H0m' a).

    Prescribed joints: the same with umdot as an input (zeros without a wire) instead of taum. A
    second output, taum = H0m' a + Hm umdot + cm - wm, gives the torques that the joints need.

    For an exact model the error obeys e'' + kd e' + kp e = 0: in position for any error, in
    attitude for small errors about one axis.

    Source: SPART's manual for ID; B. Siciliano et al., "Robotics" (2009), sec. 8.5.2, for
    the feedback; sec. 3.7.3 for the attitude error.

    :arg robot: the robot model, with a floating base
    :arg kp: gain on the error of the pose; six: attitude, then position
    :arg kd: gain on the error of the rates
    :arg joints: "free" (default) or "prescribed"
    """

    nin = 12
    nout = 1
    takes = (
        PortSpec("R0d", "3, 3", "", "desired rotation of the base-link, body to inertial"),
        PortSpec("r0d", "3", "m", "desired centre of mass of the base-link"),
        *quantities("u0d?"),
        PortSpec("u0dotd", "6", "rad/s^2, m/s^2", "desired base accelerations", optional=True),
        *quantities(
            "wF0? wFm? R0 r0 qm u0 um taum",
            **KNOWN,
        ),
    )
    gives = quantities("tau0")
    robot = fixed("Robot", check=need_floating)
    kp = tunable("float or 6", "1/s^2", least=0)
    kd = tunable("float or 6", "1/s", least=0)
    joints = fixed("str", "", "free", choices=("free", "prescribed"))

    def build(self) -> dict[str, Any]:
        if self.joints == "free" and self.robot.kinematic:
            raise ValueError(
                f"joints are free, but {self.robot.name} has kinematic ones: say prescribed"
            )
        if self.joints == "free":
            return self.resolve_ports(self.robot)
        more = ports(self.robot, "umdot?"), ports(self.robot, "taum")
        return self.resolve_ports(self.robot, without="taum", more=more)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0d, r0d, u0d, u0dotd, wF0, wFm, R0, r0, qm, u0, um, driven = inputs
        error = np.concatenate([_attitude_error(R0, R0d), r0d - r0])
        a = u0dotd + self.kd * (u0d - u0) + self.kp * error
        known = (R0, u0, qm, um, a, driven, wF0, wFm, self.robot)
        if self.joints == "free":
            return [base_control_free_joints(*known)]
        return list(multibody_forces(*known))


def _attitude_error(R: Array, Rd: Array) -> Array:
    """(3,): the axis times the sine of the angle of the rotation from R to Rd, in R's axes."""
    turn = R.T @ Rd
    skew = 0.5 * (turn - turn.T)
    return np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
