"""The rows of a run's signals. Messages that are alike are decoded all at once: their bytes are
rows of numbers.

A message is {double t = 1; double value = 2;}, or has `repeated double value = 2`, packed. Source:
the encoding of protocol buffers, protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError
from spart_blocks.results.logs.decoding import decoder
from spart_blocks.results.logs.log import Channel
from spart_blocks.results.logs.mcap_log import (
    BEFORE_DATA,
    McapLog,
    Places,
    bodies,
    gathered,
    lengths,
)

Floats = NDArray[np.float64]
_T, _ONE, _MANY = b"\x09", b"\x11", b"\x12"
"""The first byte of the time, of one value, and of packed ones."""
_NUMBER = 8


def read_rows(
    log: McapLog, shapes: Mapping[Channel, tuple[int, ...]], max_bytes: int
) -> dict[Channel, tuple[Floats, Floats]]:
    """The times (k,) of channels, and the numbers of all their samples, in a row. shapes: of their
    samples. Raises InputError for more than max_bytes of them."""
    decoders = {channel: decoder(channel) for channel in shapes}
    found: dict[Channel, list[tuple[Floats, Floats]]] = {channel: [] for channel in shapes}
    left = max_bytes
    for channel, data, places in log.parts(shapes.keys()):
        part = alike(data, places, shapes[channel])
        if part is None:
            messages = [decoders[channel](body) for body in bodies(data, places)]
            values = [np.array(one.value, float).ravel() for one in messages]
            part = np.array([one.t for one in messages], float), _joined(values)
        found[channel].append(part)
        left -= part[0].nbytes + part[1].nbytes
        if left < 0:
            raise InputError(f"its signals have more than {max_bytes:,} bytes")
    return {
        channel: (_joined([t for t, _ in parts]), _joined([numbers for _, numbers in parts]))
        for channel, parts in found.items()
    }


def _joined(parts: Sequence[Floats]) -> Floats:
    return np.concatenate(parts) if parts else np.zeros(0)


def alike(data: bytes, places: Places, shape: tuple[int, ...]) -> tuple[Floats, Floats] | None:
    """The times (k,) and the numbers, in a row, of messages with samples of a shape whose records
    are at k places of data; None where they are not of the same form, as where a zero is left out.
    """
    many = _MANY + _varint(_NUMBER * prod(shape)) if shape else _ONE
    first = len(_T) + _NUMBER
    size = first + len(many) + _NUMBER * prod(shape)
    if not len(places) or not (lengths(data, places) == size).all():
        return None
    rows = gathered(data, places, BEFORE_DATA, BEFORE_DATA + size)
    head, middle = np.frombuffer(_T, np.uint8), np.frombuffer(many, np.uint8)
    if (rows[:, :1] != head).any() or (rows[:, first : first + len(many)] != middle).any():
        return None
    return _floats(rows[:, 1:first]), _floats(rows[:, first + len(many) :])


def _floats(rows: NDArray[np.uint8]) -> Floats:
    """The numbers that bytes are, one after the other."""
    return np.ascontiguousarray(rows).view("<f8").ravel().astype(float)


def _varint(number: int) -> bytes:
    """A number by seven bits a byte, the lowest first."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])
