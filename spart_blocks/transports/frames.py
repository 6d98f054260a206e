"""Frames: the layout of numbers in the bytes of a packet, as described in a diagram."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean

MOST_BYTES = 1472
"""Largest size of a frame: the payload of one Ethernet packet over UDP and IPv4. SB_FRAME_MOST
in C.
"""
MOST_HEADER = 16
MOST_FIELDS = 200

TYPES = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "f32": "f",
         "f64": "d"}  # fmt: skip
"""The types of numbers, with the letters of Python's struct."""
ALL_TYPES = {**TYPES, "bool": "?", "i64": "q", "u64": "Q", "stamp": "iI"}
"""Those and the ones of messages of fixed shape, in the order of sb_type. A stamp is the sender's
time in seconds and nanoseconds."""
Piece = tuple[str, int, int, int, int]
"""Elements of a field: type, count, offset [bytes], index in the flat array or -1, and index of
the first element in the frame."""
SEQUENCES = ("u8", "u16", "u32")
CHECKSUMS = {"crc16": 2, "crc32": 4}
"""CRC-16/CCITT-FALSE (polynomial 0x1021, from 0xFFFF) and CRC-32 (IEEE 802.3): bytes."""
_KEYS = ("endian", "header", "sequence", "time", "fields", "checksum")
_FIELD = re.compile(r"(?:([0-9]{1,4})\s+)?(\w+)")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")


def size_of(type_name: str) -> int:
    """The bytes of a number of this type."""
    return struct.calcsize(f"<{ALL_TYPES[type_name]}")


@dataclass(frozen=True)
class Field:
    """Numbers of one type under a name; count None for a scalar."""

    name: str
    type: str
    count: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return () if self.count is None else (self.count,)

    @property
    def numbers(self) -> int:
        return 1 if self.count is None else self.count

    @property
    def size(self) -> int:
        return self.numbers * size_of(self.type)


@dataclass(frozen=True)
class FrameRow:
    """A row of a frame's layout, with its offset in bytes from the start."""

    offset: int
    name: str
    type: str
    count: int


@dataclass(frozen=True)
class Frame:
    """The bytes of a packet, packed without padding in this order: header, sequence, time, fields,
    checksum over all bytes before it.

    With a background it is a message of fixed shape behind the sequence: constant bytes, in which
    the fields have their places and stamps are the sender's time.

    endian: of all but the header, which is bytes. header: the first bytes of each frame. sequence:
    the type of the frame counter; '' for none. time: whether the sender's time [s] follows as f64.
    checksum: 'crc16', 'crc32' or ''. background: of the message. places, stamps: the offsets in it
    of each field and of each stamp [bytes].
    """

    fields: tuple[Field, ...]
    endian: str = "little"
    header: bytes = b""
    sequence: str = ""
    time: bool = False
    checksum: str = ""
    background: bytes = b""
    places: tuple[int, ...] = ()
    stamps: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Of the whole frame [bytes]."""
        if self.background:
            return len(self.whole_background)
        last = list(self.layout())[-1]
        sizes = {**dict.fromkeys(TYPES), **CHECKSUMS}
        return last.offset + last.count * (sizes[last.type] or size_of(last.type))

    @property
    def whole_background(self) -> bytes:
        """The background behind zeros for the sequence; empty without a background."""
        before = size_of(self.sequence) if self.sequence and self.background else 0
        return bytes(before) + self.background

    def stamp_pieces(self) -> Iterator[Piece]:
        """The stamps for C."""
        before = size_of(self.sequence) if self.sequence else 0
        for place in self.stamps:
            yield "stamp", 1, before + place, -1, 0

    @property
    def numbers(self) -> int:
        """The total count of numbers in its fields."""
        return sum(field.numbers for field in self.fields)

    @property
    def format(self) -> str:
        """The whole frame for Python's struct, as '<2sI7d'; constants of a message are skipped."""
        if self.background:
            return self._format_of_message()
        text = "<" if self.endian == "little" else ">"
        text += f"{len(self.header)}s" if self.header else ""
        text += TYPES[self.sequence] if self.sequence else ""
        text += "d" if self.time else ""
        for field in self.fields:
            text += f"{'' if field.count is None else field.count}{TYPES[field.type]}"
        return text + {"": "", "crc16": "H", "crc32": "I"}[self.checksum]

    def _format_of_message(self) -> str:
        text, at = "<", 0
        for row in self.layout():
            gap = f"{row.offset - at}x" if row.offset > at else ""
            text += f"{gap}{row.count if row.count > 1 else ''}{ALL_TYPES[row.type]}"
            at = row.offset + row.count * size_of(row.type)
        return f"{text}{self.size - at}x" if self.size > at else text

    def layout(self) -> Iterator[FrameRow]:
        """The rows of the layout, from the first byte to the last; of a message its numbers and
        stamps."""
        if self.background:
            yield from sorted(self._placed(), key=lambda row: row.offset)
            return
        offset = 0
        for name, type_name, count, size in self._parts():
            yield FrameRow(offset, name, type_name, count)
            offset += size

    def _placed(self) -> Iterator[FrameRow]:
        if self.sequence:
            yield FrameRow(0, "sequence", self.sequence, 1)
        before = size_of(self.sequence) if self.sequence else 0
        for field, place in zip(self.fields, self.places, strict=True):
            yield FrameRow(before + place, field.name, field.type, field.numbers)
        for k, place in enumerate(self.stamps):
            yield FrameRow(before + place, f"stamp {k}", "stamp", 1)

    def _parts(self) -> Iterator[tuple[str, str, int, int]]:
        """Name, type, count and size of each item of the frame."""
        if self.header:
            yield "header", "u8", len(self.header), len(self.header)
        if self.sequence:
            yield "sequence", self.sequence, 1, size_of(self.sequence)
        if self.time:
            yield "time", "f64", 1, 8
        for field in self.fields:
            yield field.name, field.type, field.numbers, field.size
        if self.checksum:
            yield "checksum", self.checksum, 1, CHECKSUMS[self.checksum]

    def flat(self, values: Mapping[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Values by field as one array (numbers,); a number fills its field."""
        parts = [
            np.broadcast_to(np.asarray(values[field.name], float), field.shape).ravel()
            for field in self.fields
        ]
        return np.concatenate(parts)


def read_frame(given: Any) -> Frame:
    """The frame that a mapping describes, as a diagram's `frame:`.

    InputError lists all faults; each begins with its place, such as 'frame.fields.qm'.
    """
    if isinstance(given, Frame):
        return given
    faults: list[Fault] = []
    if not isinstance(given, Mapping):
        hint = "write frame: {fields: {qm: 7 f64}}"
        raise InputError(Fault(f"frame is a mapping, not {brief(given)}", hint=hint))
    for key in given:
        if key not in _KEYS:
            near = did_you_mean(str(key), _KEYS)
            faults.append(Fault(f"frame.{key}: a frame has no {brief(key)}", hint=near))
    endian = _one_of(given, "endian", ("little", "big"), faults) or "little"
    sequence = _one_of(given, "sequence", SEQUENCES, faults)
    time = _one_of(given, "time", ("f64",), faults) == "f64"
    checksum = _one_of(given, "checksum", tuple(CHECKSUMS), faults)
    header = _header(given.get("header"), faults)
    fields = _fields(given.get("fields"), faults)
    frame = Frame(fields, endian, header, sequence, time, checksum)
    if not faults and frame.size > MOST_BYTES:
        hint = "send fewer numbers, or smaller ones such as f32"
        text = f"frame.fields: a frame has at most {MOST_BYTES} bytes, this one {frame.size}"
        faults.append(Fault(text, hint=hint))
    if faults:
        raise InputError(faults)
    return frame


def _one_of(
    given: Mapping[str, Any], key: str, choices: tuple[str, ...], faults: list[Fault]
) -> str:
    value = given.get(key)
    if value is None:
        return ""
    if value not in choices:
        faults.append(Fault(f"frame.{key} is {' or '.join(choices)}, not {brief(value)}"))
        return ""
    return str(value)


def _header(given: Any, faults: list[Fault]) -> bytes:
    """The bytes of '0xA55A' or of a list of them."""
    if given is None:
        return b""
    found = None
    if isinstance(given, bytes):
        found = given
    elif isinstance(given, str) and re.fullmatch(r"0x(?:[0-9A-Fa-f]{2})+", given):
        found = bytes.fromhex(given[2:])
    elif isinstance(given, list | tuple | np.ndarray):
        numbers = list(given)
        if all(isinstance(n, int | float) and n == n // 1 and 0 <= n <= 255 for n in numbers):
            found = bytes(int(n) for n in numbers)
    if found is None or not 0 < len(found) <= MOST_HEADER:
        text = f"frame.header is 1 to {MOST_HEADER} bytes, not {brief(given)}"
        hint = "write them in quotes, '0xA55A', or as a list, [0xA5, 0x5A]"
        faults.append(Fault(text, hint=hint))
        return b""
    return found


def _fields(given: Any, faults: list[Fault]) -> tuple[Field, ...]:
    if not isinstance(given, Mapping) or not given:
        hint = "write fields: {qm: 7 f64, flags: u8}"
        faults.append(Fault(f"frame.fields: a frame needs fields, not {brief(given)}", hint=hint))
        return ()
    if len(given) > MOST_FIELDS:
        text = f"frame.fields: a frame has at most {MOST_FIELDS} fields, not {len(given)}"
        faults.append(Fault(text, hint="put numbers of one kind into one field"))
        return ()
    fields = []
    for name, text in given.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            what = f"frame.fields: {brief(name)} is not a valid field name"
            faults.append(Fault(what, hint="letters, digits and _, a letter first"))
        elif (field := _field(name, text, faults)) is not None:
            fields.append(field)
    return tuple(fields)


def _field(name: str, given: Any, faults: list[Fault]) -> Field | None:
    """The field that '7 f64' or 'u8' describes."""
    where = f"frame.fields.{name}"
    found = _FIELD.fullmatch(given.strip()) if isinstance(given, str) else None
    if found is None:
        hint = "write a count and a type, 7 f64, or the type alone for a scalar"
        faults.append(Fault(f"{where} is no field: {brief(given)}", hint=hint))
        return None
    count, type_name = found.groups()
    if type_name not in TYPES:
        known = did_you_mean(type_name, TYPES)
        faults.append(Fault(f"{where}: there is no type {brief(type_name)}", hint=known))
        return None
    if count is not None and int(count) == 0:
        faults.append(Fault(f"{where} has no numbers", hint="leave the field out"))
        return None
    return Field(name, type_name, None if count is None else int(count))
