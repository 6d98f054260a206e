"""The independent loop constraints of a robot, and their Jacobian. Rows that others imply in every
configuration are left out: for example, those that keep a planar loop of spatial revolute joints in
its plane. They are found numerically,
at configurations near the robot's home. Source: R. Wehage and E. Haug, "Generalized
coordinate partitioning for dimension reduction in analysis of constrained dynamic
systems", ASME J. Mechanical Design 104 (1982), for choosing rows by pivoting.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from spart_blocks.base.errors import RobotError
from spart_blocks.base.spatial import Array, array, filled, skew, zeros
from spart_blocks.dynamics.assembly import all_rows, assemble, row_scales, rows_at
from spart_blocks.dynamics.loop_rows import dense
from spart_blocks.robot import Robot

REDUNDANT = 1e-7
"""A row that has so little of its own, beside the largest, is implied by the others."""
SAMPLES = 5
REACH = 0.2  # [rad], and so much of the robot's size: how far the samples lie from home


def row_names(robot: Robot) -> tuple[str, ...]:
    """The names of all rows, such as `pin.x`."""
    return tuple(name for loop in robot.loops for name in loop.rows)


@lru_cache(maxsize=32)
def kept_rows(robot: Robot) -> tuple[int, ...]:
    """The places of the rows that others do not imply everywhere, near home.

    Raises RobotError if the loops cannot close, or if the prescribed joints overconstrain them.
    """
    if not robot.loops:
        return ()
    free = np.setdiff1d(np.arange(robot.nu), robot.kinematic)
    scale, jacobians = row_scales(robot)[:, None], []
    for q in sample_configurations(robot):
        J = dense(rows_at(q, robot), robot) / scale
        jacobians.append(J)
    kept = independent_rows(jacobians)
    _check_prescribed([J[:, free] for J in jacobians], kept, robot)
    return kept


def dropped_rows(robot: Robot) -> tuple[str, ...]:
    """The names of the rows that are left out."""
    names = row_names(robot)
    return tuple(names[k] for k in sorted(set(all_rows(robot)) - set(kept_rows(robot))))


@lru_cache(maxsize=32)
def sample_configurations(robot: Robot) -> tuple[Array, ...]:
    """Configurations that close the loops: home, and some about it. The joint of the robot
    that moves most moves by 0.2 rad, or a fifth of the robot's size."""
    home = assemble(robot).qm
    found, rng = [home], np.random.default_rng(0)
    for _ in range(SAMPLES):
        J = dense(rows_at(home, robot), robot)
        _, s, Vt = np.linalg.svd(J)
        rank = int((s > 1e-9 * s.max(initial=1e-300)).sum())
        motion = Vt[rank:].T @ rng.normal(size=robot.nu - rank)
        size = np.abs(motion).max(initial=0.0)
        if size == 0:
            break
        for reach in (REACH, REACH / 10):
            try:
                ahead = robot.integrate(home, reach / size * motion)
                found.append(assemble(robot, ahead).qm)
                break
            except RobotError:
                continue
    return tuple(found)


def independent_rows(jacobians: list[Array]) -> tuple[int, ...]:
    """Rows that are independent in each of the matrices, as many as there are: at each
    turn the one that has most of its own where it has least."""
    rest = [J.copy() for J in jacobians]
    largest = max(float(np.linalg.norm(J, axis=1).max(initial=0.0)) for J in jacobians)
    kept: list[int] = []
    while len(kept) < len(jacobians[0]):
        own = np.sort([np.linalg.norm(R, axis=1) for R in rest], axis=0)
        # The second least: one sample may happen to be a singular configuration.
        least = own[min(1, len(own) - 1)]
        best = int(np.argmax(np.round(least, 9)))
        if least[best] <= REDUNDANT * largest:
            break
        kept.append(best)
        for R in rest:
            length = np.linalg.norm(R[best])
            if length > REDUNDANT * largest:
                direction = R[best] / length
                R -= np.outer(R @ direction, direction)
    return tuple(sorted(kept))


def _check_prescribed(jacobians: list[Array], kept: tuple[int, ...], robot: Robot) -> None:
    """Without the prescribed joints the rows are still independent, or one too many is."""
    if not robot.kinematic:
        return
    ranks = [np.linalg.matrix_rank(J[list(kept)], tol=1e-8) for J in jacobians]
    if max(ranks) < len(kept):
        names = ", ".join(config.name for config in robot.kin_configs)
        raise RobotError(
            f"{robot.name}: the loops leave too few freedoms for the prescribed joints ({names}): "
            f"{len(kept) - max(ranks)} of them would have to follow the others"
        )


# --- for users ------------------------------------------------------------------------------


def loop_errors(qm: Any, robot: Robot, every: bool = False) -> Array:
    """The errors of the loops (m,) [m, rad] at qm (nq,); rows as `kept_rows`, or every one."""
    qm = array(qm, (robot.nq,), "qm")
    return filled(rows_at(qm, robot, None, _wanted(robot, every)).errors, qm)


def loop_jacobian(qm: Any, robot: Robot, every: bool = False) -> Array:
    """The constraint Jacobian J (m, nu) at qm (nq,): the rate of the loop errors is J um."""
    qm = array(qm, (robot.nq,), "qm")
    return dense(rows_at(qm, robot, None, _wanted(robot, every)), robot, qm)


def loop_bias(qm: Any, um: Any, robot: Robot, every: bool = False) -> Array:
    """J' um (m,) [m/s^2, rad/s^2]: the accelerations of the loop errors at zero joint
    accelerations.
    """
    qm, um = array(qm, (robot.nq,), "qm"), array(um, (robot.nu,), "um")
    return filled(rows_at(qm, robot, um, _wanted(robot, every)).bias, qm, um)


def loop_jacobian_dot(qm: Any, um: Any, robot: Robot) -> Array:
    """The rate of J (m, nu) at qm (nq,) and um (nu,).

    The bias b(u) = J'(u) u is quadratic in the rates, so that (b(u + v) - b(u - v)) / 4 is
    the half of J'(u) v that is symmetric in u and v. The other half is J [u, v] / 2, with
    the bracket u x v of a spherical joint's rates, and -u x v of one against the tree.
    """
    um = array(um, (robot.nu,), "um")
    J = loop_jacobian(qm, robot)
    rate, bracket = zeros(J.shape, J, um), zeros((robot.nu, robot.nu), um)
    for entry in robot.layout:
        if entry.spherical:
            turn = skew(um[entry.u])
            bracket[entry.u, entry.u] = -turn if entry.against else turn
    for k, unit in enumerate(np.eye(robot.nu)):
        ahead, behind = (loop_bias(qm, um + v, robot) for v in (unit, -unit))
        rate[:, k] = (ahead - behind) / 4
    total: Array = rate + J @ bracket / 2
    return total


def _wanted(robot: Robot, every: bool) -> tuple[int, ...]:
    return all_rows(robot) if every else kept_rows(robot)
