"""Control of closed robots by the joints that have motors: the others follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.blocks._gains import gain
from spart_blocks.blocks._ports import Port, port_arguments
from spart_blocks.blocks._quantities import link_id, need_robot, ports
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
from spart_blocks.spatial import Array

MOST_ITERATIONS = 50


_STATE = "wF0? wFm? R0 qm u0 um"


def _forces(ad: Array, given: list[Any], robot: Robot, actuated: list[int]) -> ActuatedForces:
    """Inverse dynamics of the inputs in `_STATE`, with the robot's springs and dampers; its
    ports are open."""
    wF0, wFm, R0, qm, u0, um = given
    none = {port: np.zeros(width) for port, width in port_widths(robot).items()}
    own = applied_forces(R0, np.zeros(3), u0, qm, um, robot, none)
    return actuated_forces(
        R0, u0, qm, um, ad, own.taum, wF0 + own.wF0, wFm + own.wFm, robot, actuated
    )


def _state_ports(robot: Robot) -> tuple[Port, ...]:
    """The inputs in `_STATE`; a fixed base has no rates that count."""
    port_widths(robot)
    return ports(robot, _STATE if robot.base == "floating" else _STATE.replace("u0", "u0?"))


class Closed_ID(FunctionBlock):
    """
    :blockname:`CLOSED_ID`

    Inverse dynamics of a closed robot for the joints that have motors.

    :inputs: 7
    :outputs: 3
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(n_a,)
            - ``ad`` [rad/s^2, m/s^2]: accelerations of the actuated joints (optional, zeros)
        *   - Input
            - 1
            - ndarray(6,)
            - ``wF0`` [N m, N]: known wrench on the base-link (optional, zeros)
        *   - Input
            - 2
            - ndarray(n, 6)
            - ``wFm`` [N m, N]: known wrenches on the links (optional, zeros)
        *   - Input
            - 3
            - ndarray(3, 3)
            - ``R0``: rotation of the base-link, body to inertial
        *   - Input
            - 4
            - ndarray(nq,)
            - ``qm`` [rad, m]: joint positions, which close the loops
        *   - Input
            - 5
            - ndarray(6,)
            - ``u0`` [rad/s, m/s]: base rates
        *   - Input
            - 6
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates
        *   - Output
            - 0
            - ndarray(n_a,)
            - ``tau`` [N m, N]: forces of the actuated joints
        *   - Output
            - 1
            - ndarray(nu,)
            - ``umdot`` [rad/s^2, m/s^2]: accelerations of all joints
        *   - Output
            - 2
            - ndarray(m,)
            - ``lam`` [N, N m]: forces of the loops, a row each, as CLOSED_CHAIN has them

    The other joints, and a floating base, move as they must. The robot's own springs, dampers,
    motors and friction count; prescribed joints keep their rates.

    Source: R. Murray, Z. Li, S. Sastry, "A Mathematical Introduction to Robotic
    Manipulation" (1994), sec. 6.1 to 6.3.

    :param robot: the robot model
    :type robot: Robot
    :param actuated: the joints with motors
    :type actuated: list of str
    """

    nin = 7
    nout = 3

    def __init__(self, robot: Robot, actuated: Sequence[str], **blockargs: Any) -> None:
        self.robot = need_robot(robot, "CLOSED_ID")
        self.actuated = actuated_places(robot, actuated)
        count = len(self.actuated)
        given = Port("ad", (count,), "rad/s^2, m/s^2", optional=True)
        self.in_ports = (given, *_state_ports(robot))
        lam = Port("lam", (len(kept_rows(robot)),), "N, N m")
        self.out_ports = (Port("tau", (count,), "N m, N"), *ports(robot, "umdot"), lam)
        driven_robot(robot, tuple(self.actuated))
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        ad, *given = inputs
        return list(_forces(ad, given, self.robot, self.actuated))


class Closed_Computed_Torque(FunctionBlock):
    """
    :blockname:`CLOSED_COMPUTED_TORQUE`

    Computed-torque control of a closed robot by the joints that have motors.

    :inputs: 9
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
            - ndarray(n_a,)
            - ``qd`` [rad, m]: desired positions of the actuated joints
        *   - Input
            - 1
            - ndarray(n_a,)
            - ``ud`` [rad/s, m/s]: their desired rates (optional, zeros)
        *   - Input
            - 2
            - ndarray(n_a,)
            - ``ad`` [rad/s^2, m/s^2]: their desired accelerations (optional, zeros)
        *   - Input
            - 3
            - ndarray(6,)
            - ``wF0`` [N m, N]: known wrench on the base-link (optional, zeros)
        *   - Input
            - 4
            - ndarray(n, 6)
            - ``wFm`` [N m, N]: known wrenches on the links (optional, zeros)
        *   - Input
            - 5
            - ndarray(3, 3)
            - ``R0``: rotation of the base-link, body to inertial
        *   - Input
            - 6
            - ndarray(nq,)
            - ``qm`` [rad, m]: joint positions, which close the loops
        *   - Input
            - 7
            - ndarray(6,)
            - ``u0`` [rad/s, m/s]: base rates
        *   - Input
            - 8
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates
        *   - Output
            - 0
            - ndarray(n_a,)
            - ``tau`` [N m, N]: forces of the actuated joints

    The actuated joints are given the acceleration ad + kd (ud - ua) + kp (qd - qa) by
    inverse dynamics with the loops closed, so that their error obeys e'' + kd e' + kp e = 0
    where the model is exact. As CLOSED_ID otherwise; Coulomb friction is met by the sign of
    um.

    Source: B. Siciliano et al., "Robotics: Modelling, Planning and Control" (2009), sec.
    8.5.2; J. Merlet, "Parallel Robots" (2006), ch. 9.

    :param robot: the robot model
    :type robot: Robot
    :param actuated: the joints with motors
    :type actuated: list of str
    :param kp: proportional gain [1/s^2]
    :type kp: float or array_like(n_a)
    :param kd: derivative gain [1/s]
    :type kd: float or array_like(n_a)
    """

    nin = 9
    nout = 1
    tunable = ("kp", "kd")

    def __init__(
        self, robot: Robot, actuated: Sequence[str], kp: Any, kd: Any, **blockargs: Any
    ) -> None:
        self.robot = need_robot(robot, "CLOSED_COMPUTED_TORQUE")
        self.actuated = actuated_places(robot, actuated)
        self.positions = [position_of(robot, k) for k in self.actuated]
        count = len(self.actuated)
        self.kp, self.kd = gain(kp, "kp", count), gain(kd, "kd", count)
        desired = (
            Port("qd", (count,), "rad, m"),
            Port("ud", (count,), "rad/s, m/s", optional=True),
            Port("ad", (count,), "rad/s^2, m/s^2", optional=True),
        )
        self.in_ports = (*desired, *_state_ports(robot))
        self.out_ports = (Port("tau", (count,), "N m, N"),)
        driven_robot(robot, tuple(self.actuated))
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        qd, ud, ad, *given = inputs
        qm, um = given[3], given[5]
        away = self.kd * (ud - um[self.actuated]) + self.kp * (qd - qm[self.positions])
        return [_forces(ad + away, given, self.robot, self.actuated).tau]


class Closed_IK(FunctionBlock):
    """
    :blockname:`CLOSED_IK`

    Inverse kinematics of a closed robot: its joints where a link is at a target.

    :inputs: 7
    :outputs: 5
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
            - ``r`` [m]: desired origin of the link's frame, in the base-link's frame
        *   - Input
            - 1
            - ndarray(3,)
            - ``v`` [m/s]: its velocity (optional, zeros)
        *   - Input
            - 2
            - ndarray(3,)
            - ``a`` [m/s^2]: its acceleration (optional, zeros)
        *   - Input
            - 3
            - ndarray(3, 3)
            - ``R``: desired rotation of the frame, to the base-link's axes, with ``pose``
        *   - Input
            - 4
            - ndarray(3,)
            - ``w`` [rad/s]: its angular velocity, base-link's axes (optional, zeros)
        *   - Input
            - 5
            - ndarray(3,)
            - ``wdot`` [rad/s^2]: its angular acceleration (optional, zeros)
        *   - Input
            - 6
            - ndarray(nq,)
            - ``qm`` [rad, m]: joint positions to start from, such as the plant's
        *   - Output
            - 0
            - ndarray(n_a,)
            - ``qd`` [rad, m]: positions of the actuated joints
        *   - Output
            - 1
            - ndarray(n_a,)
            - ``ud`` [rad/s, m/s]: their rates
        *   - Output
            - 2
            - ndarray(n_a,)
            - ``ad`` [rad/s^2, m/s^2]: their accelerations
        *   - Output
            - 3
            - ndarray(nq,)
            - ``qm`` [rad, m]: all joint positions
        *   - Output
            - 4
            - ndarray(3,)
            - ``error`` [m, rad]: by how much the link is away from the target, (6,) with ``pose``

    Newton's steps from qm close the loops with the link at the target, by the smallest
    joint motion; each squares the error. A target out of reach leaves them anywhere: ``error``
    tells. What the loops leave no freedom to follow, such as the way out of a planar linkage's
    plane, is left out. Without ``pose`` there are no inputs 3 to 5: the link's attitude is what
    the loops make it.

    Source: J. Merlet, "Parallel Robots" (2006), ch. 3 and 5.

    :param robot: the robot model
    :type robot: Robot
    :param link: the link that follows the target
    :type link: str
    :param actuated: the joints with motors
    :type actuated: list of str
    :param pose: whether its attitude has a target too
    :type pose: bool
    :param iterations: how many steps are taken (4)
    :type iterations: int
    """

    nin = 7
    nout = 5

    def __init__(
        self,
        robot: Robot,
        link: str,
        actuated: Sequence[str],
        pose: bool = False,
        iterations: int = 4,
        **blockargs: Any,
    ) -> None:
        self.robot = need_robot(robot, "CLOSED_IK")
        if isinstance(iterations, bool) or iterations not in range(1, MOST_ITERATIONS + 1):
            raise ValueError(f"iterations is {iterations!r}; it takes 1 to {MOST_ITERATIONS} steps")
        link_id(robot, link)
        self.link, self.pose, self.iterations = link, bool(pose), int(iterations)
        self.actuated = actuated_places(robot, actuated)
        self.positions = [position_of(robot, k) for k in self.actuated]
        attitude = (
            Port("R", (3, 3)),
            Port("w", (3,), "rad/s", optional=True),
            Port("wdot", (3,), "rad/s^2", optional=True),
        )
        self.in_ports = (
            Port("r", (3,), "m"),
            Port("v", (3,), "m/s", optional=True),
            Port("a", (3,), "m/s^2", optional=True),
            *(attitude if pose else ()),
            *ports(robot, "qm"),
        )
        count = (len(self.actuated),)
        self.out_ports = (
            Port("qd", count, "rad, m"),
            Port("ud", count, "rad/s, m/s"),
            Port("ad", count, "rad/s^2, m/s^2"),
            *ports(robot, "qm"),
            Port("error", (6 if pose else 3,), "m, rad"),
        )
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        *target, qm = inputs
        found = closed_ik(qm, Target(*target), self.robot, self.link, self.iterations)
        places = self.actuated
        return [
            found.qm[self.positions],
            found.um[places],
            found.umdot[places],
            found.qm,
            found.error,
        ]


class Joint_Select(FunctionBlock):
    """
    :blockname:`JOINT_SELECT`

    The positions and rates of chosen joints, such as those with motors.

    :inputs: 2
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
            - ndarray(nq,)
            - ``qm`` [rad, m]: joint positions
        *   - Input
            - 1
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates (optional, zeros)
        *   - Output
            - 0
            - ndarray(k,)
            - ``q`` [rad, m]: positions of the chosen joints, in their order
        *   - Output
            - 1
            - ndarray(k,)
            - ``u`` [rad/s, m/s]: their rates

    :param robot: the robot model
    :type robot: Robot
    :param joints: the names of joints with one axis
    :type joints: list of str
    """

    nin = 2
    nout = 2

    def __init__(self, robot: Robot, joints: Sequence[str], **blockargs: Any) -> None:
        self.robot = need_robot(robot, "JOINT_SELECT")
        self.places = actuated_places(robot, joints)
        self.positions = [position_of(robot, k) for k in self.places]
        self.in_ports = ports(robot, "qm um?")
        count = (len(self.places),)
        self.out_ports = (Port("q", count, "rad, m"), Port("u", count, "rad/s, m/s"))
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        qm, um = inputs
        return [qm[self.positions], um[self.places]]
