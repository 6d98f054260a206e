"""Serial robots from the Robotics Toolbox's link objects, or from a YAML file of them.

Joint i turns about z of the frame of link i - 1 (standard convention) or of its own frame
(modified); the transform before this rotation becomes joint.T, the one after it link.T.
Source: P. I. Corke, "A Robotics Toolbox for MATLAB", IEEE Robotics and Automation Magazine
3 (1996).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spart_blocks.base.errors import RobotError
from spart_blocks.robot._faults import Faults, quote
from spart_blocks.robot._fields import FieldReader, noting, read_yaml
from spart_blocks.robot._record import Floats
from spart_blocks.robot._transforms import rigid_inverse, rotation_x, rotation_z, translation
from spart_blocks.robot.checks import inertia_faults, report_doubts
from spart_blocks.robot.drive import DEFAULT_EFFECTS, Drive, Effect, Limits
from spart_blocks.robot.link import DYN_LENGTH, Link
from spart_blocks.robot.parts import BaseLink, Joint, JointType
from spart_blocks.robot.parts import Link as Body
from spart_blocks.robot.robot_model import Base, RobotModel

END = "ee"
"""The massless link with the frame of the last link of the chain, if that of the last link of
the robot differs.
"""

MOST_LINKS = 1000
"""Largest number of links of a file; each has to be checked."""

_FILE = ("name", "convention", "links", "base_mass", "base_inertia", "base_transform", "tool")
_SECTIONS = "a file of links has links:, a list with a row or a mapping for each of them"
_ROWS = {"dh": range(4, 6), "dyn": range(6, DYN_LENGTH + 1)}
_FIELDS = (
    *("dh", "dyn", "name", "convention", "alpha", "A", "theta", "D", "sigma", "offset", "flip"),
    *("qlim", "m", "r", "I", "Jm", "G", "B", "Tc"),
)


def robot_from_links(
    links: Iterable[Link] | str | Path,
    *,
    name: str | None = None,
    base: Base = "fixed",
    base_mass: float = 0.0,
    base_inertia: ArrayLike | None = None,
    base_transform: ArrayLike | None = None,
    tool: ArrayLike | None = None,
    effects: Iterable[Effect] = DEFAULT_EFFECTS,
) -> RobotModel:
    """The robot of these links; see Robot.from_links."""
    if base not in ("fixed", "floating"):
        raise RobotError(f"base is {base!r}; it must be 'fixed' or 'floating'")
    given = {
        "name": name,
        "base_mass": base_mass or None,
        "base_inertia": base_inertia,
        "base_transform": base_transform,
        "tool": tool,
    }
    data = {key: value for key, value in given.items() if value is not None}
    source = None
    if isinstance(links, (str, Path)):
        source = str(links)
        top, chain = _read_file(source)
        top.data = {**top.data, **data}
    elif isinstance(links, Link) or not isinstance(links, Iterable):
        raise RobotError(f"a robot needs a list of links, not one {type(links).__name__}")
    else:
        top, chain = FieldReader(data, "", Faults(), _FILE), list(links)
    robot = _assemble(top, _checked(chain, top), base, source).with_effects(effects)
    report_doubts(robot, strict=False, lumped=True)
    return robot


def _checked(chain: Sequence[Any], top: FieldReader) -> list[Link]:
    """The links, checked to form one robot."""
    wrong = [link for link in chain if not isinstance(link, Link)]
    if wrong:
        raise RobotError(f"from_links takes Link objects, not {quote(wrong[0])}")
    if not chain:
        top.note("there are no links")
    if len({link.mdh for link in chain}) > 1:
        listed = ", ".join(f"{i} {link.convention}" for i, link in enumerate(chain, start=1))
        top.note(f"the links of one robot have one convention; they are {listed}", "links")
    names: set[str] = set()
    for i, link in enumerate(chain):
        label = joint_name(i, link)
        if label in names:
            _note(top, i, "name", f"joint name {quote(label)} is used twice")
        names.add(label)
        if link.G == 0 and has_motor(link):
            hint = "give G, or leave Jm, B and Tc at zero where there is no motor"
            _note(top, i, "G", "G is 0, but the motor has inertia or friction", hint)
        for message in inertia_faults(link.m, link.I):
            _note(top, i, "I", message)
    return list(chain)


def _note(top: FieldReader, i: int, key: str, message: str, hint: str | None = None) -> None:
    """Note a fault of the link at place i of the chain, at its field if that exists."""
    place = top.document.place("links", i, key) if top.document else None
    top.faults.add(f"links[{i}]: {message}", place, hint)


def joint_name(i: int, link: Link) -> str:
    """The name of the joint of the link at place i of a chain: its own, or j1, j2, ..."""
    return link.name or f"j{i + 1}"


def _assemble(top: FieldReader, chain: list[Link], base: Base, source: str | None) -> RobotModel:
    name = top.text("name", Path(source).stem if source else "links")
    mass, inertia = top.number("base_mass", 0.0), np.zeros((3, 3))
    if "base_inertia" in top.data:
        inertia = top.array("base_inertia", (3, 3))
    for message in inertia_faults(mass, inertia):
        top.note(f"base: {message}")
    T = top.transform("base_transform") if "base_transform" in top.data else np.eye(4)
    tool = top.transform("tool") if "tool" in top.data else None
    top.faults.raise_if_any()
    bodies, joints = [], []
    for i, link in enumerate(chain, start=1):
        before, after = _halves(link)
        bodies.append(Body(i, f"link{i}", i, after @ translation(link.r), link.m, link.I))
        joints.append(_joint(i, link, T @ before))
        T = translation(-link.r)
    _add_end(bodies, joints, _halves(chain[-1])[1], tool)
    base_link = BaseLink("base", np.eye(4), mass, inertia)
    return RobotModel(name, tuple(bodies), tuple(joints), base_link, base=base, source=source)


def _halves(link: Link) -> tuple[Floats, Floats]:
    """The transform A(q) (4,4) as the factors before and after the joint's motion about or along
    z. Rotations about z and translations along it commute.
    """
    theta, D = (link.offset, link.D) if link.sigma == 0 else (link.theta, link.offset)
    along_z = rotation_z(theta) @ translation([0, 0, D])
    along_x = translation([link.A, 0, 0]) @ rotation_x(link.alpha)
    return (along_x @ along_z, np.eye(4)) if link.mdh else (along_z, along_x)


def _joint(i: int, link: Link, T: Floats) -> Joint:
    return Joint(
        id=i,
        name=joint_name(i - 1, link),
        type=JointType.REVOLUTE if link.sigma == 0 else JointType.PRISMATIC,
        q_id=i,
        parent_link=i - 1,
        child_link=i,
        axis=np.array([0.0, 0.0, -1.0 if link.flip else 1.0]),
        T=T,
        limits=None if link.qlim is None else Limits(*link.qlim),
        drive=Drive(link.G, link.Jm, link.B, link.Tc) if has_motor(link) else None,
    )


def has_motor(link: Link) -> bool:
    """Whether a link's motor has an effect."""
    return bool(link.Jm or link.B or any(link.Tc))


def _add_end(bodies: list[Body], joints: list[Joint], after: Floats, tool: Floats | None) -> None:
    """Add a link for the frame at the end of the chain, if it is not that of the last link."""
    end = after if tool is None else after @ tool
    if tool is None and np.array_equal(end, np.eye(4)):
        return
    last, i = bodies[-1], len(bodies) + 1
    bodies.append(Body(i, END, i, np.eye(4), 0.0, np.zeros((3, 3))))
    T = rigid_inverse(last.T) @ end
    joints.append(Joint(i, f"{END}_mount", JointType.FIXED, -1, i - 1, i, np.zeros(3), T))


# --- from a file ------------------------------------------------------------------------------


def _read_file(path: str) -> tuple[FieldReader, list[Link]]:
    """A reader of the file's fields, and its links; RobotError with every fault."""
    document = read_yaml(path, _SECTIONS)
    top = FieldReader(document.data, "", Faults(), _FILE, document)
    convention = None
    with noting(top, "convention"):
        convention = Link(None, top.data.get("convention")).convention
    entries = top.items("links")
    if len(entries) > MOST_LINKS:
        top.note(f"has {len(entries)} entries; the most is {MOST_LINKS}", "links")
        top.faults.raise_if_any()
    chain = [_entry(top, i, entry, convention) for i, entry in enumerate(entries)]
    top.faults.raise_if_any()
    return top, chain


def _entry(top: FieldReader, i: int, entry: Any, convention: str | None) -> Link:
    """A link from its row, or from its fields, of which a row may be one."""
    where, keys = f"links[{i}]", ("links", i)
    made = Link(None, convention)
    if isinstance(entry, list):
        with noting(FieldReader({}, where, top.faults, (), top.document, keys), ""):
            made = Link(entry, convention)
        return made
    reader = FieldReader(entry, where, top.faults, _FIELDS, top.document, keys)
    if {"dh", "dyn"} <= reader.data.keys():
        reader.note("has both dh and dyn; a row of dyn begins with that of dh", "dyn")
    with noting(reader, "convention"):
        made = Link(None, reader.data.get("convention", convention))
    for key, lengths in _ROWS.items():
        row = reader.data.get(key)
        if isinstance(row, list) and len(row) not in lengths:
            text = f"a row of {key} has {lengths[0]} to {lengths[-1]} numbers, not {len(row)}"
            reader.note(text, key)
        elif key in reader.data:
            with noting(reader, key):
                made = Link(row, made.convention)
    for key, value in reader.data.items():
        if key in _FIELDS and key not in ("dh", "dyn", "convention"):
            with noting(reader, key):
                setattr(made, key, value)
    return made
