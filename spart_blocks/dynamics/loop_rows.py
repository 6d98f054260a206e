"""Loop constraints: the errors of the loops of a robot, and their Jacobian.

A row of a constraint is phi(qm) = 0, with phi' = J um and phi'' = J umdot + bias. All is in the
axes of the base-link, whose own motion opens no loop. `robot/loop.py` describes what the rows
constrain.

Sources: R. Featherstone, "Rigid Body Dynamics Algorithms" (2008), ch. 8; E. Haug, "Computer
Aided Kinematics and Dynamics of Mechanical Systems" (1989), sec. 9.4, for the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.spatial import Array, filled, sqrt, zeros
from spart_blocks.dynamics.axial import (
    Motion,
    Paths,
    add,
    cross,
    dot,
    motions_of,
    paths_of,
    subtract,
    turned,
)
from spart_blocks.dynamics.branches import Row
from spart_blocks.dynamics.kinematics import kinematics
from spart_blocks.dynamics.screws import MovingBody, Vector, bodies_of, senses_of
from spart_blocks.robot import Loop, Robot
from spart_blocks.robot.loop import ROWS, Coupling

SQUARE = {"rx": (1, 2), "ry": (0, 2), "rz": (0, 1)}
"""The axes of frames a and b that a row keeps square."""


# --- where the bodies are -------------------------------------------------------------------


class Pose(NamedTuple):
    """A body's frame in the base's: axes, the three base axes as the body sees them (the
    rows of its rotation matrix), and the origin [m] in base axes."""

    axes: list[Vector]
    origin: Vector

    def out(self, v: Vector) -> Vector:
        """A vector of the body in base axes."""
        return [dot(axis, v) for axis in self.axes]


def poses_of(bodies: tuple[MovingBody, ...], paths: Paths) -> list[Pose]:
    """Base to tips: the frame of every body."""
    identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    poses, arms = [Pose(identity, [0.0, 0.0, 0.0])], [[0.0, 0.0, 0.0]]
    for body, path in zip(bodies[1:], paths[1:], strict=True):
        rows, arm = poses[body.parent].axes, arms[body.parent]
        for screw in reversed(path):
            if screw.slide is not None:
                arm = list(arm)
                arm[screw.axis] = arm[screw.axis] + screw.slide
            arm = turned(screw, arm, True)
            rows = [turned(screw, row, True) for row in rows]
        arms.append(arm)
        poses.append(Pose(rows, [dot(row, arm) for row in rows]))
    return poses


# --- the ends of a loop ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LoopFrame:
    """A frame of a loop, fixed to a body: its place among the bodies, its origin (3,) [m]
    and its axes (3,3), in the body's frame; beyond: the bodies between it and the nearest
    that carries both ends."""

    body: int
    point: Vector
    axes: list[Vector]
    beyond: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class LoopChord:
    """A loop with its ends; shared: the frame of the nearest body that carries both; length:
    the place in qm and in um of a prescribed length; coupled: those of the joints that a
    coupling has."""

    loop: Loop
    a: LoopFrame
    b: LoopFrame
    shared: LoopFrame
    length: tuple[int, int] | None
    coupled: tuple[tuple[int, int], ...] = ()


@lru_cache(maxsize=32)
def chords_of(robot: Robot) -> tuple[LoopChord, ...]:
    """The loops of a robot, with what does not change of them."""
    bodies, q = bodies_of(robot), robot.neutral
    K = kinematics(np.eye(3), np.zeros(3), q, robot)
    poses = poses_of(bodies, paths_of(bodies, q))
    home = {link: i for i, body in enumerate(bodies) for link, _ in body.riders}
    places = {entry.name: (entry.q.start, entry.u.start) for entry in robot.layout}

    def above(i: int) -> list[int]:
        found = []
        while i > 0:
            found.append(i)
            i = bodies[i].parent
        return found

    def shared(loop: Loop) -> LoopFrame:
        """The frame of the nearest link that carries both ends, for its axes."""
        carrying, link = set(_to_base(loop.a, robot)), loop.b
        while link not in carrying:
            link = robot.parents[link - 1]
        return end(link, np.eye(4), link)

    def end(link: int, T: Array, other: int) -> LoopFrame:
        body = home[link]
        shared = set(above(home[other]))
        R, r = (K.RL[link - 1], K.rL[link - 1]) if link else (np.eye(3), np.zeros(3))
        F: Any = np.array(poses[body].axes)
        c, A = F.T @ (r + R @ T[:3, 3] - poses[body].origin), F.T @ R @ T[:3, :3]
        c, A = (np.where(abs(x) < 1e-15, 0.0, x) for x in (c, A))
        return LoopFrame(
            body, c.tolist(), A.T.tolist(), tuple(i for i in above(body) if i not in shared)
        )

    return tuple(
        LoopChord(
            loop,
            end(loop.a, loop.Ta, loop.b),
            end(loop.b, loop.Tb, loop.a),
            shared(loop),
            places[loop.length] if isinstance(loop.length, str) else None,
            tuple(places[name] for name in (loop.coupling.joint, loop.coupling.other))
            if loop.coupling
            else (),
        )
        for loop in robot.loops
    )


def _to_base(link: int, robot: Robot) -> list[int]:
    """The ids of the links from one to the base-link."""
    found = [link]
    while found[-1]:
        found.append(robot.parents[found[-1] - 1])
    return found


# --- the rows -------------------------------------------------------------------------------


class LoopRows(NamedTuple):
    """Of each row: phi [m, rad], its entries of J, and its bias J' um."""

    errors: list[Any]
    J: list[Row]
    bias: list[Any]


class Chain:
    """Motion of the ends of the loops at qm, and at um if given: the poses of the bodies, and
    their motions on a base at rest, without joint accelerations.
    """

    def __init__(self, robot: Robot, paths: Paths, qm: Array, um: Array | None = None) -> None:
        bodies = bodies_of(robot)
        self.bodies, self.qm, self.senses = bodies, qm, senses_of(robot).tolist()
        self.poses = poses_of(bodies, paths)
        self.motions: list[Motion] | None = None
        self.um: list[Any] = []
        if um is not None:
            self.um, still = um.tolist(), [0.0, 0.0, 0.0]
            base, none = Motion(still, still, still), [0.0] * len(um)
            rates = [x if s > 0 else -x for x, s in zip(self.um, self.senses, strict=True)]
            self.motions = motions_of(bodies, paths, base, rates, none)

    def root(self, x: Any) -> Any:
        """The square root of a scalar."""
        return sqrt(filled([x], self.qm)).tolist()[0]

    def point(self, end: LoopFrame) -> Vector:
        """Where the origin of the frame is."""
        pose = self.poses[end.body]
        return add(pose.origin, pose.out(end.point))

    def acceleration(self, end: LoopFrame) -> Vector:
        """The acceleration of the origin at joint accelerations of zero."""
        assert self.motions is not None
        w, al, a = self.motions[end.body]
        turning = add(cross(al, end.point), cross(w, cross(w, end.point)))
        return self.poses[end.body].out(add(a, turning))

    def axis(self, end: LoopFrame, k: int) -> Vector:
        """Axis k of the frame."""
        return self.poses[end.body].out(end.axes[k])

    def turning(self, end: LoopFrame, k: int) -> tuple[Vector, Vector]:
        """The rate and the rate's rate of axis k, at joint accelerations of zero."""
        assert self.motions is not None
        pose, (w, al, _) = self.poses[end.body], self.motions[end.body]
        e = end.axes[k]
        rate = cross(w, e)
        return pose.out(rate), pose.out(add(cross(al, e), cross(w, rate)))

    def spins(self, end: LoopFrame) -> list[tuple[int, Vector]]:
        """The angular velocity of the frame for each joint rate, beyond what both ends
        share."""
        turning = [i for i in end.beyond if self.bodies[i].revolute]
        return [(self.bodies[i].k, self._axis(i)) for i in turning]

    def shifts(self, end: LoopFrame, r: Vector) -> list[tuple[int, Vector]]:
        """The velocity of a point of the frame, now at r, for each joint rate."""
        found = []
        for i in end.beyond:
            axis = self._axis(i)
            if self.bodies[i].revolute:
                axis = cross(axis, subtract(r, self.poses[i].origin))
            found.append((self.bodies[i].k, axis))
        return found

    def _axis(self, i: int) -> Vector:
        """The axis about which or along which body i's joint moves it, in its sense."""
        body = self.bodies[i]
        axis = [row[body.axis] for row in self.poses[i].axes]
        return axis if self.senses[body.k] > 0 else [-x for x in axis]


def dense(rows: LoopRows, robot: Robot, *like: Array) -> Array:
    """The Jacobian (m, nu) of rows, in the number type of the arrays they came from."""
    J = zeros((len(rows.J), robot.nu), *like)
    for i, row in enumerate(rows.J):
        for k, entry in row.items():
            J[i, k] = entry
    return J


def loop_rows(robot: Robot, chain: Chain, wanted: tuple[int, ...]) -> LoopRows:
    """The constraint rows of the loops (error, Jacobian row, bias) whose indices are in `wanted`;
    indices count the rows of all loops in order.
    """
    rows, place, keep = LoopRows([], [], []), 0, set(wanted)
    for chord in chords_of(robot):
        count = len(ROWS[chord.loop.type])
        chosen = [k for k in range(count) if place + k in keep]
        place += count
        if chosen:
            add_rows(rows, chord, chain, chosen)
    return rows


def add_rows(rows: LoopRows, chord: LoopChord, chain: Chain, chosen: Sequence[int]) -> None:
    """Add the chosen rows of one loop, by place among its own."""
    if chord.loop.coupling is not None:
        _add_coupling(rows, chord, chord.loop.coupling, chain)
        return
    names = ROWS[chord.loop.type]
    a, b = chord.a, chord.b
    ra, rb = chain.point(a), chain.point(b)
    gap = subtract(rb, ra)
    moving = chain.motions is not None
    fall = subtract(chain.acceleration(b), chain.acceleration(a)) if moving else [0.0] * 3
    whole = names[:3] == ("x", "y", "z")
    for name in (names[k] for k in chosen):
        if name == "d":
            _add_distance(rows, chord, chain, gap, fall)
        elif name.startswith("r"):
            _add_square(rows, chain, a, b, *SQUARE[name])
        else:
            # Whole, the gap is told in axes that both ends have in common; in part, in those
            # of a, which turn about a: there b's origin counts for both.
            frame, k = (chord.shared, "xyz".index(name)) if whole else (a, "xyz".index(name))
            e = chain.axis(frame, k)
            J: Row = {place: dot(e, v) for place, v in chain.shifts(b, rb)}
            J.update({place: -dot(e, v) for place, v in chain.shifts(a, ra if whole else rb)})
            bias: Any = 0.0
            if moving:
                bias = dot(e, fall)
                if frame.body:
                    rate, rise = chain.turning(frame, k)
                    opening = _opening(chord, chain, rb, ra)
                    bias = dot(rise, gap) + 2.0 * dot(rate, opening) + bias
            _append(rows, dot(e, gap), J, bias)


def _add_coupling(rows: LoopRows, chord: LoopChord, law: Coupling, chain: Chain) -> None:
    """The position of one joint is a linear function of another's, so that the row is the
    same everywhere, and has no bias."""
    q = chain.qm.tolist()
    (joint, rate), (other, other_rate) = chord.coupled
    J: Row = {rate: 1.0}
    if law.ratio:
        J[other_rate] = -law.ratio
    _append(rows, q[joint] - law.ratio * q[other] - law.offset, J, 0.0)


def _append(rows: LoopRows, error: Any, J: Row, bias: Any) -> None:
    rows.errors.append(error)
    rows.J.append(J)
    rows.bias.append(bias)


def _opening(chord: LoopChord, chain: Chain, rb: Vector, ra: Vector) -> Vector:
    """The velocity of the gap between the origins, as the base sees it: that which the
    body shared by both ends sees, and its turn."""
    assert chain.motions is not None
    shared = chord.shared.body
    total = cross(chain.poses[shared].out(chain.motions[shared].w), subtract(rb, ra))
    for place, v in chain.shifts(chord.b, rb):
        total = add(total, [x * chain.um[place] for x in v])
    for place, v in chain.shifts(chord.a, ra):
        total = subtract(total, [x * chain.um[place] for x in v])
    return total


def _add_square(rows: LoopRows, chain: Chain, a: LoopFrame, b: LoopFrame, i: int, j: int) -> None:
    """Axis i of a and axis j of b are square."""
    u, v = chain.axis(a, i), chain.axis(b, j)
    lever = cross(v, u)
    J: Row = {place: dot(spin, lever) for place, spin in chain.spins(b)}
    J.update({place: -dot(spin, lever) for place, spin in chain.spins(a)})
    bias: Any = 0.0
    if chain.motions is not None:
        (u1, u2), (v1, v2) = chain.turning(a, i), chain.turning(b, j)
        bias = dot(u2, v) + 2.0 * dot(u1, v1) + dot(u, v2)
    _append(rows, dot(u, v), J, bias)


def _add_distance(
    rows: LoopRows, chord: LoopChord, chain: Chain, gap: Vector, fall: Vector
) -> None:
    """The distance is a length; its row stays finite where the points meet."""
    ra, rb = chain.point(chord.a), chain.point(chord.b)
    d = chain.root(dot(gap, gap) + 1e-200)
    n = [x / d for x in gap]
    J: Row = {place: dot(n, v) for place, v in chain.shifts(chord.b, rb)}
    J.update({place: -dot(n, v) for place, v in chain.shifts(chord.a, ra)})
    if chord.length is None:
        length: Any = chord.loop.length
    else:
        length, J[chord.length[1]] = chain.qm.tolist()[chord.length[0]], -1.0
    bias: Any = 0.0
    if chain.motions is not None:
        opening = _opening(chord, chain, rb, ra)
        along = dot(n, opening)
        bias = dot(n, fall) + (dot(opening, opening) - along * along) / d
    _append(rows, d - length, J, bias)
