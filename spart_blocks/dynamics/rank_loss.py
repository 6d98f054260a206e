"""Distance to the nearest configuration in which the loops of a robot lose rank.

The distance is the least part that a row of J has of its own beside those before it: the
square of its length, over that of the longest row of its kind at home. It is zero where a
row follows from others, or vanishes, and grows with the square of the way from there. Only
free joints count: prescribed ones cannot give way.

Source: G. Golub and C. Van Loan, "Matrix Computations" (2013), sec. 4.2, for the pivots of
J J'.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from spart_blocks.base.spatial import array, filled, sqrt
from spart_blocks.dynamics.assembly import rows_at, size_of
from spart_blocks.dynamics.axial import paths_of
from spart_blocks.dynamics.branches import Row
from spart_blocks.dynamics.loop_rows import Chain, loop_rows
from spart_blocks.dynamics.loops import kept_rows, row_names, sample_configurations
from spart_blocks.dynamics.screws import bodies_of
from spart_blocks.robot import JointType, Robot

LOST = 1e-6
"""Distance, a thousandth of a radian off, at which rank counts as lost: numerical errors keep a
run from coming closer. Smaller for a robot that is never far from a loss of rank.
"""
CLEAR = 0.01
"""Distance beyond which no check is needed. Smaller for such a robot, like LOST."""
GROWTH = 1e-3
"""Smallest growth of the distance with the square of the displacement from a loss of rank."""
TURN = 0.5
"""Largest motion in a step [rad, robot sizes]: a longer step might miss a loss of rank."""
AROUND = 0.7
"""[rad, m] So far off along a motion a nearest point is looked for."""
REACH = 1e-5
"""[rad, m] So far ahead and behind along a motion distances are compared."""
STILL = 1e-200
AT_REST = 1e-12
"""[rad/s, m/s] Rates below are rounding, and so is their direction: a loop that its friction holds
at rest does not move towards a loss of rank."""
NOISE = 1e-12


@lru_cache(maxsize=32)
def row_sizes(robot: Robot) -> tuple[float, ...]:
    """Of each row that is kept, the square of the length of the longest of its loop and kind
    (of points or of axes), at configurations near home."""
    kept, names = kept_rows(robot), row_names(robot)
    kinds = [(name.rpartition(".")[0], name.rpartition(".r")[1]) for name in names]
    kinds = [kinds[k] for k in kept]
    sizes: dict[Any, float] = {}
    for q in sample_configurations(robot):
        rows = rows_at(q, robot, None, kept).J
        for kind, row in zip(kinds, _free(rows, robot), strict=True):
            square = sum(float(x) ** 2 for x in row.values())
            sizes[kind] = max(sizes.get(kind, 0.0), square)
    return tuple(sizes[kind] for kind in kinds)


@lru_cache(maxsize=32)
def thresholds(robot: Robot) -> tuple[float, float]:
    """LOST and CLEAR for a robot: well below its distances at configurations near home."""
    usual = float(np.median([distance(q, robot) for q in sample_configurations(robot)]))
    return min(LOST, 1e-4 * usual), min(CLEAR, 0.1 * usual)


def own_parts(qm: Any, robot: Robot) -> list[Any]:
    """Of each row of J that is kept, what is its own beside those before it, at qm (nq,)."""
    qm, bodies, parts = array(qm, (robot.nq,), "qm"), bodies_of(robot), []
    chain = Chain(robot, paths_of(bodies, qm), qm)
    rows = _free(loop_rows(robot, chain, kept_rows(robot)).J, robot)
    gram: list[list[Any]] = [
        [sum((x * b[k] for k, x in a.items() if k in b), 0.0) for b in rows[: i + 1]]
        for i, a in enumerate(rows)
    ]
    for k, size in enumerate(row_sizes(robot)):
        pivot = gram[k][k]
        parts.append(pivot / size)
        inverse = 1.0 / (pivot + STILL * size)
        for i in range(k + 1, len(gram)):
            gain = gram[i][k] * inverse
            for j in range(k + 1, i + 1):
                gram[i][j] = gram[i][j] - gain * gram[j][k]
    return parts


def _free(rows: list[Row], robot: Robot) -> list[Row]:
    """The entries of free joints."""
    return [{k: x for k, x in row.items() if k not in robot.kinematic} for row in rows]


def distance(qm: Any, robot: Robot) -> Any:
    """The least of `own_parts`."""
    least: Any = 1.0
    for part in own_parts(qm, robot):
        least = np.minimum(least, part)
    return least


def passing(qm: Any, um: Any, robot: Robot) -> tuple[Any, Any]:
    """Two numbers for a motion at the rates um (nu,) through qm (nq,): one turns positive
    where it is nearest to a loss of rank, and is -1 where it keeps clear of it; the other is
    positive where rank is lost."""
    qm, um = array(qm, (robot.nq,), "qm"), array(um, (robot.nu,), "um")
    size = sqrt(filled([sum((u * u for u in um.tolist()), STILL)], um))
    step = um * (REACH / size)
    behind, here, ahead = (distance(robot.integrate(qm, s * step), robot) for s in (-1.0, 0.0, 1.0))
    slope, bend = ahead - behind, ahead - 2.0 * here + behind
    least, most = thresholds(robot)
    # The parabola through the three: where it is lowest, and how low.
    near = abs(slope) * REACH < 2.0 * AROUND * bend
    low = here * bend - slope * slope / 8.0 < most * bend
    steep = slope * slope > 16.0 * REACH**2 * GROWTH * here
    moves = size.tolist()[0] > AT_REST
    looks = np.logical_and(np.logical_and(near, low), np.logical_and(steep, moves))
    return np.where(looks, slope - NOISE, -1.0), least - here


def reach(um: Any, robot: Robot) -> Any:
    """The time [s] in which a motion at the rates um (nu,) turns joints by a radian, or
    slides them by the robot's size."""
    um = array(um, (robot.nu,), "um")
    size = size_of(robot)
    turns = [robot.joints[entry.joint_id - 1].type is not JointType.PRISMATIC
             for entry in robot.layout for _ in range(entry.u.start, entry.u.stop)]  # fmt: skip
    scaled = [u if turn else u / size for u, turn in zip(um.tolist(), turns, strict=True)]
    return TURN / sqrt(filled([sum((u * u for u in scaled), 1e-12)], um)).tolist()[0]


def rank_loss_text(qm: Any, robot: Robot) -> str:
    """The message for a loss of rank of the loops at qm (nq,), floats."""
    row, joints = dependent_row(qm, robot)
    return (
        f"its loops lose rank: in this configuration {row} follows from the other rows, and "
        f"{', '.join(joints)} can move in more ways than one"
    )


def dependent_row(qm: Any, robot: Robot) -> tuple[str, tuple[str, ...]]:
    """The row that has least of its own at qm (nq,), floats, and the joints that it moves
    with."""
    parts = [float(part) for part in own_parts(qm, robot)]
    worst = int(np.argmin(parts))
    row = kept_rows(robot)[worst]
    moved = rows_at(qm, robot, None, (row,)).J[0]
    joints = tuple(
        e.name for e in robot.layout if any(k in moved for k in range(e.u.start, e.u.stop))
    )
    return row_names(robot)[row], joints
