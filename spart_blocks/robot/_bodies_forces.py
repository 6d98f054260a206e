"""The forces and the prescribed joints of a file of bodies, or of loops beside a URDF file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spart_blocks.robot._bodies_fields import (
    NamedBodies,
    body_of,
    entries,
    name_of,
    note_unknown,
    point_of,
    two_bodies,
)
from spart_blocks.robot._faults import names_list, quote
from spart_blocks.robot._fields import FieldReader
from spart_blocks.robot.force import Force, JointPort, JointSpring, PointPort, PointSpring
from spart_blocks.robot.graph import GROUND

_POINTS = ("parent", "child", "parent_point", "child_point")
_PORT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Coordinates:
    """The coordinates that forces and prescriptions may name: the joint of each coordinate;
    which are balls; and the coordinates of joints without a coordinate of their own name.
    misread: joints that could not be read, whose coordinates are unknown.
    """

    joint: Mapping[str, str]
    balls: frozenset[str]
    groups: Mapping[str, tuple[str, ...]]
    misread: frozenset[str] = frozenset()

    def unknown(self, name: str) -> bool:
        """Whether there is certainly no coordinate or joint of this name."""
        parts = name.split(".")
        tried = {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
        return not (name in self.joint or name in self.groups or tried & self.misread)


@dataclass(frozen=True)
class Needed:
    """A coordinate needed by a force or a prescription, so that its joint cannot be cut."""

    joint: str
    why: str
    reader: FieldReader
    key: str | int


def forces_of(
    top: FieldReader, places: NamedBodies, coordinates: Coordinates, needed: list[Needed]
) -> tuple[Force, ...]:
    """The forces of a file, with the bodies' ids of Places; what they need is added to needed."""
    known = ("type", *dict.fromkeys(field for kind in _KINDS.values() for field in kind[0]))
    found = []
    for name, reader in entries(top, "forces", known):
        kind = reader.get("type")
        if not isinstance(kind, str) or kind not in _KINDS:
            if "type" in reader.data:
                listed = ", ".join(_KINDS)
                reader.note(f"no type of force {quote(kind)}; there are {listed}", "type")
            continue
        fields, make = _KINDS[kind]
        for key in reader.data:
            if key in known and key not in (*fields, "type"):
                reader.note(f"a force of type {kind} has no such field", str(key))
        force = make(name, reader, places, coordinates)
        if isinstance(force, (JointSpring, JointPort)):
            owner = coordinates.joint[force.joint]
            needed.append(Needed(owner, f"force {quote(name)} acts on it", reader, "joint"))
        if force is not None:
            found.append(force)
    return tuple(found)


def relinked(force: Force, ids: Mapping[int, int]) -> Force:
    """The force with the ids of links instead of those of Places."""
    if isinstance(force, PointSpring):
        return replace(force, a=ids[force.a], b=ids[force.b])
    if isinstance(force, PointPort):
        return replace(force, a=ids[force.a], b=None if force.b is None else ids[force.b])
    return force


def prescribed_of(
    top: FieldReader, coordinates: Coordinates, needed: list[Needed]
) -> tuple[str, ...]:
    """The prescribed coordinates; a joint with several coordinates stands for all of them."""
    found: list[str] = []
    for i, value in enumerate(top.items("prescribed") if "prescribed" in top.data else ()):
        name = name_of(value)
        place = top.document.place("prescribed", i) if top.document else None
        where = f"prescribed[{i}]"
        if name is None or coordinates.unknown(name):
            hint = top.faults.hint_for(name or "", [*coordinates.joint, *coordinates.groups])
            top.faults.add(f"{where}: no joint {quote(value)}", place, hint)
            continue
        chosen = coordinates.groups.get(name, (name,) if name in coordinates.joint else ())
        if not chosen and name in coordinates.groups:
            top.faults.add(f"{where}: joint {quote(name)} is rigid", place)
        for coordinate in chosen:
            if coordinate in found:
                top.faults.add(f"{where}: {quote(coordinate)} is prescribed twice", place)
                continue
            found.append(coordinate)
            needed.append(Needed(coordinates.joint[coordinate], "it is prescribed", top, i))
    return tuple(found)


# --- one function for each type ------------------------------------------------------------------

Maker = Callable[[str, FieldReader, NamedBodies, Coordinates], Force | None]


def _spring(name: str, reader: FieldReader, places: NamedBodies, _: Coordinates) -> Force | None:
    figures = [_not_negative(reader, key) for key in ("stiffness", "free_length", "damping")]
    found = _two_points(name, reader, places)
    if found is None:
        return None
    a, b, pa, pb = found
    return PointSpring(name, a, b, pa, pb, *figures)


def _joint_spring(
    name: str, reader: FieldReader, _: NamedBodies, coordinates: Coordinates
) -> Force | None:
    stiffness, damping = (_not_negative(reader, key) for key in ("stiffness", "damping"))
    rest = reader.number("rest", 0.0)
    joint = _coordinate(reader, coordinates)
    if joint in coordinates.balls and rest:
        reader.note("a spherical joint's rest is its neutral position", "rest")
    return None if joint is None else JointSpring(name, joint, stiffness, rest, damping)


def _torque(
    name: str, reader: FieldReader, _: NamedBodies, coordinates: Coordinates
) -> Force | None:
    port, joint = _port(name, reader), _coordinate(reader, coordinates)
    if joint in coordinates.balls:
        reader.note("a torque port is for a joint of one axis, not a spherical one", "joint")
    return None if joint is None else JointPort(name, joint, port)


def _force(name: str, reader: FieldReader, places: NamedBodies, _: Coordinates) -> Force | None:
    port = _port(name, reader)
    between = [key for key in _POINTS if key in reader.data]
    if between:
        for key in ("body", "point", "local"):
            if key in reader.data:
                reader.note(f"is given beside {between[0]}; a force has one or the other", key)
        found = _two_points(name, reader, places)
        if found is None:
            return None
        a, b, pa, pb = found
        return PointPort(name, port, a, pa, b, pb)
    local = reader.data.get("local", False)
    if not isinstance(local, bool):
        reader.note(f"must be true or false, not {quote(local)}", "local")
    body = body_of(reader, "body", places)
    if body is None:
        return None
    if body == GROUND:
        reader.note("a force on the ground moves nothing", "body")
    point = point_of(reader, "point", body, places)
    return PointPort(name, port, places.ids[body], point, local=local is True)


_KINDS: dict[str, tuple[Sequence[str], Maker]] = {
    "spring": ((*_POINTS, "stiffness", "free_length", "damping"), _spring),
    "joint": (("joint", "stiffness", "rest", "damping"), _joint_spring),
    "torque": (("joint", "port"), _torque),
    "force": ((*_POINTS, "body", "point", "local", "port"), _force),
}


def _two_points(
    name: str, reader: FieldReader, places: NamedBodies
) -> tuple[int, int, Any, Any] | None:
    ends = two_bodies(reader, places, f"force {quote(name)}")
    if ends is None:
        return None
    keys = ("parent_point", "child_point")
    pa, pb = (point_of(reader, key, body, places) for key, body in zip(keys, ends, strict=True))
    a, b = (places.ids[body] for body in ends)
    return a, b, np.asarray(pa), np.asarray(pb)


def _not_negative(reader: FieldReader, key: str) -> float:
    value = reader.number(key, 0.0)
    if value < 0:
        reader.note(f"is {value:g}; it must not be negative", key)
    return value


def _port(name: str, reader: FieldReader) -> str:
    port = reader.text("port", name)
    if not _PORT.fullmatch(port):
        message = (
            f"{quote(port)} is not a valid port name: use letters, digits and _, not a digit first"
        )
        reader.note(message, "port" if "port" in reader.data else "")
    return port


def _coordinate(reader: FieldReader, coordinates: Coordinates) -> str | None:
    """The coordinate that a force acts on, or None with the fault noted."""
    value = reader.get("joint")
    name = name_of(value)
    if name in coordinates.joint:
        return name
    if name is None:
        if "joint" in reader.data:
            reader.note(f"must be the name of a joint, not {quote(value)}", "joint")
    elif name in coordinates.groups:
        choices = names_list(coordinates.groups[name])
        several = f"has several coordinates; name one: {choices}"
        reader.note(f"joint {quote(name)} {several if choices else 'is rigid'}", "joint")
    elif coordinates.unknown(name):
        note_unknown(reader, "joint", "no joint", name, coordinates.joint)
    return None
