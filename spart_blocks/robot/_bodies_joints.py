"""The joints and distances of a file of bodies, or of the loops beside a URDF file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from spart_blocks.base.errors import warn
from spart_blocks.robot._bodies_fields import (
    NamedBodies,
    axis_of,
    entries,
    frame_of,
    note_name,
    point_of,
    quaternion_of,
    quaternion_of_rpy,
    two_bodies,
)
from spart_blocks.robot._faults import names_list, quote
from spart_blocks.robot._fields import FieldReader
from spart_blocks.robot._record import Floats
from spart_blocks.robot._transforms import translation
from spart_blocks.robot.drive import Drive, Limits
from spart_blocks.robot.drives_file import DRIVE_FIELDS, drive_and_limits
from spart_blocks.robot.joint_kinds import (
    FREE_AXIS,
    KINDS,
    JointRow,
    fixed_axis,
    is_ball,
    rows_of,
    turn_to,
    with_suffix,
)
from spart_blocks.robot.loop import Loop
from spart_blocks.robot.parts import Joint, JointType, Link
from spart_blocks.robot.robot_model import RobotModel

PRESCRIBED = "prescribed"
"""The value of a distance's length that makes it a joint."""

_TIED = ("type", "parent", "child", "parent_frame", "child_frame", "axis")
_JOINT = (*_TIED, "q", "cut", *DRIVE_FIELDS)
_DISTANCE = ("parent", "child", "parent_point", "child_point", "length", "q")


@dataclass(frozen=True)
class BodyJoint:
    """A joint as read. parent_frame, child_frame (4,4) [m]: the joint frames, from the bodies'
    centres of mass. axis (3,): of a joint of one axis. q: the given positions, by coordinate.
    reader: of its fields, for faults found later.
    """

    name: str
    kind: str
    parent: str
    child: str
    parent_frame: Floats
    child_frame: Floats
    axis: Floats
    reader: FieldReader
    q: Mapping[str, Floats] = field(default_factory=dict)
    cut: bool = False
    drive: Drive | None = None
    limits: Limits | None = None

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of its coordinates."""
        return tuple(with_suffix(self.name, suffix) for suffix in KINDS[self.kind].coordinates)

    @property
    def names(self) -> set[str]:
        """Its names: its own, and those of its coordinates and rows."""
        rows = (row.name for row in self.rows())
        return {self.name, *self.coordinates, *rows}

    def rows(self, *, against: bool = False) -> list[JointRow]:
        """Its rows in the order of the tree."""
        return rows_of(self.name, self.kind, self.axis, against=against)

    def loop(self, ids: Mapping[str, int]) -> Loop | None:
        """Its constraint if it is cut; None if it constrains nothing. ids: of the links by name."""
        kind = KINDS[self.kind].loop
        if kind is None:
            return None
        turn = turn_to(self.axis)
        Ta, Tb = self.parent_frame @ turn, self.child_frame @ turn
        return Loop(self.name, kind, ids[self.parent], ids[self.child], Ta, Tb)


@dataclass(frozen=True)
class Distance:
    """A distance as read: its loop, with the bodies' ids of Places. q [m]: its approximate
    value, if it is prescribed.
    """

    loop: Loop
    reader: FieldReader
    q: float | None = None


def joints_of(
    top: FieldReader, places: NamedBodies, *, cut: bool = False
) -> tuple[list[BodyJoint], int]:
    """The joints of a file, and how many could not be read. cut: all joints are cut, so they
    have no coordinates.
    """
    found: list[BodyJoint] = []
    lost = 0
    for name, reader in entries(top, "joints", _TIED if cut else _JOINT):
        ends = two_bodies(reader, places, f"joint {quote(name)}")
        kind = _kind(reader)
        if ends is None or kind is None:
            lost += 1
        else:
            found.append(_joint(name, kind, ends, reader, places))
    return found, lost


def _joint(
    name: str, kind: str, ends: tuple[str, str], reader: FieldReader, places: NamedBodies
) -> BodyJoint:
    axis, turn = _axis(reader, kind)
    Ta = places.from_mass(ends[0]) @ frame_of(reader, "parent_frame") @ turn
    Tb = places.from_mass(ends[1]) @ frame_of(reader, "child_frame") @ turn
    cut = reader.data.get("cut", False)
    if not isinstance(cut, bool):
        reader.note(f"must be true or false, not {quote(cut)}", "cut")
    one_axis = KINDS[kind].coordinates == ("",) and kind != "spherical"
    drive, limits = None, None
    if one_axis:
        drive, limits = drive_and_limits(reader)
    else:
        for key in DRIVE_FIELDS:
            if key in reader.data:
                reader.note(f"a {kind} joint has none; it is for joints of one axis", key)
    q = _positions(reader, kind)
    return BodyJoint(name, kind, *ends, Ta, Tb, axis, reader, q, cut is True, drive, limits)


def _kind(reader: FieldReader) -> str | None:
    """The type, or None with the fault noted."""
    kind = reader.get("type")
    if isinstance(kind, str) and kind in KINDS:
        return kind
    if "type" in reader.data:
        hint = reader.faults.hint_for(str(kind), list(KINDS)) if isinstance(kind, str) else None
        listed = ", ".join(KINDS)
        place = reader.place("type")
        message = f"{reader.path('type')}: no joint type {quote(kind)}; there are {listed}"
        reader.faults.add(message, place, hint)
    return None


def _axis(reader: FieldReader, kind: str) -> tuple[Floats, Floats]:
    """The axis (3,) of a joint of one axis, and the rotation (4,4) of the joint frames of
    others.
    """
    if kind in FREE_AXIS:
        return axis_of(reader), np.eye(4)
    if "axis" not in reader.data:
        return fixed_axis(kind), np.eye(4)
    if kind == "rigid" or kind[0] in FREE_AXIS:
        more = "" if kind == "rigid" else f"; {kind[0]} takes one"
        reader.note(f"a joint of type {kind} takes no axis{more}", "axis")
        return fixed_axis(kind), np.eye(4)
    return fixed_axis(kind), turn_to(axis_of(reader))


def _positions(reader: FieldReader, kind: str) -> dict[str, Floats]:
    """The positions by suffix of the coordinate, where they are given."""
    if "q" not in reader.data:
        return {}
    suffixes = KINDS[kind].coordinates
    if not suffixes:
        reader.note("a rigid joint has none", "q")
        return {}
    if suffixes == ("",) and kind != "spherical":
        return {"": reader.array("q", ())}
    ball = is_ball(kind, suffixes[-1])
    plain = len(suffixes) - ball
    value = reader.data["q"]
    told = len(reader.faults.found)
    angles = ball and isinstance(value, (list, tuple, np.ndarray)) and len(value) == plain + 3
    q = reader.array("q", (plain + (3 if angles else 4 if ball else 0),))
    if len(reader.faults.found) > told:
        return {}
    found = {suffix: q[i] for i, suffix in enumerate(suffixes[:plain])}
    if ball:
        found[suffixes[-1]] = _ball_position(reader, q[plain:])
    return found


def _ball_position(reader: FieldReader, q: Floats) -> Floats:
    """The unit quaternion (4,) of a quaternion or of three angles."""
    if len(q) == 3:
        return quaternion_of_rpy(q)
    part = FieldReader({"q": q}, reader.where, reader.faults, ("q",), reader.document, reader.keys)
    return quaternion_of(part, "q")


def distances_of(top: FieldReader, places: NamedBodies) -> list[Distance]:
    """The distances of a file."""
    found = []
    for name, reader in entries(top, "distances", _DISTANCE):
        ends = two_bodies(reader, places, f"distance {quote(name)}")
        length, q = _length(reader, name)
        if ends is None:
            continue
        keys = ("parent_point", "child_point")
        points = [point_of(reader, key, body, places) for key, body in zip(keys, ends, strict=True)]
        a, b = (places.ids[body] for body in ends)
        Ta, Tb = (translation(point) for point in points)
        found.append(Distance(Loop(name, "distance", a, b, Ta, Tb, length), reader, q))
    return found


def _length(reader: FieldReader, name: str) -> tuple[float | str, float | None]:
    """The length [m], or the name of the joint that prescribes it and its first position."""
    key = "length"
    if reader.data.get("length") == PRESCRIBED:
        key, q = "q", reader.number("q")
        found: tuple[float | str, float | None] = (name, q)
    else:
        q = _given_length(reader)
        found = (q, None)
        if "q" in reader.data:
            reader.note("is for a length that is prescribed", "q")
    if q <= 0 and isinstance(reader.data.get(key), (int, float)):
        reader.note(f"is {q:g}; a distance must be positive; for zero use a spherical joint", key)
    return found


def _given_length(reader: FieldReader) -> float:
    value = reader.data.get("length")
    if isinstance(value, str):
        reader.note(f"must be a number, or {PRESCRIBED}, not {quote(value)}", "length")
        return 0.0
    return reader.number("length")


def lengths_of(distances: Sequence[Distance]) -> dict[str, Floats]:
    """The first positions of the lengths that are prescribed, by the joint's name."""
    return {d.loop.name: np.asarray(d.q) for d in distances if d.q is not None}


def loops_of(joints: Sequence[BodyJoint], ids: Mapping[str, int], where: str) -> list[Loop]:
    """The constraints of joints that are cut; ids: of the links by name. Warns of their limits,
    which are lost, and of those that constrain nothing. where: the file, for these."""
    limited = [joint.name for joint in joints if joint.limits is not None]
    if limited:
        text = "cut where a loop closes, so that their limits are not used: joints"
        warn(f"{where}: {text} {names_list(limited)}")
    loops = {joint.name: joint.loop(ids) for joint in joints}
    free = [name for name, loop in loops.items() if loop is None]
    if free:
        text = "left out, since what they tie is tied already, and they constrain nothing: joints"
        warn(f"{where}: {text} {names_list(free)}")
    return [loop for loop in loops.values() if loop is not None]


def note_name_clashes(
    bodies: Sequence[str],
    joints: Sequence[BodyJoint],
    distances: Sequence[Distance],
    others: Sequence[str] = (),
) -> None:
    """Note names of joints, rows and distances that another joint, distance or body has. others:
    existing joints.
    """
    owner = dict.fromkeys(others, "a joint of the robot")
    links = dict.fromkeys(bodies, "a body")
    for joint in joints:
        inner = {row.name for row in joint.rows()[:-1]} | {
            row.name for row in joint.rows(against=True)[:-1]
        }
        _note_clash(joint.reader, joint.names, owner, f"joint {quote(joint.name)}")
        _note_clash(joint.reader, inner, links, f"joint {quote(joint.name)}")
    for distance in distances:
        name = distance.loop.name
        _note_clash(distance.reader, {name}, owner, f"distance {quote(name)}")
        if distance.q is not None:
            _note_clash(distance.reader, {name}, links, f"distance {quote(name)}")


def _note_clash(reader: FieldReader, names: set[str], owner: dict[str, str], what: str) -> None:
    """Note which of these names is another's already; the others become this one's."""
    for name in sorted(names):
        if name in owner:
            note_name(reader, f"its name {quote(name)} is also that of {owner[name]}")
        else:
            owner[name] = what


# --- closing the loops of a tree ------------------------------------------------------------------


_Z = np.array([0.0, 0.0, 1.0])


def closed_robot(
    robot: RobotModel,
    loops: Sequence[Loop],
    distances: Sequence[Distance],
    prescribed: Sequence[str],
    home: Mapping[str, Floats],
) -> RobotModel:
    """The robot with these loops, the joints of those distances that are prescribed, these
    prescribed joints beside its own, and its home with these positions by coordinate."""
    lengths = [distance.loop.name for distance in distances if distance.q is not None]
    q = robot.neutral if robot.home is None else robot.home
    already = robot.kinematic_joints
    robot = replace(_with_lengths(robot, lengths), loops=(*robot.loops, *loops))
    robot = robot.with_kinematic(dict.fromkeys([*already, *prescribed, *lengths]))
    full = np.concatenate([q, np.zeros(len(lengths))])
    for entry in robot.layout:
        if entry.name in home:
            full[entry.q] = home[entry.name]
    return replace(robot, home=full)


def _with_lengths(robot: RobotModel, names: Sequence[str]) -> RobotModel:
    """The robot with the joints of prescribed lengths, on which no link depends."""
    links, joints = list(robot.links), list(robot.joints)
    for q_id, name in enumerate(names, start=robot.n_q + 1):
        i = len(links) + 1
        joints.append(Joint(i, name, JointType.PRISMATIC, q_id, 0, i, _Z, np.eye(4)))
        links.append(Link(i, name, i, np.eye(4), 0.0, np.zeros((3, 3))))
    return replace(robot, links=tuple(links), joints=tuple(joints))
