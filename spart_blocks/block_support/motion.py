"""Common parts of the blocks of resolved motion: the controlled point, and the selected components
of its twist. Everything is computed in base axes, that is with R0 = 1 and r0 = 0, and rotated at
the end. In base axes, the zero rows of a planar robot are exact zeros for any attitude, and cost
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.errors import brief
from spart_blocks.base.spatial import Array, zeros
from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.parameters import FRAME, OFFSET, ROBOT, fixed, need_robot
from spart_blocks.block_support.quantities import link_id
from spart_blocks.block_support.values import numbers
from spart_blocks.dynamics import (
    EndEffector,
    InertiaMatrix,
    MotionEquations,
    base_momentum,
    drift_twist,
    end_effector,
    floating_inertia,
    generalized_jacobian,
    multibody_inertia,
    reaction_equations,
    row_space,
)
from spart_blocks.dynamics.screws import ALL, rows_of
from spart_blocks.robot import Robot

_PROBES = 6
"""Number of random configurations that show which equations a robot can fulfil."""


def need_floating(robot: Any, block: str) -> Robot:
    """The robot given to a block; a ValueError if it is not a robot, or its base is fixed."""
    found = need_robot(robot, block)
    if found.base != "floating":
        raise ValueError(f"{block} needs a floating base; that of {found.name} is fixed")
    return found


def no_momentum(robot: Robot) -> str:
    """The momentum ports, which a robot on a fixed base does not have."""
    return "" if robot.base == "floating" else "p h"


def momentum_of(robot: Robot, inputs: list[Any]) -> tuple[Array, Array]:
    """p (3,) and h (3,), the last two inputs of a floating robot's block; zeros for a fixed
    base.
    """
    if robot.base == "floating":
        return inputs[-2], inputs[-1]
    return np.zeros(3), np.zeros(3)


def _offset(value: Any) -> Array:
    """An offset (3,) [m]; a ValueError if it is invalid."""
    offset = numbers(value, "offset")
    if offset.shape != (3,):
        raise ValueError(f"offset must be three numbers, not {brief(value)}")
    return offset


def picked(a: Array, chosen: tuple[int, ...], turn: Array, spin: Array | None = None) -> Array:
    """The chosen components of a twist (6,), or of columns of them (6,k), in base axes.

    turn (3,3), base to inertial: the linear part is rotated before some of its components are
    selected, the angular part by spin (by default the same rotation). If all three components of a
    part are selected, they stay in base axes, which does not change a least-squares solution.
    """
    parts = []
    for start, R in ((0, turn if spin is None else spin), (3, turn)):
        rows = [k - start for k in chosen if start <= k < start + 3]
        triple = a[start : start + 3]
        if len(rows) == 3:
            parts.append(triple)
        elif rows:
            parts.append((R @ triple)[rows])
    return np.concatenate(parts)


def turned(R: Array, a: Array) -> Array:
    """A twist (6,), or columns of them (6,k), from one frame's axes to another's."""
    return np.concatenate([R @ a[:3], R @ a[3:]])


def momentum_in_base_axes(p: Array, h: Array, R0: Array, r0: Array) -> Array:
    """M (6,) of p (3,) and h (3,), its linear part in base axes as well."""
    M = base_momentum(p, h, R0, r0)
    return np.concatenate([M[:3], R0.T @ M[3:]])


class PointMotion(NamedTuple):
    """Motion of a point in base axes: its twist is J um + drift, and W is the inertia at the
    joints. J (6,nu), drift (6,), W (nu,nu).
    """

    J: Array
    drift: Array
    W: Array


@dataclass(frozen=True)
class LinkPoint:
    """A point fixed to the URDF frame of a link of a robot."""

    robot: Robot
    link: int
    offset: Array

    @classmethod
    def of(cls, robot: Robot, frame: Any, offset: Any) -> LinkPoint:
        """ValueError for an unknown frame or an invalid offset."""
        if not isinstance(frame, (str, int)):
            raise ValueError(f"frame must be the name of a link, not {brief(frame)}")
        return cls(robot, link_id(robot, frame), np.zeros(3) if offset is None else _offset(offset))

    def at(self, R0: Array, r0: Array, qm: Array) -> EndEffector:
        return end_effector(R0, r0, qm, self.link, self.offset, self.robot)

    def motion(self, qm: Array, M: Array) -> PointMotion:
        """M (6,): the momentum conjugate to u0, in base axes; unused for a fixed base."""
        E, H = self._in_base_axes(qm)
        if self.robot.base == "fixed":
            return PointMotion(E.Jm, zeros(6, E.Jm), H.Hm)
        J = generalized_jacobian(E.J0, E.Jm, H.H0, H.H0m)
        return PointMotion(J, drift_twist(E.J0, H.H0, M), floating_inertia(*H))

    def with_base(self, qm: Array, M: Array, td: Array, u0d: Array) -> MotionEquations:
        """The equations of a twist td (6,) and a base motion u0d (6,), all in base axes."""
        E, H = self._in_base_axes(qm)
        return reaction_equations(E.J0, E.Jm, H.H0, H.H0m, M, td, u0d)

    def _in_base_axes(self, qm: Array) -> tuple[EndEffector, InertiaMatrix]:
        at_home = np.eye(3)
        return self.at(at_home, np.zeros(3), qm), multibody_inertia(at_home, qm, self.robot)


class OfPoint(Declared):
    """A block of a point of a robot, its `point`."""

    robot = ROBOT
    frame = FRAME
    offset = OFFSET

    def build(self, frame: Any, offset: Any) -> dict[str, Any]:
        self.point = LinkPoint.of(self.robot, frame, offset)
        return self.resolve_ports(self.robot, without=no_momentum(self.robot))


class RateEquations(NamedTuple):
    """A (k,nu) and b (k,): the equations A um = b for the joint rates, with the weight W
    (nu,nu).
    """

    A: Array
    b: Array
    W: Array


@dataclass(frozen=True)
class TwistTask:
    """The chosen components of a point's twist as equations in the joint rates."""

    point: LinkPoint
    chosen: tuple[int, ...]

    def equations(
        self, R0: Array, r0: Array, qm: Array, td: Array, p: Array, h: Array
    ) -> RateEquations:
        motion = self.point.motion(qm, momentum_in_base_axes(p, h, R0, r0))
        b = picked(turned(R0.T, td) - motion.drift, self.chosen, R0)
        return RateEquations(
            self.basis @ picked(motion.J, self.chosen, R0), self.basis @ b, motion.W
        )

    @cached_property
    def basis(self) -> Array:
        """Basis (k,m) of the equations that the robot can fulfil."""
        still = np.zeros(6)

        def rows(R0: Array, qm: Array) -> Array:
            return picked(self.point.motion(qm, still).J, self.chosen, R0)

        return _reachable(self.point.robot, rows)


class OfTwist(OfPoint):
    """A block that gives a point of a robot a twist, its `task`."""

    components = fixed(
        *("str or list of str", "", ALL),
        text='the components of the twist that are controlled, as "wz vx vy"; all six by default',
    )

    def build(self, frame: Any, offset: Any, components: Any) -> dict[str, Any]:  # type: ignore[override]
        given = super().build(frame, offset)
        self.task = TwistTask(self.point, tuple(rows_of(components)))
        return given


@dataclass(frozen=True)
class ReactionTask:
    """The chosen components of a point's twist and of the base's rates as equations."""

    point: LinkPoint
    chosen: tuple[int, ...]
    of_base: tuple[int, ...]

    def equations(
        self, R0: Array, r0: Array, qm: Array, td: Array, u0d: Array, p: Array, h: Array
    ) -> MotionEquations:
        M = momentum_in_base_axes(p, h, R0, r0)
        base = np.concatenate([u0d[:3], R0.T @ u0d[3:]])
        A, b = self.point.with_base(qm, M, turned(R0.T, td), base)
        return MotionEquations(self.basis @ self._rows(A, R0), self.basis @ self._rows(b, R0))

    def _rows(self, a: Array, R0: Array) -> Array:
        of_point = picked(a[:6], self.chosen, R0)
        of_base = picked(a[6:], self.of_base, R0, np.eye(3))
        return np.concatenate([of_point, of_base])

    @cached_property
    def basis(self) -> Array:
        """Basis (k,m) of the equations that the robot can fulfil."""
        still = np.zeros(6)

        def rows(R0: Array, qm: Array) -> Array:
            return self._rows(self.point.with_base(qm, still, still, still).A, R0)

        return _reachable(self.point.robot, rows)


def _reachable(robot: Robot, rows: Callable[[Array, Array], Array]) -> Array:
    """A basis (k,m) of the range of rows(R0, qm) (m,nu) over all configurations."""
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(0)
    samples = []
    for _ in range(_PROBES):
        R0 = Rotation.random(random_state=rng).as_matrix()
        qm = robot.with_unit_quaternions(rng.uniform(-1.5, 1.5, robot.nq))
        samples.append(rows(R0, qm))
    return row_space(samples)
