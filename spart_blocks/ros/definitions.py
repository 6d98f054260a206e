"""Definitions of messages and services: the texts of .msg and .srv files.

Source: the interface definition of ROS 2 (About-Interfaces), and the specification of .msg files
by rosidl_adapter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from spart_blocks.base.errors import Fault, InputError, Place, brief, did_you_mean

NUMBERS = {"bool": "?", "byte": "B", "char": "B", "int8": "b", "uint8": "B", "int16": "h",
           "uint16": "H", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f",
           "float64": "d"}  # fmt: skip
"""The types of numbers, with the letters of Python's struct."""
MOST_TEXT = 200_000
"""Longest definition [characters]."""
MOST_MEMBERS = 1000
MOST_COUNT = 2**24
"""Most elements of an array of fixed length, and the largest bound."""
MOST_DEPTH = 32
"""Most levels of messages within messages."""

Array = Literal["", "array", "sequence"]
_TYPE = re.compile(
    r"(?P<base>[A-Za-z][\w/]*)(?:<=(?P<longest>[0-9]+))?(?P<array>\[(?:<=(?P<bound>[0-9]+)|(?P<count>[0-9]*))\])?"
)
_NAME = re.compile(r"[a-z][a-z0-9_]*", re.IGNORECASE)
_CONSTANT = re.compile(r"\s*(?P<name>[A-Za-z]\w*)\s*=\s*(?P<value>.*)")
_PACKAGE = re.compile(r"[a-z][a-z0-9_]*")
_SHORT = re.compile(r"[A-Z][A-Za-z0-9_]*")
_KINDS = ("msg", "srv")


@dataclass(frozen=True)
class Member:
    """A field of a message.

    kind: a number of NUMBERS, "string", or the type of a message. array: "" for one value. count:
    the elements of an array, or the bound of a sequence, 0 for none. longest: the bound of its
    strings [characters], 0 for none.
    """

    name: str
    kind: str | MessageType
    array: Array = ""
    count: int = 0
    longest: int = 0
    default: Any = None


@dataclass(frozen=True)
class MessageType:
    """A message with the types of all that it has. name: "package/msg/Name"."""

    name: str
    members: tuple[Member, ...]
    constants: tuple[tuple[str, Any], ...] = ()

    @property
    def dds_name(self) -> str:
        """The name that DDS and rmw_zenoh use: package::msg::dds_::Name_."""
        return dds_name(self.name)

    def member(self, name: str) -> Member:
        """The field of a name. InputError lists those near it."""
        for member in self.members:
            if member.name == name:
                return member
        hint = did_you_mean(name, [member.name for member in self.members])
        raise InputError(Fault(f"{self.name} has no field {brief(name)}", hint=hint))


@dataclass(frozen=True)
class ServiceType:
    """A service. name: "package/srv/Name"."""

    name: str
    request: MessageType
    response: MessageType

    @property
    def dds_name(self) -> str:
        return dds_name(self.name)


def dds_name(name: str) -> str:
    package, kind, short = name.split("/")
    return f"{package}::{kind}::dds_::{short}_"


def full_name(given: Any, kind: str = "msg") -> str:
    """The name in full of a type that is given as "package/Name" or "package/msg/Name".

    Raises ValueError for what is no name of a type, such as a path.
    """
    parts = given.split("/") if isinstance(given, str) and len(given) <= 200 else []
    if len(parts) == 2:
        parts.insert(1, kind)
    if len(parts) != 3 or parts[1] not in _KINDS:
        raise ValueError(f"{brief(given)} is no type: write package/{kind}/Name")
    if not _PACKAGE.fullmatch(parts[0]) or not _SHORT.fullmatch(parts[2]):
        raise ValueError(f"{brief(given)} is no type: write package/{kind}/Name")
    return "/".join(parts)


Find = Callable[[str], MessageType]
"""Gives the type of a message by its full name; raises InputError if there is none."""


def read_message(text: str, name: str, find: Find, file: str) -> MessageType:
    """The message that a definition describes.

    name: "package/msg/Name". find: of the types of its fields. file: where the text is from, for
    errors. Raises InputError with the line and column of each fault.
    """
    return _Reader(name, find, file).read(text.splitlines(), 1)


def read_service(text: str, name: str, find: Find, file: str) -> ServiceType:
    """The service that a definition describes: request, a line of ---, response."""
    lines = text.splitlines()
    bars = [k for k, line in enumerate(lines) if line.strip() == "---"]
    if len(bars) != 1:
        raise InputError(
            Fault("a service has one line --- between request and response", Place(file, 1))
        )
    (bar,) = bars
    request = _Reader(f"{name}_Request", find, file).read(lines[:bar], 1)
    response = _Reader(f"{name}_Response", find, file).read(lines[bar + 1 :], bar + 2)
    return ServiceType(name, request, response)


class _Reader:
    """Reads one message. The faults of all lines are collected."""

    def __init__(self, name: str, find: Find, file: str) -> None:
        self.name, self.find, self.file = name, find, file
        self.faults: list[Fault] = []
        self.members: dict[str, Member] = {}
        self.constants: dict[str, Any] = {}

    def read(self, lines: list[str], first: int) -> MessageType:
        """first: number of the first line in its file."""
        for number, line in enumerate(lines, first):
            text = _without_comment(line)
            if text.strip():
                try:
                    self._line(text)
                except _WrongError as error:
                    column = len(line) - len(line.lstrip()) + 1 + error.column
                    self.faults.append(Fault(str(error), Place(self.file, number, column)))
                if len(self.members) > MOST_MEMBERS:
                    self.faults.append(
                        Fault(f"a message has at most {MOST_MEMBERS} fields", Place(self.file))
                    )
            if len(self.faults) > 20 or len(self.members) > MOST_MEMBERS:
                break
        if self.faults:
            raise InputError(self.faults)
        return MessageType(self.name, tuple(self.members.values()), tuple(self.constants.items()))

    def _line(self, line: str) -> None:
        text = line.strip()
        found = _TYPE.match(text)
        if not found or not (rest := text[found.end() :]) or not rest[0].isspace():
            raise _WrongError(f"no field: {brief(text)}; write a type and a name, float64 x")
        behind = found.end()
        if (constant := _CONSTANT.fullmatch(rest)) and not rest.lstrip()[0].isdigit():
            self._constant(found, constant, behind)
            return
        name = _NAME.match(rest.lstrip())
        if not name:
            raise _WrongError(f"no name of a field: {brief(rest.strip())}", behind)
        if name[0] in self.members:
            raise _WrongError(f"there are two fields {name[0]}", behind)
        member = self._member(found, name[0])
        default = rest.lstrip()[name.end() :].strip()
        if default:
            member = _with_default(member, default)
        self.members[name[0]] = member

    def _constant(self, found: re.Match[str], constant: re.Match[str], behind: int) -> None:
        base, name = found["base"], constant["name"]
        if found["array"] or (base not in NUMBERS and base != "string"):
            raise _WrongError(f"a constant is a number or a string, not {found[0]}")
        if name in self.constants:
            raise _WrongError(f"there are two constants {name}", behind)
        self.constants[name] = _value(base, constant["value"].strip())

    def _member(self, found: re.Match[str], name: str) -> Member:
        base, array, count = found["base"], "", 0
        if found["longest"] and base != "string":
            raise _WrongError(f"only strings are bounded by <=, not {base}")
        if found["array"]:
            array = "array" if found["count"] else "sequence"
            count = int(found["count"] or found["bound"] or 0)
            if count > MOST_COUNT or (count == 0 and found["array"] != "[]"):
                raise _WrongError(f"an array has 1 to {MOST_COUNT} elements, not {count}")
        kind: str | MessageType = base
        if base not in NUMBERS and base != "string":
            kind = self._nested(base)
        longest = int(found["longest"] or 0)
        return Member(name, kind, array, count, longest)  # type: ignore[arg-type]

    def _nested(self, base: str) -> MessageType:
        if base == "wstring":
            raise _WrongError("there are no strings of wide characters here: wstring")
        package = self.name.split("/")[0]
        given = "std_msgs/Header" if base == "Header" else base
        try:
            full = full_name(given if "/" in given else f"{package}/{given}")
        except ValueError:
            hint = did_you_mean(base, NUMBERS) or "such as float64, string or package/Name"
            raise _WrongError(f"there is no type {brief(base)}: {hint}") from None
        try:
            return self.find(full)
        except InputError as error:
            raise _WrongError(error.faults[0].message) from None


class _WrongError(ValueError):
    """A fault of a line. column: of its place, from the first character that is not blank."""

    def __init__(self, text: str, column: int = 0) -> None:
        super().__init__(text)
        self.column = column


def _without_comment(line: str) -> str:
    """A line up to a # that is not in quotes."""
    quote = ""
    for k, letter in enumerate(line):
        if letter == quote:
            quote = ""
        elif not quote and letter in "\"'":
            quote = letter
        elif not quote and letter == "#":
            return line[:k]
    return line if not quote else line.partition("#")[0]


def _with_default(member: Member, text: str) -> Member:
    if not isinstance(member.kind, str):
        raise _WrongError(f"{member.name} is a message, and has no default value")
    if not member.array:
        value = _value(member.kind, text)
    else:
        if not (text.startswith("[") and text.endswith("]")):
            raise _WrongError(f"the default of {member.name} is a list such as [0, 1]")
        value = tuple(_value(member.kind, part) for part in _listed(text[1:-1]))
        least = member.count if member.array == "array" else 0
        if len(value) < least or len(value) > (member.count or len(value)):
            raise _WrongError(f"{member.name} does not have {len(value)} elements")
    return Member(
        member.name, member.kind, member.array, member.count, member.longest, default=value
    )


def _listed(text: str) -> Iterator[str]:
    """The parts of a list, split at commas outside of quotes."""
    part, quote = "", ""
    for letter in text:
        if letter == quote:
            quote = ""
        elif not quote and letter in "\"'":
            quote = letter
        if letter == "," and not quote:
            yield part.strip()
            part = ""
        else:
            part += letter
    if part.strip():
        yield part.strip()


_TRUE = {"true": True, "1": True, "false": False, "0": False}
_LETTERS = {"b": (-(2**7), 2**7 - 1), "B": (0, 2**8 - 1), "h": (-(2**15), 2**15 - 1),
            "H": (0, 2**16 - 1), "i": (-(2**31), 2**31 - 1), "I": (0, 2**32 - 1),
            "q": (-(2**63), 2**63 - 1), "Q": (0, 2**64 - 1)}  # fmt: skip


def range_of(kind: str) -> tuple[int, int]:
    """The smallest and largest number of a type of whole numbers."""
    return _LETTERS[NUMBERS[kind]]


def _value(kind: str, text: str) -> Any:
    if kind == "string":
        quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
        return text[1:-1] if quoted else text
    try:
        if kind == "bool":
            return _TRUE[text.lower()]
        if kind.startswith("float"):
            return float(text)
        value = int(text, 0)
    except (KeyError, ValueError):
        raise _WrongError(f"{brief(text)} is no {kind}") from None
    low, high = range_of(kind)
    if not low <= value <= high:
        raise _WrongError(f"{kind} is {low} to {high}, not {text}")
    return value
