"""Messages between a process and its workers: a header as JSON, and a body of bytes.

A frame is the length of the header (uint32) and of the body (uint64), little-endian, then the
header and the body. The body holds numbers, text, or a pickle.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import struct
import threading
import traceback
from collections.abc import Mapping
from typing import Any, BinaryIO, Protocol

from spart_blocks.base.errors import (
    DiagramError,
    Fault,
    InputError,
    Place,
    RobotError,
    RunError,
    SpartError,
)

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


# --- queues of a worker ---------------------------------------------------------------------------
# A worker's message queues: received messages, and messages to be sent.
#
# Each has its own thread, so that work does not wait for input or output. Both end the process if
# the parent has ended.


_MOST_FRAMES = 4
"""Number of queued messages from which on `Outbox.has_room` is False."""


class Inbox:
    """Messages received from the parent. over: set when the work is done; the process then ends
    normally and removes its temporary files."""

    def __init__(self, source: Readable) -> None:
        self.over = False
        self._queue: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._source = source
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            while True:
                self._queue.put(read(self._source))
        except EOFError:
            if not self.over:
                os._exit(1)

    def receive(self) -> Message:
        """Wait for the next message."""
        return self._queue.get()

    def next(self, seconds: float | None) -> dict[str, Any] | None:
        """The header of the next message; None if none comes in time. seconds: time to wait [s],
        None for no limit."""
        try:
            if seconds is not None and seconds <= 0:
                return self._queue.get_nowait()[0]
            return self._queue.get(timeout=seconds)[0]
        except queue.Empty:
            return None


class Outbox:
    """Messages to be sent to the parent."""

    def __init__(self, target: BinaryIO) -> None:
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._target = target
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _write(self) -> None:
        while (data := self._queue.get()) is not None:
            try:
                self._target.write(data)
                self._target.flush()
            except OSError:
                os._exit(1)

    @property
    def has_room(self) -> bool:
        """Whether few messages are queued, so that optional ones may be sent."""
        return self._queue.qsize() < _MOST_FRAMES

    def send(self, header: Mapping[str, Any], body: bytes = b"") -> None:
        """Queue a message."""
        self._queue.put(frame(header, body))

    def close(self) -> None:
        """Wait until all messages have been sent."""
        self._queue.put(None)
        self._thread.join()


# --- errors in messages ---------------------------------------------------------------------------


_INPUT_ERRORS = {kind.__name__: kind for kind in (InputError, RobotError, DiagramError)}


def error_as_json(error: Exception) -> dict[str, Any]:
    """An error as data for JSON, see `error_from_json`. A subclass of InputError is stored as its
    nearest base class that can be restored. Other exceptions become a RunError with their
    traceback."""
    if isinstance(error, InputError):
        faults = [
            {
                "message": fault.message,
                "hint": fault.hint,
                "place": fault.place and [fault.place.file, fault.place.line, fault.place.column],
            }
            for fault in error.faults
        ]
        kind = next(c.__name__ for c in type(error).__mro__ if c.__name__ in _INPUT_ERRORS)
        return {"kind": kind, "faults": faults}
    if isinstance(error, RunError):
        known = {key: getattr(error, key) for key in ("message", "block", "time", "hint")}
        return {"kind": "RunError", **known}
    if isinstance(error, SpartError):
        return {"kind": "RunError", "message": str(error)}
    trace = "".join(traceback.format_exception(error)).rstrip()
    message = f"this should not have happened: {type(error).__name__}: {error}"
    return {"kind": "RunError", "message": message, "trace": trace}


def error_from_json(plain: Mapping[str, Any]) -> SpartError:
    """The error restored from the data of `error_as_json`."""
    kind = _INPUT_ERRORS.get(plain["kind"])
    if kind is not None:
        return kind(
            Fault(one["message"], one["place"] and Place(*one["place"]), one["hint"])
            for one in plain["faults"]
        )
    fields = {key: plain.get(key) for key in ("block", "time", "hint")}
    error = RunError(plain["message"], **fields)
    if "trace" in plain:
        error.add_note(plain["trace"])  # shown by --debug
    return error
