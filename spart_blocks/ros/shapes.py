"""Messages of fixed shape: constant bytes with numbers at known places.

Once the texts and the lengths of the sequences of a message are known, every number has a fixed
place in its bytes. So a loop can write the numbers without knowing the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.ros.cdr import Mark, decode, encode
from spart_blocks.ros.definitions import NUMBERS, Member, MessageType

STAMP = "builtin_interfaces/msg/Time"
"""The type of time stamps: int32 sec, uint32 nanosec."""
_LISTS_OF_JOINTS = ("name", "joint_names", "dof_names")
_STEP = re.compile(r"([A-Za-z]\w*)(?:\[([0-9]{1,4})\])?")
_PORT = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")


@dataclass(frozen=True)
class PlacedField:
    """Numbers of one type in a message.

    name: of the port. path: of their field. kind: the type, of NUMBERS. offset [bytes]: from the
    start of the message. count: None for a single number. by_joint: one number for each joint.
    """

    name: str
    path: str
    kind: str
    offset: int
    count: int | None
    by_joint: bool = False

    @property
    def size(self) -> int:
        """[bytes]"""
        return (1 if self.count is None else self.count) * np.dtype(NUMBERS[self.kind]).itemsize


@dataclass(frozen=True)
class MessageShape:
    """A message of fixed shape.

    background: its bytes, with constants and zeros. fields: the numbers of its ports. stamps: path
    and offset of each time stamp that is written when it is sent, 8 bytes. joints: the field that
    lists the joints, and their names; None for none. constant (bytes,): what is no number of a port
    and no stamp.
    """

    of: MessageType
    background: bytes
    fields: tuple[PlacedField, ...]
    stamps: tuple[tuple[str, int], ...]
    joints: tuple[str, tuple[str, ...]] | None
    constant: np.ndarray[Any, Any] = field(compare=False, repr=False)

    def canonical(self, data: bytes) -> bytes:
        """A received message in this shape, with its numbers and stamps. Other texts and lengths
        are left out, and joints are in the order of this shape.

        Raises ValueError if the bytes are no message of the type, or if it lacks a number.
        """
        if len(data) == len(self.background):
            differs = np.frombuffer(data, np.uint8) != np.frombuffer(self.background, np.uint8)
            if not (differs & self.constant).any():
                return data
        values = decode(data, self.of)
        order = self._order(values)
        out = bytearray(self.background)
        for one in self.fields:
            numbers = _numbers(_at(values, one.path))
            if one.by_joint:
                if len(numbers) != len(_at(values, self.joints[0] if self.joints else "")):
                    raise ValueError(f"{one.path} does not have a number for each joint")
                numbers = numbers[order]
            if len(numbers) != (1 if one.count is None else one.count):
                raise ValueError(f"{one.path} has {len(numbers)} numbers, not {one.count or 1}")
            written = numbers.astype(np.dtype(NUMBERS[one.kind]).newbyteorder("<")).tobytes()
            out[one.offset : one.offset + one.size] = written
        for path, offset in self.stamps:
            stamp = _at(values, path)
            out[offset : offset + 4] = int(stamp["sec"]).to_bytes(4, "little", signed=True)
            out[offset + 4 : offset + 8] = int(stamp["nanosec"]).to_bytes(4, "little")
        return bytes(out)

    def _order(self, values: dict[str, Any]) -> list[int]:
        """The places of the joints in a received message."""
        if self.joints is None:
            return []
        path, names = self.joints
        there = {name: k for k, name in enumerate(_at(values, path))}
        for name in names:
            if name not in there:
                raise ValueError(f"there is no joint {brief(name)}")
        return [there[name] for name in names]


def shape_of(
    of: MessageType,
    fields: Mapping[str, Any] | None = None,
    values: Mapping[str, Any] | None = None,
    joints: Sequence[str] | None = None,
) -> MessageShape:
    """The shape of a message whose ports are these fields.

    fields: the path of each port, such as {q: position, p: "pose.pose.position", u: "data[6]"},
    where a number in brackets is the length of a sequence of numbers or the place of a message. By
    default all numbers but stamps and covariances. values: constants of other fields. joints: names
    of joints, for messages that list them.
    InputError lists all faults, each with its parameter.
    """
    template = _template(of, values)
    listed = _joints(of, template, joints)
    if fields is None:
        fields = {path.replace(".", "_"): path for path in _default_paths(of, template, listed)}
    if not isinstance(fields, Mapping) or not fields:
        hint = "write fields: {q: position}"
        raise InputError(Fault(f"fields: a message needs fields, not {brief(fields)}", hint=hint))
    faults, paths = [], {}
    for name, given in fields.items():
        try:
            if not isinstance(name, str) or not _PORT.fullmatch(name):
                raise ValueError(f"{brief(name)} is no name of a port: letters, digits and _")
            paths[name] = _reserve(of, template, given, len(listed[1]) if listed else 0)
        except (InputError, ValueError) as error:
            faults.append(Fault(f"fields.{name}: {_first(error)}"))
    if faults:
        raise InputError(faults)
    marks: list[Mark] = []
    try:
        background = encode(template, of, marks)
    except ValueError as error:
        raise InputError(Fault(f"values: {error}")) from None
    placed = []
    for name, (path, by_joint) in paths.items():
        try:
            placed.append(_placed(name, path, by_joint, marks))
        except ValueError as error:
            faults.append(Fault(f"fields.{name}: {error}"))
    if faults:
        raise InputError(faults)
    stamps = tuple(_stamps(of, template, marks, values or {}, placed))
    return MessageShape(
        of, background, tuple(placed), stamps, listed, _constant(background, placed, stamps)
    )


def _first(error: Exception) -> str:
    return str(error.faults[0]) if isinstance(error, InputError) else str(error)


def _template(of: MessageType, values: Mapping[str, Any] | None) -> dict[str, Any]:
    given: Any = {} if values is None else values
    if not isinstance(given, Mapping):
        hint = "write values: {header: {frame_id: base}}"
        raise InputError(Fault(f"values: constants by field, not {brief(given)}", hint=hint))
    template = deepcopy(dict(given))
    try:
        encode(template, of)
    except ValueError as error:
        raise InputError(Fault(f"values: {error}")) from None
    return template


def _joints(
    of: MessageType, template: dict[str, Any], joints: Sequence[str] | None
) -> tuple[str, tuple[str, ...]] | None:
    """The field that lists the joints, and their names, which are put into the template."""
    if joints is None:
        return None
    names = tuple(joints)
    if not names or len(set(names)) < len(names) or not all(isinstance(n, str) for n in names):
        raise InputError(Fault(f"joints: different names of joints, not {brief(joints)}"))
    for member in of.members:
        lists = member.kind == "string" and member.array == "sequence"
        if lists and member.name in _LISTS_OF_JOINTS:
            template[member.name] = list(names)
            return member.name, names
    raise InputError(Fault(f"joints: {of.name} does not list joints"))


# --- paths ----------------------------------------------------------------------------------


def _steps(path: Any) -> list[tuple[str, int | None]]:
    """The names and the numbers in brackets of a path."""
    if not isinstance(path, str) or len(path) > 200:
        raise ValueError(f"the path of a field is a text, not {brief(path)}")
    steps = []
    for text in path.split("."):
        found = _STEP.fullmatch(text)
        if not found:
            raise ValueError(f"{brief(path)} is no path: write pose.position or data[6]")
        steps.append((found[1], None if found[2] is None else int(found[2])))
    return steps


def _reserve(of: MessageType, template: dict[str, Any], path: Any, joints: int) -> tuple[str, bool]:
    """Make room in the template for the numbers of a path. Returns the path as in marks, and
    whether it has a number for each joint."""
    steps, values = _steps(path), template
    walked: list[str] = []
    for k, (name, number) in enumerate(steps):
        member, last = of.member(name), k == len(steps) - 1
        if not isinstance(member.kind, MessageType):
            if not last:
                raise ValueError(f"{name} has no fields")
            by_joint = _reserve_numbers(member, values, number, joints)
            return ".".join([*walked, name]), by_joint
        if member.array:
            if number is None:
                raise ValueError(f"{name} has several messages: write {name}[0]")
            values = _reserve_message(member, values, number)
            walked.append(f"{name}[{number}]")
        elif number is not None:
            raise ValueError(f"{name} is one message, without [{number}]")
        else:
            values = values.setdefault(name, {})
            walked.append(name)
        of = member.kind
    return ".".join(walked), False


def _reserve_message(member: Member, values: dict[str, Any], number: int) -> dict[str, Any]:
    most = member.count or number + 1
    if number >= most:
        raise ValueError(f"{member.name} has at most {most} messages")
    there = list(values.get(member.name, ()))
    least = member.count if member.array == "array" else number + 1
    values[member.name] = there + [{} for _ in range(least - len(there))]
    found: dict[str, Any] = values[member.name][number]
    return found


def _reserve_numbers(
    member: Member, values: dict[str, Any], number: int | None, joints: int
) -> bool:
    if member.kind == "string":
        raise ValueError(f"{member.name} is a text; give it under values")
    if not member.array:
        if number is not None:
            raise ValueError(f"{member.name} is one number, without [{number}]")
        return False
    given = values.get(member.name)
    by_joint = member.array == "sequence" and number is None and given is None and joints > 0
    count = number
    if count is None:
        count = len(given) if given is not None else joints or member.count
    if member.array == "array" and count != member.count:
        raise ValueError(f"{member.name} has {member.count} numbers, not {count}")
    if count == 0:
        raise ValueError(f"how many numbers has {member.name}? write {member.name}[6]")
    if given is None:
        values[member.name] = np.zeros(count)
    elif len(given) != count:
        raise ValueError(f"{member.name} has {len(given)} numbers under values, not {count}")
    return by_joint


def _default_paths(
    of: MessageType, template: Mapping[str, Any], joints: Any, path: str = ""
) -> Iterator[str]:
    """The paths of all numbers of known count but stamps and covariances."""
    for member in of.members:
        name, kind = f"{path}{member.name}", member.kind
        if isinstance(kind, MessageType):
            if member.array or kind.name in (STAMP, "std_msgs/msg/Header"):
                continue
            if _is_row(kind):
                yield name
            else:
                yield from _default_paths(kind, template.get(member.name, {}), joints, f"{name}.")
        elif kind == "string" or member.name.endswith("covariance"):
            continue
        elif member.array != "sequence" or joints or len(template.get(member.name, ())):
            yield name


def _is_row(of: MessageType) -> bool:
    """Whether a message is a row of numbers of one type, as a vector and a quaternion are."""
    kinds = {"" if member.array else member.kind for member in of.members}
    return len(kinds) == 1 and kinds.pop() in NUMBERS


def _placed(name: str, path: str, by_joint: bool, marks: Sequence[Mark]) -> PlacedField:
    found = [mark for mark in marks if mark.path == path or mark.path.startswith(f"{path}.")]
    if not found:
        raise ValueError(f"{path} has no numbers of known count")
    first, end, numbers = found[0], found[0].offset, 0
    for mark in found:
        if mark.kind != first.kind or mark.offset != end:
            raise ValueError(f"{path} is no row of numbers of one type: give each a port")
        count = 1 if mark.count is None else mark.count
        end += count * np.dtype(NUMBERS[mark.kind]).itemsize
        numbers += count
    single = len(found) == 1 and first.path == path and first.count is None
    return PlacedField(name, path, first.kind, first.offset, None if single else numbers, by_joint)


def _stamps(
    of: MessageType,
    template: Mapping[str, Any],
    marks: Sequence[Mark],
    values: Mapping[str, Any],
    fields: Sequence[PlacedField],
) -> Iterator[tuple[str, int]]:
    """The time stamps that are neither constant nor a port."""
    offsets = {mark.path: mark.offset for mark in marks}
    for path in _paths_of_stamps(of, template, ""):
        own = any(one.path == path or one.path.startswith(f"{path}.") for one in fields)
        if not own and not _is_given(values, path):
            yield path, offsets[f"{path}.sec"]


def _paths_of_stamps(of: MessageType, template: Mapping[str, Any], path: str) -> Iterator[str]:
    for member in of.members:
        if not isinstance(member.kind, MessageType):
            continue
        value, name = template.get(member.name), f"{path}{member.name}"
        if not member.array:
            if member.kind.name == STAMP:
                yield name
            else:
                yield from _paths_of_stamps(member.kind, value or {}, f"{name}.")
            continue
        several = value if value is not None else [{}] * (member.count * (member.array == "array"))
        for k, one in enumerate(several):
            if member.kind.name == STAMP:
                yield f"{name}[{k}]"
            else:
                yield from _paths_of_stamps(member.kind, one, f"{name}[{k}].")


def _is_given(values: Mapping[str, Any], path: str) -> bool:
    try:
        _at(values, path)
    except ValueError:
        return False
    return True


def _at(values: Any, path: str) -> Any:
    """The value at a path of a message; ValueError if it has none."""
    for name, number in _steps(path):
        try:
            values = values[name] if number is None else values[name][number]
        except (KeyError, IndexError):
            raise ValueError(f"there is no {path}") from None
    return values


def _numbers(value: Any) -> np.ndarray[Any, Any]:
    """The numbers of a field in a row."""
    if isinstance(value, Mapping):
        return np.concatenate([_numbers(one) for one in value.values()])
    return np.atleast_1d(np.asarray(value))


def _constant(
    background: bytes, fields: Sequence[PlacedField], stamps: Sequence[tuple[str, int]]
) -> np.ndarray[Any, Any]:
    constant = np.ones(len(background), dtype=bool)
    for one in fields:
        constant[one.offset : one.offset + one.size] = False
    for _, offset in stamps:
        constant[offset : offset + 8] = False
    return constant
