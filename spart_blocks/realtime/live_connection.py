"""A client's connection to a running loop, on the loop's side: its requests and the queue of data
to send."""

from __future__ import annotations

import socket
import time
from collections import deque
from typing import Any

from spart_blocks.realtime.live_answers import Watch
from spart_blocks.realtime.live_protocol import MOST_ASKED, Floats, LineSplitter, packed, written

MOST_WAITING = 8 * 2**20
"""Most bytes queued for a client. Rows beyond are lost to it."""
_PIECE = 2**16  # bytes, largest read
_MOST_NUMBERS = 2**16  # in a message


class ClientConnection:
    """A non-blocking connection.

    trusted: the client has sent the token. leaving: the final message is queued. more: there may
    be requests that were received but not answered. watch: the signals that it watches. lost:
    number of steps not sent to it.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.socket = connection
        self.trusted = self.leaving = self.more = False
        self.watch: Watch | None = None
        self.lost = 0
        self._lines = LineSplitter(MOST_ASKED)
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._begun = False  # whether the first line of the queue is partly sent
        self._moved = time.monotonic()

    # --- from the client ----------------------------------------------------------------

    def receive(self) -> bool:
        """Read the available bytes. Returns whether the client is still connected."""
        try:
            data = self.socket.recv(_PIECE)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._lines.add(data)
        return bool(data)

    def line(self) -> bytes | None:
        """The next complete line, if there is one. Raises BadMessageError."""
        return self._lines.next()

    # --- to the client ------------------------------------------------------------------

    @property
    def waits(self) -> bool:
        """Whether data is queued."""
        return bool(self._waiting)

    @property
    def full(self) -> bool:
        return self._size > MOST_WAITING

    def tell(self, message: dict[str, Any]) -> None:
        self._put(written(message))

    def tell_rows(self, rows: Floats, every: int) -> None:
        """Queue rows, one for each `every` steps, as long as the queue is not full."""
        size = max(1, _MOST_NUMBERS // rows.shape[1])
        for start in range(0, len(rows), size):
            line = written({"rows": packed(rows[start : start + size]), "lost": self.lost})
            if self._size + len(line) > MOST_WAITING:
                self.lost += (len(rows) - start) * every
                return
            self._put(line)

    def dismiss(self, message: dict[str, Any]) -> None:
        """Queue a final message in place of the other queued data."""
        kept = [self._waiting[0]] if self._begun else []
        self._waiting, self._size = deque(kept), sum(map(len, kept))
        self.part(message)

    def part(self, message: dict[str, Any]) -> None:
        """Queue a final message after the other queued data."""
        self.tell(message)
        self.leaving, self.watch = True, None

    def _put(self, line: bytes) -> None:
        if not self._waiting:
            self._moved = time.monotonic()
        self._waiting.append(line)
        self._size += len(line)

    def flush(self) -> bool:
        """Send as much as the socket accepts. Returns whether the client is still connected."""
        while self._waiting:
            line = self._waiting[0]
            try:
                sent = self.socket.send(line)
            except BlockingIOError:
                return True
            except OSError:
                return False
            self._moved = time.monotonic()
            self._size -= sent
            self._begun = sent < len(line)
            if self._begun:
                self._waiting[0] = line[sent:]
            else:
                self._waiting.popleft()
        return True

    @property
    def idle(self) -> float:
        """Time since the client last read queued data, or since it connected without showing its
        token [s]."""
        if self.trusted and not self._waiting:
            return 0.0
        return time.monotonic() - self._moved
