"""Control of closed robots by their actuated joints; the others follow."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import ROBOT, fixed, tunable
from spart_blocks.block_support.quantities import KNOWN, link_id, quantities
from spart_blocks.dynamics.actuated import (
    ActuatedForces,
    actuated_forces,
    actuated_places,
    driven_robot,
    position_of,
)
from spart_blocks.dynamics.applied_forces import applied_forces, port_widths
from spart_blocks.dynamics.closed_ik import Target, closed_ik
from spart_blocks.dynamics.loops import kept_rows
from spart_blocks.robot import Robot

MOST_ITERATIONS = 50


_STATE = quantities("wF0? wFm? R0 qm u0 um", **KNOWN, qm="joint positions, which close the loops")


def _forces(ad: Array, given: list[Any], robot: Robot, actuated: list[int]) -> ActuatedForces:
    """Inverse dynamics of the inputs in `_STATE`, with the robot's springs and dampers; its
    ports are open."""
    wF0, wFm, R0, qm, u0, um = given
    none = {port: np.zeros(width) for port, width in port_widths(robot).items()}
    own = applied_forces(R0, np.zeros(3), u0, qm, um, robot, none)
    return actuated_forces(
        R0, u0, qm, um, ad, own.taum, wF0 + own.wF0, wFm + own.wFm, robot, actuated
    )


def _optional(robot: Robot) -> str:
    """The optional inputs; a fixed base has no rates."""
    port_widths(robot)
    return "" if robot.base == "floating" else "u0"


class Closed_ID(Declared, FunctionBlock):
    """Inverse dynamics of a closed robot for the joints that have motors.

    The other joints and a floating base move as the dynamics require. The robot's own springs,
    dampers, motors and friction are included; prescribed joints keep their rates.

    Source: R. Murray, Z. Li, S. Sastry, "A Mathematical Introduction to Robotic
    Manipulation" (1994), sec. 6.1 to 6.3.

    :arg actuated: the joints with motors
    """

    nin = 7
    nout = 3
    takes = (
        PortSpec(
            "ad", "n_a", "rad/s^2, m/s^2", "accelerations of the actuated joints", optional=True
        ),
        *_STATE,
    )
    gives = (
        PortSpec("tau", "n_a", "N m, N", "forces of the actuated joints"),
        *quantities(
            "umdot lam",
            umdot="accelerations of all joints",
            lam="forces of the loops, one per row, as for CLOSED_CHAIN",
        ),
    )
    robot = ROBOT
    actuated = fixed("list of str")

    def build(self, actuated: Any) -> dict[str, Any]:
        self.actuated = actuated_places(self.robot, actuated)
        driven_robot(self.robot, tuple(self.actuated))
        n_a, m = len(self.actuated), len(kept_rows(self.robot))
        return self.resolve_ports(self.robot, optional=_optional(self.robot), n_a=n_a, m=m)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        ad, *given = inputs
        return list(_forces(ad, given, self.robot, self.actuated))


class Closed_Computed_Torque(Declared, FunctionBlock):
    """Computed-torque control of a closed robot by the joints that have motors.

    The actuated joints get the acceleration ad + kd (ud - ua) + kp (qd - qa) by inverse dynamics
    with the loops closed, so that their error obeys e'' + kd e' + kp e = 0 for an exact model.
    Otherwise as CLOSED_ID; Coulomb friction is compensated by the sign of um.

    Source: B. Siciliano et al., "Robotics: Modelling, Planning and Control" (2009), sec.
    8.5.2; J. Merlet, "Parallel Robots" (2006), ch. 9.

    :arg actuated: the joints with motors
    :arg kp: proportional gain
    :arg kd: derivative gain
    """

    nin = 9
    nout = 1
    takes = (
        PortSpec("qd", "n_a", "rad, m", "desired positions of the actuated joints"),
        PortSpec("ud", "n_a", "rad/s, m/s", "their desired rates", optional=True),
        PortSpec("ad", "n_a", "rad/s^2, m/s^2", "their desired accelerations", optional=True),
        *_STATE,
    )
    gives = (PortSpec("tau", "n_a", "N m, N", "forces of the actuated joints"),)
    robot = ROBOT
    actuated = fixed("list of str")
    kp = tunable("float or n_a", "1/s^2", least=0)
    kd = tunable("float or n_a", "1/s", least=0)

    def build(self, actuated: Any) -> dict[str, Any]:
        self.actuated = actuated_places(self.robot, actuated)
        self.positions = [position_of(self.robot, k) for k in self.actuated]
        driven_robot(self.robot, tuple(self.actuated))
        count = len(self.actuated)
        return self.resolve_ports(self.robot, optional=_optional(self.robot), n_a=count)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        qd, ud, ad, *given = inputs
        qm, um = given[3], given[5]
        away = self.kd * (ud - um[self.actuated]) + self.kp * (qd - qm[self.positions])
        return [_forces(ad + away, given, self.robot, self.actuated).tau]


class Closed_IK(Declared, FunctionBlock):
    """Inverse kinematics of a closed robot: joint positions that bring a link to a target.

    Newton steps from qm close the loops with the link at the target, with the smallest joint
    motion; convergence is quadratic. For a target out of reach the result is arbitrary: check
    ``error``. Target components that the loops do not allow, such as the direction normal to the
    plane of a planar linkage, are ignored. Without ``pose`` there are no inputs 3 to 5, and the
    link's attitude follows from the loops.

    Source: J. Merlet, "Parallel Robots" (2006), ch. 3 and 5.

    :arg link: the link that follows the target
    :arg actuated: the joints with motors
    :arg pose: whether the attitude has a target too
    :arg iterations: number of Newton steps (4)
    """

    nin = 7
    nout = 5
    takes = (
        PortSpec("r", "3", "m", "desired origin of the link's frame, in the base-link's frame"),
        PortSpec("v", "3", "m/s", "its velocity", optional=True),
        PortSpec("a", "3", "m/s^2", "its acceleration", optional=True),
        PortSpec(
            "R", "3, 3", "", "desired rotation of the frame, to the base-link's axes, with pose"
        ),
        PortSpec("w", "3", "rad/s", "its angular velocity, base-link's axes", optional=True),
        PortSpec("wdot", "3", "rad/s^2", "its angular acceleration", optional=True),
        *quantities("qm", qm="joint positions to start from, such as the plant's"),
    )
    gives = (
        PortSpec("qd", "n_a", "rad, m", "positions of the actuated joints"),
        PortSpec("ud", "n_a", "rad/s, m/s", "their rates"),
        PortSpec("ad", "n_a", "rad/s^2, m/s^2", "their accelerations"),
        *quantities("qm", qm="all joint positions"),
        PortSpec("error", "3", "m, rad", "remaining error of the link, (6,) with pose"),
    )
    robot = ROBOT
    link = fixed("str")
    actuated = fixed("list of str")
    pose = fixed("bool", "", False)
    iterations = fixed("int", "", 4, least=1, most=MOST_ITERATIONS)

    def build(self, actuated: Any) -> dict[str, Any]:
        link_id(self.robot, self.link)
        self.actuated = actuated_places(self.robot, actuated)
        self.positions = [position_of(self.robot, k) for k in self.actuated]
        without = "" if self.pose else "R w wdot"
        shapes = {"error": (6,)} if self.pose else {}
        return self.resolve_ports(
            self.robot, without=without, shapes=shapes, n_a=len(self.actuated)
        )

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        *target, qm = inputs
        found = closed_ik(qm, Target(*target), self.robot, self.link, self.iterations)
        q, u, a = found.qm[self.positions], found.um[self.actuated], found.umdot[self.actuated]
        return [q, u, a, found.qm, found.error]


class Joint_Select(Declared, FunctionBlock):
    """The positions and rates of chosen joints, such as those with motors.

    :arg joints: the names of joints with one axis
    """

    nin = 2
    nout = 2
    takes = quantities("qm um?")
    gives = (
        PortSpec("q", "k", "rad, m", "positions of the chosen joints, in their order"),
        PortSpec("u", "k", "rad/s, m/s", "their rates"),
    )
    robot = ROBOT
    joints = fixed("list of str")

    def build(self, joints: Any) -> dict[str, Any]:
        self.places = actuated_places(self.robot, joints)
        self.positions = [position_of(self.robot, k) for k in self.places]
        return self.resolve_ports(self.robot, k=len(self.places))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        qm, um = inputs
        return [qm[self.positions], um[self.places]]
