"""Joint controllers."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.parameters import ROBOT, fixed, tunable
from spart_blocks.block_support.quantities import KNOWN, quantities
from spart_blocks.block_support.values import common_shape
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


class Joint_PD(Declared, FunctionBlock):
    """Proportional-derivative control of joint positions.

    tau = kp (qd - qm) + kd (ud - um). A scalar gain applies to every joint. A robot is needed if
    joints are spherical: then qd - qm contains the rotation from their quaternion in qm to that in
    qd, as a rotation vector in the axes of um.

    :arg kp: proportional gain
    :arg kd: derivative gain
    :arg robot: the robot of the joints
    """

    nin = 4
    nout = 1
    takes = quantities("qd ud? qm um")
    gives = quantities("tau")
    kp = tunable("float or nu", "N m/rad, N/m", least=0)
    kd = tunable("float or nu", "N m s/rad, N s/m", least=0)
    robot = fixed("Robot", "", None)

    def build(self) -> dict[str, Any]:
        if self.robot is not None:
            return self.resolve_ports(self.robot)
        shape = common_shape(kp=self.kp, kd=self.kd) or None
        return self.resolve_ports(nu=shape, nq=shape)

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

    :arg kp: proportional gain
    :arg kd: derivative gain
    """

    nin = 10
    nout = 1
    takes = quantities(
        "qd ud? ad? wF0? wFm? R0 r0 qm u0 um",
        **KNOWN,
    )
    gives = quantities("tau")
    robot = ROBOT
    kp = tunable("float or nu", "1/s^2", least=0)
    kd = tunable("float or nu", "1/s", least=0)

    def build(self) -> dict[str, Any]:
        optional = "" if self.robot.base == "floating" else "u0"
        return self.resolve_ports(self.robot, optional=optional)

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
