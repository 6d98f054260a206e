"""The places of each joint's variables in qm and um, and operations on configurations.

A spherical joint has four positions, a unit quaternion from its parent's to its child's joint
frame, scalar last, and three rates, the angular velocity in the child's axes. In SPART's one-axis
arrays it takes three rows in a row: the child's x, y and z axes at one point, with massless links
after the first two. The first row carries the whole rotation, and the axes of all three rotate with
the child, not each with the one before: their rates are omega_child x e, which is not what three
revolute joints in a row would have.

A spherical joint against the tree has rows about -x, -y and -z: its quaternion still maps from its
own child's to its own parent's frame, where its parent is the tree's child, and its rates are its
own child's velocity in its own parent's axes, which are those of the tree's child.

Source: R. Featherstone, "Rigid Body Dynamics Algorithms" (2008), sec. 4.4 and 4.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.spatial import (
    conjugate,
    filled,
    normalised,
    quaternion_of_turn,
    quaternion_product,
    quaternion_rate,
    turn_of_quaternion,
    unit_quaternion,
)
from spart_blocks.robot.parts import Joint, JointType

BALL_AXES = "xyz"
"""The rows of a spherical joint `ball` are joints ball.x, ball.y and ball.z."""


class JointSlice(NamedTuple):
    """The places of one active joint in qm (slice q) and in um (slice u). joint_id: of a
    spherical joint the last row's, whose child is the link that it moves. against: whether
    it is a spherical joint against the tree."""

    joint_id: int
    name: str
    q: slice
    u: slice
    against: bool = False

    @property
    def spherical(self) -> bool:
        """Whether it carries a quaternion."""
        return bool(self.q.stop - self.q.start == 4)


def balls_of(joints: Sequence[Joint]) -> tuple[int, ...]:
    """The ids of the first rows of the spherical joints."""
    rows = [joint.id for joint in joints if joint.type is JointType.SPHERICAL]
    return tuple(rows[::3])


def layout_of(joints: Sequence[Joint]) -> tuple[JointSlice, ...]:
    """The slices of each active joint, in the order of um."""
    active = sorted((j for j in joints if j.q_id > 0), key=lambda j: j.q_id)
    first, entries, q, u = set(balls_of(joints)), [], 0, 0
    while u < len(active):
        joint = active[u]
        if joint.id in first:
            name, against = joint.name.rpartition(".")[0], bool(joint.axis[0] < 0)
            last = active[u + 2].id
            entries.append(JointSlice(last, name, slice(q, q + 4), slice(u, u + 3), against))
        else:
            entries.append(JointSlice(joint.id, joint.name, slice(q, q + 1), slice(u, u + 1)))
        q, u = entries[-1].q.stop, entries[-1].u.stop
    return tuple(entries)


def integrate(q: Any, v: Any, layout: tuple[JointSlice, ...]) -> Any:
    """The configuration reached from q (nq,) by the joint motion v (nu,)."""
    q, v = np.asarray(q), np.asarray(v)
    out: list[Any] = []
    for entry in layout:
        if entry.spherical:
            pair = q[entry.q], quaternion_of_turn(v[entry.u])
            out += quaternion_product(*(pair[::-1] if entry.against else pair)).tolist()
        else:
            out += (q[entry.q] + v[entry.u]).tolist()
    return filled(out, q, v)


def difference(qa: Any, qb: Any, layout: tuple[JointSlice, ...]) -> Any:
    """The joint motion (nu,) that leads from qa (nq,) to qb."""
    qa, qb = np.asarray(qa), np.asarray(qb)
    out: list[Any] = []
    for entry in layout:
        if entry.spherical:
            pair = conjugate(qa[entry.q]), qb[entry.q]
            turn = quaternion_product(*(pair[::-1] if entry.against else pair))
            out += turn_of_quaternion(turn).tolist()
        else:
            out += (qb[entry.q] - qa[entry.q]).tolist()
    return filled(out, qa, qb)


def position_rates(
    q: Any, u: Any, layout: tuple[JointSlice, ...], stabilisation: float = 0.0
) -> Any:
    """The rates (nq,) of the positions q (nq,) at joint rates u (nu,); stabilisation [1/s]
    pulls quaternions to unit length."""
    q, u = np.asarray(q), np.asarray(u)
    out: list[Any] = []
    for entry in layout:
        if entry.against:  # q' = u q / 2 is conj(q)' = conj(q) (-u) / 2
            back = quaternion_rate(conjugate(q[entry.q]), -u[entry.u], stabilisation)
            out += conjugate(back).tolist()
        elif entry.spherical:
            out += quaternion_rate(q[entry.q], u[entry.u], stabilisation).tolist()
        else:
            out += u[entry.u].tolist()
    return filled(out, q, u)


def checked_configuration(q: Any, layout: tuple[JointSlice, ...], what: str) -> Any:
    """A user's configuration q (nq,) with normalised quaternions. Raises InputError if one is
    far from unit length; what: the name of q in errors.
    """
    out: Any = np.array(q)
    for entry in layout:
        if entry.spherical:
            out[entry.q] = unit_quaternion(out[entry.q], f"{what}: the quaternion of {entry.name}")
    return out


def with_unit_quaternions(q: Any, layout: tuple[JointSlice, ...]) -> Any:
    """The configuration q (nq,) with its quaternions at unit length."""
    parts = [normalised(q[entry.q]) if entry.spherical else q[entry.q] for entry in layout]
    return np.concatenate(parts) if parts else q
