"""A client of a running loop as the loop sees it: what it asked, and what waits for it."""

from __future__ import annotations

import socket
import time
from collections import deque
from typing import Any

from spart_blocks.realtime.live_answers import Watch
from spart_blocks.realtime.live_protocol import MOST_ASKED, Floats, Lines, packed, written

MOST_WAITING = 8 * 2**20
"""Bytes that wait for a client; rows for which there is no room are lost to it."""
_PIECE = 2**16  # bytes read at once
_MOST_NUMBERS = 2**16  # in a message


class Connection:
    """Nothing here waits for the client. trusted: it has shown the token. leaving: it has
    been told its last. more: there may be requests that have come and have no answer yet.
    watch: what it watches. lost: steps of which it was not told."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.socket = connection
        self.trusted = self.leaving = self.more = False
        self.watch: Watch | None = None
        self.lost = 0
        self._lines = Lines(MOST_ASKED)
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._begun = False  # whether the first line that waits is sent in part
        self._moved = time.monotonic()

    # --- what it says -------------------------------------------------------------------

    def receive(self) -> bool:
        """Take what has come; whether the client is still there."""
        try:
            data = self.socket.recv(_PIECE)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._lines.add(data)
        return bool(data)

    def line(self) -> bytes | None:
        """The next whole line, if there is one. Raises BadMessageError."""
        return self._lines.next()

    # --- what it is told ----------------------------------------------------------------

    @property
    def waits(self) -> bool:
        """Whether something waits to be sent."""
        return bool(self._waiting)

    @property
    def full(self) -> bool:
        return self._size > MOST_WAITING

    def tell(self, message: dict[str, Any]) -> None:
        self._put(written(message))

    def tell_rows(self, rows: Floats, every: int) -> None:
        """Tell rows, one for `every` steps, where there is room for them."""
        size = max(1, _MOST_NUMBERS // rows.shape[1])
        for start in range(0, len(rows), size):
            line = written({"rows": packed(rows[start : start + size]), "lost": self.lost})
            if self._size + len(line) > MOST_WAITING:
                self.lost += (len(rows) - start) * every
                return
            self._put(line)

    def dismiss(self, message: dict[str, Any]) -> None:
        """Tell it one last thing, before whatever else still waits."""
        kept = [self._waiting[0]] if self._begun else []
        self._waiting, self._size = deque(kept), sum(map(len, kept))
        self.part(message)

    def part(self, message: dict[str, Any]) -> None:
        """Tell it one last thing, after all that waits."""
        self.tell(message)
        self.leaving, self.watch = True, None

    def _put(self, line: bytes) -> None:
        if not self._waiting:
            self._moved = time.monotonic()
        self._waiting.append(line)
        self._size += len(line)

    def flush(self) -> bool:
        """Send what it takes; whether it is still there."""
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
        """For how long it has taken nothing of what waits, or not shown its token [s]."""
        if self.trusted and not self._waiting:
            return 0.0
        return time.monotonic() - self._moved
