"""Joint controllers."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.gains import gain, one_length
from spart_blocks.block_support.quantities import KNOWN, need_robot, quantities
from spart_blocks.dynamics import (
    accelerations,
    diff_kinematics,
    floating_inverse_dynamics,
    generalized_inertia,
    inertias,
    inverse_dynamics,
    kinematics,
    mass_composite_body,
    stop_forces,
    velocities,
)
from spart_blocks.robot import Robot


class Joint_PD(Declared, FunctionBlock):
    """Proportional-derivative control of joint positions.

    tau = kp (qd - qm) + kd (ud - um). A scalar gain applies to every joint. A robot is needed if
    joints are spherical: then qd - qm contains the rotation from their quaternion in qm to that in
    qd, as a rotation vector in the axes of um.

    :param kp: proportional gain [N m/rad, N/m]
    :type kp: float or array_like(nu)
    :param kd: derivative gain [N m s/rad, N s/m]
    :type kd: float or array_like(nu)
    :param robot: the robot of the joints
    :type robot: Robot, optional
    """

    nin = 4
    nout = 1
    takes = quantities("qd ud? qm um")
    gives = quantities("tau")
    tunable = ("kp", "kd")

    def __init__(self, kp: Any, kd: Any, robot: Robot | None = None, **blockargs: Any) -> None:
        self.robot = None if robot is None else need_robot(robot, "JOINT_PD")
        joints = None if robot is None else robot.nu
        self.kp, self.kd = gain(kp, "kp", joints), gain(kd, "kd", joints)
        length = one_length({"kp": self.kp, "kd": self.kd}, without=joints)
        given = self.resolve_ports(nu=length, nq=length if robot is None else robot.nq)
        super().__init__(**given, **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        qd, ud, qm, um = inputs
        error = qd - qm if self.robot is None else self.robot.difference(qm, qd)
        return [self.kp * error + self.kd * (ud - um)]


class Computed_Torque(Declared, FunctionBlock):
    """Computed-torque control: inverse dynamics of a corrected joint acceleration.

    The joints get the acceleration ad + kd (ud - um) + kp (qd - qm), through ID for a fixed base
    and Floating_ID for a free one, so that the error obeys e'' + kd e' + kp e = 0 for an exact
    model. For a spherical joint qd - qm is the rotation from the quaternion in qm to that in qd, in
    the axes of um; it obeys this law if it is small or about one axis. Motors and friction of the
    robot are included. Coulomb friction is compensated by the sign of um, so it is not compensated
    for a joint at rest, which sticks until the rest of tau breaks it away. Stops are not
    compensated: they hold the joint against the controller.

    Source: B. Siciliano et al., "Robotics: Modelling, Planning and Control" (2009),
    sec. 8.5.2; SPART's manual for ID and Floating_ID.

    :param robot: the robot model
    :type robot: Robot
    :param kp: proportional gain [1/s^2]
    :type kp: float or array_like(nu)
    :param kd: derivative gain [1/s]
    :type kd: float or array_like(nu)
    """

    nin = 10
    nout = 1
    takes = quantities(
        "qd ud? ad? wF0? wFm? R0 r0 qm u0 um",
        **KNOWN,
    )
    gives = quantities("tau")
    tunable = ("kp", "kd")

    def __init__(self, robot: Robot, kp: Any, kd: Any, **blockargs: Any) -> None:
        self.robot = need_robot(robot, "COMPUTED_TORQUE")
        self.kp, self.kd = gain(kp, "kp", robot.nu), gain(kd, "kd", robot.nu)
        optional = "" if robot.base == "floating" else "u0"
        super().__init__(**self.resolve_ports(robot, optional=optional), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        qd, ud, ad, wF0, wFm, R0, r0, qm, u0, um = inputs
        robot = self.robot
        umdot = ad + self.kd * (ud - um) + self.kp * robot.difference(qm, qd)
        K = kinematics(R0, r0, qm, robot)
        D = diff_kinematics(R0, r0, K.rL, K.e, K.g, robot)
        V = velocities(*D, u0, um, robot)
        I = inertias(R0, K.RL, robot)
        if robot.base == "floating":
            bodies = mass_composite_body(*I, D.Bij, D.Bi0, robot)
            H0 = generalized_inertia(*bodies, *D, robot).H0
            answer = floating_inverse_dynamics(
                wF0, wFm, bodies.Mm_tilde, H0, *V, D.P0, D.pm, *I, D.Bij, D.Bi0, u0, um, umdot,
                robot, qm,
            )  # fmt: skip
            return [answer.taum + stop_forces(qm, um, robot)]
        A = accelerations(*V, D.P0, D.pm, D.Bi0, D.Bij, u0, um, np.zeros(6), umdot, robot)
        forces = inverse_dynamics(wF0, wFm, *V, *A, D.P0, D.pm, *I, D.Bij, D.Bi0, robot, qm)
        return [forces.taum + stop_forces(qm, um, robot)]
