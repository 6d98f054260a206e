"""SPART's kinematics and Jacobians as blocks, the motion of an end-effector, and loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import dcm_quat, quaternion_product
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.motion import OfPoint
from spart_blocks.block_support.parameters import ROBOT, fixed, need_robot
from spart_blocks.block_support.ports import Port
from spart_blocks.block_support.quantities import OfRobot, link_id, quantities
from spart_blocks.dynamics import (
    accelerations,
    center_of_mass,
    convective_inertia,
    diff_kinematics,
    generalized_inertia,
    inertias,
    jacobian,
    jacobian_dot,
    kinematics,
    link_quaternion,
    mass_composite_body,
    noc,
    noc_dot,
    velocities,
)
from spart_blocks.dynamics.loops import (
    kept_rows,
    loop_bias,
    loop_errors,
    loop_jacobian,
    loop_jacobian_dot,
    row_names,
)
from spart_blocks.robot import Robot


class Kinematics(OfRobot, FunctionBlock):
    """Positions and orientations of joints and links.

    Source: SPART's manual, Kinematics.
    """

    nin = 3
    nout = 6
    takes = quantities("R0 r0 qm")
    gives = quantities("RJ RL rJ rL e g")
    function = staticmethod(kinematics)


class DiffKinematics(OfRobot, FunctionBlock):
    """Twist-propagation matrices and vectors.

    Source: SPART's manual, DiffKinematics.
    """

    nin = 5
    nout = 4
    takes = quantities("R0 r0 rL e g")
    gives = quantities("Bij Bi0 P0 pm")
    function = staticmethod(diff_kinematics)


class Velocities(OfRobot, FunctionBlock):
    """Twists of base and links.

    Source: SPART's manual, Velocities.
    """

    nin = 6
    nout = 2
    takes = quantities("Bij Bi0 P0 pm u0 um")
    gives = quantities("t0 tL")
    function = staticmethod(velocities)


class Accelerations(OfRobot, FunctionBlock):
    """Twist rates of base and links.

    Source: SPART's manual, Accelerations.
    """

    nin = 10
    nout = 2
    takes = quantities("t0 tL P0 pm Bi0 Bij u0 um u0dot umdot")
    gives = quantities("t0dot tLdot")
    function = staticmethod(accelerations)


class Center_Of_Mass(OfRobot, FunctionBlock):
    """Centre of mass of the system; with the rates of r0 and rL as inputs, its rate.

    Source: SPART's manual, Center_of_Mass.
    """

    nin = 2
    nout = 1
    takes = quantities("r0 rL")
    gives = quantities("r_com")
    function = staticmethod(center_of_mass)


class _OfLink(OfRobot):
    """A function of a point fixed to a link."""

    nout = 2
    link = fixed("str or int")

    def build(self) -> dict[str, Any]:
        self.link = link_id(self.robot, self.link)
        self.arguments = (self.link,)
        return super().build()


class Jacob(_OfLink, FunctionBlock):
    """Geometric Jacobian of a point fixed to a link.

    Source: SPART's manual, Jacob.

    :arg link: the link that carries the point, by name or id (0 is the base-link)
    """

    nin = 5
    takes = quantities("rp r0 rL P0 pm")
    gives = quantities("J0 Jm")
    function = staticmethod(jacobian)


class Jacobdot(_OfLink, FunctionBlock):
    """Time derivative of the geometric Jacobian of a point fixed to a link.

    Source: SPART's manual, Jacobdot.

    :arg link: the link that carries the point, by name or id (0 is the base-link)
    """

    nin = 8
    takes = quantities("rp tp r0 t0 rL tL P0 pm")
    gives = quantities("J0dot Jmdot")
    function = staticmethod(jacobian_dot)


class NOC(OfRobot, FunctionBlock):
    """Natural orthogonal complement: all twists, base first, are N [u0, um].

    Source: SPART's manual, NOC.
    """

    nin = 4
    nout = 1
    takes = quantities("r0 rL P0 pm")
    gives = quantities("N")
    function = staticmethod(noc)


class NOCdot(OfRobot, FunctionBlock):
    """Time derivative of the natural orthogonal complement.

    Source: SPART's manual, NOCdot.
    """

    nin = 6
    nout = 1
    takes = quantities("r0 t0 rL tL P0 pm")
    gives = quantities("Ndot")
    function = staticmethod(noc_dot)


class End_Effector(OfPoint, FunctionBlock):
    """Pose and twist of an end-effector: forward kinematics.

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


def need_loops(robot: Any, block: str) -> Robot:
    """A robot with loops, or an InputError."""
    found = need_robot(robot, block)
    if not found.loops:
        hint = "robots with loops are read from a file of bodies, or of loops beside a URDF"
        raise InputError(Fault(f"{block}: {found.name} has no loops", hint=hint))
    return found


class Loop_Error(Declared, FunctionBlock):
    """Error of each loop constraint of a robot, and its rate. The rows are those of all loops of
    the robot, including implied ones; their names are
    ``dynamics.loops.row_names(robot)``, such as ``pin.x``.

    Source: Featherstone (2008), sec. 8.3 and 8.6; Haug (1989), sec. 9.4, for the rows.

    :arg robot: the robot model, with loops
    """

    nin = 2
    nout = 2
    takes = quantities("qm um?")
    gives = (
        PortSpec("error", "m", "m, rad", "error of each row"),
        PortSpec("rate", "m", "m/s, rad/s", "how fast"),
    )
    robot = fixed("Robot", check=need_loops)

    def build(self) -> dict[str, Any]:
        return self.resolve_ports(self.robot, m=len(row_names(self.robot)))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        qm, um = inputs
        J = loop_jacobian(qm, self.robot, every=True)
        return [loop_errors(qm, self.robot, every=True), J @ um]


class Loop_Jacobian(Declared, FunctionBlock):
    """The constraint Jacobian of a robot's loops: the rate of the loop errors is J um. The forces
    lam of a CLOSED_CHAIN act on its joints as J' lam. With derivative: true there is one more
    output, ``Jdot`` ndarray(m, nu), the time derivative of J.

    Source: Featherstone (2008), sec. 8.3.

    :arg robot: the robot model, with loops
    :arg derivative: whether the time derivative of J is an output too
    """

    nin = 2
    nout = 2
    takes = quantities("qm um?")
    gives = (
        PortSpec("J", "m, nu", "", "of the rows that others do not imply"),
        PortSpec(
            "bias",
            "m",
            "m/s^2, rad/s^2",
            "J' um: accelerations of the loop errors at udot = 0",
        ),
    )
    robot = fixed("Robot", check=need_loops)
    derivative = fixed("bool", "", False)

    def build(self) -> dict[str, Any]:
        m = len(kept_rows(self.robot))
        more = (Port("Jdot", (m, self.robot.nu)),) if self.derivative else ()
        return self.resolve_ports(self.robot, more=((), more), m=m)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        qm, um = inputs
        out = [loop_jacobian(qm, self.robot), loop_bias(qm, um, self.robot)]
        return [*out, loop_jacobian_dot(qm, um, self.robot)] if self.derivative else out
