"""Reaction of a floating base to its arm, and arm motions for a desired reaction."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.gains import one_gain
from spart_blocks.block_support.motion import (
    OfPoint,
    ReactionTask,
    momentum_in_base_axes,
    need_floating,
)
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.dynamics import base_rates_from_momentum, multibody_inertia
from spart_blocks.dynamics.components import ALL, rows_of
from spart_blocks.dynamics.semidefinite import least_squares


class Base_Reaction(Declared, FunctionBlock):
    """The rates of a free-floating base that conserve momentum while the joints move.

    H0 u0 = M - H0m um with M = [R0' (h - r0 x p), p], which is constant in p and h.

    Source: SPART's manual, Base_Reaction; Umetani and Yoshida (1989).

    :arg robot: the robot model, with a floating base
    """

    nin = 6
    nout = 1
    takes = quantities("R0 r0 qm um p? h?")
    gives = quantities("u0")
    robot = fixed("Robot", check=need_floating)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, um, p, h = inputs
        H = multibody_inertia(np.eye(3), qm, self.robot)
        M = momentum_in_base_axes(p, h, R0, r0)
        u0 = base_rates_from_momentum(H.H0, H.H0m, M, um)
        return [np.concatenate([u0[:3], R0 @ u0[3:]])]


class Desired_Reaction(OfPoint, FunctionBlock):
    """The joint rates that give an end-effector a twist and a free base a motion simultaneously.

    The chosen rows of two sets of equations hold at once: Jstar um = td - drift for the
    end-effector, and -H0^-1 H0m um = u0d - H0^-1 M for the base. With too few joints the result is
    the least-squares solution; with redundant joints it is the minimum-norm solution. Rows that no
    configuration can fulfil, as for a planar robot, are left out automatically.

    Source: SPART's manual, Desired_Reaction; Nenchev, Umetani and Yoshida (1992).

    :arg robot: the robot model, with a floating base
    :arg components: the components of the twist that are controlled, all six by default
    :arg base_components: the controlled components of u0d: the angular rate in base axes by default
    :arg damping: of damped least squares, none by default
    """

    nin = 7
    nout = 1
    takes = quantities("R0 r0 qm td u0d? p? h?")
    gives = quantities("um")
    robot = fixed("Robot", check=need_floating)
    components = fixed("str or list of str", "", ALL)
    base_components = fixed("str or list of str", "", "wx wy wz")
    damping = tunable("float", "", 0.0, check=one_gain)

    def build(  # type: ignore[override]
        self, frame: Any, offset: Any, components: Any, base_components: Any
    ) -> dict[str, Any]:
        given = super().build(frame, offset)
        chosen = rows_of(components), rows_of(base_components, "base_components")
        self.task = ReactionTask(self.point, *map(tuple, chosen))
        return given

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, td, u0d, p, h = inputs
        A, b = self.task.equations(R0, r0, qm, td, u0d, p, h)
        return [least_squares(A, b, self.damping)]
