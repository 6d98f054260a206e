"""Messages of a fixed size: constant bytes with holes, which are filled for many rows at once."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.recordings.mcap_file import BEFORE_DATA, Messages, Times, message_start

if TYPE_CHECKING:
    from google.protobuf.message import Message

Floats = NDArray[np.float64]

_MARK = 0x7FE5_B10C
"""The upper half of the numbers that stand for holes: their lower half is the column."""
_SECONDS, _NANOSECONDS = 2**34 + 0x5B10C5, 2**29 + 0x5B10C5
"""Times that stand for holes: each is a varint of five bytes."""
_NUMBER = re.compile(rb"(....)" + re.escape(struct.pack("<I", _MARK)), re.DOTALL)
NANO = 1_000_000_000


def hole(column: int) -> float:
    """The number in a message that stands for a column of rows."""
    return float(struct.unpack("<d", struct.pack("<II", column, _MARK))[0])


def _varint(value: int) -> bytes:
    return bytes((value >> 7 * k) & 0x7F | (0x80 if k < 4 else 0) for k in range(5))


_STAMP = re.compile(re.escape(b"\x08" + _varint(_SECONDS) + b"\x10" + _varint(_NANOSECONDS)))


def stamp_of_rows(message: Any) -> None:
    """Let a Timestamp of a message be the time of the row."""
    message.seconds, message.nanos = _SECONDS, _NANOSECONDS


@dataclass(frozen=True)
class Template:
    """The bytes of a message. numbers: runs of floats, as offset, first column and count. stamps:
    offsets of times, as seconds and nanoseconds of five bytes, each after its tag."""

    data: bytes
    numbers: tuple[tuple[int, int, int], ...]
    stamps: tuple[int, ...]


def template_of(message: Message) -> Template:
    """The template of a protobuf message, whose numbers are `hole`s and whose times are of
    `stamp_of_rows`. It has a fixed size, since floats have, and longer varints than needed are
    valid."""
    data = message.SerializeToString(deterministic=True)
    runs: list[tuple[int, int, int]] = []
    for found in _NUMBER.finditer(data):
        offset, column = found.start(), int.from_bytes(found[1], "little")
        if runs:
            at, first, count = runs[-1]
            if offset == at + 8 * count and column == first + count:
                runs[-1] = at, first, count + 1
                continue
        runs.append((offset, column, 1))
    return Template(data, tuple(runs), tuple(found.start() for found in _STAMP.finditer(data)))


class Rows:
    """Messages of several channels with common rows of numbers: one message of each in a row."""

    def __init__(self, templates: Sequence[tuple[int, Template]]) -> None:
        """templates: the channels with their messages."""
        self._parts: list[tuple[int, int, Template]] = []
        row = b""
        for channel, template in templates:
            self._parts.append((channel, len(row), template))
            row += message_start(channel, len(template.data)) + template.data
        self._row = np.frombuffer(row, np.uint8)
        self._written = 0

    @property
    def size(self) -> int:
        """Bytes of a row."""
        return len(self._row)

    def messages(self, times: Times, values: Floats) -> Messages:
        """The messages of rows: times (k,) [ns], values (k, n) with the columns of the holes."""
        data = np.empty((len(times), self.size), np.uint8)
        data[:] = self._row
        numbers = np.ascontiguousarray(values, "<f8").view(np.uint8).reshape(len(times), -1)
        clock = np.ascontiguousarray(times, "<u8").view(np.uint8).reshape(-1, 8)
        count = np.arange(self._written, self._written + len(times)).astype("<u4")
        sequence = count.view(np.uint8).reshape(-1, 4)
        stamp = _stamps(times)
        starts = (self.size * np.arange(len(times))).astype(np.uint64)
        places = {}
        for channel, offset, template in self._parts:
            data[:, offset + 11 : offset + 15] = sequence
            data[:, offset + 15 : offset + 23] = clock
            data[:, offset + 23 : offset + 31] = clock
            body = offset + BEFORE_DATA
            for at, first, width in template.numbers:
                data[:, body + at : body + at + 8 * width] = numbers[:, 8 * first :][:, : 8 * width]
            for at in template.stamps:
                data[:, body + at : body + at + 12] = stamp
            places[channel] = times, starts + np.uint64(offset)
        self._written += len(times)
        return Messages(data.tobytes(), places)


def _stamps(times: Times) -> NDArray[np.uint8]:
    """Times (k,) [ns] as the fields of a Timestamp (k, 12)."""
    found = np.empty((len(times), 12), np.uint8)
    for start, tag, value in ((0, 0x08, times // NANO), (6, 0x10, times % NANO)):
        found[:, start] = tag
        for k in range(5):
            more = 0x80 if k < 4 else 0
            found[:, start + 1 + k] = (value >> np.uint64(7 * k)) & np.uint64(0x7F) | np.uint64(
                more
            )
    return found
