"""Archives of arrays, and zip files of others, which are not trusted: their directory and sizes are
checked before anything is read, and arrays are read only if their headers have one of a few allowed
forms.

Only stored and deflated files are allowed: these methods unpack a gigabyte within seconds; others
may take minutes.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError, brief

MOST_DIRECTORY = 16 * 2**20
"""Largest size [bytes] of an archive's directory, which is read as a whole."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_END, _END64, _LOCATOR = b"PK\5\6", b"PK\6\6", b"PK\6\7"
_LONGEST_END = 22 + 0xFFFF  # with its comment


def opened(source: Path | IO[bytes]) -> zipfile.ZipFile:
    """Open a zip file. Raises InputError if its directory is too large, or a file in it is neither
    stored nor deflated. Errors of zipfile and the system are passed on."""
    if isinstance(source, Path):
        with source.open("rb") as file:
            size = _directory_size(file)
    else:
        size = _directory_size(source)
    if size > MOST_DIRECTORY:
        raise InputError("has a list of its files that is too long to be one")
    archive = zipfile.ZipFile(source)
    other = next((i for i in archive.infolist() if i.compress_type not in _METHODS), None)
    if other is not None:
        archive.close()
        text = f"is packed by method {other.compress_type}; it must be stored or deflated"
        raise InputError(f"{text}: {brief(other.filename)}")
    return archive


def _directory_size(file: IO[bytes]) -> int:
    """The declared size of a file's directory [bytes]; 0 if it declares none."""
    end = file.seek(0, 2)
    file.seek(max(0, end - _LONGEST_END - 76))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + 22:
        return 0
    size: int = struct.unpack("<I", tail[at + 12 : at + 16])[0]
    if tail[max(0, at - 20) : at].startswith(_LOCATOR):
        at = tail.rfind(_END64, 0, at)
        if at >= 0 and len(tail) >= at + 48:
            larger: int = struct.unpack("<Q", tail[at + 40 : at + 48])[0]
            return larger if size == 0xFFFFFFFF else max(size, larger)
    return size


# --- arrays ------------------------------------------------------------------------------

_SMALL, _TRIED, _WELL = 2**20, 4096, 0.1
"""Arrays of up to so many bytes are deflated; of larger ones this many rows are tried, and the
array is deflated if they shrink to less than this fraction.
"""


def write_arrays(arrays: Mapping[str, NDArray[Any]], file: IO[bytes]) -> None:
    """Write arrays by entry as an .npz archive."""
    with zipfile.ZipFile(file, "w", compresslevel=1) as archive:
        for entry, array in arrays.items():
            archive.compression = _method(array)
            with archive.open(f"{entry}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def _method(array: NDArray[Any]) -> int:
    """How an array is packed. A large one is stored as it is, unless a part of it shrinks well:
    deflating the numbers of a long run would take most of the time of ending it.
    """
    if array.nbytes <= _SMALL or not array.ndim:
        return zipfile.ZIP_DEFLATED
    middle = array[len(array) // 2 :][:_TRIED].tobytes()
    shrinks = len(zlib.compress(middle, 1)) < _WELL * len(middle)
    return zipfile.ZIP_DEFLATED if shrinks else zipfile.ZIP_STORED


class ArrayReader:
    """Reads arrays of an archive by entry; their headers are checked first."""

    def __init__(self, archive: zipfile.ZipFile, max_bytes: int) -> None:
        """Raises InputError if the archive unpacks to more than max_bytes."""
        self._archive = archive
        size = sum(info.file_size for info in archive.infolist())
        if size > max_bytes:
            raise InputError(f"it unpacks to {size:,} bytes, more than the {max_bytes:,} allowed")

    def entries(self) -> list[str]:
        """The names of the entries."""
        return [name.removesuffix(".npy") for name in self._archive.namelist()]

    def size(self, entry: str) -> int:
        """The size [bytes] of an entry."""
        return self._archive.getinfo(f"{entry}.npy").file_size

    def __call__(self, entry: str, kinds: str = "biufc") -> NDArray[Any]:
        with self._archive.open(self._archive.getinfo(f"{entry}.npy")) as member:
            return read_array(member, self.size(entry), kinds, entry)


_MAGIC = b"\x93NUMPY"
_SIZES = {1: "<H", 2: "<I", 3: "<I"}
_LONGEST_HEADER = 4096
# What NumPy writes for arrays of plain numbers and texts. Its own reader goes through Python's
# tokenizer and parser, which a hostile header can hold up or bring down.
_HEADER = re.compile(
    rb"\{'descr': '([<>|=][a-zA-Z][0-9]{0,9})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:[0-9]{1,18}, ?)*(?:[0-9]{1,18})?,?)\),? *\}[ ]*\n?"
)
_OTHER = re.compile(rb"\{'descr': (\[.{0,60}|'.{0,40}')", re.DOTALL)


def read_array(file: IO[bytes], size: int, kinds: str, name: str) -> NDArray[Any]:
    """Read the array of an entry with the given number of bytes. kinds: the allowed kinds of
    NumPy's dtypes. Raises InputError if it is not such an array, or its size differs from the
    declared one."""
    head = file.read(min(size, 12))
    major = head[6] if len(head) == 12 else 0
    if not head.startswith(_MAGIC) or major not in _SIZES:
        raise InputError(f"entry {name!r} is no array that NumPy has written")
    width = 2 if major == 1 else 4
    (length,) = struct.unpack(_SIZES[major], head[8 : 8 + width])
    if length > _LONGEST_HEADER:
        raise InputError(f"entry {name!r} holds no plain numbers: its header is too long")
    text = head[8 + width :] + file.read(length - (4 - width))
    found = _HEADER.fullmatch(text[:length])
    if found is None:
        other = _OTHER.match(text)
        told = f" but {other[1].decode('latin-1')}" if other else ""
        raise InputError(f"entry {name!r} holds no plain numbers{told}")
    return _of_bytes(found, file, size - 8 - width - length, kinds, name)


def _of_bytes(
    found: re.Match[bytes], file: IO[bytes], left: int, kinds: str, name: str
) -> NDArray[Any]:
    written = found[1].decode()
    try:
        dtype = np.dtype(written)
    except TypeError:
        dtype = np.dtype(object)
    if dtype.kind not in kinds:
        raise InputError(f"entry {name!r} holds {dtype}, not plain numbers")
    shape = tuple(int(n) for n in found[3].replace(b" ", b"").split(b",") if n)
    if prod(shape) * dtype.itemsize != left or len(shape) > 32:
        raise InputError(f"entry {name!r} is not as large as it says")
    data = file.read(left)
    if len(data) != left:
        raise EOFError(f"entry {name!r} ends too early")
    if dtype.itemsize == 0:
        return np.zeros(shape, dtype)
    array = np.frombuffer(data, dtype).copy()
    return array.reshape(shape, order="F" if found[2] == b"True" else "C")
