"""Reaction of a floating base to its arm, and arm motions for a desired reaction."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.gains import one_gain
from spart_blocks.block_support.motion import (
    LinkPoint,
    ReactionTask,
    momentum_in_base_axes,
    need_floating,
)
from spart_blocks.block_support.quantities import quantities
from spart_blocks.dynamics import base_rates_from_momentum, multibody_inertia
from spart_blocks.dynamics.components import ALL, rows_of
from spart_blocks.dynamics.semidefinite import least_squares
from spart_blocks.robot import Robot


class Base_Reaction(Declared, FunctionBlock):
    """The rates of a free-floating base that conserve momentum while the joints move.

    H0 u0 = M - H0m um with M = [R0' (h - r0 x p), p], which is constant in p and h.

    Source: SPART's manual, Base_Reaction; Umetani and Yoshida (1989).

    :param robot: the robot model, with a floating base
    :type robot: Robot
    """

    nin = 6
    nout = 1
    takes = quantities("R0 r0 qm um p? h?")
    gives = quantities("u0")

    def __init__(self, robot: Robot, **blockargs: Any) -> None:
        self.robot = need_floating(robot, "BASE_REACTION")
        super().__init__(**self.resolve_ports(robot), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, um, p, h = inputs
        H = multibody_inertia(np.eye(3), qm, self.robot)
        M = momentum_in_base_axes(p, h, R0, r0)
        u0 = base_rates_from_momentum(H.H0, H.H0m, M, um)
        return [np.concatenate([u0[:3], R0 @ u0[3:]])]


class Desired_Reaction(Declared, FunctionBlock):
    """The joint rates that give an end-effector a twist and a free base a motion simultaneously.

    The chosen rows of two sets of equations hold at once: Jstar um = td - drift for the
    end-effector, and -H0^-1 H0m um = u0d - H0^-1 M for the base. With too few joints the result is
    the least-squares solution; with redundant joints it is the minimum-norm solution. Rows that no
    configuration can fulfil, as for a planar robot, are left out automatically.

    Source: SPART's manual, Desired_Reaction; Nenchev, Umetani and Yoshida (1992).

    :param robot: the robot model, with a floating base
    :type robot: Robot
    :param frame: the link in whose URDF frame the point is fixed
    :type frame: str
    :param offset: the point in that frame [m], its origin by default
    :type offset: array_like(3), optional
    :param components: the components of the twist that are controlled, all six by default
    :type components: str, optional
    :param base_components: the controlled components of u0d: the angular rate in base axes by
        default
    :type base_components: str, optional
    :param damping: of damped least squares, none by default
    :type damping: float, optional
    """

    nin = 7
    nout = 1
    takes = quantities("R0 r0 qm td u0d? p? h?")
    gives = quantities("um")
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
            LinkPoint.of(robot, frame, offset),
            tuple(rows_of(components)),
            tuple(rows_of(base_components, "base_components")),
        )
        self.damping = one_gain(damping, "damping")
        super().__init__(**self.resolve_ports(robot), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, td, u0d, p, h = inputs
        A, b = self.task.equations(R0, r0, qm, td, u0d, p, h)
        return [least_squares(A, b, self.damping)]
