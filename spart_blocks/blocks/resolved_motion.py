"""Joint rates that move an end-effector, on a base that floats or is fixed."""

from __future__ import annotations

from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.blocks._gains import one_gain
from spart_blocks.blocks._motion import (
    TWIST,
    Point,
    TwistTask,
    momentum_in_base_axes,
    momentum_of,
    turned,
    with_momentum,
)
from spart_blocks.blocks._ports import Port, port_arguments
from spart_blocks.blocks._quantities import need_robot, ports
from spart_blocks.dynamics import resolved_rate, resolved_rate_min_energy
from spart_blocks.dynamics.components import ALL, rows_of
from spart_blocks.robot import Robot


class Generalized_Jacobian(FunctionBlock):
    """
    :blockname:`GENERALIZED_JACOBIAN`

    How an end-effector moves with the joints while the base floats.

    :inputs: 5
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
            - ndarray(3, 3)
            - ``R0``: rotation of the base-link, body to inertial
        *   - Input
            - 1
            - ndarray(3,)
            - ``r0`` [m]: centre of mass of the base-link
        *   - Input
            - 2
            - ndarray(nq,)
            - ``qm`` [rad, m]: joint positions
        *   - Input
            - 3
            - ndarray(3,)
            - ``p`` [kg m/s]: linear momentum (optional, zeros)
        *   - Input
            - 4
            - ndarray(3,)
            - ``h`` [N m s]: angular momentum about the inertial origin (optional, zeros)
        *   - Output
            - 0
            - ndarray(6, nu)
            - ``Jstar``: generalized Jacobian, inertial
        *   - Output
            - 1
            - ndarray(6,)
            - ``drift`` [rad/s, m/s]: twist with the joints at rest, inertial
        *   - Output
            - 2
            - ndarray(nu, nu)
            - ``Hstar`` [kg m^2, kg m, kg]: inertia that the joints feel

    The twist is Jstar um + drift: Jstar = Jm - J0 H0^-1 H0m, drift = J0 H0^-1 M. Hstar is
    Hm - H0m' H0^-1 H0m. For a fixed base these are Jm, zeros and Hm, and there are no
    inputs p and h.

    Source: Umetani and Yoshida (1989).

    :param robot: the robot model
    :type robot: Robot
    :param frame: the link in whose URDF frame the point is fixed
    :type frame: str
    :param offset: the point in that frame [m], its origin by default
    :type offset: array_like(3), optional
    """

    nin = 5
    nout = 3

    def __init__(
        self, robot: Robot, frame: str | int, offset: Any = None, **blockargs: Any
    ) -> None:
        self.robot = need_robot(robot, "GENERALIZED_JACOBIAN")
        self.point = Point.of(robot, frame, offset)
        self.in_ports = with_momentum(robot)
        self.out_ports = (
            Port("Jstar", (6, robot.nu)),
            Port("drift", (6,), TWIST),
            Port("Hstar", (robot.nu, robot.nu), "kg m^2, kg m, kg"),
        )
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm = inputs[:3]
        M = momentum_in_base_axes(*momentum_of(self.robot, inputs), R0, r0)
        motion = self.point.motion(qm, M)
        return [turned(R0, motion.J), turned(R0, motion.drift), motion.W]


class Resolved_Rate(FunctionBlock):
    """
    :blockname:`RESOLVED_RATE`

    The least joint rates that give an end-effector a twist.

    :inputs: 7
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
            - ndarray(3, 3)
            - ``R0``: rotation of the base-link, body to inertial
        *   - Input
            - 1
            - ndarray(3,)
            - ``r0`` [m]: centre of mass of the base-link
        *   - Input
            - 2
            - ndarray(nq,)
            - ``qm`` [rad, m]: joint positions
        *   - Input
            - 3
            - ndarray(6,)
            - ``td`` [rad/s, m/s]: desired twist, inertial
        *   - Input
            - 4
            - ndarray(nu,)
            - ``um_null`` [rad/s, m/s]: secondary joint rates (optional, zeros)
        *   - Input
            - 5
            - ndarray(3,)
            - ``p`` [kg m/s]: linear momentum (optional, zeros)
        *   - Input
            - 6
            - ndarray(3,)
            - ``h`` [N m s]: angular momentum about the inertial origin (optional, zeros)
        *   - Output
            - 0
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates

    um = J+ (td - drift) + (1 - J+ J) um_null, J and drift those of GENERALIZED_JACOBIAN
    and J+ = J' (J J' + damping^2)^-1: the pseudo-inverse where damping is zero. Of a twist
    that the joints cannot give, the nearest in the least squares. Rows that no
    configuration of the robot reaches, as a planar robot's, are left out by themselves.
    For a fixed base J = Jm, and there are no inputs p and h.

    Source: Umetani and Yoshida (1989); Wampler (1986) for the damping; Liegeois (1977) for
    the secondary rates.

    :param robot: the robot model
    :type robot: Robot
    :param frame: the link in whose URDF frame the point is fixed
    :type frame: str
    :param offset: the point in that frame [m], its origin by default
    :type offset: array_like(3), optional
    :param components: the components of the twist that are controlled, as "wz vx vy"; all
        six by default
    :type components: str, optional
    :param damping: of damped least squares, in the units of J, none by default
    :type damping: float, optional
    """

    nin = 7
    nout = 1
    tunable = ("damping",)

    def __init__(
        self,
        robot: Robot,
        frame: str | int,
        offset: Any = None,
        components: str | list[str] = ALL,
        damping: float = 0.0,
        **blockargs: Any,
    ) -> None:
        self.robot = need_robot(robot, "RESOLVED_RATE")
        point = Point.of(robot, frame, offset)
        self.task = TwistTask(point, tuple(rows_of(components)))
        self.damping = one_gain(damping, "damping")
        secondary = Port("um_null", (robot.nu,), TWIST, optional=True)
        self.in_ports = with_momentum(robot, Port("td", (6,), TWIST), secondary)
        self.out_ports = ports(robot, "um")
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, td, um_null = inputs[:5]
        task = self.task.equations(R0, r0, qm, td, *momentum_of(self.robot, inputs))
        return [resolved_rate(task.A, task.b, self.damping, um_null)]


class Resolved_Rate_Min_Energy(FunctionBlock):
    """
    :blockname:`RESOLVED_RATE_MIN_ENERGY`

    The joint rates that give an end-effector a twist at the least kinetic energy.

    :inputs: 6
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
            - ndarray(3, 3)
            - ``R0``: rotation of the base-link, body to inertial
        *   - Input
            - 1
            - ndarray(3,)
            - ``r0`` [m]: centre of mass of the base-link
        *   - Input
            - 2
            - ndarray(nq,)
            - ``qm`` [rad, m]: joint positions
        *   - Input
            - 3
            - ndarray(6,)
            - ``td`` [rad/s, m/s]: desired twist, inertial
        *   - Input
            - 4
            - ndarray(3,)
            - ``p`` [kg m/s]: linear momentum (optional, zeros)
        *   - Input
            - 5
            - ndarray(3,)
            - ``h`` [N m s]: angular momentum about the inertial origin (optional, zeros)
        *   - Output
            - 0
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates

    um = W^-1 J' (J W^-1 J')^-1 (td - drift), J, W = Hstar and drift those of
    GENERALIZED_JACOBIAN: of all rates that give the twist, those of the least energy of the
    whole robot, its base included. Where no rates give it, as RESOLVED_RATE. For a fixed
    base J = Jm and W = Hm, and there are no inputs p and h.

    Source: Whitney (1969), with the inertia of the floating robot for its weight; SPART.

    :param robot: the robot model
    :type robot: Robot
    :param frame: the link in whose URDF frame the point is fixed
    :type frame: str
    :param offset: the point in that frame [m], its origin by default
    :type offset: array_like(3), optional
    :param components: the components of the twist that are controlled, as "wz vx vy"; all
        six by default
    :type components: str, optional
    """

    nin = 6
    nout = 1

    def __init__(
        self,
        robot: Robot,
        frame: str | int,
        offset: Any = None,
        components: str | list[str] = ALL,
        **blockargs: Any,
    ) -> None:
        self.robot = need_robot(robot, "RESOLVED_RATE_MIN_ENERGY")
        point = Point.of(robot, frame, offset)
        self.task = TwistTask(point, tuple(rows_of(components)))
        self.in_ports = with_momentum(robot, Port("td", (6,), TWIST))
        self.out_ports = ports(robot, "um")
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, td = inputs[:4]
        task = self.task.equations(R0, r0, qm, td, *momentum_of(self.robot, inputs))
        return [resolved_rate_min_energy(task.A, task.b, task.W)]
