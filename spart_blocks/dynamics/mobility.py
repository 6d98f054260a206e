"""Mobility, redundant constraints and singular configurations of a closed robot.

Sources: G. Gogu, "Mobility of mechanisms: a critical review", Mechanism and Machine Theory
40 (2005): the mobility is what the rank of the loops leaves; C. Gosselin and J. Angeles,
"Singularity analysis of closed-loop kinematic chains", IEEE Trans. Robotics and Automation
6 (1990), for the two kinds of singular configurations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base.spatial import Array
from spart_blocks.dynamics.assembly import (
    assemble,
    configuration,
    places_in_um,
    row_scales,
    rows_at,
    size_of,
)
from spart_blocks.dynamics.loop_rows import dense
from spart_blocks.dynamics.loops import dropped_rows, kept_rows, row_names, sample_configurations
from spart_blocks.robot import JointType, Robot

RANK = 1e-8
"""A singular value so far below the largest is zero."""
SHARE = 1e-6
"""Less than so much of the largest is rounding."""


@dataclass(frozen=True)
class Mobility:
    """The mobility of a robot at a configuration. freedoms: the number of independent joint rates,
    without a floating base; rank: of the loops' Jacobian there; generic: its rank nearly
    everywhere. redundant: rows that others imply everywhere. loops, joints: if the rank is lower
    here, the loops that lose it, and their joints. left: the number of degrees of freedom that the
    actuated joints do not control, None without actuated joints. loose: joints that can move here
    while the actuated ones are held, though they cannot nearby.
    """

    freedoms: int
    rank: int
    generic: int
    redundant: tuple[str, ...]
    loops: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    left: int | None = None
    loose: tuple[str, ...] = ()

    @property
    def singular(self) -> bool:
        """Whether the loops have lost rank in this configuration, or the actuated joints
        do not hold it."""
        return self.rank < self.generic or bool(self.loose)

    def __str__(self) -> str:
        count = f"{self.freedoms} freedom" + ("" if self.freedoms == 1 else "s")
        text = f"{count}; the loops have rank {self.rank}"
        if self.redundant:
            text += f"; redundant everywhere: {', '.join(self.redundant)}"
        if self.loops:
            text += f"; singular here: {', '.join(self.loops)} with {', '.join(self.joints)}"
        if self.left:
            text += f"; the actuated joints leave {self.left} of the freedoms"
        if self.loose:
            text += f"; singular here: the actuated joints do not hold {', '.join(self.loose)}"
        return text


def mobility(robot: Robot, qm: Any = None, actuated: Iterable[str] = ()) -> Mobility:
    """The mobility of a robot at qm (nq,) where its loops are closed, by default where
    they close near its home; actuated: joints by name that would be held."""
    q = assemble(robot).qm if qm is None else configuration(robot, qm)
    J, kept = _scaled(robot, q), kept_rows(robot)
    rank, generic = _rank(J), len(kept)
    loops, joints = _losing_rank(J[list(kept)], robot, kept) if rank < generic else ((), ())
    held = places_in_um(robot, actuated)
    left, loose = _left(robot, q, held) if held else (None, ())
    freedoms, dropped = robot.nu - rank, dropped_rows(robot)
    return Mobility(freedoms, rank, generic, dropped, loops, joints, left, loose)


def _scaled(robot: Robot, q: Array) -> Array:
    """J with its rows, and its columns of lengths, in units of the robot's size."""
    slides = [joint.type is JointType.PRISMATIC for joint in robot.joints if joint.q_id > 0]
    order = np.argsort([joint.q_id for joint in robot.joints if joint.q_id > 0])
    columns = np.where(np.array(slides, dtype=bool)[order], size_of(robot), 1.0)
    return dense(rows_at(q, robot), robot) / row_scales(robot)[:, None] * columns


def _rank(J: Array) -> int:
    s = np.linalg.svd(J, compute_uv=False)
    return int((s > RANK * s.max(initial=1e-300)).sum())


def _losing_rank(
    J: Array, robot: Robot, kept: tuple[int, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The loops with rows that others imply here, and the joints in them."""
    U, s, _ = np.linalg.svd(J)
    lost = np.abs(U[:, s <= RANK * s.max(initial=1e-300)]).max(axis=1, initial=0.0)
    names = [row_names(robot)[k].rpartition(".")[0] for k in kept]
    losing = dict.fromkeys(names[k] for k in np.flatnonzero(lost > SHARE * lost.max(initial=0.0)))
    felt = np.abs(J[[name in losing for name in names]]).max(axis=0, initial=0.0)
    return tuple(losing), _joints(robot, felt > SHARE * felt.max(initial=0.0))


def _joints(robot: Robot, felt: Array) -> tuple[str, ...]:
    """The names of the joints that have one of these rates."""
    return tuple(entry.name for entry in robot.layout if felt[entry.u].any())


def _left(robot: Robot, q: Array, held: list[int]) -> tuple[int, tuple[str, ...]]:
    """How many freedoms are left with these rates held, nearly everywhere; and the joints
    that move with more of them here."""
    free = np.setdiff1d(np.arange(robot.nu), held)

    def motions(at: Array) -> Array:
        J = _scaled(robot, at)[:, free]
        return np.linalg.svd(J)[2][_rank(J) :].T

    here = motions(q)
    least = min(motions(at).shape[1] for at in (q, *sample_configurations(robot)))
    if here.shape[1] == least:
        return least, ()
    moving = np.zeros(robot.nu)
    moving[free] = np.abs(here).max(axis=1, initial=0.0)
    return least, _joints(robot, moving > SHARE * moving.max())
