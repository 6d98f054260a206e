"""Effort limits of joints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.parameters import ROBOT
from spart_blocks.block_support.quantities import quantities
from spart_blocks.dynamics.joint_effects import driven_forces, joint_effects
from spart_blocks.formulas.crossings import flat


class Effort_Limit(Declared, FunctionBlock):
    """Joint forces limited to the effort limits. tau = min(max(taum, -E), E), where E is the effort
    limit of each joint; joints without a limit are not limited. It gives the result of the effect
    ``limits`` on a plant's taum as a signal, and works whether or not the robot has that effect.
    """

    nin = 1
    nout = 1
    takes = quantities("taum")
    gives = (replace(quantities("taum")[0], name="tau"),)
    robot = ROBOT

    def build(self, robot: Any) -> dict[str, Any]:
        self.robot = robot.with_effects((*robot.effects, "limits"))
        effort = joint_effects(self.robot).effort
        self._bounded = np.flatnonzero(np.isfinite(effort))
        self._effort = effort[self._bounded]
        return self.resolve_ports(robot)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [driven_forces(inputs[0], self.robot)]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        taum = inputs[0][self._bounded]
        return flat(taum - self._effort, taum + self._effort)
