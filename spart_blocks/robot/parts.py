"""The parts of a robot: its links, joints and base-link, as in SPART.

Source: SPART's manual, "Robot Model".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from spart_blocks.robot._record import ARRAY, Floats, FrozenArrays
from spart_blocks.robot._transforms import rigid_inverse
from spart_blocks.robot.drive import Drive, Limits


class JointType(IntEnum):
    """SPART's joint type codes, and that of the three rows of a spherical joint."""

    FIXED = 0
    REVOLUTE = 1
    PRISMATIC = 2
    SPHERICAL = 3


@dataclass(frozen=True, eq=False)
class Link(FrozenArrays):
    """A link: T (4,4) [m] from its joint frame to its centre of mass, mass [kg],
    inertia (3,3) [kg m^2] about the centre of mass in the link's own axes. frame (4,4) [m]:
    from its centre of mass to its body frame, where that is not the joint frame."""

    id: int
    name: str
    parent_joint: int
    T: Floats = field(metadata=ARRAY)
    mass: float
    inertia: Floats = field(metadata=ARRAY)
    frame: Floats | None = None

    @property
    def to_mass(self) -> Floats:
        """T (4,4) [m] from its body frame (URDF link frame) to its centre of mass."""
        return self.T if self.frame is None else rigid_inverse(self.frame)


@dataclass(frozen=True, eq=False)
class Joint(FrozenArrays):
    """A joint: T (4,4) [m] from the parent link's centre of mass to the joint frame, axis (3,)
    unit, in the joint frame; q_id is 1-based, -1 for a fixed joint. kinematic: whether its
    acceleration is prescribed. drive: its motor and friction, if it has any. group: the joint of
    several axes that it is one row of. `robot/coordinates.py` describes the rows of a spherical
    joint."""

    id: int
    name: str
    type: JointType
    q_id: int
    parent_link: int
    child_link: int
    axis: Floats = field(metadata=ARRAY)
    T: Floats = field(metadata=ARRAY)
    limits: Limits | None = None
    drive: Drive | None = None
    kinematic: bool = False
    group: str | None = None


@dataclass(frozen=True, eq=False)
class BaseLink(FrozenArrays):
    """The base-link: T (4,4) [m] from its URDF link frame to its centre of mass
    (identity from DH and by hand), mass [kg], inertia (3,3) [kg m^2]."""

    name: str
    T: Floats = field(metadata=ARRAY)
    mass: float
    inertia: Floats = field(metadata=ARRAY)

    @property
    def to_mass(self) -> Floats:
        """T (4,4) [m] from its body frame (URDF link frame) to its centre of mass."""
        return self.T


@dataclass(frozen=True, eq=False)
class Connectivity(FrozenArrays):
    """SPART's connectivity maps. branch (n,n): entry i,j is 1 where link j lies on the
    path from the base to link i. child (n,n): 1 where link i is a child of link j.
    child_base (n,): 1 where link i is a child of the base."""

    branch: Floats = field(metadata=ARRAY)
    child: Floats = field(metadata=ARRAY)
    child_base: Floats = field(metadata=ARRAY)


class RobotKeys(NamedTuple):
    """SPART's name-to-id maps."""

    link_id: dict[str, int]
    joint_id: dict[str, int]
    q_id: dict[str, int]
