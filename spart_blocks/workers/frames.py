"""Messages between a process and its workers: a header as JSON, and a body of bytes.

A frame is the length of the header (uint32) and of the body (uint64), little-endian, then the
header and the body. The body holds numbers, text, or a pickle.
"""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Mapping
from typing import Any, Protocol

Message = tuple[dict[str, Any], bytes]
"""Header and body of a message."""

MOST_BYTES = 2**29
"""Largest frame that `read_async` accepts [bytes]; the motion of a long run is large."""
_LENGTHS = struct.Struct("<IQ")
_AT_ONCE = 2**20


class Readable(Protocol):
    """A pipe to read from, buffered or not."""

    def read(self, size: int, /) -> bytes | None: ...


def frame(header: Mapping[str, Any], body: bytes = b"") -> bytes:
    """A message as bytes."""
    head = json.dumps(header).encode()
    return _LENGTHS.pack(len(head), len(body)) + head + body


def read(pipe: Readable) -> Message:
    """Read the next message. Raises EOFError if the other end is closed."""
    head, body = _LENGTHS.unpack(_exactly(pipe, _LENGTHS.size))
    return json.loads(_exactly(pipe, head)), _exactly(pipe, body)


async def read_async(stream: asyncio.StreamReader) -> Message:
    """Read the next message. Raises EOFError if the other end is closed, ValueError if the frame is
    larger than MOST_BYTES."""
    head, body = _LENGTHS.unpack(await stream.readexactly(_LENGTHS.size))
    if head + body > MOST_BYTES:
        raise ValueError("a frame is too large")
    return json.loads(await stream.readexactly(head)), await stream.readexactly(body)


def _exactly(pipe: Readable, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = pipe.read(min(size - len(data), _AT_ONCE))
        if not part:
            raise EOFError
        data += part
    return bytes(data)
