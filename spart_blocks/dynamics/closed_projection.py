"""Projection onto the loops: the state nearest to one slightly off them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.spatial import Array, array, filled, zeros
from spart_blocks.dynamics.axial import paths_of
from spart_blocks.dynamics.closed_system import Closed, free_flags
from spart_blocks.dynamics.loop_rows import Chain, LoopRows, loop_rows
from spart_blocks.dynamics.loops import kept_rows
from spart_blocks.dynamics.screws import bodies_of
from spart_blocks.robot import Robot

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
