"""SPART's robot structure as nested mappings: to a Robot and back.

Source: SPART's manual, "The robot structure".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spart_blocks.base.errors import RobotError, warn
from spart_blocks.robot._faults import Faults, names_list, quote
from spart_blocks.robot._fields import FieldReader
from spart_blocks.robot._record import Floats
from spart_blocks.robot.checks import report_doubts, unit_axis
from spart_blocks.robot.drive import Limits
from spart_blocks.robot.parts import BaseLink, Joint, JointType, Link
from spart_blocks.robot.robot_model import Base, RobotModel

_ROBOT = ("name", "n_q", "n_links_joints", "links", "joints", "base_link", "con")
_LINK = ("id", "name", "parent_joint", "T", "mass", "inertia")
_JOINT = (
    *("id", "name", "type", "q_id", "parent_link", "child_link"),
    *("axis", "T", "limits"),
)
_BASE_LINK = ("name", "T", "mass", "inertia")
_LIMITS = ("lower", "upper", "effort", "velocity")
_CON = ("branch", "child", "child_base")


def robot_from_structure(
    data: Mapping[str, Any], *, base: Base = "floating", strict: bool = False
) -> RobotModel:
    """A robot from SPART's structure (SPART's manual's field names, 1-based ids).

    Optional: names (link1.., joint1.., base by default), n_q and n_links_joints and con
    (checked if present), base_link.T, limits of a joint. Link i is the child of joint i
    and its parent has a lower id. Raises RobotError with every wrong field.
    """
    if base not in ("fixed", "floating"):
        raise RobotError(f"base is {base!r}; it must be 'fixed' or 'floating'")
    faults = Faults()
    top = FieldReader(data, "", faults, _ROBOT)
    stretched: list[str] = []
    links = tuple(_link(i, item, faults) for i, item in enumerate(top.items("links"), start=1))
    joints = tuple(
        _joint(i, item, stretched, faults) for i, item in enumerate(top.items("joints"), start=1)
    )
    base_link = _base_link(top)
    name = top.text("name", "robot")
    if top.usable:
        _check_whole(top, links, joints, base_link, faults)
    faults.raise_if_any()
    robot = RobotModel(name, links, joints, base_link, base=base)
    if "con" in top.data:
        _check_con(top.data["con"], robot, faults)
        faults.raise_if_any()
    report_doubts(robot, strict=strict)
    if stretched:
        warn(
            f"{name}: the axis was not of unit length and has been normalised: "
            f"joints {names_list(stretched)}"
        )
    return robot


def robot_to_structure(robot: RobotModel) -> dict[str, Any]:
    """SPART's structure of a robot as nested dicts and lists, ready for JSON.

    robot_from_structure makes an equal robot from it, except for base and source, and for data that
    SPART does not have: motors, friction, loops, forces, body frames other than the joints'. Raises
    RobotError for a robot with spherical joints, which SPART does not have either.
    """
    balls = [entry.name for entry in robot.layout if entry.spherical]
    if balls:
        raise RobotError(
            f"{robot.name}: SPART's structure has no spherical joints, as {names_list(balls)}; it "
            "would take their rows for fixed joints"
        )
    links = [
        {"id": link.id, "name": link.name, "parent_joint": link.parent_joint} | _body_to_dict(link)
        for link in robot.links
    ]
    con = robot.con
    return {
        "name": robot.name,
        "n_q": robot.n_q,
        "n_links_joints": robot.n_links_joints,
        "links": links,
        "joints": [_joint_to_dict(joint) for joint in robot.joints],
        "base_link": {"name": robot.base_link.name} | _body_to_dict(robot.base_link),
        "con": {key: getattr(con, key).tolist() for key in _CON},
    }


def _body_to_dict(body: Link | BaseLink) -> dict[str, Any]:
    return {"T": body.T.tolist(), "mass": body.mass, "inertia": body.inertia.tolist()}


def _joint_to_dict(joint: Joint) -> dict[str, Any]:
    made = {
        "id": joint.id,
        "name": joint.name,
        "type": int(joint.type),
        "q_id": joint.q_id,
        "parent_link": joint.parent_link,
        "child_link": joint.child_link,
        "axis": joint.axis.tolist(),
        "T": joint.T.tolist(),
    }
    if joint.limits is not None:
        limits = {key: float(getattr(joint.limits, key)) for key in _LIMITS}
        # JSON has no infinity, so a limit that is none is left out.
        made["limits"] = {key: value for key, value in limits.items() if np.isfinite(value)}
    return made


def _expect(reader: FieldReader, key: str, wanted: int, why: str) -> None:
    given = reader.integer(key)
    if given is not None and given != wanted:
        reader.note(f"is {given}; it must be {wanted}, {why}", key)


def _link(i: int, item: object, faults: Faults) -> Link:
    reader = FieldReader(item, f"links[{i - 1}]", faults, _LINK)
    if reader.usable:
        _expect(reader, "id", i, "its place in the list")
        _expect(reader, "parent_joint", i, "since link i is the child of joint i")
    T, body = reader.transform("T"), reader.body("mass", "inertia")
    return Link(i, reader.text("name", f"link{i}"), i, T, *body)


def _base_link(top: FieldReader) -> BaseLink:
    reader = top.inner("base_link", _BASE_LINK)
    T = reader.transform("T") if "T" in reader.data else np.eye(4)
    return BaseLink(reader.text("name", "base"), T, *reader.body("mass", "inertia"))


def _joint(i: int, item: object, stretched: list[str], faults: Faults) -> Joint:
    reader = FieldReader(item, f"joints[{i - 1}]", faults, _JOINT)
    name = reader.text("name", f"joint{i}")
    kind, parent, q_id = JointType.FIXED, 0, -1
    if reader.usable:
        _expect(reader, "id", i, "its place in the list")
        _expect(reader, "child_link", i, "since link i is the child of joint i")
        kind, parent, q_id = _kind(reader), _parent(reader, i), reader.integer("q_id") or 0
        if kind is JointType.FIXED and q_id != -1 and "q_id" in reader.data:
            reader.note(f"is {q_id}; a fixed joint has -1", "q_id")
    axis = reader.array("axis", (3,), (3, 1))
    if kind is not JointType.FIXED:
        unit = unit_axis(axis)
        if unit is None:
            reader.note("is zero", "axis")
        else:
            axis = axis if abs(np.linalg.norm(axis) - 1) < 1e-14 else unit[0]
            if not unit[1]:
                stretched.append(name)
    limits = _limits(reader)
    return Joint(i, name, kind, q_id, parent, i, axis, reader.transform("T"), limits)


def _kind(reader: FieldReader) -> JointType:
    kind = reader.integer("type")
    if kind is not None and kind not in (0, 1, 2):
        why = "; SPART has no spherical joints" if kind == JointType.SPHERICAL else ""
        must = "it must be 0 (fixed), 1 (revolute) or 2 (prismatic)"
        reader.note(f"is {kind}; {must}{why}", "type")
        kind = None
    return JointType(kind or 0)


def _parent(reader: FieldReader, i: int) -> int:
    parent = reader.integer("parent_link")
    if parent is not None and not 0 <= parent < i:
        reader.note(
            f"is {parent}; the parent of link {i} must have a lower id, 0 to {i - 1}", "parent_link"
        )
        return 0
    return parent or 0


def _limits(reader: FieldReader) -> Limits | None:
    if reader.data.get("limits") is None:
        return None
    inner = reader.inner("limits", _LIMITS)
    default = Limits()
    return Limits(*(inner.number(key, getattr(default, key)) for key in _LIMITS))


def _check_whole(
    top: FieldReader,
    links: tuple[Link, ...],
    joints: tuple[Joint, ...],
    base_link: BaseLink,
    faults: Faults,
) -> None:
    """Checks of several links or joints together: counts, names, q_ids."""
    if len(links) != len(joints) and {"links", "joints"} <= top.data.keys():
        faults.add(f"there are {len(links)} links and {len(joints)} joints; each link has one")
    q_ids = [joint.q_id for joint in joints if joint.type is not JointType.FIXED]
    if sorted(q_ids) != list(range(1, len(q_ids) + 1)) and not faults.found:
        faults.add(f"joints: q_id of the active joints must be 1 to {len(q_ids)}, each once")
    for key, count in (("n_q", len(q_ids)), ("n_links_joints", len(links))):
        if key in top.data:
            _expect(top, key, count, "by the joints and links given")
    groups = (
        ("link", [base_link.name, *(link.name for link in links)]),
        ("joint", [joint.name for joint in joints]),
    )
    for kind, names in groups:
        seen: set[str] = set()
        for name in names:
            if name in seen:
                faults.add(f"{kind} name {quote(name)} is used twice")
            seen.add(name)


def _check_con(data: object, robot: RobotModel, faults: Faults) -> None:
    """SPART's connectivity maps, if given, must be those of the parents."""
    reader = FieldReader(data, "con", faults, _CON)
    n = robot.n_links_joints
    derived = robot.con
    for key in _CON if n else ():
        if key not in reader.data:
            continue
        shapes = ((n,), (n, 1)) if key == "child_base" else ((n, n),)
        before = len(faults.found)
        given: Floats = reader.array(key, *shapes)
        if len(faults.found) == before and not np.array_equal(given, getattr(derived, key)):
            reader.note("does not agree with the parent links of the joints", key)
