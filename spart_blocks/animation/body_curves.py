"""The poses of a plant's bodies at any time of a run, from its recorded states.

Between two rows a state is the cubic given by the values and rates at both (Hermite). Where linear
interpolation has an error of 1e-3, that of the cubic is 1e-6 or less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from spart_blocks.animation.packed import Floats
from spart_blocks.block_support.plants.state import PlantState
from spart_blocks.dynamics import frame_of_link, kinematics
from spart_blocks.program.tracing.symbol import column_of, symbols
from spart_blocks.robot import Robot

SAME_TIME = 1e-9
"""Rows closer than this [s, or relative to their time] are the two sides of a jump."""
_AT_ONCE = 5_000  # samples; their poses are evaluated together

Table = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Poses:
    """Positions p (N, bodies, 3) [m] and unit quaternions q (N, bodies, 4), scalar-last."""

    p: Floats
    q: Floats


def body_poses(robot: Robot, links: tuple[int, ...], state: PlantState, base: Any) -> PoseMap:
    """A function from states of a plant to the poses of the body frames of these links. base: the
    pose (R0, r0) of a fixed base."""

    return PoseMap(
        over(lambda x: frames_of(x, robot, links, state, base), len(state.names)), len(links)
    )


def frames_of(
    x: Any, robot: Robot, links: Sequence[int], state: PlantState, base: Any
) -> list[Any]:
    """The frames (3, 4) of these links in a state x of a plant, floats or symbols."""
    s = state.split(x, base)
    K = kinematics(s.R0, s.r0, s.qm, robot)
    frames = (frame_of_link(i, s.R0, s.r0, K.RL, K.rL, robot) for i in links)
    return [T[:3, :] for T in frames]


def pose_rates(state: PlantState, base: Any) -> Table:
    """A function from states of a plant (N, n) to the rates of their pose entries (N, k), for
    states that contain velocities."""

    def rows(x: Any) -> list[Any]:
        s = state.split(x, base)
        return state.pose_rates(x, s.u0, s.um)

    return over(rows, len(state.names))


def over(function: Callable[[Any], list[Any]], width: int) -> Table:
    """Vectorise a function of a vector (width,): the result maps (N, width) to (N, m)."""
    column, array = symbols("x", (width,))
    program = ca.Function("sb_over", [column], [ca.densify(column_of(function(array)))])

    def evaluated(rows: Floats) -> Floats:
        parts = np.array_split(rows, max(1, -(-len(rows) // _AT_ONCE)))
        found = [np.asarray(program(part.T)).T for part in parts]
        return np.concatenate(found)

    return evaluated


@dataclass(frozen=True)
class PoseMap:
    """A function from states to the poses of some bodies. count: number of bodies."""

    table: Table
    count: int

    def __call__(self, x: Floats) -> Poses:
        """The poses for states (N, n)."""
        T = self.table(x).reshape(len(x), self.count, 3, 4)
        R = np.ascontiguousarray(T[..., :3]).reshape(-1, 3, 3)
        q = Rotation.from_matrix(R).as_quat() if len(R) else np.zeros((0, 4))
        return Poses(T[..., 3], q.reshape(len(x), self.count, 4))


@dataclass(frozen=True)
class StateCurve:
    """The states of a plant over time: t (N,) [s] ascending, x (N, n), and rates (N, k) of the
    first k entries, which are the pose. spin (N,): the largest rate of a rotational entry
    [rad/s]."""

    t: Floats
    x: Floats
    rates: Floats
    spin: Floats

    def part(self, rows: slice) -> StateCurve:
        """The curve of some rows."""
        return StateCurve(self.t[rows], self.x[rows], self.rates[rows], self.spin[rows])

    def at(self, t: Floats) -> Floats:
        """The states (m, n) at times t (m,) within the rows. Entries other than the pose are
        interpolated linearly."""
        if len(self.t) == 1:
            return np.repeat(self.x, len(t), axis=0)
        k = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.t) - 2)
        return self._between(k, k + 1, t)

    def beside(self, rows: NDArray[Any]) -> Floats:
        """The states at inner rows, interpolated from the row before and the row after each."""
        return self._between(rows - 1, rows + 1, self.t[rows])

    def _between(self, i: NDArray[Any], j: NDArray[Any], t: Floats) -> Floats:
        """The states at times t (m,), interpolated between rows i and j (m,)."""
        h = (self.t[j] - self.t[i])[:, None]
        s = (t - self.t[i])[:, None] / h
        n = self.rates.shape[1]
        found: Floats = (1 - s) * self.x[i] + s * self.x[j]
        line = (self.x[j] - self.x[i])[:, :n]
        first, last = h * self.rates[i] - line, h * self.rates[j] - line
        found[:, :n] += s * (1 - s) * ((1 - s) * first - s * last)
        return found


def state_curve(t: Floats, x: Floats, state: PlantState, base: Any) -> StateCurve:
    """The curve through the rows t (N,), x (N, n) of a plant in a run."""
    if state.rates:
        rates = pose_rates(state, base)(x)
    else:
        rates = np.concatenate([_finite_rates(t[rows], x[rows]) for rows in stretches(t)])
    turning = np.ones(rates.shape[1])
    if state.floating:
        turning[:4], turning[4:7] = 2.0, 0.0
    return StateCurve(t, x, rates, np.abs(rates * turning).max(axis=1, initial=0.0))


def stretches(t: Floats) -> list[slice]:
    """Slices of the times t (N,) between jumps."""
    near = SAME_TIME * np.maximum(1.0, np.abs(t[1:]))
    cuts = [0, *(np.flatnonzero(np.diff(t) <= near) + 1), len(t)]
    return [slice(int(a), int(b)) for a, b in pairwise(cuts)]


def _finite_rates(t: Floats, x: Floats) -> Floats:
    """Rates (N, n) of states that contain none, by finite differences of second order."""
    if len(t) < 3:
        return np.zeros_like(x) if len(t) < 2 else np.repeat(np.diff(x, axis=0) / np.diff(t), 2, 0)
    rates: Floats = np.gradient(x, t, axis=0, edge_order=2)
    return rates
