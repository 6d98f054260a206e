"""A floating base that answers to its arm: what it does, and arms that make it do as told."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.blocks._gains import one_gain
from spart_blocks.blocks._motion import (
    TWIST,
    Point,
    ReactionTask,
    momentum_in_base_axes,
    need_floating,
    with_momentum,
)
from spart_blocks.blocks._ports import Port, port_arguments
from spart_blocks.blocks._quantities import ports
from spart_blocks.dynamics import base_rates_from_momentum, multibody_inertia
from spart_blocks.dynamics.components import ALL, rows_of
from spart_blocks.dynamics.semidefinite import least_squares
from spart_blocks.robot import Robot


class Base_Reaction(FunctionBlock):
    """
    :blockname:`BASE_REACTION`

    The rates of a free-floating base that keep the momentum while the joints move.

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
            - ndarray(nu,)
            - ``um`` [rad/s, m/s]: joint rates
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
            - ndarray(6,)
            - ``u0`` [rad/s, m/s]: base rates: angular in base axes, linear inertial

    H0 u0 = M - H0m um with M = [R0' (h - r0 x p), p], which is constant in p and h.

    Source: SPART's manual, Base_Reaction; Umetani and Yoshida (1989).

    :param robot: the robot model, with a floating base
    :type robot: Robot
    """

    nin = 6
    nout = 1

    def __init__(self, robot: Robot, **blockargs: Any) -> None:
        self.robot = need_floating(robot, "BASE_REACTION")
        self.in_ports = ports(robot, "R0 r0 qm um p? h?")
        self.out_ports = ports(robot, "u0")
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, um, p, h = inputs
        H = multibody_inertia(np.eye(3), qm, self.robot)
        M = momentum_in_base_axes(p, h, R0, r0)
        u0 = base_rates_from_momentum(H.H0, H.H0m, M, um)
        return [np.concatenate([u0[:3], R0 @ u0[3:]])]


class Desired_Reaction(FunctionBlock):
    """
    :blockname:`DESIRED_REACTION`

    The joint rates that give an end-effector a twist and a free base a motion at once.

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
            - ndarray(6,)
            - ``u0d`` [rad/s, m/s]: desired base rates (optional, zeros)
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

    The chosen rows of two sets of equations hold at once: Jstar um = td - drift for the
    end-effector, and -H0^-1 H0m um = u0d - H0^-1 M for the base. Where the joints are too
    few, the sum of the squares of what is missed is the least; where there are joints to
    spare, the rates are the least. Rows that no configuration reaches, as a planar robot's,
    are left out by themselves.

    Source: SPART's manual, Desired_Reaction; Nenchev, Umetani and Yoshida (1992).

    :param robot: the robot model, with a floating base
    :type robot: Robot
    :param frame: the link in whose URDF frame the point is fixed
    :type frame: str
    :param offset: the point in that frame [m], its origin by default
    :type offset: array_like(3), optional
    :param components: the components of the twist that are controlled, all six by default
    :type components: str, optional
    :param base_components: the components of u0d that are met: the angular rate in base
        axes by default
    :type base_components: str, optional
    :param damping: of damped least squares, none by default
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
        base_components: str | list[str] = "wx wy wz",
        damping: float = 0.0,
        **blockargs: Any,
    ) -> None:
        self.robot = need_floating(robot, "DESIRED_REACTION")
        self.task = ReactionTask(
            Point.of(robot, frame, offset),
            tuple(rows_of(components)),
            tuple(rows_of(base_components, "base_components")),
        )
        self.damping = one_gain(damping, "damping")
        base = Port("u0d", (6,), TWIST, optional=True)
        self.in_ports = with_momentum(robot, Port("td", (6,), TWIST), base)
        self.out_ports = ports(robot, "um")
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, td, u0d, p, h = inputs
        A, b = self.task.equations(R0, r0, qm, td, u0d, p, h)
        return [least_squares(A, b, self.damping)]
