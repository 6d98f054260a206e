"""Loop constraints of a robot whose joints form a tree.

A joint that the spanning tree leaves out is a loop constraint, and so is a distance between
two points. Each constrains some of the motion of a frame b on one link with respect to a
frame a on another, in rows:

    x, y, z     the origin of b, from that of a: if all three are constrained in the axes
                of the nearest common ancestor link (those of its centre-of-mass frame, as
                in RL), otherwise in those of a
    rx, ry, rz  axes of a are perpendicular to axes of b: y to z, x to z, x to y
    d           the distance between the origins

A coupling, as a mimic joint of URDF or a pair of gears, constrains the positions of two joints:

    rq, q       q_joint - ratio q_other - offset, of a revolute and of a prismatic joint

Source: R. Featherstone, "Rigid Body Dynamics Algorithms" (2008), sec. 8.3 and 8.6.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from spart_blocks.base.errors import RobotError
from spart_blocks.robot._record import ARRAY, Floats, FrozenArrays

LoopType = Literal[
    "rigid",
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "distance",
    "turning coupling",
    "sliding coupling",
]

ROWS: dict[LoopType, tuple[str, ...]] = {
    "rigid": ("x", "y", "z", "rx", "ry", "rz"),
    "revolute": ("x", "y", "z", "rx", "ry"),
    "prismatic": ("x", "y", "rx", "ry", "rz"),
    "cylindrical": ("x", "y", "rx", "ry"),
    "universal": ("x", "y", "z", "rz"),
    "spherical": ("x", "y", "z"),
    "planar": ("z", "rx", "ry"),
    "distance": ("d",),
    "turning coupling": ("rq",),
    "sliding coupling": ("q",),
}
"""The rows of each type. The axis is z of both frames; a universal joint turns about x of frame a
and y of frame b, which stay perpendicular."""


@dataclass(frozen=True, eq=False)
class Coupling(FrozenArrays):
    """The law of a coupling: q_joint = ratio q_other + offset, of two joints of one axis, by
    name. ratio: rad or m of the one for each of the other; offset [rad or m]."""

    joint: str
    other: str
    ratio: float = 1.0
    offset: float = 0.0

    def __str__(self) -> str:
        offset = f" {self.offset:+g}" if self.offset else ""
        return f"{self.joint} = {self.ratio:g} {self.other}{offset}"


@dataclass(frozen=True, eq=False)
class Loop(FrozenArrays):
    """A loop constraint between two links; ids as in the robot, 0 is the base-link.

    a, b: the link ids. Ta, Tb (4,4) [m]: the frames, from the links' centre-of-mass frames.
    length: of a distance, a number [m], or the name of a joint that no link depends on, the
    prescribed length. coupling: the law of one; its links are those that the two joints move.
    """

    name: str
    type: LoopType
    a: int
    b: int
    Ta: Floats = field(metadata=ARRAY)
    Tb: Floats = field(metadata=ARRAY)
    length: float | str | None = None
    coupling: Coupling | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.coupling is None) == self.type.endswith("coupling"):
            what = "has no law" if self.coupling is None else f"of type {self.type} has a coupling"
            raise RobotError(f"loop {self.name!r} {what}: a coupling, and no other loop, has one")

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of its rows, such as `pin.x` and `pin.ry`."""
        return tuple(f"{self.name}.{row}" for row in ROWS[self.type])
