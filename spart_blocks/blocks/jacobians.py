"""SPART's Jacobians and natural orthogonal complement as blocks."""

from __future__ import annotations

from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.block_support.parameters import fixed
from spart_blocks.block_support.quantities import OfRobot, link_id, quantities
from spart_blocks.dynamics import jacobian, jacobian_dot, noc, noc_dot


class Jacob(OfRobot, FunctionBlock):
    """Geometric Jacobian of a point fixed to a link.

    Source: SPART's manual, Jacob.

    :arg link: the link that carries the point, by name or id (0 is the base-link)
    """

    nin = 5
    nout = 2
    takes = quantities("rp r0 rL P0 pm")
    gives = quantities("J0 Jm")
    function = staticmethod(jacobian)
    link = fixed("str or int")

    def build(self) -> dict[str, Any]:
        self.link = link_id(self.robot, self.link)
        self.arguments = (self.link,)
        return super().build()


class Jacobdot(OfRobot, FunctionBlock):
    """Time derivative of the geometric Jacobian of a point fixed to a link.

    Source: SPART's manual, Jacobdot.

    :arg link: the link that carries the point, by name or id (0 is the base-link)
    """

    nin = 8
    nout = 2
    takes = quantities("rp tp r0 t0 rL tL P0 pm")
    gives = quantities("J0dot Jmdot")
    function = staticmethod(jacobian_dot)
    link = fixed("str or int")

    def build(self) -> dict[str, Any]:
        self.link = link_id(self.robot, self.link)
        self.arguments = (self.link,)
        return super().build()


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
