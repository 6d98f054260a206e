"""SPART's Jacobians and natural orthogonal complement as blocks."""

from __future__ import annotations

from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.blocks._quantities import OfRobot, link_id
from spart_blocks.dynamics import jacobian, jacobian_dot, noc, noc_dot
from spart_blocks.robot import Robot


class Jacob(OfRobot, FunctionBlock):
    """
    :blockname:`JACOB`

    Geometric Jacobian of a point fixed to a link.

    :inputs: 5
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
            - ``rp`` [m]: position of the point
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
            - ndarray(6, 6)
            - ``P0``: base twist-propagation matrix
        *   - Input
            - 4
            - ndarray(n, 6)
            - ``pm``: joint twist-propagation vectors
        *   - Output
            - 0
            - ndarray(6, 6)
            - ``J0``: Jacobian of the base
        *   - Output
            - 1
            - ndarray(6, nu)
            - ``Jm``: Jacobian of the joints

    Source: SPART's manual, Jacob.

    :param link: the link that carries the point, by name or id (0 is the base-link)
    :type link: str or int
    :param robot: the robot model
    :type robot: Robot
    """

    nin = 5
    nout = 2
    takes = "rp r0 rL P0 pm"
    gives = "J0 Jm"
    function = staticmethod(jacobian)

    def __init__(self, robot: Robot, link: str | int, **blockargs: Any) -> None:
        super().__init__(robot, **blockargs)
        self.link = link_id(robot, link)
        self.arguments = (self.link,)


class Jacobdot(OfRobot, FunctionBlock):
    """
    :blockname:`JACOBDOT`

    Time derivative of the geometric Jacobian of a point fixed to a link.

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
            - ``rp`` [m]: position of the point
        *   - Input
            - 1
            - ndarray(6,)
            - ``tp`` [rad/s, m/s]: twist of the point
        *   - Input
            - 2
            - ndarray(3,)
            - ``r0`` [m]: centre of mass of the base-link
        *   - Input
            - 3
            - ndarray(6,)
            - ``t0`` [rad/s, m/s]: twist of the base-link
        *   - Input
            - 4
            - ndarray(n, 3)
            - ``rL`` [m]: centres of mass of the links
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
        *   - Output
            - 0
            - ndarray(6, 6)
            - ``J0dot``: rate of the base Jacobian
        *   - Output
            - 1
            - ndarray(6, nu)
            - ``Jmdot``: rate of the joint Jacobian

    Source: SPART's manual, Jacobdot.

    :param link: the link that carries the point, by name or id (0 is the base-link)
    :type link: str or int
    :param robot: the robot model
    :type robot: Robot
    """

    nin = 8
    nout = 2
    takes = "rp tp r0 t0 rL tL P0 pm"
    gives = "J0dot Jmdot"
    function = staticmethod(jacobian_dot)

    def __init__(self, robot: Robot, link: str | int, **blockargs: Any) -> None:
        super().__init__(robot, **blockargs)
        self.link = link_id(robot, link)
        self.arguments = (self.link,)


class NOC(OfRobot, FunctionBlock):
    """
    :blockname:`NOC`

    Natural orthogonal complement: all twists, base first, are N [u0, um].

    :inputs: 4
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
        *   - Input
            - 2
            - ndarray(6, 6)
            - ``P0``: base twist-propagation matrix
        *   - Input
            - 3
            - ndarray(n, 6)
            - ``pm``: joint twist-propagation vectors
        *   - Output
            - 0
            - ndarray(6+6n, 6+nu)
            - ``N``: natural orthogonal complement

    Source: SPART's manual, NOC.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 4
    nout = 1
    takes = "r0 rL P0 pm"
    gives = "N"
    function = staticmethod(noc)


class NOCdot(OfRobot, FunctionBlock):
    """
    :blockname:`NOCDOT`

    Time derivative of the natural orthogonal complement.

    :inputs: 6
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
            - ndarray(6,)
            - ``t0`` [rad/s, m/s]: twist of the base-link
        *   - Input
            - 2
            - ndarray(n, 3)
            - ``rL`` [m]: centres of mass of the links
        *   - Input
            - 3
            - ndarray(n, 6)
            - ``tL`` [rad/s, m/s]: twists of the links
        *   - Input
            - 4
            - ndarray(6, 6)
            - ``P0``: base twist-propagation matrix
        *   - Input
            - 5
            - ndarray(n, 6)
            - ``pm``: joint twist-propagation vectors
        *   - Output
            - 0
            - ndarray(6+6n, 6+nu)
            - ``Ndot``: its rate

    Source: SPART's manual, NOCdot.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 6
    nout = 1
    takes = "r0 t0 rL tL P0 pm"
    gives = "Ndot"
    function = staticmethod(noc_dot)
