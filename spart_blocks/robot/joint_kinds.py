"""The types of joints that a file of bodies may name: their rows, coordinates and loops.

A joint moves the child's joint frame from the parent's by its rows one after another. Those
of one axis are one row named like the joint; the others are rows joint.rx, joint.pz and so
on, with massless links between. Where the joint is against the tree, the inverse of the
motion is that of the rows in reverse order about the opposite axes, with the same coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spart_blocks.robot._record import Floats
from spart_blocks.robot.coordinates import BALL_AXES
from spart_blocks.robot.loop import LoopType
from spart_blocks.robot.parts import JointType

_AXES = dict(zip("xyz", np.eye(3), strict=True))
_TYPES = {"r": JointType.REVOLUTE, "p": JointType.PRISMATIC}


class Kind(NamedTuple):
    """A type of joint. coordinates: a suffix for each, such as rz, or r for a ball, and "" for
    a joint of one coordinate. loop: its constraint type if it is cut; None constrains nothing."""

    coordinates: tuple[str, ...]
    loop: LoopType | None


class JointRow(NamedTuple):
    """One row of a joint: its name, type, and axis (3,) in the joint frame."""

    name: str
    type: JointType
    axis: Floats


KINDS: dict[str, Kind] = {
    "rigid": Kind((), "rigid"),
    **{f"R{axis}": Kind(("",), "revolute") for axis in ("x", "y", "z", "")},
    **{f"P{axis}": Kind(("",), "prismatic") for axis in ("x", "y", "z", "")},
    "cylindrical": Kind(("rz", "pz"), "cylindrical"),
    "universal": Kind(("rx", "ry"), "universal"),
    "spherical": Kind(("",), "spherical"),
    "planar": Kind(("px", "py", "rz"), "planar"),
    "float": Kind(("px", "py", "pz", "r"), None),
}
"""The types by name. R and P turn about and slide along an axis that is given."""

FREE_AXIS = ("R", "P")
"""Types with one axis, which must be given."""


def with_suffix(name: str, suffix: str) -> str:
    """The name of a row or coordinate of a joint."""
    return f"{name}.{suffix}" if suffix else name


def is_ball(kind: str, suffix: str) -> bool:
    """Whether a coordinate is a unit quaternion."""
    return kind == "spherical" or suffix == "r"


def fixed_axis(kind: str) -> Floats:
    """The axis (3,) in the name of a type with one axis; z for the others."""
    return _AXES[kind[1]] if kind[0] in "RP" and len(kind) == 2 else _AXES["z"]


def rows_of(name: str, kind: str, axis: Floats, *, against: bool = False) -> list[JointRow]:
    """The rows of a joint in the order of the tree. axis (3,): of a joint of one axis."""
    groups: list[list[JointRow]] = []
    for suffix in KINDS[kind].coordinates:
        label = with_suffix(name, suffix)
        if is_ball(kind, suffix):
            balls = [JointRow(f"{label}.{c}", JointType.SPHERICAL, _AXES[c]) for c in BALL_AXES]
            groups.append(balls)
        elif suffix:
            groups.append([JointRow(label, _TYPES[suffix[0]], _AXES[suffix[1]])])
        else:
            groups.append([JointRow(label, _TYPES[kind[0].lower()], axis)])
    if not groups:
        return [JointRow(name, JointType.FIXED, np.zeros(3))]
    if against:
        # A ball keeps the order of its rows: its quaternion is one rotation.
        groups = [[row._replace(axis=0.0 - row.axis) for row in rows] for rows in reversed(groups)]
    return [row for rows in groups for row in rows]


def turn_to(axis: Floats) -> Floats:
    """A rotation (4,4) that maps z to the unit axis (3,): the smallest, or for an axis that
    points down the smallest after half a turn about x.
    """
    x, y, c = axis
    T = np.eye(4)
    if c < 0:
        T[1, 1] = T[2, 2] = -1.0
        return T @ turn_to(np.array([x, -y, -c]))
    T[:3, :3] = [
        [1 - x * x / (1 + c), -x * y / (1 + c), x],
        [-x * y / (1 + c), 1 - y * y / (1 + c), y],
        [-x, -y, c],
    ]
    return T
