"""The robot model: SPART's structure as frozen dataclasses.

Ids are SPART's: the base-link is 0, links and joints 1..n, and link i is the
child of joint i. Source: SPART's manual, "Robot Model"; SPART's documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Base = Literal["fixed", "floating"]


class JointType(IntEnum):
    """SPART's joint type codes."""

    FIXED = 0
    REVOLUTE = 1
    PRISMATIC = 2


def _frozen_array(value: ArrayLike) -> Floats:
    """Floats, or the symbolic scalars of a robot with unknown matter."""
    symbolic = isinstance(value, np.ndarray) and value.dtype.hasobject
    array = np.array(value, dtype=None if symbolic else float, subok=symbolic)
    array.setflags(write=False)
    return array


def _same(a: Any, b: Any) -> bool:
    """Whether two values are equal; symbolic ones only where they are the same object."""
    if isinstance(a, np.ndarray) and a.dtype.hasobject:
        return a is b
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    return a is b or (isinstance(a, _PLAIN) and isinstance(b, _PLAIN) and a == b)


class Record:
    """Base of the model's dataclasses: arrays are read-only, also after a pickle."""

    def __post_init__(self) -> None:
        for item in fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray) or item.metadata.get("array"):
                object.__setattr__(self, item.name, _frozen_array(value))

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, item.name) for item in fields(self))  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        # NumPy forgets the read-only flag in a pickle, so the record is made anew.
        return type(self), self._values()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(
            _same(mine, theirs)
            for mine, theirs in zip(self._values(), other._values(), strict=True)
        )

    def __hash__(self) -> int:
        # Equal records have equal hashes; arrays, long tuples and symbols are left out, so
        # that a robot can be the key of a cache in an inner loop.
        plain = (v for v in self._values() if isinstance(v, _PLAIN) and type(v) is not tuple)
        return hash((type(self), *plain))


_PLAIN = (int, float, str, tuple, type(None), Record)
_ARRAY = {"array": True}  # metadata of a field whose value becomes a read-only array


@dataclass(frozen=True, eq=False)
class Limits(Record):
    """Limits of a joint: position [rad or m], effort [N m or N], velocity [rad/s or m/s].

    Kept for controllers and displays; SPART's dynamics does not use them.
    """

    lower: float = -np.inf
    upper: float = np.inf
    effort: float = np.inf
    velocity: float = np.inf


@dataclass(frozen=True, eq=False)
class Link(Record):
    """A link: T (4,4) [m] from its joint frame to its centre of mass, mass [kg],
    inertia (3,3) [kg m^2] about the centre of mass in the link's own axes."""

    id: int
    name: str
    parent_joint: int
    T: Floats = field(metadata=_ARRAY)
    mass: float
    inertia: Floats = field(metadata=_ARRAY)


@dataclass(frozen=True, eq=False)
class Joint(Record):
    """A joint: T (4,4) [m] from the parent link's centre of mass to the joint frame,
    axis (3,) unit, in the joint frame; q_id is 1-based, -1 for a fixed joint."""

    id: int
    name: str
    type: JointType
    q_id: int
    parent_link: int
    child_link: int
    axis: Floats = field(metadata=_ARRAY)
    T: Floats = field(metadata=_ARRAY)
    limits: Limits | None = None


@dataclass(frozen=True, eq=False)
class BaseLink(Record):
    """The base-link: T (4,4) [m] from its URDF link frame to its centre of mass
    (identity from DH and by hand), mass [kg], inertia (3,3) [kg m^2]."""

    name: str
    T: Floats = field(metadata=_ARRAY)
    mass: float
    inertia: Floats = field(metadata=_ARRAY)


@dataclass(frozen=True, eq=False)
class Connectivity(Record):
    """SPART's connectivity maps. branch (n,n): entry i,j is 1 where link j lies on the
    path from the base to link i. child (n,n): 1 where link i is a child of link j.
    child_base (n,): 1 where link i hangs on the base."""

    branch: Floats = field(metadata=_ARRAY)
    child: Floats = field(metadata=_ARRAY)
    child_base: Floats = field(metadata=_ARRAY)


class RobotKeys(NamedTuple):
    """SPART's name-to-id maps."""

    link_id: dict[str, int]
    joint_id: dict[str, int]
    q_id: dict[str, int]


class JointSlice(NamedTuple):
    """Where one active joint lives in qm (slice q) and in um (slice u)."""

    joint_id: int
    name: str
    q: slice
    u: slice


@dataclass(frozen=True, eq=False)
class Robot(Record):
    """A kinematic tree of rigid bodies with SPART's fields.

    Make one with `from_urdf`, `from_dh` or `from_spart`. Immutable and picklable.
    `base` says whether the base-link floats or is fixed to the ground.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    base_link: BaseLink
    base: Base = "floating"
    source: str | None = None

    # --- SPART's derived fields -------------------------------------------------

    @cached_property
    def n_links_joints(self) -> int:
        """Number of links (and joints), the base-link not counted."""
        return len(self.links)

    @cached_property
    def n_q(self) -> int:
        """Number of active joint variables; the length of um."""
        return sum(joint.type is not JointType.FIXED for joint in self.joints)

    @cached_property
    def nq(self) -> int:
        """Length of qm. Equal to nu as long as every joint has one axis."""
        return self.n_q

    @cached_property
    def nu(self) -> int:
        """Length of um."""
        return self.n_q

    @cached_property
    def con(self) -> Connectivity:
        """SPART's connectivity maps."""
        n = self.n_links_joints
        branch, child, child_base = np.eye(n), np.zeros((n, n)), np.zeros(n)
        for i, parent in enumerate(self.parents):
            if parent == 0:
                child_base[i] = 1
            else:
                child[i, parent - 1] = 1
                branch[i] = np.maximum(branch[i], branch[parent - 1])
        return Connectivity(branch, child, child_base)

    @property
    def robot_keys(self) -> RobotKeys:
        """Name-to-id maps (a fresh copy; link_id has the base-link at 0)."""
        links = {self.base_link.name: 0} | {link.name: link.id for link in self.links}
        joints = {joint.name: joint.id for joint in self.joints}
        active = {joint.name: joint.q_id for joint in self.joints if joint.q_id > 0}
        return RobotKeys(links, joints, active)

    @cached_property
    def matter(self) -> tuple[Floats, Floats]:
        """mass (n+1,) [kg] and inertia (n+1, 3, 3) [kg m^2] of all links, the base first."""
        bodies: tuple[BaseLink | Link, ...] = (self.base_link, *self.links)
        mass = np.array([body.mass for body in bodies])
        return mass, np.array([body.inertia for body in bodies])

    def with_matter(self, mass: Any, inertia: Any) -> Robot:
        """The same tree with other masses (n+1,) [kg] and inertias (n+1, 3, 3) [kg m^2],
        the base-link first; floats, or arrays of symbolic scalars."""
        base = replace(self.base_link, mass=mass[0], inertia=inertia[0])
        links = (replace(link, mass=mass[link.id], inertia=inertia[link.id]) for link in self.links)
        return replace(self, base_link=base, links=tuple(links))

    # --- the tree as plain integers, prepared once ------------------------------

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Parent link id of link i at index i-1; 0 is the base-link."""
        return tuple(joint.parent_link for joint in self.joints)

    @cached_property
    def q_index(self) -> tuple[int | None, ...]:
        """Zero-based place of joint i's variable at index i-1, None where fixed."""
        return tuple(joint.q_id - 1 if joint.q_id > 0 else None for joint in self.joints)

    @cached_property
    def layout(self) -> tuple[JointSlice, ...]:
        """The slices of qm and um of each active joint, in order of q_id."""
        active = sorted((j for j in self.joints if j.q_id > 0), key=lambda j: j.q_id)
        return tuple(
            JointSlice(j.id, j.name, slice(j.q_id - 1, j.q_id), slice(j.q_id - 1, j.q_id))
            for j in active
        )

    @cached_property
    def active_joints(self) -> tuple[str, ...]:
        """Names of the active joints in the order of qm."""
        return tuple(entry.name for entry in self.layout)

    @cached_property
    def mass(self) -> float:
        """Mass of base and links together [kg]."""
        return self.base_link.mass + sum(link.mass for link in self.links)

    # --- configurations ---------------------------------------------------------

    def integrate(self, q: Any, v: Any) -> Any:
        """The configuration (nq,) reached from q (nq,) by the joint motion v (nu,)."""
        return np.asarray(q) + np.asarray(v)

    def difference(self, qa: Any, qb: Any) -> Any:
        """The joint motion (nu,) that leads from qa to qb: integrate(qa, result) is qb."""
        return np.asarray(qb) - np.asarray(qa)

    def with_base(self, base: Base) -> Robot:
        """The same robot with its base-link fixed to the ground or floating."""
        if base not in ("fixed", "floating"):
            from spart_blocks.errors import RobotError

            raise RobotError(f"base is {base!r}; it must be 'fixed' or 'floating'")
        return replace(self, base=base)

    # --- where robots come from -------------------------------------------------

    @classmethod
    def from_urdf(
        cls, path: str | Path, *, base: Base | None = None, strict: bool = False
    ) -> Robot:
        """Read a URDF file.

        base: 'fixed' or 'floating'; by default floating, unless the root link is
        massless or called world. strict: doubtful inertias are refused, not warned of.
        Raises RobotError with every fault of the file. Source: SPART's manual.
        """
        from spart_blocks.robot.urdf import read_urdf

        return read_urdf(path, base=base, strict=strict)

    @classmethod
    def from_dh(
        cls, data: Mapping[str, Any], *, base: Base = "floating", strict: bool = False
    ) -> Robot:
        """A serial robot from Denavit-Hartenberg data (SPART's DH_data as a mapping)."""
        from spart_blocks.robot.dh import dh_serial_to_robot

        return dh_serial_to_robot(data, base=base, strict=strict)[0]

    @classmethod
    def from_spart(
        cls, data: Mapping[str, Any], *, base: Base = "floating", strict: bool = False
    ) -> Robot:
        """A robot from SPART's structure as nested mappings (SPART's manual's names)."""
        from spart_blocks.robot.structure import robot_from_structure

        return robot_from_structure(data, base=base, strict=strict)

    def __repr__(self) -> str:
        return (
            f"Robot({self.name!r}, {self.base} base, {self.n_links_joints} links, "
            f"{self.n_q} active joints, {self.mass:.6g} kg)"
        )
