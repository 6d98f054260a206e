"""A robot as bodies in axial screws, for the plant's recursion.

Fixed joints are folded away: a `MovingBody` is a moving joint's link with all that is rigidly
attached to it. Its frame has z along the joint's axis and x along the common normal with
the axis of its first child, so that turns about and slides along x and z (`Screw`) lead
from frame to frame.

A spherical joint is three bodies in one frame, whose axes are those of its rows; the first
two are massless. The way from the first to the parent begins with the whole turn, and each
row turns about one axis of the frame: one after the other they make a block.

Source: S. McMillan and D. Orin, "Efficient computation of articulated-body inertias using
successive axial screws", IEEE Trans. Robotics and Automation 11 (1995).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.base.spatial import Array
from spart_blocks.robot import JointType, Robot

Vector = list[Any]  # three scalars
Symmetric = list[Any]  # six scalars of a 3x3 matrix: xx, yy, zz, yz, zx, xy

PLACES = ((0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1))  # of a Symmetric's scalars
SQUARE = (0, 5, 4, 5, 1, 3, 4, 3, 2)  # the scalars at the nine places, row by row
ROWS = (SQUARE[:3], SQUARE[3:6], SQUARE[6:])  # those of each row
CYCLE = ((1, 2, 0), (2, 0, 1), (0, 1, 2))  # the two axes that a turn mixes, and its own
ROUNDING = 1e-14  # constant cosines, sines, angles and lengths [m] below it are zero


class Turn(NamedTuple):
    """Cosine and sine of an angle, their squares and product."""

    c: Any
    s: Any
    cc: Any
    ss: Any
    cs: Any


class Screw(NamedTuple):
    """A turn about a frame's axis 0, 1 or 2 and a slide [m] along it; None where none. Or,
    in their place, any rotation: its matrix in rows."""

    axis: int
    turn: Turn | None
    slide: Any | None
    rows: list[Vector] | None = None


class Ball(NamedTuple):
    """Of a spherical joint: mount (3,3), from its frame at rest to the parent's axes;
    against: whether its quaternion turns the parent."""

    mount: Array
    against: bool


class MovingBody(NamedTuple):
    """A moving body. parent: index of the body it moves on. q: its first place in qm, k: its
    place in um. Its joint turns it about z by angle [rad] and slides it along z by slide
    [m], with the position added to one of them; `screws` lead on to the parent's frame.
    riders: the links attached to it, each an id (0 is the base-link) and the centre of mass
    (3,) [m]. A row of a spherical joint has its ball, and turns about its own axis."""

    parent: int
    name: str
    revolute: bool
    q: int
    k: int
    angle: float
    slide: float
    screws: tuple[Screw, ...]
    riders: tuple[tuple[int, Vector], ...]
    m: Any
    h: Vector
    inertia: Symmetric
    axis: int = 2
    ball: Ball | None = None


def constant_turn(c: float, s: float) -> Turn | None:
    """The turn of this cosine and sine, None where it is none. Squares below 1e-20 come
    of quarter turns written with a file's digits, and show in no digit of an inertia."""
    if abs(c) < ROUNDING:
        c, s = 0.0, math.copysign(1.0, s)
    elif abs(s) < ROUNDING:
        c, s = math.copysign(1.0, c), 0.0
    cc, ss = (0.0 if x * x < 1e-20 else x * x for x in (c, s))
    return None if c == 1 and s == 0 else Turn(c, s, cc, ss, c * s)


def screw_matrix(axis: int, angle: float, slide: float) -> Array:
    """T (4,4) of a screw."""
    i, j, k = CYCLE[axis]
    T = np.eye(4)
    T[i, i] = T[j, j] = math.cos(angle)
    T[j, i], T[i, j], T[k, 3] = math.sin(angle), -math.sin(angle), slide
    return T


class Path(NamedTuple):
    """The way between two joint axes, each letter a screw of an angle and a length:
    T = Z(turn, z) Y(0, y) X(tilt, x) Z(angle, slide)."""

    turn: float
    z: float
    y: float
    tilt: float
    x: float
    angle: float
    slide: float


def path_of(T: Array) -> Path:
    """The screws of T (4,4). Where the z axes are well apart in direction, x is along
    their common normal and y is zero; elsewhere z is zero."""
    (dx, dy, c), (gx, gy, gz) = T[:3, 2].tolist(), T[:3, 3].tolist()
    s = math.hypot(dx, dy)
    if s > ROUNDING:
        turn = math.atan2(dx, -dy)
    else:
        s, turn = 0.0, math.atan2(gy, gx) if math.hypot(gx, gy) > ROUNDING else 0.0
    x = math.cos(turn) * gx + math.sin(turn) * gy
    across = math.cos(turn) * gy - math.sin(turn) * gx
    if s > 0.1:
        slide = -across / s
        y, z = 0.0, gz - slide * c
    else:
        slide = gz / c
        y, z = across + slide * s, 0.0
    tilt = math.atan2(s, c)
    rest = screw_matrix(0, -tilt, 0.0) @ screw_matrix(2, -turn, 0.0) @ T
    values = turn, z, y, tilt, x, math.atan2(rest[1, 0], rest[0, 0]), slide
    return Path(*(0.0 if abs(value) < ROUNDING else value for value in values))


@lru_cache(maxsize=32)
def bodies_of(robot: Robot) -> tuple[MovingBody, ...]:
    """The moving bodies of a robot, parents first; body 0 is the base."""
    symbolic, robot = robot, robot.nominal  # the way between joints is made of numbers
    joints: list[tuple[int, int, Array]] = [(-1, -1, np.eye(4))]
    riders: list[list[tuple[int, Array]]] = [[(0, np.eye(4))]]
    home: dict[int, tuple[int, Array]] = {0: (0, np.eye(4))}
    for i, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True)):
        body, T_parent = home[joint.parent_link]
        T = T_parent @ joint.T
        if joint.type is not JointType.FIXED:
            joints.append((body, i, T))
            riders.append([])
            body, T = len(joints) - 1, np.eye(4)
        T = T @ link.T
        home[link.id] = (body, T)
        riders[body].append((link.id, T))
    frames = _frames(robot, joints)
    inverses = [np.linalg.inv(F) for F in frames]
    return tuple(
        _body(symbolic, parent, i, inverses[max(parent, 0)] @ T @ F,
              [(link_id, inv @ T_link) for link_id, T_link in attached])
        for (parent, i, T), F, inv, attached in zip(joints, frames, inverses, riders, strict=True)
    )  # fmt: skip


@lru_cache(maxsize=32)
def senses_of(robot: Robot) -> Array:
    """For each rate (nu,) 1, or -1 where it is one of a spherical joint against the tree,
    whose rows turn about the axes of the frame backwards."""
    senses = np.ones(robot.nu)
    for entry in robot.layout:
        if entry.against:
            senses[entry.u] = -1.0
    return senses


def _frames(robot: Robot, joints: list[tuple[int, int, Array]]) -> list[Array]:
    """Each body's frame in its joint's, T (4,4): z along the axis, and turned and slid
    about it so that the path from its first child is short. That of a spherical joint's
    rows is the joint's."""
    balls = [i >= 0 and robot.joints[i].type is JointType.SPHERICAL for _, i, _ in joints]
    frames = [np.eye(4)]
    for (_, i, _), ball in zip(joints[1:], balls[1:], strict=True):
        z, F = robot.joints[i].axis, np.eye(4)
        if ball:
            frames.append(F)
            continue
        x = np.eye(3)[np.argmin(np.abs(z))]
        x = (x - (x @ z) * z) / np.linalg.norm(x - (x @ z) * z)
        F[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
        frames.append(F)
    parents = [parent for parent, _, _ in joints]
    for k in range(1, len(joints)):
        if k in parents and not balls[k]:
            child = parents.index(k)
            T = np.linalg.inv(frames[k]) @ joints[child][2] @ frames[child]
            if balls[child]:  # its origin alone counts: on the common normal, x
                (x, y, z), path = T[:3, 3].tolist(), path_of(T)
                turn = math.atan2(y, x) if math.hypot(x, y) > ROUNDING else 0.0
                frames[k] = frames[k] @ screw_matrix(2, turn, z)
                continue
            path = path_of(T)
            frames[k] = frames[k] @ screw_matrix(2, path.turn, path.z)
    return frames


def _body(
    robot: Robot, parent: int, i: int, way: Array, attached: list[tuple[int, Array]]
) -> MovingBody:
    """way (4,4): its frame in the parent's, with no displacement. attached: the ids of its
    links and their centre-of-mass frames in its own, T (4,4)."""
    m: Any = 0.0
    h, inertia = np.zeros(3), np.zeros((3, 3))
    riders = []
    for link_id, T in attached:
        link = robot.links[link_id - 1] if link_id else robot.base_link
        R, c = T[:3, :3], T[:3, 3]
        if robot.shifts is not None:
            c = c + R @ robot.shifts[link_id]
        riders.append((link_id, c.tolist()))
        m, h = m + link.mass, h + link.mass * c
        steiner = link.mass * (c @ c * np.eye(3) - np.outer(c, c))
        inertia = inertia + R @ link.inertia @ R.T + steiner
    matter = (tuple(riders), m, h.tolist(), [inertia[place] for place in PLACES])
    if i < 0:
        return MovingBody(-1, robot.base_link.name, False, -1, -1, 0.0, 0.0, (), *matter)
    joint, k = robot.joints[i], robot.u_index[i]
    assert k is not None
    if joint.type is JointType.SPHERICAL:
        return _row(robot, parent, i, way, matter)
    place, path = robot.q_slices[i], path_of(way)
    assert place is not None
    screws = [
        Screw(0, constant_turn(math.cos(path.tilt), math.sin(path.tilt)), path.x or None),
        Screw(1, None, path.y or None),
        Screw(2, constant_turn(math.cos(path.turn), math.sin(path.turn)), path.z or None),
    ]
    screws = [screw for screw in screws if screw.turn or screw.slide]
    revolute = joint.type is JointType.REVOLUTE
    return MovingBody(
        parent, joint.name, revolute, place.start, k, path.angle, path.slide, tuple(screws), *matter
    )


def _row(robot: Robot, parent: int, i: int, way: Array, matter: Any) -> MovingBody:
    """A row of a spherical joint. The slides to the parent's frame are in its own axes."""
    joint, place = robot.joints[i], robot.q_slices[i]
    near = np.round(way)
    way = np.where(np.abs(way - near) < ROUNDING, near, way)
    slides = [Screw(k, None, float(way[k, 3])) for k in range(3) if way[k, 3] != 0]
    axis = int(np.argmax(np.abs(joint.axis)))
    q, ball = place.start if place else -1, Ball(way[:3, :3], bool(joint.axis[axis] < 0))
    row = MovingBody(parent, joint.name, True, q, joint.q_id - 1, 0.0, 0.0, tuple(slides), *matter)
    return row._replace(axis=axis, ball=ball)


COMPONENTS = ("wx", "wy", "wz", "vx", "vy", "vz")
"""Inertial: angular first."""
ALL = " ".join(COMPONENTS)


def rows_of(components: Any, name: str = "components") -> list[int]:
    """The rows named by a text such as "wz vx vy", or by a list of names, in their own order.
    name: of the parameter. Raises InputError.
    """
    words = components.split() if isinstance(components, str) else components
    if not isinstance(words, (list, tuple)) or not words:
        raise InputError(f'{name} must be names as "{ALL}", not {brief(components)}')
    for word in words:
        if word not in COMPONENTS:
            hint = did_you_mean(str(word), COMPONENTS)
            raise InputError(Fault(f"{name} has no component {brief(word)}", hint=hint))
    if len(set(words)) < len(words):
        raise InputError(f"{name} names a component twice: {brief(components)}")
    return sorted(COMPONENTS.index(word) for word in words)
