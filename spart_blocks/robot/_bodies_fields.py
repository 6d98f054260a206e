"""Common parts of files of bodies: named entries, bodies, points, frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base.spatial import quaternion_rotation, rotation_quaternion
from spart_blocks.robot._faults import quote
from spart_blocks.robot._fields import FieldReader
from spart_blocks.robot._record import Floats
from spart_blocks.robot._transforms import rigid_inverse, translation, urdf_origin
from spart_blocks.robot.checks import AXIS_ROUNDING, ROUNDING, unit_axis

MOST_FAULTS = 100
"""Number of faults after which reading stops."""
MOST_ENTRIES = 1000
"""Of one section."""
EXACT = 1e-14

_FRAME = ("xyz", "rpy", "quaternion", "rotation")


@dataclass(frozen=True)
class NamedBodies:
    """The bodies that joints and forces may name: ids, and the transform (4,4) [m] from each
    one's body frame to its centre of mass, by name."""

    ids: Mapping[str, int]
    to_mass: Mapping[str, Floats]

    def from_mass(self, name: str) -> Floats:
        """T (4,4) [m] from the centre of mass of a body to its body frame."""
        return rigid_inverse(self.to_mass[name])


def entries(
    top: FieldReader, key: str, known: Sequence[str], *, required: bool = False
) -> Iterator[tuple[str, FieldReader]]:
    """The named mappings of a section, each with a reader of its fields."""
    table = top.get(key) if required else top.data.get(key, {})
    if not isinstance(table, Mapping):
        if key in top.data:
            top.note(f"must be a mapping of names, not {quote(table)}", key)
        return
    if len(table) > MOST_ENTRIES:
        top.note(f"has {len(table)} entries; the most is {MOST_ENTRIES}", key)
        return
    for name, entry in table.items():
        if len(top.faults.found) > MOST_FAULTS:
            return
        where = f"{top.path(key)}.{name}"
        reader = FieldReader(entry, where, top.faults, known, top.document, (key, name))
        if not isinstance(name, str) or not name:
            note_name(reader, f"a name must be a text, not {quote(name)}")
            continue
        yield name, reader


def note_name(reader: FieldReader, message: str, hint: str | None = None) -> None:
    """Note a fault of the name of an entry, at the place of the name."""
    place = reader.document.key_place(*reader.keys) if reader.document else None
    reader.faults.add(f"{reader.where}: {message}", place, hint)


def note_unknown(reader: FieldReader, key: str, what: str, name: str, choices: Any) -> None:
    """Note that a field has an unknown name, with the nearest known one."""
    hint = reader.faults.hint_for(name, list(choices))
    reader.faults.add(f"{reader.path(key)}: {what} {quote(name)}", reader.place(key), hint)


def name_of(value: Any) -> str | None:
    """A name, or an integer as text, since YAML reads some names as integers; None for others."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def body_of(reader: FieldReader, key: str, places: NamedBodies) -> str | None:
    """The name of an existing body, or None with the fault noted."""
    value = reader.get(key)
    name = name_of(value)
    if name in places.ids:
        return name
    if name is None and key in reader.data:
        reader.note(f"must be the name of a body, not {quote(value)}", key)
    elif name is not None:
        note_unknown(reader, key, "no body", name, places.ids)
    return None


def two_bodies(reader: FieldReader, places: NamedBodies, what: str) -> tuple[str, str] | None:
    """parent and child, two different bodies; None with the faults noted."""
    parent, child = body_of(reader, "parent", places), body_of(reader, "child", places)
    if parent is None or child is None:
        return None
    if parent == child:
        reader.note(f"{what} goes from body {quote(parent)} to itself", "child")
        return None
    return parent, child


def point_of(reader: FieldReader, key: str, body: str, places: NamedBodies) -> Floats:
    """A point (3,) [m] in the centre-of-mass frame, from its coordinates in the body frame; by
    default the origin of the body frame.
    """
    point = reader.array(key, (3,)) if key in reader.data else np.zeros(3)
    T = places.from_mass(body)
    moved: Floats = T[:3, 3] + T[:3, :3] @ point
    return moved


def frame_of(reader: FieldReader, key: str) -> Floats:
    """A frame (4,4) [m]; by default the identity."""
    if key not in reader.data:
        return np.eye(4)
    inner = reader.inner(key, _FRAME)
    turns = [name for name in _FRAME[1:] if name in inner.data]
    if len(turns) > 1:
        inner.note(f"is given beside {turns[0]}; give one of them", turns[1])
    T = translation(inner.array("xyz", (3,)) if "xyz" in inner.data else np.zeros(3))
    if turns:
        T[:3, :3] = _TURNS[turns[0]](inner)
    return T


def quaternion_of(reader: FieldReader, key: str) -> Floats:
    """A unit quaternion (4,), scalar last; the identity at a fault."""
    told = len(reader.faults.found)
    q = reader.array(key, (4,))
    length = float(np.linalg.norm(q))
    if len(reader.faults.found) == told and abs(length - 1) > AXIS_ROUNDING:
        reader.note(f"has length {length:.6g}; a unit quaternion [x, y, z, w] has 1", key)
    return q / length if len(reader.faults.found) == told else np.array([0.0, 0.0, 0.0, 1.0])


def quaternion_of_rpy(rpy: Floats) -> Floats:
    """The unit quaternion (4,), scalar last, of turns rpy (3,) [rad] about fixed x, y, z."""
    return np.asarray(rotation_quaternion(urdf_origin(np.zeros(3), rpy)[:3, :3]))


def axis_of(reader: FieldReader, key: str = "axis") -> Floats:
    """The unit axis (3,) of a direction of any length; z at a fault."""
    told = len(reader.faults.found)
    unit = unit_axis(reader.array(key, (3,)))
    if unit is not None:
        return unit[0]
    if len(reader.faults.found) == told:
        reader.note("is zero", key)
    return np.array([0.0, 0.0, 1.0])


def _rotation(reader: FieldReader) -> Floats:
    told = len(reader.faults.found)
    R = reader.array("rotation", (3, 3))
    if len(reader.faults.found) > told:
        return np.eye(3)
    error = np.abs(R @ R.T - np.eye(3)).max()
    if error > ROUNDING or np.linalg.det(R) < 0:
        reader.note("is not a rotation matrix", "rotation")
        return np.eye(3)
    if error > EXACT:  # printed with few digits: the nearest rotation
        u, _, v = np.linalg.svd(R)
        R = u @ v
    return R


_TURNS = {
    "rpy": lambda reader: urdf_origin(np.zeros(3), reader.array("rpy", (3,)))[:3, :3],
    "quaternion": lambda reader: quaternion_rotation(quaternion_of(reader, "quaternion")),
    "rotation": _rotation,
}
