"""A tree of bodies in axial screws: common parts of the recursions.

The robot comes as bodies in axial screws (`screws.py`), which leave most entries of a
vector or an inertia alone. All is arithmetic on scalars, floats or symbols; symbols drop
what is multiplied by zero.

    w, al, a    angular velocity, angular acceleration, acceleration of the point of the
                body at the frame's origin (not Featherstone's spatial acceleration)
    n, f        moment about the frame's origin, force
    m, h, I     mass, mass times centre of mass, inertia about the frame's origin

Weight is not loaded on the bodies: the whole frame accelerates upwards in its place, as
in Luh, Walker and Paul, "On-line computational scheme for mechanical manipulators", ASME
J. Dynamic Systems, Measurement, and Control 102 (1980).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.spatial import Array, cos, kind, quaternion_rotation, sin
from spart_blocks.dynamics.screws import (
    CYCLE,
    PLACES,
    MovingBody,
    Screw,
    Symmetric,
    Turn,
    Vector,
    constant_turn,
    senses_of,
)
from spart_blocks.robot import Robot

Paths = list[tuple[Screw, ...]]  # of each body, the screws that lead to its parent's frame


# --- vectors and symmetric matrices of scalars --------------------------------------------


def add(a: Vector, b: Vector) -> Vector:
    return [a[0] + b[0], a[1] + b[1], a[2] + b[2]]


def subtract(a: Vector, b: Vector) -> Vector:
    return [a[0] - b[0], a[1] - b[1], a[2] - b[2]]


def cross(a: Vector, b: Vector) -> Vector:
    (a0, a1, a2), (b0, b1, b2) = a, b
    return [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0]


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def times(S: Symmetric, v: Vector) -> Vector:
    xx, yy, zz, yz, zx, xy = S
    x, y, z = v
    return [xx * x + xy * y + zx * z, xy * x + yy * y + yz * z, zx * x + yz * y + zz * z]


def rotated(rows: list[Vector], v: Vector, back: bool = False) -> Vector:
    """R v, or back R' v, of a rotation R in rows."""
    return [dot(row, v) for row in (zip(*rows, strict=True) if back else rows)]


def turned(screw: Screw, v: Vector, back: bool = False) -> Vector:
    """A vector in the axes that the screw leads to, or back in those it starts from."""
    turn = screw.turn
    if turn is None:
        return v if screw.rows is None else rotated(screw.rows, v, back)
    i, j, _ = CYCLE[screw.axis]
    if back:
        i, j = j, i
    c, s, out = turn.c, turn.s, list(v)
    out[i], out[j] = c * v[i] - s * v[j], s * v[i] + c * v[j]
    return out


def turn_symmetric(S: Symmetric, axis: int, t: Turn) -> None:
    """S becomes R S R'."""
    i, j, k = CYCLE[axis]
    ii, jj, ij, ki, jk = S[i], S[j], S[3 + k], S[3 + j], S[3 + i]
    mixed = (t.cs + t.cs) * ij
    S[i] = t.cc * ii + t.ss * jj - mixed
    S[j] = t.ss * ii + t.cc * jj + mixed
    S[3 + k] = t.cs * (ii - jj) + (t.cc - t.ss) * ij
    S[3 + j], S[3 + i] = t.c * ki - t.s * jk, t.s * ki + t.c * jk


def rotate_symmetric(S: Symmetric, rows: list[Vector]) -> None:
    """S becomes R S R', for any rotation R in rows."""
    half = [times(S, row) for row in rows]
    S[:] = [dot(half[r], rows[c]) for r, c in PLACES]


# --- along the screws ---------------------------------------------------------------------


class Motion(NamedTuple):
    """Of the point of a body at its frame's origin, in the frame's axes."""

    w: Vector
    al: Vector
    a: Vector


def paths_of(bodies: tuple[MovingBody, ...], qm: Array) -> Paths:
    """The screws that lead from each body's frame to its parent's, at qm."""
    offsets = np.zeros(len(qm))
    for body in bodies[1:]:
        offsets[body.q] = body.angle
    cosines, sines, q = cos(offsets + qm).tolist(), sin(offsets + qm).tolist(), qm.tolist()
    paths: Paths = [()]
    for body in bodies[1:]:
        if body.ball is not None:
            paths.append(_ball_path(body, qm))
            continue
        if body.revolute:
            c, s = cosines[body.q], sines[body.q]
            joint = Screw(2, Turn(c, s, c * c, s * s, c * s), body.slide or None)
        else:
            turn = constant_turn(math.cos(body.angle), math.sin(body.angle))
            joint = Screw(2, turn, body.slide + q[body.q])
        paths.append((joint, *body.screws))
    return paths


def _ball_path(body: MovingBody, qm: Array) -> tuple[Screw, ...]:
    """Of a row of a spherical joint: the whole turn is the first row's."""
    if body.ball is None or body.axis:
        return ()
    turn = quaternion_rotation(qm[body.q : body.q + 4])
    rows = body.ball.mount @ (turn.T if body.ball.against else turn)
    return (Screw(0, None, None, rows.tolist()), *body.screws)


def along_the_tree(rates: Array, robot: Robot) -> Array:
    """Joint rates, accelerations or forces (nu,) as the axes of the frames count them, and
    back: spherical joints against the tree turn backwards."""
    return senses_of(robot) * rates if robot.balls else rates


def carried_out(path: tuple[Screw, ...], motion: Motion) -> Motion:
    """The motion of the parent at the origin and in the axes of a body's frame: of each
    slide r, a + al x r + w x (w x r)."""
    w, al, a = motion
    for screw in reversed(path):
        if screw.slide is not None:
            i, j, k = CYCLE[screw.axis]
            r, out = screw.slide, list(a)
            out[i] = a[i] + r * (al[j] + w[k] * w[i])
            out[j] = a[j] + r * (w[k] * w[j] - al[i])
            out[k] = a[k] - r * (w[i] * w[i] + w[j] * w[j])
            a = out
        w, al, a = turned(screw, w, True), turned(screw, al, True), turned(screw, a, True)
    return Motion(w, al, a)


def carried_in(screw: Screw, n: Vector, f: Vector) -> tuple[Vector, Vector]:
    """A wrench in the frame that the screw leads to: of a slide r, n + r x f."""
    n, f = turned(screw, n), turned(screw, f)
    if screw.slide is not None:
        i, j, _ = CYCLE[screw.axis]
        r, out = screw.slide, list(n)
        out[i], out[j] = n[i] - r * f[j], n[j] + r * f[i]
        n = out
    return n, f


# --- weight -------------------------------------------------------------------------------


class Loads(NamedTuple):
    """Wrenches as a uniform field g (3,) [m/s^2] on all masses, and what is left of them."""

    g: Array
    wF0: Array
    wFm: Array


@lru_cache(maxsize=32)
def _masses(robot: Robot) -> Array:
    return np.array([link.mass for link in robot.links])


def apart_from_weight(wF0: Array, wFm: Array, robot: Robot) -> Loads:
    """Take a uniform field off the wrenches, where those on the links are weights.

    To rounding, and known numbers only: symbols stay the wrenches that they are.
    """
    everything = Loads(np.zeros(3), wF0, wFm)
    masses = _masses(robot)
    if kind(wFm, masses) is not float or not wFm.any() or wFm[:, :3].any() or not masses.any():
        return everything
    heaviest = masses.argmax()
    g = wFm[heaviest, 3:] / masses[heaviest]
    weights = masses[:, None] * g
    if (np.abs(wFm[:, 3:] - weights) > 1e-15 * np.abs(weights)).any():
        return everything
    base, mass = wF0.copy(), float(robot.base_link.mass)
    base[3:] = base[3:] - mass * g
    if kind(base) is float:
        base[3:][np.abs(base[3:]) <= 1e-15 * np.abs(mass * g)] = 0.0
    return Loads(g, base, np.zeros_like(wFm))


# --- motions and wrenches of the bodies ---------------------------------------------------


def motions_of(
    bodies: tuple[MovingBody, ...], paths: Paths, base: Motion, um: list[Any], umdot: list[Any]
) -> list[Motion]:
    """Base to tips: every body's motion, of joint rates um and accelerations umdot, along
    the tree."""
    motions = [base]
    for body, path in zip(bodies[1:], paths[1:], strict=True):
        w, al, a = carried_out(path, motions[body.parent])
        rate, rise = um[body.k], umdot[body.k]
        if body.ball is not None:
            if body.axis == 0:  # the axes of all three rows turn with the body, not in turn
                u, rises = um[body.k : body.k + 3], umdot[body.k : body.k + 3]
                al, w = add(add(al, cross(w, u)), rises), add(w, u)
        elif body.revolute:
            al = [al[0] + w[1] * rate, al[1] - w[0] * rate, al[2] + rise]
            w = [w[0], w[1], w[2] + rate]
        else:
            a = [a[0] + 2.0 * (w[1] * rate), a[1] - 2.0 * (w[0] * rate), a[2] + rise]
        motions.append(Motion(w, al, a))
    return motions


def _inertial_wrench(body: MovingBody, motion: Motion) -> tuple[Vector, Vector]:
    """Newton's and Euler's equations about the origin of the body's frame."""
    m, h, I, (w, al, a) = body.m, body.h, body.inertia, motion
    n = add(add(times(I, al), cross(w, times(I, w))), cross(h, a))
    f = add(add([m * a[0], m * a[1], m * a[2]], cross(al, h)), cross(w, cross(w, h)))
    return n, f


def _external_wrenches(
    bodies: tuple[MovingBody, ...], paths: Paths, R0: Array, loads: Loads
) -> list[tuple[Vector, Vector]]:
    """The wrenches on the links of each body, in its frame."""
    wrenches = [loads.wF0.tolist(), *loads.wFm.tolist()]
    axes: list[list[Vector]] = []  # the three inertial axes, seen by each body
    found = []
    for body, path in zip(bodies, paths, strict=True):
        rows = axes[body.parent] if axes else R0.tolist()
        for screw in reversed(path):
            rows = [turned(screw, row, True) for row in rows]
        axes.append(rows)
        columns = list(zip(*rows, strict=True))
        n, f = [0.0] * 3, [0.0] * 3
        for link_id, c in body.riders:
            w = wrenches[link_id]
            moment, force = ([dot(column, v) for column in columns] for v in (w[:3], w[3:]))
            n, f = add(n, add(moment, cross(c, force))), add(f, force)
        found.append((n, f))
    return found


def needed_wrenches(
    bodies: tuple[MovingBody, ...], paths: Paths, motions: list[Motion], R0: Array, loads: Loads
) -> list[tuple[Vector, Vector]]:
    """The wrench that each body, moving so under these loads, needs of its joints."""
    needed = [_inertial_wrench(*pair) for pair in zip(bodies, motions, strict=True)]
    if kind(loads.wF0, loads.wFm) is float and not loads.wF0.any() and not loads.wFm.any():
        return needed
    given = _external_wrenches(bodies, paths, R0, loads)
    return [
        (subtract(n, n_given), subtract(f, f_given))
        for (n, f), (n_given, f_given) in zip(needed, given, strict=True)
    ]
