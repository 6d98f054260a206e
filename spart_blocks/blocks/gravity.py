"""Gravity as in SPART: a wrench on every link."""

from __future__ import annotations

from typing import Any

from bdsim.components import SourceBlock

from spart_blocks.base.spatial import array
from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.parameters import ROBOT, tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.dynamics import gravity_wrenches


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

    def build(self, gravity: Any) -> dict[str, Any]:
        self.gravity = array(gravity, (3,), "gravity")
        return self.resolve_ports(self.robot)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return list(gravity_wrenches(self.gravity, self.robot))
