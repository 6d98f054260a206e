"""Gravity as SPART has it: a wrench on every link."""

from __future__ import annotations

from typing import Any

from bdsim.components import SourceBlock

from spart_blocks.blocks._ports import port_arguments
from spart_blocks.blocks._quantities import need_robot, ports
from spart_blocks.dynamics import gravity_wrenches
from spart_blocks.robot import Robot
from spart_blocks.spatial import array


class Gravity(SourceBlock):
    """
    :blockname:`GRAVITY`

    The weight of base and links in a uniform field.

    :inputs: 0
    :outputs: 2
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Output
            - 0
            - ndarray(6,)
            - ``wF0`` [N m, N]: wrench on the base-link at its centre of mass
        *   - Output
            - 1
            - ndarray(n, 6)
            - ``wFm`` [N m, N]: wrenches on the links at their centres of mass

    Source: SPART's manual, "Forward dynamics", its example of weights.

    :param robot: the robot model
    :type robot: Robot
    :param gravity: acceleration of gravity [m/s^2], inertial
    :type gravity: array_like(3)
    """

    nin = 0
    nout = 2
    tunable = ("gravity",)

    def __init__(self, robot: Robot, gravity: Any = (0.0, 0.0, -9.81), **blockargs: Any) -> None:
        self.robot = need_robot(robot, "GRAVITY")
        self.gravity = array(gravity, (3,), "gravity")
        self.in_ports, self.out_ports = (), ports(robot, "wF0 wFm")
        arguments = port_arguments((), self.out_ports)
        super().__init__(nout=arguments["nout"], onames=arguments["onames"], **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return list(gravity_wrenches(self.gravity, self.robot))
