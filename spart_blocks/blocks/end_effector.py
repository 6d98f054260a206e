"""End-effector, and the complete kinematics and dynamics of a robot."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.spatial import dcm_quat, quaternion_product
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.motion import OfPoint
from spart_blocks.block_support.parameters import ROBOT
from spart_blocks.block_support.quantities import quantities
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


class End_Effector(OfPoint, FunctionBlock):
    """Pose and twist of an end-effector.

    The quaternion is the product of that of the base, with a non-negative scalar part, and those of
    the joints: its sign is continuous for any rotation of the joints, and jumps only where the base
    passes half a turn.

    Source: SPART's manual, Kinematics and Jacob.
    """

    nin = 5
    nout = 4
    takes = quantities("R0 r0 qm u0? um?")
    gives = (
        *quantities("rp"),
        PortSpec("R", "3, 3", "", "rotation of the frame, to inertial"),
        PortSpec("q", "4", "", "the same as a unit quaternion, scalar last"),
        *quantities("tp"),
    )

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, u0, um = inputs
        E = self.point.at(R0, r0, qm)
        base = dcm_quat(R0.T)
        base = np.where(base[3] < 0, -base, base)
        q = quaternion_product(base, link_quaternion(qm, self.point.link, self.robot))
        return [E.rp, E.R, q, E.J0 @ u0 + E.Jm @ um]


class Kinematics_Dynamics(Declared, FunctionBlock):
    """All of SPART's kinematics and dynamics at once, from the configuration and its rates.

    The base's attitude is a rotation matrix, like that of plants; use QUAT_R for a quaternion. If
    u0 and um are computed from its matrices, leave these inputs unwired: t0, tL and C are then
    those at rest, and there is no algebraic loop.

    Source: SPART's manual, from Kinematics to CIM.
    """

    nin = 5
    nout = 24
    takes = quantities("R0 r0 qm u0? um?")
    gives = quantities(
        "RJ RL rJ rL e g Bij Bi0 P0 pm t0 tL I0 Im M0_tilde Mm_tilde H0 H0m Hm C0 C0m Cm0 Cm r_com"
    )
    robot = ROBOT

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
