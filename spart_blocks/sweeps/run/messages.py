"""Messages between a process and its workers: a length, and as many bytes."""

from __future__ import annotations

import struct
from typing import IO

_LENGTH = struct.Struct("<Q")


def write(pipe: IO[bytes], message: bytes) -> None:
    """Send a message. Raises OSError if the other end is closed."""
    pipe.write(_LENGTH.pack(len(message)))
    pipe.write(message)
    pipe.flush()


def read(pipe: IO[bytes]) -> bytes:
    """Receive a message. Raises EOFError if there is none."""
    (length,) = _LENGTH.unpack(_exactly(pipe, _LENGTH.size))
    return _exactly(pipe, length)


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data
