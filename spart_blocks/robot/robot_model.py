"""The robot model: SPART's structure as frozen dataclasses, without readers and displays.

Ids are SPART's: the base-link is 0, links and joints 1..n, and link i is the
child of joint i. Source: SPART's manual, "Robot Model"; SPART's documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from spart_blocks.base.errors import Fault, RobotError, brief, did_you_mean
from spart_blocks.robot._record import Floats, FrozenArrays
from spart_blocks.robot._transforms import displaced, displacement
from spart_blocks.robot.coordinates import (
    BALL_AXES,
    JointSlice,
    balls_of,
    difference,
    integrate,
    layout_of,
    position_rates,
    with_unit_quaternions,
)
from spart_blocks.robot.drive import EFFECTS, Drive, Effect
from spart_blocks.robot.force import Force
from spart_blocks.robot.loop import Loop
from spart_blocks.robot.parts import BaseLink, Connectivity, Joint, JointType, Link, RobotKeys

Base = Literal["fixed", "floating"]


def _listed(names: Iterable[Any], what: str) -> tuple[Any, ...]:
    """Names as a tuple; a RobotError for a single text, whose letters would count as names."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise RobotError(f"{what} are a list of names, not {names!r}")
    return tuple(names)


def _is_symbolic(value: Any) -> bool:
    """Whether a value is an array of symbolic scalars. None is no array."""
    return value is not None and np.asarray(value).dtype.kind == "O"


def _with_center(link: Link, shift: Any) -> Link:
    """The link with its centre of mass displaced by (3,) [m] in its own axes."""
    moved = displaced(link.T, link.T[:3, :3] @ shift)
    frame = None if link.frame is None else displaced(link.frame, -shift)
    return replace(link, T=moved, frame=frame)


@dataclass(frozen=True, eq=False)
class RobotModel(FrozenArrays):
    """The data of a robot, and derived quantities; see Robot."""

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    base_link: BaseLink
    base: Base = "floating"
    source: str | None = None
    effects: tuple[Effect, ...] = ()
    loops: tuple[Loop, ...] = ()
    forces: tuple[Force, ...] = ()
    home: Floats | None = None

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
        """Length of qm: nu, and one more for each spherical joint."""
        return self.n_q + len(self.balls)

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

    def body(self, link: int) -> Link | BaseLink:
        """A link by its id; 0 is the base-link."""
        return self.links[link - 1] if link else self.base_link

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

    @cached_property
    def coms(self) -> Floats:
        """Centres of mass (n+1, 3) [m] of all links in their body frames (URDF link frames), the
        base first."""
        bodies: tuple[BaseLink | Link, ...] = (self.base_link, *self.links)
        return np.array([body.to_mass[:3, 3] for body in bodies])

    def with_matter(self, mass: Any, inertia: Any, com: Any = None) -> Self:
        """The same tree with other masses (n+1,) [kg], inertias (n+1, 3, 3) [kg m^2] about the
        centres of mass in the links' own axes, and centres of mass as those of `coms`, the
        base-link first; floats, or arrays of symbolic scalars. The body frames stay, and so does
        the way between joints; what stands in frames of centres of mass (loops, forces) does not.
        """
        base = replace(self.base_link, mass=mass[0], inertia=inertia[0])
        links = [replace(link, mass=mass[link.id], inertia=inertia[link.id]) for link in self.links]
        joints, shifts = self.joints, None
        if com is not None:
            shifts = [displacement(self.body(k).to_mass, com[k]) for k in range(len(links) + 1)]
            base = replace(base, T=displaced(base.T, base.T[:3, :3] @ shifts[0]))
            links = [_with_center(link, shifts[link.id]) for link in links]
            joints = tuple(
                replace(joint, T=displaced(joint.T, -shifts[joint.parent_link])) for joint in joints
            )
        other = replace(self, base_link=base, links=tuple(links), joints=joints)
        if any(_is_symbolic(value) for value in (mass, inertia, com)):
            other.__dict__["nominal"] = self.nominal
        if _is_symbolic(com):
            other.__dict__["shifts"] = shifts
        return other

    @cached_property
    def shifts(self) -> list[Any] | None:
        """Where centres of mass are symbolic: by how much (3,) [m] each is displaced from that of
        `nominal`, in its link's own axes, the base first. None otherwise."""
        return None

    @cached_property
    def nominal(self) -> Self:
        """The robot with numbers in place of symbolic masses, for analyses of its structure; any
        other robot itself. With symbolic centres of mass, its geometry without them.
        """
        return self

    # --- the tree as plain integers, prepared once ------------------------------

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Parent link id of link i at index i-1; 0 is the base-link."""
        return tuple(joint.parent_link for joint in self.joints)

    @cached_property
    def u_index(self) -> tuple[int | None, ...]:
        """Zero-based place in um of joint i's rate at index i-1, None where fixed."""
        return tuple(joint.q_id - 1 if joint.q_id > 0 else None for joint in self.joints)

    @cached_property
    def q_slices(self) -> tuple[slice | None, ...]:
        """The part of qm that displaces joint i, at index i-1: one position, a quaternion at
        the first row of a spherical joint, None at its others and where fixed."""
        slices: list[slice | None] = [None] * len(self.joints)
        for entry in self.layout:
            slices[entry.joint_id - (3 if entry.spherical else 1)] = entry.q
        return tuple(slices)

    @cached_property
    def carriers(self) -> tuple[int, ...]:
        """The id of the link with which the axis of joint i rotates, at index i-1: link i, and
        for all rows of a spherical joint the link that it moves."""
        ids = list(range(1, len(self.joints) + 1))
        for ball in self.balls:
            ids[ball - 1 : ball + 2] = [ball + 2] * 3
        return tuple(ids)

    @cached_property
    def balls(self) -> tuple[int, ...]:
        """The ids of the first rows of the spherical joints."""
        return balls_of(self.joints)

    @cached_property
    def layout(self) -> tuple[JointSlice, ...]:
        """The slices of qm and um of each active joint, in order of q_id."""
        return layout_of(self.joints)

    @cached_property
    def neutral(self) -> Floats:
        """The neutral configuration (nq,), in which no joint is displaced."""
        q = np.zeros(self.nq)
        q[[entry.q.stop - 1 for entry in self.layout if entry.spherical]] = 1.0
        return q

    @cached_property
    def active_joints(self) -> tuple[str, ...]:
        """Names of the active joints in the order of qm."""
        return tuple(entry.name for entry in self.layout)

    @cached_property
    def position_names(self) -> tuple[str, ...]:
        """A name for each entry of qm: the joint's, or ball.qx, .qy, .qz, .qw."""
        names: list[str] = []
        for entry in self.layout:
            names += [f"{entry.name}.q{c}" for c in "xyzw"] if entry.spherical else [entry.name]
        return tuple(names)

    @cached_property
    def rate_names(self) -> tuple[str, ...]:
        """A name for each entry of um: the joint's, or ball.x, .y, .z."""
        names: list[str] = []
        for entry in self.layout:
            spherical = [f"{entry.name}.{c}" for c in BALL_AXES]
            names += spherical if entry.spherical else [entry.name]
        return tuple(names)

    @cached_property
    def mass(self) -> float:
        """Mass of base and links together [kg]."""
        return self.base_link.mass + sum(link.mass for link in self.links)

    # --- motors, friction, stops, prescribed joints -------------------------------

    @cached_property
    def kinematic(self) -> tuple[int, ...]:
        """Places in um of the joints whose acceleration is prescribed."""
        marked = (joint.q_id - 1 for joint in self.joints if joint.kinematic and joint.q_id > 0)
        return tuple(sorted(marked))

    @property
    def kinematic_joints(self) -> tuple[str, ...]:
        """Names of the prescribed joints, as with_kinematic takes them."""
        return tuple(e.name for e in self.layout if self.joints[e.joint_id - 1].kinematic)

    @cached_property
    def motor_inertia(self) -> Floats:
        """The inertia of the motors at the joints, G^2 Jm (nu,) [kg m^2, kg], if the effect
        "motors" is active.
        """
        active = sorted((j for j in self.joints if j.q_id > 0), key=lambda j: j.q_id)
        drives = [joint.drive or Drive() for joint in active]
        inertia = np.array([drive.gear**2 * drive.motor_inertia for drive in drives])
        return inertia * ("motors" in self.effects)

    def with_effects(self, effects: Iterable[Effect]) -> Self:
        """The same robot with these active effects of its joints: any of "motors", "friction",
        "stops", and "limits", which includes the stops. Raises RobotError for others, and for
        stops with a lower limit above the upper one.
        """
        chosen = _listed(effects, "effects")
        for effect in chosen:
            if effect not in EFFECTS:
                raise RobotError(f"no effect {effect!r}: {did_you_mean(str(effect), EFFECTS)}")
        if "limits" in chosen:
            chosen = (*chosen, "stops")
        for joint in self.joints if "stops" in chosen else ():
            if joint.limits and joint.limits.lower > joint.limits.upper:
                raise RobotError(
                    f"joint {brief(joint.name)} cannot have stops: its lower limit, "
                    f"{joint.limits.lower:g}, is above the upper one, {joint.limits.upper:g}"
                )
        other = replace(self, effects=tuple(effect for effect in EFFECTS if effect in chosen))
        return self._symbolic_too(other, lambda one: one.with_effects(chosen))

    def _symbolic_too(self, other: Self, change: Callable[[Self], Self]) -> Self:
        """A changed copy of this robot, with what belongs to one of symbols. change: the same of
        its `nominal`."""
        if self.nominal is not self:
            other.__dict__.update(nominal=change(self.nominal), shifts=self.shifts)
        return other

    def with_kinematic(self, joints: Iterable[str]) -> Self:
        """The same robot with these joints prescribed: their accelerations are inputs, the
        others react. Raises RobotError for a name that is not a movable joint.
        """
        chosen = _listed(joints, "prescribed joints")
        for name in sorted(set(chosen) - set(self.active_joints)):
            hint = did_you_mean(name, self.active_joints)
            raise RobotError(Fault(self.not_moving(name), hint=hint))
        for name in chosen:
            if chosen.count(name) > 1:
                raise RobotError(f"joint {brief(name)} is listed twice among those prescribed")
        rows = {f"{name}.{axis}" for name in chosen for axis in BALL_AXES}
        marked = (
            replace(
                joint,
                kinematic=joint.name in (rows if joint.type is JointType.SPHERICAL else chosen),
            )
            for joint in self.joints
        )
        other = replace(self, joints=tuple(marked))
        return self._symbolic_too(other, lambda one: one.with_kinematic(chosen))

    def not_moving(self, name: str) -> str:
        """The reason why a name is not that of a movable joint."""
        if name in self.rate_names:
            ball = name.rpartition(".")[0]
            return f"{brief(name)} is no joint, but one axis of the spherical joint {brief(ball)}"
        if any(joint.name == name for joint in self.joints):
            return f"joint {brief(name)} of {self.name} is fixed"
        if any(loop.name == name for loop in self.loops):
            return (
                f"{brief(name)} of {self.name} closes a loop and has no coordinate; `cut: true` on "
                "another joint of the loop opens it there"
            )
        return f"no joint {brief(name)} on {self.name}"

    # --- configurations ---------------------------------------------------------

    def integrate(self, q: Any, v: Any) -> Any:
        """The configuration (nq,) reached from q (nq,) by the joint motion v (nu,)."""
        return integrate(q, v, self.layout) if self.balls else np.asarray(q) + np.asarray(v)

    def difference(self, qa: Any, qb: Any) -> Any:
        """The joint motion (nu,) that leads from qa to qb: integrate(qa, result) is qb."""
        return difference(qa, qb, self.layout) if self.balls else np.asarray(qb) - np.asarray(qa)

    def position_rates(self, q: Any, u: Any, stabilisation: float = 0.0) -> Any:
        """The rates (nq,) of the positions q (nq,) at joint rates u (nu,); stabilisation
        [1/s] pulls quaternions to unit length."""
        return position_rates(q, u, self.layout, stabilisation) if self.balls else np.asarray(u)

    def with_unit_quaternions(self, q: Any) -> Any:
        """The configuration q (nq,) with its quaternions at unit length."""
        return with_unit_quaternions(q, self.layout) if self.balls else q

    def with_base(self, base: Base) -> Self:
        """The same robot with its base-link fixed to the ground or floating."""
        if base not in ("fixed", "floating"):
            raise RobotError(f"base is {base!r}; it must be 'fixed' or 'floating'")
        other = replace(self, base=base)
        return self._symbolic_too(other, lambda one: one.with_base(base))

    def __repr__(self) -> str:
        return (
            f"Robot({self.name!r}, {self.base} base, {self.n_links_joints} links, "
            f"{self.n_q} active joints, {self.mass:.6g} kg)"
        )
