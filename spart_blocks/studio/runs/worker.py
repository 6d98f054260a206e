"""A run of the studio in a process of its own: `python -m spart_blocks.studio.runs.worker`.

Its first line on stdin is the job; commands follow. Answers go to stdout in frames (frames.py).
The process stays when the run has ended, and answers what is asked of its record, until its stdin
is closed. `process.py` is the other end.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, BinaryIO

from spart_blocks.run.worker import own_stdout
from spart_blocks.studio.runs.frames import frame

_MOST_FRAMES = 4
"""Rows and poses that may wait for the studio; others come later, thinned."""


class Inbox:
    """The commands that have come on stdin, read by a thread."""

    def __init__(self, source: BinaryIO) -> None:
        self._queue: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._source = source
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._source:
            self._queue.put(json.loads(line))
        os._exit(0)  # the studio is gone

    def next(self, seconds: float | None) -> dict[str, Any] | None:
        """The next command; None if none comes in time. seconds: None to wait for ever."""
        try:
            if seconds is not None and seconds <= 0:
                return self._queue.get_nowait()
            return self._queue.get(timeout=seconds)
        except queue.Empty:
            return None


class Outbox:
    """Frames on their way to the studio, written by a thread, so that a run does not wait for
    it."""

    def __init__(self, target: BinaryIO) -> None:
        self._queue: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._target = target
        threading.Thread(target=self._write, daemon=True).start()

    def _write(self) -> None:
        while True:
            data = self._queue.get()
            try:
                self._target.write(data)
                self._target.flush()
            except OSError:
                os._exit(0)

    @property
    def has_room(self) -> bool:
        """Whether rows may be sent now."""
        return self._queue.qsize() < _MOST_FRAMES

    def send(self, header: Mapping[str, Any], body: bytes = b"") -> None:
        """Send a frame."""
        self._queue.put(frame(header, body))


class Wall:
    """The clock on the wall [s]."""

    def now(self) -> float:
        return time.monotonic()


def main() -> None:
    """Do the job, then answer until stdin is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    outbox = Outbox(own_stdout())
    # What every run needs is imported before there is a job, in a process that waits for one.
    from spart_blocks.studio.runs.runner import Runner

    inbox = Inbox(sys.stdin.buffer)
    job = inbox.next(None)
    assert job is not None
    Runner(job, inbox, outbox, Wall()).go()


if __name__ == "__main__":
    main()
