"""SPART's inertia matrices, forward and inverse dynamics as blocks, gravity, and base reaction."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock, SourceBlock

from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.motion import (
    OfPoint,
    ReactionTask,
    momentum_in_base_axes,
    need_floating,
)
from spart_blocks.block_support.parameters import ROBOT, fixed, tunable
from spart_blocks.block_support.quantities import OfRobot, quantities
from spart_blocks.block_support.values import one_gain
from spart_blocks.dynamics import (
    base_rates_from_momentum,
    convective_inertia,
    convective_inertia_noc,
    fixed_forward_dynamics,
    floating_inverse_dynamics,
    forward_dynamics,
    generalized_inertia,
    generalized_inertia_noc,
    gravity_wrenches,
    inertias,
    inverse_dynamics,
    mass_composite_body,
    multibody_forces,
    multibody_inertia,
)
from spart_blocks.dynamics.screws import ALL, rows_of
from spart_blocks.dynamics.semidefinite import least_squares


class Inertias(OfRobot, FunctionBlock):
    """Link inertias projected in inertial axes (SPART's I_I).

    The rotations come from KINEMATICS. Source: SPART's manual, I_I.
    """

    nin = 2
    nout = 2
    takes = quantities("R0 RL")
    gives = quantities("I0 Im")
    function = staticmethod(inertias)


class MCB(OfRobot, FunctionBlock):
    """Mass composite bodies.

    Source: SPART's manual, MCB.
    """

    nin = 4
    nout = 2
    takes = quantities("I0 Im Bij Bi0")
    gives = quantities("M0_tilde Mm_tilde")
    function = staticmethod(mass_composite_body)


class GIM(OfRobot, FunctionBlock):
    """Generalized inertia matrix H = [H0, H0m; H0m', Hm].

    Source: SPART's manual, GIM.
    """

    nin = 6
    nout = 3
    takes = quantities("M0_tilde Mm_tilde Bij Bi0 P0 pm")
    gives = quantities("H0 H0m Hm")
    function = staticmethod(generalized_inertia)


class CIM(OfRobot, FunctionBlock):
    """Convective inertia matrix C = [C0, C0m; Cm0, Cm], SPART's own.

    Source: SPART's manual, CIM.
    """

    nin = 10
    nout = 4
    takes = quantities("t0 tL I0 Im M0_tilde Mm_tilde Bij Bi0 P0 pm")
    gives = quantities("C0 C0m Cm0 Cm")
    function = staticmethod(convective_inertia)


class GIM_NOC(OfRobot, FunctionBlock):
    """Generalized inertia matrix H by the natural orthogonal complement.

    H = N' M N, the whole matrix, of which GIM gives the submatrices. Source: SPART's GIM_NOC.
    """

    nin = 3
    nout = 1
    takes = quantities("N I0 Im")
    gives = quantities("H")
    function = staticmethod(generalized_inertia_noc)


class CIM_NOC(OfRobot, FunctionBlock):
    """Convective inertia matrix C by the natural orthogonal complement.

    C = N' (M Ndot + Mdot N), the whole matrix, of which CIM gives the submatrices. Source: SPART's
    CIM_NOC.
    """

    nin = 6
    nout = 1
    takes = quantities("N Ndot t0 tL I0 Im")
    gives = quantities("C")
    function = staticmethod(convective_inertia_noc)


class FD(OfRobot, FunctionBlock):
    """Forward dynamics of a floating-base robot: accelerations from forces.

    Motors, friction (zero for a joint at rest) and stops act if the robot's effects include them;
    stops add an input ``qm``. Prescribed joints add an input ``umdot_k`` ndarray(n_k,) [rad/s^2,
    m/s^2], their accelerations (optional, zeros), and an output ``tau_k`` ndarray(n_k,) [N m, N],
    the forces that they need in addition to taum.

    Source: SPART's manual, FD; Featherstone (2008), sec. 9.6, for prescribed joints.
    """

    nin = 14
    nout = 2
    takes = quantities("tau0? taum wF0? wFm? t0 tL P0 pm I0 Im Bij Bi0 u0 um")
    gives = quantities("u0dot umdot")
    takes_joints = ("umdot_k", "qm")
    function = staticmethod(forward_dynamics)


class FD_Fixed(OfRobot, FunctionBlock):
    """Forward dynamics of a fixed-base robot: joint accelerations from forces.

    Effects and prescribed joints as in FD.

    Source: SPART's manual, FD, with the base held by the ground.
    """

    nin = 8
    nout = 1
    takes = quantities("taum wFm? tL pm Im Bij Bi0 um")
    gives = quantities("umdot")
    takes_joints = ("umdot_k", "qm")
    function = staticmethod(fixed_forward_dynamics)


class ID(OfRobot, FunctionBlock):
    """Inverse dynamics: forces from accelerations. For a fixed base, tau0 is supplied by the
    ground. Loads of motors, friction and stops are included if the robot's effects name them; stops
    add an input ``qm``. The accelerations of prescribed joints are part of tLdot, and taum includes
    the forces that they need.

    Source: SPART's manual, ID.
    """

    nin = 12
    nout = 2
    takes = quantities("wF0? wFm? t0 tL t0dot tLdot P0 pm I0 Im Bij Bi0")
    gives = quantities("tau0 taum")
    takes_joints = ("qm",)
    function = staticmethod(inverse_dynamics)


class Inverse_Dynamics(Declared, FunctionBlock):
    """Forces of a motion: those at the joints, and on the base, that move the robot so, from
    positions, rates and accelerations of the joints (and of a base that floats), as they were
    planned or measured. Of a fixed base tau0 is what the ground supplies. Weights come by a wire
    from GRAVITY. Loads of motors and friction are included if the robot's effects name them. Cost
    linear in the links; ID is SPART's function, from the matrices of the kinematics.

    Source: J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-line computational scheme for mechanical
    manipulators", ASME J. Dynamic Systems, Measurement, and Control 102 (1980).
    """

    nin = 8
    nout = 2
    takes = quantities("qm um umdot wF0? wFm? R0 u0 u0dot")
    gives = quantities("taum tau0")
    robot = ROBOT

    def build(self) -> dict[str, Any]:
        optional = "" if self.robot.base == "floating" else "R0 u0 u0dot"
        return self.resolve_ports(self.robot, optional=optional)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        qm, um, umdot, wF0, wFm, R0, u0, u0dot = inputs
        if self.robot.base == "fixed":  # without a wire R0 is zeros
            R0 = np.where(np.sum(R0 * R0) > 0.5, R0, np.eye(3))
        found = multibody_forces(R0, u0, qm, um, u0dot, umdot, wF0, wFm, self.robot)
        return [found.taum, found.tau0]


class Floating_ID(OfRobot, FunctionBlock):
    """Inverse dynamics with a free base: joint forces for a joint motion, and the reaction of the
    base.

    Effects and prescribed joints as in ID.

    Source: SPART's manual, Floating_ID.
    """

    nin = 15
    nout = 2
    takes = quantities("wF0? wFm? Mm_tilde H0 t0 tL P0 pm I0 Im Bij Bi0 u0 um umdot")
    gives = quantities("taum u0dot")
    takes_joints = ("qm",)
    function = staticmethod(floating_inverse_dynamics)


class Gravity(Declared, SourceBlock):
    """The weight of base and links in a uniform field.

    Source: SPART's manual, "Forward dynamics", its example of weights.

    :arg gravity: acceleration of gravity, inertial
    """

    nin = 0
    nout = 2
    gives = quantities("wF0 wFm")
    robot = ROBOT
    gravity = tunable("3", "m/s^2", (0.0, 0.0, -9.81))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return list(gravity_wrenches(self.gravity, self.robot))


class Base_Reaction(Declared, FunctionBlock):
    """The rates of a free-floating base that conserve momentum while the joints move.

    H0 u0 = M - H0m um with M = [R0' (h - r0 x p), p], which is constant in p and h.

    Source: SPART's manual, Base_Reaction; Umetani and Yoshida (1989).

    :arg robot: the robot model, with a floating base
    """

    nin = 6
    nout = 1
    takes = quantities("R0 r0 qm um p? h?")
    gives = quantities("u0")
    robot = fixed("Robot", check=need_floating)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, um, p, h = inputs
        H = multibody_inertia(np.eye(3), qm, self.robot)
        M = momentum_in_base_axes(p, h, R0, r0)
        u0 = base_rates_from_momentum(H.H0, H.H0m, M, um)
        return [np.concatenate([u0[:3], R0 @ u0[3:]])]


class Desired_Reaction(OfPoint, FunctionBlock):
    """The joint rates that give an end-effector a twist and a free base a motion simultaneously.

    The chosen rows of two sets of equations hold at once: Jstar um = td - drift for the
    end-effector, and -H0^-1 H0m um = u0d - H0^-1 M for the base. With too few joints the result is
    the least-squares solution; with redundant joints it is the minimum-norm solution. Rows that no
    configuration can fulfil, as for a planar robot, are left out automatically.

    Source: SPART's manual, Desired_Reaction; Nenchev, Umetani and Yoshida (1992).

    :arg robot: the robot model, with a floating base
    :arg components: the components of the twist that are controlled, all six by default
    :arg base_components: the controlled components of u0d: the angular rate in base axes by default
    :arg damping: of damped least squares, none by default
    """

    nin = 7
    nout = 1
    takes = quantities("R0 r0 qm td u0d? p? h?")
    gives = quantities("um")
    robot = fixed("Robot", check=need_floating)
    components = fixed("str or list of str", "", ALL)
    base_components = fixed("str or list of str", "", "wx wy wz")
    damping = tunable("float", "", 0.0, check=one_gain)

    def build(  # type: ignore[override]
        self, frame: Any, offset: Any, components: Any, base_components: Any
    ) -> dict[str, Any]:
        given = super().build(frame, offset)
        chosen = rows_of(components), rows_of(base_components, "base_components")
        self.task = ReactionTask(self.point, *map(tuple, chosen))
        return given

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, td, u0d, p, h = inputs
        A, b = self.task.equations(R0, r0, qm, td, u0d, p, h)
        return [least_squares(A, b, self.damping)]
