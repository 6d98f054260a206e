"""Messages of a run's signal that are alike, decoded all at once: their bytes are rows of numbers.

A message is {double t = 1; double value = 2;}, or has `repeated double value = 2`, packed. Source:
the encoding of protocol buffers, protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from spart_blocks.results.logs.mcap_log import BEFORE_DATA, Places, gathered, lengths

Floats = NDArray[np.float64]
_T, _ONE, _MANY = b"\x09", b"\x11", b"\x12"
"""The first byte of the time, of one value, and of packed ones."""
_NUMBER = 8


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
