"""Inverse kinematics of a closed robot: joint positions that bring a link to a target.

The target is one more loop, between the base-link and the link's frame, that moves. The
smallest joint motion closes all of them, by Newton's steps. Source: J. Merlet, "Parallel
Robots" (2006), ch. 3 and 5; `assembly.py`, which searches where this only follows.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.spatial import Array, filled, solve_spd, sqrt, zeros
from spart_blocks.dynamics.assembly import with_places
from spart_blocks.dynamics.axial import add, cross, dot, paths_of
from spart_blocks.dynamics.loop_rows import (
    SQUARE,
    Chain,
    LoopChord,
    LoopRows,
    add_rows,
    chords_of,
    dense,
    loop_rows,
)
from spart_blocks.dynamics.loops import independent_rows, kept_rows, sample_configurations
from spart_blocks.dynamics.screws import Vector, bodies_of
from spart_blocks.robot import Robot

FARTHEST = 1.0
"""A step is no longer than this [rad, m]: where it would be, it leads nowhere sure."""


class Target(NamedTuple):
    """The target of a link's frame, in the frame of the base-link: rd (3,) [m], vd [m/s], ad
    [m/s^2]; Rd (3,3), wd [rad/s], wddot [rad/s^2], or None where its attitude is free."""

    rd: Array
    vd: Array
    ad: Array
    Rd: Array | None = None
    wd: Array | None = None
    wddot: Array | None = None


class Follow(NamedTuple):
    """qm (nq,), um (nu,), umdot (nu,): the motion that follows a target; error (3,) [m], or
    (6,) [m, rad]: the remaining error of the link after the last step."""

    qm: Array
    um: Array
    umdot: Array
    error: Array


@lru_cache(maxsize=32)
def _chord(robot: Robot, link: str, pose: bool) -> LoopChord:
    """The loop between the base-link and the frame of a link."""
    place = np.eye(4) if pose else np.zeros(3)
    return chords_of(with_places(robot, {link: place}))[-1]


@lru_cache(maxsize=32)
def _followed(robot: Robot, link: str, pose: bool) -> tuple[int, ...]:
    """The rows of a target that the loops allow: a planar linkage, for example, cannot follow a
    target out of its plane.
    """
    chord, kept, free = _chord(robot, link, pose), kept_rows(robot), _free(robot)
    own = []
    for q in sample_configurations(robot):
        chain = Chain(robot, paths_of(bodies_of(robot), q), q)
        R = np.array([chain.axis(chord.b, k) for k in range(3)]).T
        r, still = np.array(chain.point(chord.b)), np.zeros(3)
        here = Target(r, still, still, R if pose else None)
        rows = loop_rows(robot, chain, kept)
        add_rows(rows, _moved(chord, here), chain, range(len(chord.loop.rows)))
        J = dense(rows, robot)[:, free]
        basis = np.linalg.svd(J[: len(kept)], full_matrices=False)[2][: len(kept)]
        target = J[len(kept) :]
        own.append(target - target @ basis.T @ basis)
    return independent_rows(own)


def _free(robot: Robot) -> list[int]:
    return [k for k in range(robot.nu) if k not in robot.kinematic]


def closed_ik(qm: Any, target: Target, robot: Robot, link: str, iterations: int = 4) -> Follow:
    """The motion nearest to qm (nq,) that has a link at the target and the loops closed.

    Each step squares the error: four take one of a tenth of the robot's size to rounding, away from
    singular configurations. Prescribed joints are fixed. Target components that the loops do not
    allow are ignored, and show in the error only.
    """
    pose = target.Rd is not None
    chord, kept, free = _chord(robot, link, pose), kept_rows(robot), _free(robot)
    moving, followed = _moved(chord, target), _followed(robot, link, pose)
    like = [target.rd] if target.Rd is None else [target.rd, target.Rd]

    def at(q: Array, um: Array | None = None) -> tuple[LoopRows, Chain]:
        chain = Chain(robot, paths_of(bodies_of(robot), q), q, um)
        rows = loop_rows(robot, chain, kept)
        add_rows(rows, moving, chain, followed)
        return rows, chain

    def least(J: Array, b: list[Any]) -> Array:
        """The smallest rates (nu,) with J rates = b."""
        out = zeros(robot.nu, J, filled(b, J, target.rd))
        wide = J[:, free]
        out[free] = wide.T @ solve_spd(wide @ wide.T, filled(b, J, target.rd), "loops and target")
        return out

    rows, chain = at(qm)
    for _ in range(iterations):
        step = least(dense(rows, robot, qm, *like), [-error for error in rows.errors])
        step = step / np.maximum(1.0, sqrt(step.reshape(1, -1) @ step) / FARTHEST)
        qm = robot.with_unit_quaternions(robot.integrate(qm, step))
        rows, chain = at(qm)
    J, own = dense(rows, robot, qm, *like), len(kept)
    rates = _target_rates(moving, target, chain)
    um = least(J, [0.0] * own + [rates[k] for k in followed])
    rows, chain = at(qm, um)
    falls = _target_falls(moving, target, chain)
    pulls = [falls[k] - b for k, b in zip(followed, rows.bias[own:], strict=True)]
    umdot = least(J, [-b for b in rows.bias[:own]] + pulls)
    away = LoopRows([], [], [])
    add_rows(away, moving, chain, range(len(moving.loop.rows)))
    return Follow(qm, um, umdot, filled(away.errors, qm, target.rd))


def _moved(chord: LoopChord, target: Target) -> LoopChord:
    """The target's loop with its frame where the target is."""
    frame = replace(chord.a, point=target.rd.tolist())
    if target.Rd is not None:
        frame = replace(frame, axes=target.Rd.T.tolist())
    return replace(chord, a=frame)


def _target_rates(chord: LoopChord, target: Target, chain: Chain) -> list[Any]:
    """What the joints have to make of each row's rate: the target's part, taken over."""
    rates: list[Any] = target.vd.tolist()
    if target.wd is not None:
        for i, j in SQUARE.values():
            turning = cross(target.wd.tolist(), chain.axis(chord.a, i))
            rates.append(-dot(turning, chain.axis(chord.b, j)))
    return rates


def _target_falls(chord: LoopChord, target: Target, chain: Chain) -> list[Any]:
    """The same of each row's second rate."""
    falls: list[Any] = target.ad.tolist()
    if target.wd is not None and target.wddot is not None:
        w, al = target.wd.tolist(), target.wddot.tolist()
        for i, j in SQUARE.values():
            u: Vector = chain.axis(chord.a, i)
            first = cross(w, u)
            second = add(cross(al, u), cross(w, first))
            v, vdot = chain.axis(chord.b, j), chain.turning(chord.b, j)[0]
            falls.append(-dot(second, v) - 2.0 * dot(first, vdot))
    return falls
