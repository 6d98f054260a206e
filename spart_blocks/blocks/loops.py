"""Errors and Jacobians of the loops of a robot."""

from __future__ import annotations

from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, need_robot
from spart_blocks.block_support.ports import Port
from spart_blocks.block_support.quantities import quantities
from spart_blocks.dynamics.loops import (
    kept_rows,
    loop_bias,
    loop_errors,
    loop_jacobian,
    loop_jacobian_dot,
    row_names,
)
from spart_blocks.robot import Robot


def need_loops(robot: Any, block: str) -> Robot:
    """A robot with loops, or an InputError."""
    found = need_robot(robot, block)
    if not found.loops:
        hint = "robots with loops are read from a file of bodies, or of loops beside a URDF"
        raise InputError(Fault(f"{block}: {found.name} has no loops", hint=hint))
    return found


class Loop_Error(Declared, FunctionBlock):
    """Error of each loop constraint of a robot, and its rate. The rows are those of all loops of
    the robot, including implied ones; their names are
    ``dynamics.loops.row_names(robot)``, such as ``pin.x``.

    Source: Featherstone (2008), sec. 8.3 and 8.6; Haug (1989), sec. 9.4, for the rows.

    :arg robot: the robot model, with loops
    """

    nin = 2
    nout = 2
    takes = quantities("qm um?")
    gives = (
        PortSpec("error", "m", "m, rad", "error of each row"),
        PortSpec("rate", "m", "m/s, rad/s", "how fast"),
    )
    robot = fixed("Robot", check=need_loops)

    def build(self) -> dict[str, Any]:
        return self.resolve_ports(self.robot, m=len(row_names(self.robot)))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        qm, um = inputs
        J = loop_jacobian(qm, self.robot, every=True)
        return [loop_errors(qm, self.robot, every=True), J @ um]


class Loop_Jacobian(Declared, FunctionBlock):
    """The constraint Jacobian of a robot's loops: the rate of the loop errors is J um. The forces
    lam of a CLOSED_CHAIN act on its joints as J' lam. With derivative: true there is one more
    output, ``Jdot`` ndarray(m, nu), the time derivative of J.

    Source: Featherstone (2008), sec. 8.3.

    :arg robot: the robot model, with loops
    :arg derivative: whether the time derivative of J is an output too
    """

    nin = 2
    nout = 2
    takes = quantities("qm um?")
    gives = (
        PortSpec("J", "m, nu", "", "of the rows that others do not imply"),
        PortSpec(
            "bias",
            "m",
            "m/s^2, rad/s^2",
            "J' um: accelerations of the loop errors at udot = 0",
        ),
    )
    robot = fixed("Robot", check=need_loops)
    derivative = fixed("bool", "", False)

    def build(self) -> dict[str, Any]:
        if not isinstance(self.derivative, bool):
            raise InputError(f"derivative is {self.derivative!r}; it must be true or false")
        m = len(kept_rows(self.robot))
        more = (Port("Jdot", (m, self.robot.nu)),) if self.derivative else ()
        return self.resolve_ports(self.robot, more=((), more), m=m)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        qm, um = inputs
        out = [loop_jacobian(qm, self.robot), loop_bias(qm, um, self.robot)]
        return [*out, loop_jacobian_dot(qm, um, self.robot)] if self.derivative else out
