"""SPART's forward and inverse dynamics as blocks."""

from __future__ import annotations

from bdsim.components import FunctionBlock

from spart_blocks.block_support.quantities import OfRobot, quantities
from spart_blocks.dynamics import (
    fixed_forward_dynamics,
    floating_inverse_dynamics,
    forward_dynamics,
    inverse_dynamics,
)


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
