"""Arrays of numbers in .mat files of MATLAB's versions 4 and 5 (-v4, -v6, -v7).

SciPy's reader trusts the sizes declared in a file, and a damaged file can end the process. This
reader supports the contents of recordings only, and compares each size with the data. Source: The
MathWorks, "MAT-File Format" (2023).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Container, Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8",
          13: "u8", 16: "u1", 17: "u2", 18: "u4"}  # fmt: skip
_OLD_TYPES = ("f8", "f4", "i4", "i2", "u2", "u1")
_MATRIX, _COMPRESSED = 14, 15
_CELL, _CHAR, _NUMERIC = 1, 4, range(6, 16)
_COMPLEX, _LOGICAL = 0x0800, 0x0200
_HEADER = 128
_MOST_AXES = 32


class DamagedError(Exception):
    """A .mat file violates its format; the message says how."""


class MatVariable(NamedTuple):
    """A variable. value: an array, or the texts of a cell array, column by column; None if it is of
    another kind or not wanted."""

    name: str
    value: Array | list[str | None] | None


def entries(data: bytes, wanted: Container[str], most: int) -> Iterator[MatVariable]:
    """The variables of a file. wanted: names of those whose values are read. most: largest size
    unpacked [bytes]. Raises DamagedError, and NotImplementedError for version 7.3."""
    if data[:4] == b"\x89HDF" or data[124:126] in (b"\0\2", b"\2\0"):
        raise NotImplementedError
    if 0 in data[:4]:
        yield from _old_entries(data, wanted)
        return
    if len(data) < _HEADER or data[126:128] not in (b"IM", b"MI"):
        raise DamagedError("its header is invalid")
    order = "<" if data[126:128] == b"IM" else ">"
    for kind, part in _elements(data[_HEADER:], order, top=True):
        if kind == _COMPRESSED:
            unpacked = _unpacked(part, most)
            most -= len(unpacked)
            inner = next(iter(_elements(unpacked, order, top=True)), (0, b""))
            kind, part = inner
        if kind == _MATRIX:
            yield _matrix(part, order, wanted)


def _unpacked(part: bytes, most: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(part, max(most, 1))
    except zlib.error as error:
        raise DamagedError(str(error)) from None
    if unpacker.unconsumed_tail:
        raise DamagedError(f"it unpacks to more than {most:,} bytes")
    return data


def _elements(data: bytes, order: str, *, top: bool = False) -> Iterator[tuple[int, bytes]]:
    """The type and the bytes of each data element. top: whether compressed elements have no
    padding, as at the top level."""
    place = 0
    while place + 8 <= len(data):
        kind, size = struct.unpack(f"{order}II", data[place : place + 8])
        start = place + 8
        if kind >> 16:  # a small one, within its own tag
            kind, size, start = kind & 0xFFFF, kind >> 16, place + 4
            if size > 4:
                raise DamagedError("a small element is larger than four bytes")
        if start + size > len(data):
            raise DamagedError("an element is longer than the file")
        yield kind, data[start : start + size]
        padded = size if top and kind == _COMPRESSED else size + -size % 8
        place = place + 8 if start == place + 4 else start + padded


def _matrix(part: bytes, order: str, wanted: Container[str]) -> MatVariable:
    parts = _elements(part, order)
    (_, flags), (_, dims), (_, title) = (next(parts, (0, b"")) for _ in range(3))
    if len(flags) < 8 or len(dims) % 4:
        raise DamagedError("a variable has no flags or dimensions")
    told = struct.unpack(f"{order}I", flags[:4])[0]
    shape = struct.unpack(f"{order}{len(dims) // 4}i", dims)
    if not 2 <= len(shape) <= _MOST_AXES or min(shape) < 0:
        raise DamagedError(f"a variable has the shape {shape}")
    name, kind = title.decode("latin-1"), told & 0xFF
    if name not in wanted:
        return MatVariable(name, None)
    if kind == _CELL:
        return MatVariable(name, [_text(inner, order) for what, inner in parts if what == _MATRIX])
    if kind not in _NUMERIC or told & _COMPLEX:
        return MatVariable(name, None)
    return MatVariable(name, _numbers(next(parts, (0, b"")), shape, order))


def _numbers(element: tuple[int, bytes], shape: tuple[int, ...], order: str) -> Array:
    kind, raw = element
    if kind not in _TYPES or kind > 13:
        raise DamagedError(f"numbers of type {kind}")
    dtype = np.dtype(order + _TYPES[kind])
    if len(raw) != prod(shape) * dtype.itemsize:
        raise DamagedError(f"{len(raw)} bytes for numbers of shape {shape}")
    return np.frombuffer(raw, dtype).reshape(shape, order="F").astype(float)


def _text(part: bytes, order: str) -> str | None:
    """A text in a cell array; None for other values."""
    parts = _elements(part, order)
    (_, flags), _, _, (kind, raw) = (next(parts, (0, b"")) for _ in range(4))
    if len(flags) < 8 or struct.unpack(f"{order}I", flags[:4])[0] & 0xFF != _CHAR:
        return None
    coding = {4: "utf-16", 17: "utf-16", 16: "utf-8", 18: "utf-32"}.get(kind, "latin-1")
    if coding != "utf-8" and coding != "latin-1":
        coding += "-le" if order == "<" else "-be"
    return raw.decode(coding, "replace")


def _old_entries(data: bytes, wanted: Container[str]) -> Iterator[MatVariable]:
    """The variables of a version 4 file."""
    order = "<" if 0 <= struct.unpack("<i", data[:4].ljust(4, b"\0"))[0] < 5000 else ">"
    place = 0
    while place + 20 <= len(data):
        kind, rows, columns, imaginary, length = struct.unpack(
            f"{order}5i", data[place : place + 20]
        )
        number, sort = kind // 10 % 10, kind % 10
        if not 0 <= kind < 5000 or number >= len(_OLD_TYPES) or min(rows, columns, length) < 0:
            raise DamagedError("the header of a variable is invalid")
        dtype = np.dtype(order + _OLD_TYPES[number])
        start = place + 20 + length
        size = rows * columns * dtype.itemsize
        place = start + size * (2 if imaginary else 1)
        if place > len(data):
            raise DamagedError("a variable is longer than the file")
        name = data[start - length : start].rstrip(b"\0").decode("latin-1")
        plain = name in wanted and sort == 0 and not imaginary
        raw = np.frombuffer(data[start : start + size], dtype)
        yield MatVariable(
            name, raw.reshape((rows, columns), order="F").astype(float) if plain else None
        )
