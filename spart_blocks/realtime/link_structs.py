"""The structs of sb_link.h, and its functions as a compiled library."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from spart_blocks.program.c.compiler import strict_loaded
from spart_blocks.program.c.text import header, mirrored, with_headers
from spart_blocks.realtime.library import FLAGS, declared
from spart_blocks.transports.frames import ALL_TYPES, CHECKSUMS, MOST_BYTES, Frame, Piece, size_of
from spart_blocks.transports.shared_memory import MemoryStruct

COUNTS = ("received", "malformed", "lost", "old", "restarts", "sent", "errors", "replaced")
"""Counters of a link, in the order of sb_link_counts."""

_INT, _REAL, _POINTER = ctypes.c_int, ctypes.c_double, ctypes.c_void_p
_WORD = ctypes.c_uint32

Floats = np.ndarray[Any, np.dtype[np.float64]]


class FieldStruct(ctypes.Structure):
    _fields_ = tuple((name, _INT) for name in ("type", "count", "offset", "place", "first"))


class FrameStruct(ctypes.Structure):
    _fields_ = (
        *((name, _INT) for name in ("size", "big_endian")),
        *((name, ctypes.c_char_p) for name in ("background", "header")),
        *((name, _INT) for name in ("header_size", "sequence_size", "has_time", "checksum")),
        ("fields_count", _INT),
        ("fields", ctypes.POINTER(FieldStruct)),
    )


class CountsStruct(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_longlong) for name in COUNTS)


class LinkStruct(ctypes.Structure):
    _fields_ = (
        *((name, _INT) for name in ("transport", "fd")),
        *((name, _POINTER) for name in ("frame", "safe")),
        *((name, _REAL) for name in ("timeout", "epoch")),
        ("run_clock", _INT),
        ("counts", CountsStruct),
        ("begun", _INT),
        ("sequence", _WORD),
        ("has_candidate", _INT),
        ("candidate", _WORD),
        *((name, _REAL) for name in ("last", "sender_time")),
        ("version", _WORD),
        *((name, _INT) for name in ("filled", "lost_sync", "reopened")),
        *((name, _INT) for name in ("withdrawn", "closed")),
        ("buffer", ctypes.c_ubyte * (MOST_BYTES + 1)),
    )


MIRRORS: dict[str, type[ctypes.Structure]] = {
    "sb_field": FieldStruct,
    "sb_frame": FrameStruct,
    "sb_memory": MemoryStruct,
    "sb_link_counts": CountsStruct,
    "sb_link": LinkStruct,
}


@cache
def library() -> ctypes.CDLL:
    """sb_link as a library. Raises NoCompilerError without a compiler."""
    text = with_headers(header("export/c/sb_link.c"), {"sb_link.h": header("export/c/sb_link.h")})
    made = strict_loaded(f"{text}\n{mirrored(MIRRORS)}", FLAGS)
    link, frame = ctypes.POINTER(LinkStruct), ctypes.POINTER(FrameStruct)
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "sb_link_receive": (_INT, [link, _REAL, _POINTER]),
        "sb_link_send": (_INT, [link, _REAL, _POINTER]),
        "sb_link_send_safe": (_INT, [link, _REAL]),
        "sb_link_stale": (_INT, [link, _REAL]),
        "sb_link_reopen": (None, [link, _INT]),
        "sb_link_withdraw": (None, [link]),
        "sb_frame_encode": (_INT, [frame, _POINTER, _POINTER, _WORD, _REAL, _POINTER]),
        "sb_frame_valid": (_INT, [frame, ctypes.c_char_p, ctypes.c_size_t]),
        "sb_frame_decode": (
            None,
            [frame, ctypes.c_char_p, _POINTER, ctypes.POINTER(_WORD), ctypes.POINTER(_REAL)],
        ),
    }
    return declared(made, signatures)


def pieces_of(frame: Frame) -> list[Piece]:
    """All fields of a frame, for a flat array of all its elements."""
    offsets = {row.name: row.offset for row in frame.layout()}
    pieces, first = [], 0
    for field in frame.fields:
        pieces.append((field.type, field.numbers, offsets[field.name], first, first))
        first += field.numbers
    return [*pieces, *frame.stamp_pieces()]


def frame_struct(frame: Frame, pieces: Iterable[Piece]) -> FrameStruct:
    """A frame as a C struct, which keeps the objects that it points to alive."""
    kinds = list(ALL_TYPES)
    fields = [FieldStruct(kinds.index(kind), *numbers) for kind, *numbers in pieces]
    table = (FieldStruct * len(fields))(*fields)
    return FrameStruct(
        size=frame.size,
        big_endian=frame.endian == "big",
        background=frame.whole_background or None,
        header=frame.header,
        header_size=len(frame.header),
        sequence_size=size_of(frame.sequence) if frame.sequence else 0,
        has_time=frame.time,
        checksum=CHECKSUMS.get(frame.checksum, 0),
        fields_count=len(fields),
        fields=ctypes.cast(table, ctypes.POINTER(FieldStruct)),
    )


# --- frames without a link ---------------------------------------------------------------


def encode(
    frame: Frame, values: Mapping[str, Any], sequence: int = 0, time: float = 0.0
) -> bytes | None:
    """The bytes of a frame, encoded by the loop's C code; None if a value is not finite.

    values: numbers for every field. They are limited to the range of its type, and rounded to
    the nearest integer for integer types. time [s]: of the sender.
    """
    numbers = np.ascontiguousarray(frame.flat(values))
    out = ctypes.create_string_buffer(frame.size)
    struct = frame_struct(frame, pieces_of(frame))
    failed = library().sb_frame_encode(
        ctypes.byref(struct), numbers.ctypes.data, None, sequence % 2**32, time, out
    )
    return None if failed else out.raw


@cache
def _whole(frame: Frame) -> FrameStruct:
    return frame_struct(frame, pieces_of(frame))


def decode(frame: Frame, data: bytes) -> dict[str, Any] | None:
    """The contents of a frame, decoded by the loop's C code: values by field, and `sequence` and
    `time` [s] if the frame has them; None if the bytes are not a valid frame."""
    struct = _whole(frame)
    if not library().sb_frame_valid(ctypes.byref(struct), data, len(data)):
        return None
    numbers, sequence, time = np.zeros(frame.numbers), _WORD(), _REAL()
    library().sb_frame_decode(
        ctypes.byref(struct),
        data,
        numbers.ctypes.data,
        ctypes.byref(sequence),
        ctypes.byref(time),
    )
    found: dict[str, Any] = {}
    if frame.sequence:
        found["sequence"] = sequence.value
    if frame.time:
        found["time"] = time.value
    first = 0
    for field in frame.fields:
        part = numbers[first : first + field.numbers].reshape(field.shape)
        found[field.name] = part if field.shape else float(part)
        first += field.numbers
    return found
