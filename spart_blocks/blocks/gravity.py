"""Gravity as in SPART: a wrench on every link."""

from __future__ import annotations

from typing import Any

from bdsim.components import SourceBlock

from spart_blocks.base.spatial import array
from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.quantities import need_robot, quantities
from spart_blocks.dynamics import gravity_wrenches
from spart_blocks.robot import Robot


class Gravity(Declared, SourceBlock):
    """The weight of base and links in a uniform field.

    Source: SPART's manual, "Forward dynamics", its example of weights.

    :param robot: the robot model
    :type robot: Robot
    :param gravity: acceleration of gravity [m/s^2], inertial
    :type gravity: array_like(3)
    """

    nin = 0
    nout = 2
    gives = quantities("wF0 wFm")
    tunable = ("gravity",)

    def __init__(self, robot: Robot, gravity: Any = (0.0, 0.0, -9.81), **blockargs: Any) -> None:
        self.robot = need_robot(robot, "GRAVITY")
        self.gravity = array(gravity, (3,), "gravity")
        super().__init__(**self.resolve_ports(robot), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return list(gravity_wrenches(self.gravity, self.robot))
