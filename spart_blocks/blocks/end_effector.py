"""The state of a robot as a whole: its end-effector, and all of its kinematics and dynamics."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.blocks._motion import Point
from spart_blocks.blocks._ports import Port, port_arguments
from spart_blocks.blocks._quantities import need_robot, ports
from spart_blocks.dynamics import (
    center_of_mass,
    convective_inertia,
    diff_kinematics,
    generalized_inertia,
    inertias,
    kinematics,
    link_quaternion,
    mass_composite_body,
    velocities,
)
from spart_blocks.robot import Robot
from spart_blocks.spatial import dcm_quat, quaternion_product


class End_Effector(FunctionBlock):
    """
    :blockname:`END_EFFECTOR`

    Pose and twist of an end-effector.

    :inputs: 5
    :outputs: 4
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(3, 3)
            - ``R0``: rotation of the base-link, body to inertial
        *   - Input
            - 1
            - ndarray(3,)
            - ``r0`` [m]: centre of mass of the base-link
        *   - Input
            - 2
            - ndarray(nq,)
            - ``qm`` [rad, m]: joint positions
        *   - Input
            - 3
            - ndarray(6,)
            - ``u0`` [rad/s, m/s]: base rates (optional, zeros)
        *   - Input
            - 4
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates (optional, zeros)
        *   - Output
            - 0
            - ndarray(3,)
            - ``rp`` [m]: position of the point, inertial
        *   - Output
            - 1
            - ndarray(3, 3)
            - ``R``: rotation of the frame, to inertial
        *   - Output
            - 2
            - ndarray(4,)
            - ``q``: the same as a unit quaternion, scalar last
        *   - Output
            - 3
            - ndarray(6,)
            - ``tp`` [rad/s, m/s]: twist of the point, inertial

    The quaternion is that of the base, its scalar part not negative, times those of the
    joints by half their angles: its sign stays as the joints turn, however far, and jumps
    only where the base passes half a turn.

    Source: SPART's manual, Kinematics and Jacob.

    :param robot: the robot model
    :type robot: Robot
    :param frame: the link in whose URDF frame the point is fixed
    :type frame: str
    :param offset: the point in that frame [m], its origin by default
    :type offset: array_like(3), optional
    """

    nin = 5
    nout = 4

    def __init__(
        self, robot: Robot, frame: str | int, offset: Any = None, **blockargs: Any
    ) -> None:
        self.robot = need_robot(robot, "END_EFFECTOR")
        self.point = Point.of(robot, frame, offset)
        self.in_ports = ports(robot, "R0 r0 qm u0? um?")
        pose = (Port("R", (3, 3)), Port("q", (4,)))
        self.out_ports = (*ports(robot, "rp"), *pose, *ports(robot, "tp"))
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, u0, um = inputs
        E = self.point.at(R0, r0, qm)
        base = dcm_quat(R0.T)
        base = np.where(base[3] < 0, -base, base)
        q = quaternion_product(base, link_quaternion(qm, self.point.link, self.robot))
        return [E.rp, E.R, q, E.J0 @ u0 + E.Jm @ um]


class Kinematics_Dynamics(FunctionBlock):
    """
    :blockname:`KINEMATICS_DYNAMICS`

    All of SPART's kinematics and dynamics at once, from the configuration and its rates.

    :inputs: 5
    :outputs: 24
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(3, 3)
            - ``R0``: rotation of the base-link, body to inertial
        *   - Input
            - 1
            - ndarray(3,)
            - ``r0`` [m]: centre of mass of the base-link
        *   - Input
            - 2
            - ndarray(nq,)
            - ``qm`` [rad, m]: joint positions
        *   - Input
            - 3
            - ndarray(6,)
            - ``u0`` [rad/s, m/s]: base rates (optional, zeros)
        *   - Input
            - 4
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates (optional, zeros)
        *   - Output
            - 0
            - ndarray(n, 3, 3)
            - ``RJ``: rotations of the joints
        *   - Output
            - 1
            - ndarray(n, 3, 3)
            - ``RL``: rotations of the links
        *   - Output
            - 2
            - ndarray(n, 3)
            - ``rJ`` [m]: positions of the joints
        *   - Output
            - 3
            - ndarray(n, 3)
            - ``rL`` [m]: centres of mass of the links
        *   - Output
            - 4
            - ndarray(n, 3)
            - ``e``: joint axes
        *   - Output
            - 5
            - ndarray(n, 3)
            - ``g`` [m]: from joint origin to the centre of mass of its link
        *   - Output
            - 6
            - ndarray(n, n, 6, 6)
            - ``Bij``: twist-propagation matrices between links
        *   - Output
            - 7
            - ndarray(n, 6, 6)
            - ``Bi0``: twist-propagation matrices from the base
        *   - Output
            - 8
            - ndarray(6, 6)
            - ``P0``: base twist-propagation matrix
        *   - Output
            - 9
            - ndarray(n, 6)
            - ``pm``: joint twist-propagation vectors
        *   - Output
            - 10
            - ndarray(6,)
            - ``t0`` [rad/s, m/s]: twist of the base-link
        *   - Output
            - 11
            - ndarray(n, 6)
            - ``tL`` [rad/s, m/s]: twists of the links
        *   - Output
            - 12
            - ndarray(3, 3)
            - ``I0`` [kg m^2]: inertia of the base-link, inertial axes
        *   - Output
            - 13
            - ndarray(n, 3, 3)
            - ``Im`` [kg m^2]: inertias of the links, inertial axes
        *   - Output
            - 14
            - ndarray(6, 6)
            - ``M0_tilde`` [kg m^2, kg m, kg]: composite body of the base
        *   - Output
            - 15
            - ndarray(n, 6, 6)
            - ``Mm_tilde`` [kg m^2, kg m, kg]: composite bodies of the links
        *   - Output
            - 16
            - ndarray(6, 6)
            - ``H0`` [kg m^2, kg m, kg]: inertia matrix of the base
        *   - Output
            - 17
            - ndarray(6, nu)
            - ``H0m`` [kg m^2, kg m, kg]: coupling inertia matrix
        *   - Output
            - 18
            - ndarray(nu, nu)
            - ``Hm`` [kg m^2, kg m, kg]: inertia matrix of the joints
        *   - Output
            - 19
            - ndarray(6, 6)
            - ``C0``: convective matrix of the base
        *   - Output
            - 20
            - ndarray(6, nu)
            - ``C0m``: its coupling block, base by joints
        *   - Output
            - 21
            - ndarray(nu, 6)
            - ``Cm0``: its coupling block, joints by base
        *   - Output
            - 22
            - ndarray(nu, nu)
            - ``Cm``: convective matrix of the joints
        *   - Output
            - 23
            - ndarray(3,)
            - ``r_com`` [m]: centre of mass of the system

    The base's attitude is given as a rotation, as plants give it; QUAT_R makes one of a
    quaternion. Where u0 and um are computed from its matrices, leave these inputs open: t0,
    tL and C are then those at rest, and there is no algebraic loop.

    Source: SPART's manual, from Kinematics to CIM.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 5
    nout = 24

    def __init__(self, robot: Robot, **blockargs: Any) -> None:
        self.robot = need_robot(robot, "KINEMATICS_DYNAMICS")
        self.in_ports = ports(robot, "R0 r0 qm u0? um?")
        self.out_ports = ports(
            robot,
            "RJ RL rJ rL e g Bij Bi0 P0 pm t0 tL I0 Im M0_tilde Mm_tilde H0 H0m Hm "
            "C0 C0m Cm0 Cm r_com",
        )
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, u0, um = inputs
        robot = self.robot
        K = kinematics(R0, r0, qm, robot)
        D = diff_kinematics(R0, r0, K.rL, K.e, K.g, robot)
        V = velocities(*D, u0, um, robot)
        I = inertias(R0, K.RL, robot)
        M = mass_composite_body(*I, D.Bij, D.Bi0, robot)
        H = generalized_inertia(*M, *D, robot)
        C = convective_inertia(*V, *I, *M, *D, robot)
        return [*K, *D, *V, *I, *M, *H, *C, center_of_mass(r0, K.rL, robot)]
