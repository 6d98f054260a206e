"""The linear system of a robot whose loops are closed: H and J at a configuration, factored.

    H x = force + J' lam,    J x = opening

for the rates that are free. lam is found first, from (J H^-1 J') lam = opening - J H^-1 force,
with H factored along the branches of the tree. Where a tree has no inertia of its own in some
direction (a massless body between two joints), H + J' W J takes the place of H, and J' W
opening joins the force: the same x and the same lam, and singular only where the robot is so
with its loops closed.

Sources: R. Featherstone, "Rigid Body Dynamics Algorithms" (2008), sec. 8.5 (loops) and 6.5
(branches); for W, J. Nocedal and S. Wright, "Numerical Optimization" (2006), sec. 16.3 and
17.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.errors import SingularInertiaError
from spart_blocks.base.spatial import Array, array, filled, zeros
from spart_blocks.dynamics.axial import paths_of
from spart_blocks.dynamics.branches import BranchFactor, Row, factor
from spart_blocks.dynamics.composite import multibody_inertia
from spart_blocks.dynamics.joint_effects import joint_effects
from spart_blocks.dynamics.loop_rows import Chain, LoopRows, loop_rows
from spart_blocks.dynamics.loops import kept_rows, row_names, sample_configurations
from spart_blocks.dynamics.screws import bodies_of
from spart_blocks.robot import Robot

RANK = 1e-11
"""Rows of J of which so little is their own, by the square of its size in the metric of
H^-1, have lost rank: a millionth is 3e-6 rad from where it happens."""


# --- what does not change ---------------------------------------------------------------


@dataclass(frozen=True)
class Freedoms:
    """The free rates, parents first, as places in [u0, um] of a floating robot and in um of
    a fixed one; above: of each the numbers of those between it and the base, nearest first;
    weight: W where H is singular on its own, else None."""

    places: tuple[int, ...]
    above: tuple[tuple[int, ...], ...]
    weight: float | None


@lru_cache(maxsize=32)
def freedoms_of(robot: Robot) -> Freedoms:
    """The free rates of a robot, and how they couple."""
    robot = robot.nominal
    branched = _branches(robot)
    if not robot.loops:
        return branched
    try:
        for q in sample_configurations(robot)[:2]:
            _factored(inertia_in_base_axes(robot, q), branched, None)
    except SingularInertiaError:
        n = len(branched.places)
        above = tuple(tuple(reversed(range(k))) for k in range(n))
        H = inertia_in_base_axes(robot, sample_configurations(robot)[0])
        return Freedoms(branched.places, above, float(np.trace(H)) / len(H))
    return branched


def _branches(robot: Robot) -> Freedoms:
    bodies, base = bodies_of(robot), 6 if robot.base == "floating" else 0
    places = list(range(base))
    above: list[tuple[int, ...]] = [tuple(reversed(range(k))) for k in range(base)]
    tips: list[tuple[int, ...]] = [tuple(reversed(range(base)))]
    for body in bodies[1:]:
        path = tips[body.parent]
        if body.k not in robot.kinematic:
            above.append(path)
            path = (len(places), *path)
            places.append(base + body.k)
        tips.append(path)
    return Freedoms(tuple(places), tuple(above), None)


# --- the solution -----------------------------------------------------------------------


def inertia_in_base_axes(robot: Robot, qm: Array) -> Array:
    """H in base axes: of the joints, or of the base and the joints."""
    H = multibody_inertia(np.eye(3), qm, robot)
    if robot.base != "floating":
        return H.Hm
    whole: Array = np.block([[H.H0, H.H0m], [H.H0m.T, H.Hm]])
    return whole


def _factored(
    H: Array, freedoms: Freedoms, free: list[Any] | None, rows: list[Row] | None = None
) -> BranchFactor:
    """The factor of H, or of H + J' W J."""
    H = H[np.ix_(freedoms.places, freedoms.places)]
    entries = H.tolist()
    if freedoms.weight is not None:
        for row in rows or ():
            for i, x in row.items():
                for j, y in row.items():
                    entries[i][j] = entries[i][j] + freedoms.weight * x * y
    below = [{j: entries[i][j] for j in path} for i, path in enumerate(freedoms.above)]
    diagonal = [entries[i][i] for i in range(len(entries))]
    return factor(below, diagonal, freedoms.above, free, "the inertia of the closed robot")


class Closed:
    """H and J of a robot at a configuration, factored, to solve for forces and impulses."""

    def __init__(
        self,
        robot: Robot,
        qm: Array,
        rows: LoopRows,
        free: list[Any] | None = None,
        damping: float = 0.0,
        drops: bool = False,
    ) -> None:
        self.robot, self.freedoms = robot, freedoms_of(robot)
        self.H, self.rows = inertia_in_base_axes(robot, qm), rows
        self.J = self._of_free_rates(rows)
        self.factor = _factored(self.H, self.freedoms, free, self.J)
        self.halves = [self.factor.half(row) for row in self.J]
        A = [
            [self.factor.product(a, b) for b in self.halves[: k + 1]]
            for k, a in enumerate(self.halves)
        ]
        self.rank = _factor_rows(A, robot, drops or free is not None, damping)

    def _of_free_rates(self, rows: LoopRows) -> list[Row]:
        """The rows of J by number of the free rates."""
        base = 6 if self.robot.base == "floating" else 0
        number = {place - base: n for n, place in enumerate(self.freedoms.places)}
        return [{number[k]: x for k, x in row.items() if k in number} for row in rows.J]

    def opening(self, u: Array) -> list[Any]:
        """J u of rates (6 + nu,) or (nu,), prescribed ones among them."""
        um = u[len(u) - self.robot.nu :].tolist()
        return [sum((x * um[k] for k, x in row.items()), 0.0) for row in self.rows.J]

    def solve(self, force: list[Any], opening: list[Any]) -> tuple[list[Any], list[Any]]:
        """The rates or accelerations x of the free rates, and lam, with H x = force + J' lam
        and J x = opening."""
        if self.freedoms.weight is not None:
            force = list(force)
            for row, want in zip(self.J, opening, strict=True):
                for i, x in row.items():
                    force[i] = force[i] + self.freedoms.weight * x * want
        y = self.factor.half(dict(enumerate(force)))
        gap = [
            want - self.factor.product(half, y)
            for half, want in zip(self.halves, opening, strict=True)
        ]
        lam = self.rank.solve(gap)
        for half, push in zip(self.halves, lam, strict=True):
            for i, x in half.items():
                y[i] = y[i] + x * push
        return self.factor.whole(y), lam


@dataclass(frozen=True)
class RowFactor:
    """L D L' of J H^-1 J'."""

    L: list[list[Any]]
    inverse: list[Any]

    def solve(self, b: list[Any]) -> list[Any]:
        """x with J H^-1 J' x = b."""
        x, n = list(b), len(b)
        for k in range(n):
            for j in range(k):
                x[k] = x[k] - self.L[k][j] * x[j]
        x = [x[k] * self.inverse[k] for k in range(n)]
        for k in reversed(range(n)):
            for j in range(k + 1, n):
                x[k] = x[k] - self.L[j][k] * x[j]
        return x


def _factor_rows(A: list[list[Any]], robot: Robot, drops: bool, damping: float) -> RowFactor:
    """A row that has lost its own part ends the run: not a number, or for floats an error.
    It may be left out: where joints stick, what they hold the loops may hold too; and a state
    can be put back on the loops by the rows that are left."""
    inverse: list[Any] = []
    L = [list(row) for row in A]
    for k in range(len(A)):
        whole = L[k][k] * (1.0 + damping)
        pivot = whole
        for j in range(k):
            gain = L[k][j] * inverse[j]
            pivot = pivot - gain * L[k][j]
            for i in range(k + 1, len(A)):
                L[i][k] = L[i][k] - gain * L[i][j]
            L[k][j] = gain
        lost = pivot <= RANK * whole
        if drops:
            inverse.append(np.where(lost, 0.0, 1.0 / np.where(lost, 1.0, pivot)))
        elif isinstance(pivot, float):
            if lost:
                raise SingularInertiaError(singular_text(robot, k))
            inverse.append(1.0 / pivot)
        else:
            inverse.append(np.where(lost, np.nan, 1.0 / pivot))
    return RowFactor(L, [x.item() if isinstance(x, np.ndarray) else x for x in inverse])


def singular_text(robot: Robot, row: int) -> str:
    """The message for a loss of rank at row number `row` of those kept."""
    name = row_names(robot)[kept_rows(robot)[row]]
    return f"the loops lose rank: {name} follows from the others in this configuration"


def free_flags(robot: Robot, modes: Array | None) -> list[Any] | None:
    """0 for each free rate that is stuck, 1 for one that is not, None where none can be."""
    if modes is None or not len(modes):
        return None
    flags = dict(
        zip(joint_effects(robot).sticking, np.where(modes == 0, 0.0, 1.0).tolist(), strict=True)
    )
    base = 6 if robot.base == "floating" else 0
    return [flags.get(place - base) for place in freedoms_of(robot).places]


# --- projection onto the loops --------------------------------------------------------------------


POSITION_STEPS = 3


class Projected(NamedTuple):
    """A state on the loops. shift (6,) [rad base axes, m inertial]: what the base moves by;
    qm (nq,), u0 (6,), um (nu,)."""

    shift: Array
    qm: Array
    u0: Array
    um: Array


def closed_projection(
    R0: Any, u0: Any, qm: Any, um: Any, robot: Robot, modes: Any = None
) -> Projected:
    """The state nearest to one a little off the loops, in the metric of the inertia.

    Positions first, by three simplified Newton steps with the matrix of the start, which take
    errors of 1e-4 to rounding; then rates, by one. No momentum is created, and prescribed joints do
    not move, nor do those that stick by modes (n_s,). Source: E. Eich, "Convergence results for a
    coordinate projection method applied to mechanical systems with algebraic constraints", SIAM J.
    Numerical Analysis 30 (1993).
    """
    R0, u0 = array(R0, (3, 3), "R0"), array(u0, (6,), "u0")
    qm, um = array(qm, (robot.nq,), "qm"), array(um, (robot.nu,), "um")
    bodies, kept = bodies_of(robot), kept_rows(robot)
    base = 6 if robot.base == "floating" else 0
    shift = zeros(6, R0, u0, qm, um)
    if not kept:
        return Projected(shift, qm, u0, um)

    def rows_of(q: Array) -> LoopRows:
        return loop_rows(robot, Chain(robot, paths_of(bodies, q), q), kept)

    free, rows = free_flags(robot, modes), rows_of(qm)
    closed = Closed(robot, qm, rows, free, drops=True)
    none = [0.0] * len(closed.freedoms.places)
    for _ in range(POSITION_STEPS):
        step, _ = closed.solve(none, [-error for error in rows.errors])
        moved = _spread(closed, step, base + robot.nu, qm)
        qm = robot.with_unit_quaternions(robot.integrate(qm, moved[base:]))
        shift = shift + moved[:6] if base else shift
        rows = rows_of(qm)
    closed = Closed(robot, qm, rows, free, drops=True)
    u = np.concatenate([u0[:3], R0.T @ u0[3:], um]) if base else um
    step, _ = closed.solve(none, [-rate for rate in closed.opening(u)])
    u = u + _spread(closed, step, base + robot.nu, qm)
    if base:
        u0 = np.concatenate([u[:3], R0 @ u[3:6]])
        shift = np.concatenate([shift[:3], R0 @ shift[3:]])
    return Projected(shift, qm, u0, u[base:])


def _spread(closed: Closed, x: list[Any], size: int, like: Array) -> Array:
    """The free rates in a vector of all (size,)."""
    out: list[Any] = [0.0] * size
    for place, value in zip(closed.freedoms.places, x, strict=True):
        out[place] = value
    return filled(out, like, filled(x, like) if x else like)
