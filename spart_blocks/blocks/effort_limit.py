"""The forces that joints can be driven with."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.blocks._crossings import flat
from spart_blocks.blocks._ports import Port, port_arguments
from spart_blocks.blocks._quantities import joint_unit, need_robot, ports
from spart_blocks.dynamics.joint_effects import driven_forces, joint_effects
from spart_blocks.robot import Robot


class Effort_Limit(FunctionBlock):
    """
    :blockname:`EFFORT_LIMIT`

    What of the forces asked of the joints acts within their limits of effort.

    :inputs: 1
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
        *   - Output
            - 0
            - ndarray(nu,)
            - ``tau`` [N m, N]: joint torques and forces

    tau = min(max(taum, -E), E), E the effort of each joint's limits; a joint without one lets
    all through. It is what the effect ``limits`` leaves of a plant's taum, as a signal to look
    at, and acts whether or not the robot has that effect.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 1
    nout = 1

    def __init__(self, robot: Robot, **blockargs: Any) -> None:
        robot = need_robot(robot, "EFFORT_LIMIT")
        self.robot = robot.with_effects((*robot.effects, "limits"))
        effort = joint_effects(self.robot).effort
        self._bounded = np.flatnonzero(np.isfinite(effort))
        self._effort = effort[self._bounded]
        self.in_ports = ports(robot, "taum")
        self.out_ports = (Port("tau", (robot.nu,), joint_unit(robot, "N m, N")),)
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [driven_forces(inputs[0], self.robot)]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        taum = inputs[0][self._bounded]
        return flat(taum - self._effort, taum + self._effort)
