"""Springs, dampers and force ports of a robot: forces that act inside the plant."""

from __future__ import annotations

from dataclasses import dataclass, field

from spart_blocks.robot._record import ARRAY, Floats, FrozenArrays


@dataclass(frozen=True, eq=False)
class Force(FrozenArrays):
    """Base of all forces: a name."""

    name: str


@dataclass(frozen=True, eq=False)
class PointSpring(Force):
    """A spring and damper along the line between two points.

    a, b: link ids, 0 is the base-link. pa, pb (3,) [m]: the points, in the links'
    centre-of-mass frames. It pulls with stiffness (d - free_length) + damping d', where d
    is the distance.
    """

    a: int
    b: int
    pa: Floats = field(metadata=ARRAY)
    pb: Floats = field(metadata=ARRAY)
    stiffness: float = 0.0
    free_length: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True, eq=False)
class JointSpring(Force):
    """A spring and damper at a joint: the force -stiffness (q - rest) - damping u on its
    coordinate; at a spherical joint q - rest is the rotation from the neutral position."""

    joint: str
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True, eq=False)
class JointPort(Force):
    """A torque or force on the coordinate of a one-axis joint that comes from input `port`
    of the plant; the port has one entry for each JointPort that names it, in their order."""

    joint: str
    port: str


@dataclass(frozen=True, eq=False)
class PointPort(Force):
    """A force from input `port` of the plant.

    On link a at pa (3,) [m, centre-of-mass frame]: three entries of the port, in inertial axes, or
    in the link's where `local`. With a second point, pb of link b: one entry, the force that pushes
    the two points apart.
    """

    port: str
    a: int
    pa: Floats = field(metadata=ARRAY)
    b: int | None = None
    pb: Floats | None = None
    local: bool = False
