"""What the studio and the processes of its runs say to each other.

The studio writes lines of JSON to a process, commands. The process answers in frames: the lengths
of a JSON header and of a body (two uint32, little-endian), the header, the body, which is numbers
or text. A header is {"tell": what, ...} or the answer to the command "id".
"""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Mapping
from typing import Any

_LENGTHS = struct.Struct("<II")
MOST_BYTES = 2**29
"""Of a frame, such as one with the motion of a long run."""


def frame(header: Mapping[str, Any], body: bytes = b"") -> bytes:
    """A header with its body."""
    head = json.dumps(header).encode()
    return _LENGTHS.pack(len(head), len(body)) + head + body


async def read_frame(stream: asyncio.StreamReader) -> tuple[dict[str, Any], bytes]:
    """The next frame. Raises asyncio.IncompleteReadError where there is none, and ValueError."""
    sizes = _LENGTHS.unpack(await stream.readexactly(_LENGTHS.size))
    if sum(sizes) > MOST_BYTES:
        raise ValueError("a frame is too large")
    head = await stream.readexactly(sizes[0])
    return json.loads(head), await stream.readexactly(sizes[1])
