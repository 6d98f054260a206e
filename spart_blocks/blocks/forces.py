"""SPART's forward and inverse dynamics as blocks."""

from __future__ import annotations

from bdsim.components import FunctionBlock

from spart_blocks.blocks._quantities import OfRobot
from spart_blocks.dynamics import (
    fixed_forward_dynamics,
    floating_inverse_dynamics,
    forward_dynamics,
    inverse_dynamics,
)


class FD(OfRobot, FunctionBlock):
    """
    :blockname:`FD`

    Forward dynamics of a floating-base robot: accelerations from forces.

    :inputs: 14
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
            - ndarray(6,)
            - ``tau0`` [N m, N]: base torque in base axes and force, inertial (optional, zeros)
        *   - Input
            - 1
            - ndarray(nu,)
            - ``taum`` [N m, N]: joint torques and forces
        *   - Input
            - 2
            - ndarray(6,)
            - ``wF0`` [N m, N]: wrench on the base-link at its centre of mass (optional, zeros)
        *   - Input
            - 3
            - ndarray(n, 6)
            - ``wFm`` [N m, N]: wrenches on the links at their centres of mass (optional, zeros)
        *   - Input
            - 4
            - ndarray(6,)
            - ``t0`` [rad/s, m/s]: twist of the base-link
        *   - Input
            - 5
            - ndarray(n, 6)
            - ``tL`` [rad/s, m/s]: twists of the links
        *   - Input
            - 6
            - ndarray(6, 6)
            - ``P0``: base twist-propagation matrix
        *   - Input
            - 7
            - ndarray(n, 6)
            - ``pm``: joint twist-propagation vectors
        *   - Input
            - 8
            - ndarray(3, 3)
            - ``I0`` [kg m^2]: inertia of the base-link, inertial axes
        *   - Input
            - 9
            - ndarray(n, 3, 3)
            - ``Im`` [kg m^2]: inertias of the links, inertial axes
        *   - Input
            - 10
            - ndarray(n, n, 6, 6)
            - ``Bij``: twist-propagation matrices between links
        *   - Input
            - 11
            - ndarray(n, 6, 6)
            - ``Bi0``: twist-propagation matrices from the base
        *   - Input
            - 12
            - ndarray(6,)
            - ``u0`` [rad/s, m/s]: base rates: angular in base axes, linear inertial
        *   - Input
            - 13
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates
        *   - Output
            - 0
            - ndarray(6,)
            - ``u0dot`` [rad/s^2, m/s^2]: rates of u0
        *   - Output
            - 1
            - ndarray(nu,)
            - ``umdot`` [rad/s^2, m/s^2]: rates of um

    Motors, friction (none for a joint at rest) and stops act where the robot's effects name
    them; stops add an input ``qm``. Prescribed joints add an input ``umdot_k`` ndarray(n_k,)
    [rad/s^2, m/s^2], their accelerations (optional, zeros), and an output ``tau_k``
    ndarray(n_k,) [N m, N], what they need beside taum.

    Source: SPART's manual, FD; Featherstone (2008), sec. 9.6, for prescribed joints.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 14
    nout = 2
    takes = "tau0? taum wF0? wFm? t0 tL P0 pm I0 Im Bij Bi0 u0 um"
    gives = "u0dot umdot"
    takes_joints = ("umdot_k", "qm")
    function = staticmethod(forward_dynamics)


class FD_Fixed(OfRobot, FunctionBlock):
    """
    :blockname:`FD_FIXED`

    Forward dynamics of a fixed-base robot: joint accelerations from forces.

    :inputs: 8
    :outputs: 1
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(nu,)
            - ``taum`` [N m, N]: joint torques and forces
        *   - Input
            - 1
            - ndarray(n, 6)
            - ``wFm`` [N m, N]: wrenches on the links at their centres of mass (optional, zeros)
        *   - Input
            - 2
            - ndarray(n, 6)
            - ``tL`` [rad/s, m/s]: twists of the links
        *   - Input
            - 3
            - ndarray(n, 6)
            - ``pm``: joint twist-propagation vectors
        *   - Input
            - 4
            - ndarray(n, 3, 3)
            - ``Im`` [kg m^2]: inertias of the links, inertial axes
        *   - Input
            - 5
            - ndarray(n, n, 6, 6)
            - ``Bij``: twist-propagation matrices between links
        *   - Input
            - 6
            - ndarray(n, 6, 6)
            - ``Bi0``: twist-propagation matrices from the base
        *   - Input
            - 7
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates
        *   - Output
            - 0
            - ndarray(nu,)
            - ``umdot`` [rad/s^2, m/s^2]: rates of um

    Effects and prescribed joints as in FD.

    Source: SPART's manual, FD, with the base held by the ground.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 8
    nout = 1
    takes = "taum wFm? tL pm Im Bij Bi0 um"
    gives = "umdot"
    takes_joints = ("umdot_k", "qm")
    function = staticmethod(fixed_forward_dynamics)


class ID(OfRobot, FunctionBlock):
    """
    :blockname:`ID`

    Inverse dynamics: forces from accelerations. For a fixed base, tau0 is what the
    ground supplies.

    :inputs: 12
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
            - ndarray(6,)
            - ``wF0`` [N m, N]: wrench on the base-link at its centre of mass (optional, zeros)
        *   - Input
            - 1
            - ndarray(n, 6)
            - ``wFm`` [N m, N]: wrenches on the links at their centres of mass (optional, zeros)
        *   - Input
            - 2
            - ndarray(6,)
            - ``t0`` [rad/s, m/s]: twist of the base-link
        *   - Input
            - 3
            - ndarray(n, 6)
            - ``tL`` [rad/s, m/s]: twists of the links
        *   - Input
            - 4
            - ndarray(6,)
            - ``t0dot`` [rad/s^2, m/s^2]: twist rate of the base-link
        *   - Input
            - 5
            - ndarray(n, 6)
            - ``tLdot`` [rad/s^2, m/s^2]: twist rates of the links
        *   - Input
            - 6
            - ndarray(6, 6)
            - ``P0``: base twist-propagation matrix
        *   - Input
            - 7
            - ndarray(n, 6)
            - ``pm``: joint twist-propagation vectors
        *   - Input
            - 8
            - ndarray(3, 3)
            - ``I0`` [kg m^2]: inertia of the base-link, inertial axes
        *   - Input
            - 9
            - ndarray(n, 3, 3)
            - ``Im`` [kg m^2]: inertias of the links, inertial axes
        *   - Input
            - 10
            - ndarray(n, n, 6, 6)
            - ``Bij``: twist-propagation matrices between links
        *   - Input
            - 11
            - ndarray(n, 6, 6)
            - ``Bi0``: twist-propagation matrices from the base
        *   - Output
            - 0
            - ndarray(6,)
            - ``tau0`` [N m, N]: base torque in base axes and force, inertial
        *   - Output
            - 1
            - ndarray(nu,)
            - ``taum`` [N m, N]: joint torques and forces

    What motors, friction and stops take counts where the robot's effects name them; stops
    add an input ``qm``. The accelerations of prescribed joints are in tLdot as all are, and
    taum holds what they need.

    Source: SPART's manual, ID.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 12
    nout = 2
    takes = "wF0? wFm? t0 tL t0dot tLdot P0 pm I0 Im Bij Bi0"
    gives = "tau0 taum"
    takes_joints = ("qm",)
    function = staticmethod(inverse_dynamics)


class Floating_ID(OfRobot, FunctionBlock):
    """
    :blockname:`FLOATING_ID`

    Inverse dynamics with a free base: joint forces of a joint motion, and the base's
    answer to it.

    :inputs: 15
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
            - ndarray(6,)
            - ``wF0`` [N m, N]: wrench on the base-link at its centre of mass (optional, zeros)
        *   - Input
            - 1
            - ndarray(n, 6)
            - ``wFm`` [N m, N]: wrenches on the links at their centres of mass (optional, zeros)
        *   - Input
            - 2
            - ndarray(n, 6, 6)
            - ``Mm_tilde`` [kg m^2, kg m, kg]: composite bodies of the links
        *   - Input
            - 3
            - ndarray(6, 6)
            - ``H0`` [kg m^2, kg m, kg]: inertia matrix of the base
        *   - Input
            - 4
            - ndarray(6,)
            - ``t0`` [rad/s, m/s]: twist of the base-link
        *   - Input
            - 5
            - ndarray(n, 6)
            - ``tL`` [rad/s, m/s]: twists of the links
        *   - Input
            - 6
            - ndarray(6, 6)
            - ``P0``: base twist-propagation matrix
        *   - Input
            - 7
            - ndarray(n, 6)
            - ``pm``: joint twist-propagation vectors
        *   - Input
            - 8
            - ndarray(3, 3)
            - ``I0`` [kg m^2]: inertia of the base-link, inertial axes
        *   - Input
            - 9
            - ndarray(n, 3, 3)
            - ``Im`` [kg m^2]: inertias of the links, inertial axes
        *   - Input
            - 10
            - ndarray(n, n, 6, 6)
            - ``Bij``: twist-propagation matrices between links
        *   - Input
            - 11
            - ndarray(n, 6, 6)
            - ``Bi0``: twist-propagation matrices from the base
        *   - Input
            - 12
            - ndarray(6,)
            - ``u0`` [rad/s, m/s]: base rates: angular in base axes, linear inertial
        *   - Input
            - 13
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates
        *   - Input
            - 14
            - ndarray(nu,)
            - ``umdot`` [rad/s^2, m/s^2]: rates of um
        *   - Output
            - 0
            - ndarray(nu,)
            - ``taum`` [N m, N]: joint torques and forces
        *   - Output
            - 1
            - ndarray(6,)
            - ``u0dot`` [rad/s^2, m/s^2]: rates of u0

    Effects and prescribed joints as in ID.

    Source: SPART's manual, Floating_ID.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 15
    nout = 2
    takes = "wF0? wFm? Mm_tilde H0 t0 tL P0 pm I0 Im Bij Bi0 u0 um umdot"
    gives = "taum u0dot"
    takes_joints = ("qm",)
    function = staticmethod(floating_inverse_dynamics)
