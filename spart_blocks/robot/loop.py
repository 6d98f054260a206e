"""Constraints that close the loops of a robot whose joints are a tree.

A joint that the spanning tree leaves out is a loop constraint, and so is a distance between
two points. Each constrains some of the motion of a frame b on one link with respect to a
frame a on another, in rows:

    x, y, z     the origin of b, from that of a: where all three are constrained in the axes
                of the nearest body that carries both links, elsewhere in those of a
    rx, ry, rz  axes of a are square to axes of b: y to z, x to z, x to y
    d           the distance between the origins

Source: R. Featherstone, "Rigid Body Dynamics Algorithms" (2008), sec. 8.3 and 8.6.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from spart_blocks.robot._record import ARRAY, Floats, Record

LoopType = Literal[
    "rigid",
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "distance",
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
}
"""What each type constrains. The axis of those that have one is z of both frames; a
universal joint turns about x of frame a and y of frame b, which stay square."""


@dataclass(frozen=True, eq=False)
class Loop(Record):
    """A loop constraint between two links; ids as in the robot, 0 is the base-link.

    a, b: the link ids. Ta, Tb (4,4) [m]: the frames, from the links' centre-of-mass frames.
    length: of a distance, a number [m], or the name of a joint that no link depends on, the
    prescribed length.
    """

    name: str
    type: LoopType
    a: int
    b: int
    Ta: Floats = field(metadata=ARRAY)
    Tb: Floats = field(metadata=ARRAY)
    length: float | str | None = None

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of its rows, such as `pin.x` and `pin.ry`."""
        return tuple(f"{self.name}.{row}" for row in ROWS[self.type])
