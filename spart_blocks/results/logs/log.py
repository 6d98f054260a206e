"""A log: messages with times, in channels. Its files are not trusted, so all sizes are bounded."""

from __future__ import annotations

import bz2
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Protocol

from spart_blocks.base.errors import InputError, optional

EXTRA = "mcap"
PURPOSE = "reading a log"
MOST_MESSAGE = 64_000_000
"""Largest size [bytes] of a message that is decoded."""
MOST_CHUNK = 512_000_000
"""Largest size [bytes] of a record of a file, and of what it unpacks to."""
_MOST_IN_ALL = 4 << 30
_MOST_TIMES = 16
_PIECE = 2**20


@dataclass(frozen=True, eq=False)
class Channel:
    """The messages of one kind on a topic. encoding: of the messages. kind: the name of their type.
    definition: of the type, in the given language; '' and b'' where the file has none. metadata:
    texts by name.
    """

    topic: str
    encoding: str
    kind: str
    language: str
    definition: bytes
    metadata: Mapping[str, str] = field(default_factory=dict)


class Log(Protocol):
    """A file, or several, of messages."""

    @property
    def channels(self) -> Collection[Channel]:
        """All channels."""

    @property
    def start(self) -> int:
        """The time [ns] at which the first message was logged."""

    def messages(self, wanted: Collection[Channel]) -> Iterator[tuple[Channel, int, bytes]]:
        """The messages of some channels, as they are in the file: the channel, the time [ns] at
        which it was logged, and the bytes of each."""


class Unpacker:
    """Unpacks parts of one file, up to a size in all: 4 GB, or 16 times the file."""

    def __init__(self, size: int) -> None:
        """size: of the file [bytes]."""
        self._left = max(_MOST_IN_ALL, _MOST_TIMES * size)

    def __call__(self, compression: str, data: bytes, size: int | None = None) -> bytes:
        """The unpacked bytes; size: their number, if it is known. Raises InputError if they are too
        many."""
        most = MOST_CHUNK if size is None else size
        if most > MOST_CHUNK:
            raise InputError(f"a part of {most:,} bytes is too large; the most is {MOST_CHUNK:,}")
        raw = _unpacked(compression, data, most + 1)
        if len(raw) > most:
            raise InputError(f"a part unpacks to more than {most:,} bytes")
        self._took(len(raw))
        return raw

    def file(self, packed: IO[bytes], target: IO[bytes]) -> None:
        """Unpack a whole file that zstd has packed."""
        zstd = optional("zstandard", "zstandard", EXTRA, PURPOSE)
        reader = zstd.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
        while piece := reader.read(_PIECE):
            self._took(len(piece))
            target.write(piece)

    def _took(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise InputError("it unpacks to far more bytes than it has")


def _unpacked(compression: str, data: bytes, most: int) -> bytes:
    """At most `most` bytes of what data unpacks to."""
    if compression in ("", "none"):
        return data
    if compression == "zstd":
        zstd = optional("zstandard", "zstandard", EXTRA, PURPOSE)
        return _read(zstd.ZstdDecompressor().stream_reader(data).read, most)
    if compression == "lz4":
        lz4 = optional("lz4.frame", "lz4", EXTRA, PURPOSE)
        return bytes(lz4.LZ4FrameDecompressor().decompress(data, most))
    if compression == "bz2":
        return bz2.BZ2Decompressor().decompress(data, most)
    raise InputError(f"its parts are packed by {compression[:40]!r}; zstd, lz4 and bz2 are read")


def _read(read: Callable[[int], bytes], most: int) -> bytes:
    """At most `most` bytes, piece by piece, as each piece is allocated in full."""
    pieces, left = [], most
    while left and (piece := read(min(left, _PIECE))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
