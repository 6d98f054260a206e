"""SPART's kinematics, velocities and accelerations as blocks."""

from __future__ import annotations

from bdsim.components import FunctionBlock

from spart_blocks.blocks._quantities import OfRobot
from spart_blocks.dynamics import (
    accelerations,
    center_of_mass,
    diff_kinematics,
    kinematics,
    velocities,
)


class Kinematics(OfRobot, FunctionBlock):
    """
    :blockname:`KINEMATICS`

    Positions and orientations of joints and links.

    :inputs: 3
    :outputs: 6
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

    Source: SPART's manual, Kinematics.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 3
    nout = 6
    takes = "R0 r0 qm"
    gives = "RJ RL rJ rL e g"
    function = staticmethod(kinematics)


class DiffKinematics(OfRobot, FunctionBlock):
    """
    :blockname:`DIFFKINEMATICS`

    Twist-propagation matrices and vectors.

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
            - ndarray(n, 3)
            - ``rL`` [m]: centres of mass of the links
        *   - Input
            - 3
            - ndarray(n, 3)
            - ``e``: joint axes
        *   - Input
            - 4
            - ndarray(n, 3)
            - ``g`` [m]: from joint origin to the centre of mass of its link
        *   - Output
            - 0
            - ndarray(n, n, 6, 6)
            - ``Bij``: twist-propagation matrices between links
        *   - Output
            - 1
            - ndarray(n, 6, 6)
            - ``Bi0``: twist-propagation matrices from the base
        *   - Output
            - 2
            - ndarray(6, 6)
            - ``P0``: base twist-propagation matrix
        *   - Output
            - 3
            - ndarray(n, 6)
            - ``pm``: joint twist-propagation vectors

    Source: SPART's manual, DiffKinematics.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 5
    nout = 4
    takes = "R0 r0 rL e g"
    gives = "Bij Bi0 P0 pm"
    function = staticmethod(diff_kinematics)


class Velocities(OfRobot, FunctionBlock):
    """
    :blockname:`VELOCITIES`

    Twists of base and links.

    :inputs: 6
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
            - ndarray(n, n, 6, 6)
            - ``Bij``: twist-propagation matrices between links
        *   - Input
            - 1
            - ndarray(n, 6, 6)
            - ``Bi0``: twist-propagation matrices from the base
        *   - Input
            - 2
            - ndarray(6, 6)
            - ``P0``: base twist-propagation matrix
        *   - Input
            - 3
            - ndarray(n, 6)
            - ``pm``: joint twist-propagation vectors
        *   - Input
            - 4
            - ndarray(6,)
            - ``u0`` [rad/s, m/s]: base rates: angular in base axes, linear inertial
        *   - Input
            - 5
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates
        *   - Output
            - 0
            - ndarray(6,)
            - ``t0`` [rad/s, m/s]: twist of the base-link
        *   - Output
            - 1
            - ndarray(n, 6)
            - ``tL`` [rad/s, m/s]: twists of the links

    Source: SPART's manual, Velocities.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 6
    nout = 2
    takes = "Bij Bi0 P0 pm u0 um"
    gives = "t0 tL"
    function = staticmethod(velocities)


class Accelerations(OfRobot, FunctionBlock):
    """
    :blockname:`ACCELERATIONS`

    Twist rates of base and links.

    :inputs: 10
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
            - ``t0`` [rad/s, m/s]: twist of the base-link
        *   - Input
            - 1
            - ndarray(n, 6)
            - ``tL`` [rad/s, m/s]: twists of the links
        *   - Input
            - 2
            - ndarray(6, 6)
            - ``P0``: base twist-propagation matrix
        *   - Input
            - 3
            - ndarray(n, 6)
            - ``pm``: joint twist-propagation vectors
        *   - Input
            - 4
            - ndarray(n, 6, 6)
            - ``Bi0``: twist-propagation matrices from the base
        *   - Input
            - 5
            - ndarray(n, n, 6, 6)
            - ``Bij``: twist-propagation matrices between links
        *   - Input
            - 6
            - ndarray(6,)
            - ``u0`` [rad/s, m/s]: base rates: angular in base axes, linear inertial
        *   - Input
            - 7
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates
        *   - Input
            - 8
            - ndarray(6,)
            - ``u0dot`` [rad/s^2, m/s^2]: rates of u0
        *   - Input
            - 9
            - ndarray(nu,)
            - ``umdot`` [rad/s^2, m/s^2]: rates of um
        *   - Output
            - 0
            - ndarray(6,)
            - ``t0dot`` [rad/s^2, m/s^2]: twist rate of the base-link
        *   - Output
            - 1
            - ndarray(n, 6)
            - ``tLdot`` [rad/s^2, m/s^2]: twist rates of the links

    Source: SPART's manual, Accelerations.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 10
    nout = 2
    takes = "t0 tL P0 pm Bi0 Bij u0 um u0dot umdot"
    gives = "t0dot tLdot"
    function = staticmethod(accelerations)


class Center_Of_Mass(OfRobot, FunctionBlock):
    """
    :blockname:`CENTER_OF_MASS`

    Centre of mass of the system; its rate when given the rates of r0 and rL.

    :inputs: 2
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
            - ndarray(3,)
            - ``r0`` [m]: centre of mass of the base-link
        *   - Input
            - 1
            - ndarray(n, 3)
            - ``rL`` [m]: centres of mass of the links
        *   - Output
            - 0
            - ndarray(3,)
            - ``r_com`` [m]: centre of mass of the system

    Source: SPART's manual, Center_of_Mass.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 2
    nout = 1
    takes = "r0 rL"
    gives = "r_com"
    function = staticmethod(center_of_mass)
