"""SPART's Jacobians and natural orthogonal complement as blocks."""

from __future__ import annotations

from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.block_support.quantities import OfRobot, link_id, quantities
from spart_blocks.dynamics import jacobian, jacobian_dot, noc, noc_dot
from spart_blocks.robot import Robot


class Jacob(OfRobot, FunctionBlock):
    """Geometric Jacobian of a point fixed to a link.

    Source: SPART's manual, Jacob.

    :param link: the link that carries the point, by name or id (0 is the base-link)
    :type link: str or int
    :param robot: the robot model
    :type robot: Robot
    """

    nin = 5
    nout = 2
    takes = quantities("rp r0 rL P0 pm")
    gives = quantities("J0 Jm")
    function = staticmethod(jacobian)

    def __init__(self, robot: Robot, link: str | int, **blockargs: Any) -> None:
        super().__init__(robot, **blockargs)
        self.link = link_id(robot, link)
        self.arguments = (self.link,)


class Jacobdot(OfRobot, FunctionBlock):
    """Time derivative of the geometric Jacobian of a point fixed to a link.

    Source: SPART's manual, Jacobdot.

    :param link: the link that carries the point, by name or id (0 is the base-link)
    :type link: str or int
    :param robot: the robot model
    :type robot: Robot
    """

    nin = 8
    nout = 2
    takes = quantities("rp tp r0 t0 rL tL P0 pm")
    gives = quantities("J0dot Jmdot")
    function = staticmethod(jacobian_dot)

    def __init__(self, robot: Robot, link: str | int, **blockargs: Any) -> None:
        super().__init__(robot, **blockargs)
        self.link = link_id(robot, link)
        self.arguments = (self.link,)


class NOC(OfRobot, FunctionBlock):
    """Natural orthogonal complement: all twists, base first, are N [u0, um].

    Source: SPART's manual, NOC.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 4
    nout = 1
    takes = quantities("r0 rL P0 pm")
    gives = quantities("N")
    function = staticmethod(noc)


class NOCdot(OfRobot, FunctionBlock):
    """Time derivative of the natural orthogonal complement.

    Source: SPART's manual, NOCdot.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 6
    nout = 1
    takes = quantities("r0 t0 rL tL P0 pm")
    gives = quantities("Ndot")
    function = staticmethod(noc_dot)
