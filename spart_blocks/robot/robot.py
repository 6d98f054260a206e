"""The robot for users: the model with its readers and displays.

It is the outermost module of its folder. The readers load YAML and XML, so each is imported
where it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from spart_blocks.base import html
from spart_blocks.base.errors import Fault, RobotError, did_you_mean
from spart_blocks.robot._faults import quote, reading
from spart_blocks.robot._record import FrozenArrays
from spart_blocks.robot.drive import DEFAULT_EFFECTS, Effect
from spart_blocks.robot.robot_model import Base, RobotModel

if TYPE_CHECKING:
    from spart_blocks.robot.link import Link as DHLink
    from spart_blocks.robot.parts import Joint
    from spart_blocks.robot.robot_model import RobotModel

# --- configuration variables ----------------------------------------------------------------------
# Configuration variables: the coordinates of a robot's joints, dynamic and kinematic.
#
# Source: E. R. Johnson and T. D. Murphey, "Scalable variational integrators for constrained
# mechanical systems in generalized coordinates", IEEE Transactions on Robotics 25 (2009), for the
# two kinds; trep's documentation for the attributes.


@dataclass(frozen=True, eq=False)
class Config(FrozenArrays):
    """The variable of one joint; its name is the joint's. That of a spherical joint has four
    entries in qm, a quaternion, and three in um.

    kinematic: whether its acceleration is prescribed; the dynamics moves the others.
    index: its place in robot.configs. k_index: its place in robot.kin_configs, None for a
    dynamic one. frame: the link that it moves. masses: the links with mass or inertia that
    depend on it, directly or through other joints.
    The pose of a floating base is a state of the plant and not a configuration variable.
    """

    name: str
    kinematic: bool
    index: int
    k_index: int | None
    frame: str
    masses: tuple[str, ...]


def configs_of(robot: RobotModel) -> tuple[Config, ...]:
    """The configuration variables of a robot; see Robot.configs."""
    names = robot.active_joints
    if len(set(names)) < len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise RobotError(f"{robot.name}: joint name {quote(double)} is used twice")
    entries = sorted(robot.layout, key=lambda e: robot.joints[e.joint_id - 1].kinematic)
    free = sum(not robot.joints[entry.joint_id - 1].kinematic for entry in entries)
    mass, inertia = robot.matter
    heavy = [link for link in robot.links if mass[link.id] or inertia[link.id].any()]
    branch = robot.con.branch
    return tuple(
        Config(
            name=entry.name,
            kinematic=index >= free,
            index=index,
            k_index=index - free if index >= free else None,
            frame=robot.links[entry.joint_id - 1].name,
            masses=tuple(link.name for link in heavy if branch[link.id - 1, entry.joint_id - 1]),
        )
        for index, entry in enumerate(entries)
    )


def config_named(name: str, configs: Iterable[Config], robot: str) -> Config:
    """The configuration variable of this name; see Robot.config. robot: its name."""
    found = {config.name: config for config in configs}
    if name not in found:
        hint = did_you_mean(str(name), found)
        raise RobotError(Fault(f"no configuration variable {quote(name)} on {robot}", None, hint))
    return found[name]


@dataclass(frozen=True, eq=False, repr=False)
class Robot(RobotModel):
    """A kinematic tree of rigid bodies with SPART's fields.

    Make one with `from_urdf`, `from_bodies`, `from_dh`, `from_links` or `from_spart`. Immutable,
    picklable. `base` says whether the base-link floats or is fixed to the ground; effects: the
    active ones of its joints' motors, friction and stops. loops: its loop constraints; forces: its
    springs, dampers and ports; home (nq,): an approximate configuration with closed loops.
    """

    # --- where robots come from -------------------------------------------------

    @classmethod
    def of(cls, model: RobotModel) -> Self:
        """The robot that a reader has read."""
        return cls(**{part.name: getattr(model, part.name) for part in fields(model)})

    @classmethod
    def from_urdf(
        cls,
        path: str | Path,
        *,
        base: Base | None = None,
        strict: bool = False,
        drives: str | Path | Mapping[str, Any] | None = None,
        loops: str | Path | Mapping[str, Any] | None = None,
        mimic: bool = True,
    ) -> Self:
        """Read a URDF file.

        base: 'fixed' or 'floating'; by default floating, unless the root link is massless or called
        world. strict: doubtful inertias are errors instead of warnings. drives: the motors of its
        joints, see with_drives. Damping, friction and limits of the URDF act only if `with_effects`
        selects them. loops: a YAML file, or its contents, with the joints and distances that close
        loops between its links, forces, prescribed joints, and home by joint; see docs/bodies.md.
        mimic: whether mimic joints follow their joints, each by a constraint among `loops`;
        otherwise they move independently. Raises RobotError with every fault of the file. Source:
        SPART's manual.
        """
        from spart_blocks.robot.urdf import read_urdf

        with reading(path):
            found = read_urdf(
                path, base=base, strict=strict, drives=drives, loops=loops, mimic=mimic
            )
            return cls.of(found)

    @classmethod
    def from_dh(
        cls, data: Mapping[str, Any], *, base: Base = "floating", strict: bool = False
    ) -> Self:
        """A serial robot from Denavit-Hartenberg data (SPART's DH_data as a mapping)."""
        from spart_blocks.robot.dh import dh_serial_to_robot

        with reading(data):
            return cls.of(dh_serial_to_robot(data, base=base, strict=strict)[0])

    @classmethod
    def from_links(
        cls,
        links: Iterable[DHLink] | str | Path,
        *,
        name: str | None = None,
        base: Base = "fixed",
        base_mass: float = 0.0,
        base_inertia: ArrayLike | None = None,
        base_transform: ArrayLike | None = None,
        tool: ArrayLike | None = None,
        effects: Iterable[Effect] = DEFAULT_EFFECTS,
    ) -> Self:
        """A serial robot of link objects, or of the YAML file that lists them.

        Joints are named j1, j2, ... or as their links are; links link1, link2, ... The frame of the
        last link of the robot is that of the last of the chain: if the convention puts it
        elsewhere, or there is a tool, a massless link "ee" carries it. base_mass [kg], base_inertia
        (3,3) [kg m^2]: of the base-link. base_transform (4,4) [m]: from its centre of mass to the
        frame 0 of the chain. tool (4,4) [m]: from the last frame to the tool's. Raises RobotError
        for links of both conventions, names that are used twice, and impossible inertias. Source:
        see robot/serial_links.py.
        """
        from spart_blocks.robot.serial_links import robot_from_links

        with reading(links):
            found = robot_from_links(
                links,
                name=name,
                base=base,
                base_mass=base_mass,
                base_inertia=base_inertia,
                base_transform=base_transform,
                tool=tool,
                effects=effects,
            )
            return cls.of(found)

    @classmethod
    def from_bodies(cls, source: str | Path | Mapping[str, Any], *, strict: bool = False) -> Self:
        """A robot of bodies and joints in any order and direction, which may form loops. source: a
        YAML file, or its contents: bodies, joints, and optionally distances, forces and prescribed;
        see docs/bodies.md. The base-link is the ground, or if nothing is connected to it the first
        body with mass, which floats. strict: doubtful inertias are errors instead of warnings.
        Raises RobotError with every fault.
        """
        from spart_blocks.robot.bodies import robot_from_bodies

        with reading(source):
            return cls.of(robot_from_bodies(source, strict=strict))

    @classmethod
    def from_spart(
        cls, data: Mapping[str, Any], *, base: Base = "floating", strict: bool = False
    ) -> Self:
        """A robot from SPART's structure as nested mappings (SPART's manual's names)."""
        from spart_blocks.robot.structure import robot_from_structure

        with reading(data):
            return cls.of(robot_from_structure(data, base=base, strict=strict))

    def with_drives(self, drives: str | Path | Mapping[str, Any]) -> Self:
        """The same robot with these motors, friction, stops and limits at its joints, and
        with the effects "motors" and "friction".

        drives: a YAML file, or its contents: `joints`, and for each by name gear, motor_inertia,
        viscous, coulomb, static, ... as in Drive, limits or qlim. Joints not named are unchanged.
        Raises RobotError with every fault.
        """
        from spart_blocks.robot.drives_file import robot_with_drives

        with reading(drives):
            return robot_with_drives(self, drives)

    # --- configuration variables ------------------------------------------------------

    @cached_property
    def configs(self) -> tuple[Config, ...]:
        """The configuration variables of the joints: the dynamic ones first, then the kinematic
        ones, each in the order of um. The pose of a floating base is not among them. Raises
        RobotError if two joints have the same name."""
        return configs_of(self)

    @property
    def dyn_configs(self) -> tuple[Config, ...]:
        """The configuration variables that the dynamics moves."""
        return tuple(config for config in self.configs if not config.kinematic)

    @property
    def kin_configs(self) -> tuple[Config, ...]:
        """The configuration variables whose acceleration is prescribed."""
        return tuple(config for config in self.configs if config.kinematic)

    def config(self, name: str) -> Config:
        """The configuration variable of this name. Raises RobotError if there is none."""
        return config_named(name, self.configs, self.name)

    def _repr_html_(self) -> str:
        """HTML for notebooks: a table of links and joints, and the robot at its home."""

        return to_html(self)


_COLUMNS = ("link", "mass [kg]", "parent", "joint", "type", "limits")


def to_html(robot: RobotModel) -> str:
    """See Robot._repr_html_."""
    about = (
        f"{robot.base} base, {robot.n_links_joints} links, {robot.n_q} active joints, "
        f"{robot.mass:.6g} kg"
    )
    base = robot.base_link
    rows = [(f"0 {base.name}", f"{base.mass:.6g}", "", "", "base", "")]
    for joint, link in zip(robot.joints, robot.links, strict=True):
        parent = robot.body(joint.parent_link)
        rows.append(
            (
                f"{link.id} {link.name}",
                f"{link.mass:.6g}",
                f"{joint.parent_link} {parent.name}",
                f"{joint.id} {joint.name}",
                joint.type.name.lower(),
                _limits(joint),
            )
        )
    closed = [f"{len(robot.loops)} loops closed"] if robot.loops else []
    looks: str = html.of_motion("frame_of_robot")(robot)
    return html.heading(robot.name, about) + html.table(_COLUMNS, rows) + html.lines(closed) + looks


def _limits(joint: Joint) -> str:
    limits = joint.limits
    if limits is None or not (isfinite(limits.lower) or isfinite(limits.upper)):
        return ""
    unit = {"REVOLUTE": " rad", "PRISMATIC": " m"}.get(joint.type.name, "")
    return f"{limits.lower:.4g} to {limits.upper:.4g}{unit}"
