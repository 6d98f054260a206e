"""Control of the pose of a frame on a robot, with a fixed or a free base."""

from __future__ import annotations

from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.blocks._ports import port_arguments
from spart_blocks.blocks._quantities import need_robot
from spart_blocks.blocks._task import (
    ForceLaw,
    output_ports,
    reference_ports,
    state_ports,
    task_of,
)
from spart_blocks.dynamics import base_answer, frame_motion, joint_jacobian
from spart_blocks.dynamics.components import ALL
from spart_blocks.robot import Robot


class Operational_Space(ForceLaw, FunctionBlock):
    """
    :blockname:`OPERATIONAL_SPACE`

    Operational-space control: a frame is given an acceleration, its own inertia and all
    other forces compensated.

    :inputs: 13
    :outputs: 2
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(3,)
            - ``rd`` [m]: desired position of the frame, inertial
        *   - Input
            - 1
            - ndarray(4,)
            - ``quatd``: desired attitude of the frame, quaternion, scalar last
        *   - Input
            - 2
            - ndarray(6,)
            - ``td`` [rad/s, m/s]: desired twist (optional, zeros)
        *   - Input
            - 3
            - ndarray(6,)
            - ``tdotd`` [rad/s^2, m/s^2]: desired twist rate (optional, zeros)
        *   - Input
            - 4
            - ndarray(6,)
            - ``tau0`` [N m, N]: known torque, base axes, and force on a free base (optional, zeros)
        *   - Input
            - 5
            - ndarray(6,)
            - ``wF0`` [N m, N]: known wrench on the base-link (optional, zeros)
        *   - Input
            - 6
            - ndarray(n, 6)
            - ``wFm`` [N m, N]: known wrenches on the links (optional, zeros)
        *   - Input
            - 7
            - ndarray(3, 3)
            - ``R0``: rotation of the base-link, body to inertial
        *   - Input
            - 8
            - ndarray(3,)
            - ``r0`` [m]: centre of mass of the base-link
        *   - Input
            - 9
            - ndarray(nq,)
            - ``qm`` [rad, m]: joint positions
        *   - Input
            - 10
            - ndarray(6,)
            - ``u0`` [rad/s, m/s]: base rates
        *   - Input
            - 11
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates
        *   - Input
            - 12
            - ndarray(nu,)
            - ``taun`` [N m, N]: for joints that the frame leaves free (optional, zeros)
        *   - Output
            - 0
            - ndarray(nu,)
            - ``tau`` [N m, N]: joint torques and forces
        *   - Output
            - 1
            - ndarray(k,)
            - ``error`` [rad, m]: from the frame to its reference

    tau = J' Lambda (tdotd + kd (td - t) + kp e - Jdot u) + h, Lambda = (J H^-1 J')^-1, so
    that the frame obeys e'' + kd e' + kp e = 0 where the model is exact (an orientation's e
    is 2 sin(angle / 2) along the axis). For a free base, J is the generalized Jacobian, H
    the inertia of the joints with the base free, and h and Jdot u hold what the base does.
    taun (zeros) moves a redundant arm without moving the frame: what acts of it is
    (1 - J' Lambda J H^-1) taun. With damping, Lambda = (J H^-1 J' + damping)^-1: where the
    arm is singular the forces stay bounded, and the frame lags. A reference that no
    component asks for needs no wire.

    Source: O. Khatib, "A unified approach for motion and force control of robot
    manipulators: the operational space formulation", IEEE J. Robotics and Automation 3
    (1987), eqs. 15, 25 and 51; Y. Umetani and K. Yoshida, IEEE Trans. Robotics and
    Automation 5 (1989), for the free base.

    :param robot: the robot model
    :type robot: Robot
    :param frame: name or id of the link whose frame it moves
    :type frame: str or int
    :param kp: proportional gain [1/s^2]
    :type kp: float or array_like(k)
    :param kd: derivative gain [1/s]
    :type kd: float or array_like(k)
    :param components: k of wx wy wz vx vy vz, inertial, which it controls; in this order
    :type components: str or list
    :param damping: added to the task's mobility [1/(kg m^2), 1/kg]
    :type damping: float or array_like(k)
    """

    nin = 13
    nout = 2
    tunable = ("kp", "kd", "damping")

    def __init__(
        self,
        robot: Robot,
        frame: Any,
        kp: Any,
        kd: Any,
        components: Any = ALL,
        damping: Any = 0.0,
        **blockargs: Any,
    ) -> None:
        self.robot = need_robot(robot, "OPERATIONAL_SPACE")
        self.task = task_of(robot, frame, components)
        self.kp, self.kd = self.task.gain(kp, "kp"), self.task.gain(kd, "kd")
        self.damping = self.task.gain(damping, "damping")
        self._ports(robot)
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return self._law(inputs, pull=(self.kp, self.kd), softness=self.damping)


class Impedance(ForceLaw, FunctionBlock):
    """
    :blockname:`IMPEDANCE`

    Impedance control: a frame answers to contact as a spring and a damper with its own
    inertia; no force is measured.

    :inputs: 13
    :outputs: 2
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(3,)
            - ``rd`` [m]: desired position of the frame, inertial
        *   - Input
            - 1
            - ndarray(4,)
            - ``quatd``: desired attitude of the frame, quaternion, scalar last
        *   - Input
            - 2
            - ndarray(6,)
            - ``td`` [rad/s, m/s]: desired twist (optional, zeros)
        *   - Input
            - 3
            - ndarray(6,)
            - ``tdotd`` [rad/s^2, m/s^2]: desired twist rate (optional, zeros)
        *   - Input
            - 4
            - ndarray(6,)
            - ``tau0`` [N m, N]: known torque, base axes, and force on a free base (optional, zeros)
        *   - Input
            - 5
            - ndarray(6,)
            - ``wF0`` [N m, N]: known wrench on the base-link (optional, zeros)
        *   - Input
            - 6
            - ndarray(n, 6)
            - ``wFm`` [N m, N]: known wrenches on the links (optional, zeros)
        *   - Input
            - 7
            - ndarray(3, 3)
            - ``R0``: rotation of the base-link, body to inertial
        *   - Input
            - 8
            - ndarray(3,)
            - ``r0`` [m]: centre of mass of the base-link
        *   - Input
            - 9
            - ndarray(nq,)
            - ``qm`` [rad, m]: joint positions
        *   - Input
            - 10
            - ndarray(6,)
            - ``u0`` [rad/s, m/s]: base rates
        *   - Input
            - 11
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates
        *   - Input
            - 12
            - ndarray(nu,)
            - ``taun`` [N m, N]: for joints that the frame leaves free (optional, zeros)
        *   - Output
            - 0
            - ndarray(nu,)
            - ``tau`` [N m, N]: joint torques and forces
        *   - Output
            - 1
            - ndarray(k,)
            - ``error`` [rad, m]: from the frame to its reference

    tau = J' (Lambda (tdotd - Jdot u) + D (td - t) + K e) + h, Lambda = (J H^-1 J')^-1, so
    that a wrench F on the frame that nobody measures moves it by
    Lambda e'' + D e' + K e = -F: at rest it gives way by F / K. Wrenches wired to wF0 and
    wFm, such as weights, are known and carried; leave those of the contact out. For a free
    base, J, H, h and Jdot u are those of OPERATIONAL_SPACE.

    Source: N. Hogan, "Impedance control: an approach to manipulation", ASME J. Dynamic
    Systems, Measurement, and Control 107 (1985); B. Siciliano et al., "Robotics: Modelling,
    Planning and Control" (2009), sec. 9.2, with the natural inertia.

    :param robot: the robot model
    :type robot: Robot
    :param frame: name or id of the link whose frame it moves
    :type frame: str or int
    :param stiffness: K [N m/rad, N/m]
    :type stiffness: float or array_like(k)
    :param damping: D [N m s/rad, N s/m]
    :type damping: float or array_like(k)
    :param components: k of wx wy wz vx vy vz, inertial, which it controls; in this order
    :type components: str or list
    """

    nin = 13
    nout = 2
    tunable = ("stiffness", "damping")

    def __init__(
        self,
        robot: Robot,
        frame: Any,
        stiffness: Any,
        damping: Any,
        components: Any = ALL,
        **blockargs: Any,
    ) -> None:
        self.robot = need_robot(robot, "IMPEDANCE")
        self.task = task_of(robot, frame, components)
        self.stiffness = self.task.gain(stiffness, "stiffness")
        self.damping = self.task.gain(damping, "damping")
        self._ports(robot)
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return self._law(inputs, spring=(self.stiffness, self.damping))


class Transpose_Jacobian(FunctionBlock):
    """
    :blockname:`TRANSPOSE_JACOBIAN`

    A spring and a damper between a frame and its reference, made by the joints.

    :inputs: 8
    :outputs: 2
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(3,)
            - ``rd`` [m]: desired position of the frame, inertial
        *   - Input
            - 1
            - ndarray(4,)
            - ``quatd``: desired attitude of the frame, quaternion, scalar last
        *   - Input
            - 2
            - ndarray(6,)
            - ``td`` [rad/s, m/s]: desired twist (optional, zeros)
        *   - Input
            - 3
            - ndarray(3, 3)
            - ``R0``: rotation of the base-link, body to inertial
        *   - Input
            - 4
            - ndarray(3,)
            - ``r0`` [m]: centre of mass of the base-link
        *   - Input
            - 5
            - ndarray(nq,)
            - ``qm`` [rad, m]: joint positions
        *   - Input
            - 6
            - ndarray(6,)
            - ``u0`` [rad/s, m/s]: base rates
        *   - Input
            - 7
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates
        *   - Output
            - 0
            - ndarray(nu,)
            - ``tau`` [N m, N]: joint torques and forces
        *   - Output
            - 1
            - ndarray(k,)
            - ``error`` [rad, m]: from the frame to its reference

    tau = J' (K e + D (td - t)): no inertia is needed on a fixed base, and no inverse. For a
    free base J is the generalized Jacobian. A GRAVITY_COMPENSATION carries weights.

    Source: J. Craig, "Introduction to Robotics" (2005), sec. 10.8; Y. Masutani, F. Miyazaki,
    S. Arimoto, "Sensory feedback control for space manipulators", IEEE Int. Conf. Robotics
    and Automation (1989), for the free base.

    :param robot: the robot model
    :type robot: Robot
    :param frame: name or id of the link whose frame it moves
    :type frame: str or int
    :param stiffness: K [N m/rad, N/m]
    :type stiffness: float or array_like(k)
    :param damping: D [N m s/rad, N s/m]
    :type damping: float or array_like(k)
    :param components: k of wx wy wz vx vy vz, inertial, which it controls; in this order
    :type components: str or list
    """

    nin = 8
    nout = 2
    tunable = ("stiffness", "damping")

    def __init__(
        self,
        robot: Robot,
        frame: Any,
        stiffness: Any,
        damping: Any,
        components: Any = ALL,
        **blockargs: Any,
    ) -> None:
        self.robot = need_robot(robot, "TRANSPOSE_JACOBIAN")
        self.task = task_of(robot, frame, components, inverted=False)
        self.stiffness = self.task.gain(stiffness, "stiffness")
        self.damping = self.task.gain(damping, "damping")
        self.in_ports = (*reference_ports(self.task, False), *state_ports(robot))
        self.out_ports = output_ports(robot, self.task)
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        rd, quatd, td, R0, r0, qm, u0, um = inputs
        frame = frame_motion(self.task.link, R0, r0, qm, u0, um, self.robot)
        J = self.task.pick(joint_jacobian(frame.J, base_answer(R0, qm, self.robot).G))
        e = self.task.error(rd, quatd, frame)
        F = self.stiffness * e + self.damping * self.task.pick(td - frame.t)
        return [J.T @ F, e]
