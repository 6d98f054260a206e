"""The bytes of messages: CDR, as ROS 2 sends them.

A message is a header of four bytes (00 01 00 00, little-endian; 00 00 00 00, big-endian) and its
fields in their order. Numbers are aligned to their size, counted from the end of the header. A
string is its length with the final zero as uint32, its bytes in UTF-8 and the zero; a sequence is
its length as uint32 and its elements.
Source: OMG, Data Distribution Service Interoperability Wire Protocol, and CORBA 3.3, 9.3 (CDR);
XCDR version 1, plain.

In Python a message is a dict by field: numbers, texts, dicts, arrays of NumPy for several numbers,
and lists for several texts or messages.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spart_blocks.base.errors import brief, did_you_mean
from spart_blocks.ros.definitions import NUMBERS, Member, MessageType, range_of
from spart_blocks.ros.hashes import DUMMY

HEADER = b"\x00\x01\x00\x00"
"""The first bytes of a message in little-endian order."""
MOST_PADDING = 3
"""Most bytes behind the last field, which some writers use to fill up the last word."""
_SIZES = {kind: struct.calcsize(letter) for kind, letter in NUMBERS.items()}
_DTYPES = {kind: np.dtype("bool" if letter == "?" else letter) for kind, letter in NUMBERS.items()}


@dataclass(frozen=True)
class Mark:
    """Numbers of one type in the bytes of a message. path: of their field, as in
    "transforms[0].transform.rotation.w". offset [bytes]: of the first, from the start of the
    message. count: None for a single number."""

    path: str
    kind: str
    offset: int
    count: int | None


def encode(values: Mapping[str, Any], of: MessageType, marks: list[Mark] | None = None) -> bytes:
    """The bytes of a message, little-endian. Fields that are not given have their default values.

    marks: gets the places of all numbers but the lengths. Raises ValueError with the field that
    has no such value.
    """
    writer = _Writer(marks)
    writer.message(values, of, "")
    return HEADER + bytes(writer.out)


def decode(data: bytes, of: MessageType) -> dict[str, Any]:
    """The message of these bytes, in either order of bytes.

    Raises ValueError if they are not one: a wrong header, lengths beyond the data or the bounds of
    the definition, a text that is no UTF-8, a bool that is neither 0 nor 1, or more bytes than the
    message has. No length is believed before the data has been compared with it.
    """
    if len(data) < 4 or data[0] != 0 or data[1] > 1:
        raise ValueError("no message in plain CDR")
    reader = _Reader(data, "<" if data[1] else ">")
    found = reader.message(of)
    if len(data) - reader.at > MOST_PADDING:
        raise ValueError(f"{len(data) - reader.at} bytes behind the message")
    return found


def default_of(member: Member) -> Any:
    """The value of a field that is not given."""
    if member.default is not None:
        return member.default
    if member.array:
        count = member.count if member.array == "array" else 0
        if isinstance(member.kind, MessageType):
            return [{}] * count
        return [""] * count if member.kind == "string" else np.zeros(count, _DTYPES[member.kind])
    if isinstance(member.kind, MessageType):
        return {}
    return "" if member.kind == "string" else 0


# --- writing --------------------------------------------------------------------------------


class _Writer:
    def __init__(self, marks: list[Mark] | None) -> None:
        self.out, self.marks = bytearray(), marks

    def message(self, values: Any, of: MessageType, path: str) -> None:
        if not isinstance(values, Mapping):
            raise ValueError(f"{path or of.name} has fields, and is not {brief(values)}")
        for name in values:
            if all(name != member.name for member in of.members):
                near = did_you_mean(str(name), [member.name for member in of.members])
                raise ValueError(f"{path or of.name} has no field {brief(name)}: {near or of.name}")
        before = f"{path}." if path else ""
        for member in of.members or (DUMMY,):
            given = values[member.name] if member.name in values else default_of(member)
            self._member(given, member, f"{before}{member.name}")

    def _member(self, value: Any, member: Member, path: str) -> None:
        if not member.array:
            self._one(value, member, path)
            return
        if isinstance(value, str | Mapping) or not isinstance(value, Sequence | np.ndarray):
            raise ValueError(f"{path} has several elements, and is not {brief(value)}")
        count = len(value)
        if member.array == "array" and count != member.count:
            raise ValueError(f"{path} has {member.count} elements, not {count}")
        if member.array == "sequence":
            if member.count and count > member.count:
                raise ValueError(f"{path} has at most {member.count} elements, not {count}")
            self._number(count, "uint32")
        if isinstance(member.kind, str) and member.kind != "string":
            self._numbers(value, member.kind, path)
            return
        for k, one in enumerate(value):
            self._one(one, member, f"{path}[{k}]")

    def _one(self, value: Any, member: Member, path: str) -> None:
        if isinstance(member.kind, MessageType):
            self.message(value, member.kind, path)
        elif member.kind == "string":
            self._text(value, member.longest, path)
        else:
            number = _checked(np.asarray(value), member.kind, path)
            if number.shape:
                raise ValueError(f"{path} is a number, not {brief(value)}")
            at = self._number(number.item(), member.kind)
            self._mark(path, member.kind, at, None)

    def _numbers(self, value: Any, kind: str, path: str) -> None:
        if isinstance(value, bytes | bytearray):
            value = np.frombuffer(value, np.uint8)
        array = _checked(np.asarray(value), kind, path)
        if array.ndim != 1:
            raise ValueError(f"{path} is a row of numbers, not an array of shape {array.shape}")
        if array.size:
            self._align(_SIZES[kind])
        self._mark(path, kind, len(self.out), array.size)
        self.out += array.astype(_DTYPES[kind].newbyteorder("<")).tobytes()

    def _text(self, value: Any, longest: int, path: str) -> None:
        if not isinstance(value, str) or "\0" in value:
            raise ValueError(f"{path} is a text, not {brief(value)}")
        if longest and len(value) > longest:
            raise ValueError(f"{path} has at most {longest} characters, not {len(value)}")
        data = value.encode() + b"\0"
        self._number(len(data), "uint32")
        self.out += data

    def _number(self, value: Any, kind: str) -> int:
        self._align(_SIZES[kind])
        at = len(self.out)
        self.out += struct.pack(f"<{NUMBERS[kind]}", value)
        return at

    def _align(self, size: int) -> None:
        self.out += bytes(-len(self.out) % size)

    def _mark(self, path: str, kind: str, at: int, count: int | None) -> None:
        if self.marks is not None:
            self.marks.append(Mark(path, kind, at + len(HEADER), count))


def _checked(given: np.ndarray[Any, Any], kind: str, path: str) -> np.ndarray[Any, Any]:
    """Numbers that this type can hold; ValueError otherwise."""
    if given.size == 0:
        return given.astype(_DTYPES[kind])
    if kind.startswith("float"):
        if given.dtype.kind not in "iufb":
            raise ValueError(f"{path} takes numbers, not {brief(given.tolist())}")
        with np.errstate(over="ignore"):
            return given.astype(_DTYPES[kind])
    low, high = (0, 1) if kind == "bool" else range_of(kind)
    whole = given.dtype.kind in "iub" or (
        given.dtype.kind in "fO" and all(_is_whole(one) for one in given.ravel().tolist())
    )
    values = [int(one) for one in given.ravel().tolist()] if whole else []
    if not whole or min(values) < low or max(values) > high:
        what = f"{kind}, {low} to {high}"
        raise ValueError(f"{path} takes numbers of {what}, not {brief(given.tolist())}")
    return np.array(values, _DTYPES[kind]).reshape(given.shape)


def _is_whole(one: Any) -> bool:
    return isinstance(one, int) or (isinstance(one, float) and one.is_integer())


# --- reading --------------------------------------------------------------------------------


class _Reader:
    """at: bytes read."""

    def __init__(self, data: bytes, order: Literal["<", ">"]) -> None:
        self.data, self.order, self.at = data, order, len(HEADER)

    def message(self, of: MessageType) -> dict[str, Any]:
        if not of.members:
            self._number("uint8")
        return {member.name: self._member(member) for member in of.members}

    def _member(self, member: Member) -> Any:
        if not member.array:
            return self._one(member)
        count = member.count
        if member.array == "sequence":
            count = self._number("uint32")
            if member.count and count > member.count:
                raise ValueError(f"{member.name} has {count} elements, more than {member.count}")
        if isinstance(member.kind, str) and member.kind != "string":
            return self._numbers(member.kind, count)
        if count > len(self.data) - self.at:  # each has a byte or more
            raise ValueError(f"{member.name} has {count} elements, more than there are bytes")
        return [self._one(member) for _ in range(count)]

    def _one(self, member: Member) -> Any:
        if isinstance(member.kind, MessageType):
            return self.message(member.kind)
        if member.kind == "string":
            return self._text(member)
        return self._number(member.kind)

    def _numbers(self, kind: str, count: int) -> np.ndarray[Any, Any]:
        dtype = _DTYPES[kind].newbyteorder(self.order)
        part = self._take(count * dtype.itemsize, dtype.itemsize) if count else b""
        if kind == "bool" and max(part, default=0) > 1:
            raise ValueError("a bool is neither 0 nor 1")
        return np.frombuffer(part, dtype).astype(_DTYPES[kind])

    def _text(self, member: Member) -> str:
        size = self._number("uint32")
        if size == 0:  # not by the standard, but some write it
            return ""
        data = self._take(size, 1)
        if data[-1] != 0:
            raise ValueError(f"{member.name} does not end with a zero")
        text = data[:-1].decode()
        if member.longest and len(text) > member.longest:
            raise ValueError(f"{member.name} has more than {member.longest} characters")
        return text

    def _number(self, kind: str) -> Any:
        part = self._take(_SIZES[kind], _SIZES[kind])
        if kind == "bool" and part[0] > 1:
            raise ValueError("a bool is neither 0 nor 1")
        return struct.unpack(self.order + NUMBERS[kind], part)[0]

    def _take(self, size: int, alignment: int) -> bytes:
        """The next bytes, which are aligned; ValueError if there are fewer."""
        start = self.at + -(self.at - len(HEADER)) % alignment
        if size > len(self.data) - start:
            raise ValueError("the message is cut short")
        self.at = start + size
        return self.data[start : self.at]
