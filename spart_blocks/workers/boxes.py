"""A worker's message queues: received messages, and messages to be sent.

Each has its own thread, so that work does not wait for input or output. Both end the process if the
parent has ended.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

from spart_blocks.workers.frames import Message, Readable, frame, read

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
