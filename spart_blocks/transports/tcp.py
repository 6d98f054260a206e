"""Links over TCP. A thread connects, passes the connection to the loop, and reconnects."""

from __future__ import annotations

import math
import socket
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any

from spart_blocks.transports.endpoints import (
    Carries,
    Endpoint,
    LoopEnd,
    place,
    read_address,
    read_port,
    read_server,
    serves,
)

PAUSE = 0.05
"""Interval between checks of the connections [s]."""
PATIENCE = 0.5
"""Timeout of one attempt to connect [s]."""
BACKLOG = 64
"""Most connections accepted at each check."""
MOST_WAITING = 32
MOST_SEEN = 2**16
"""Most bytes read from a waiting connection at each check."""
MOST_TRIED = 32
"""Most positions at which a frame is searched for at each check."""


@dataclass(frozen=True)
class Tcp(Endpoint):
    """The address at which one side listens. server: that side, receiver or sender."""

    address: str
    port: int
    server: str
    needs_header = True

    def __str__(self) -> str:
        return f"TCP {place(self.address, self.port)}"

    def open(self, end: LoopEnd, kept: ExitStack) -> None:
        end.attach(Carries.STREAM, -1)
        listener = None
        if serves(self.server, end.way):
            family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
            server = socket.create_server((self.address, self.port), family=family, backlog=BACKLOG)
            listener = kept.enter_context(server)
            listener.setblocking(False)
        connections = Connections(end, self, listener)
        connections.start()
        kept.callback(connections.stop)


def read_tcp(address: Any, port: Any, server: Any) -> Tcp:
    """The endpoint of these parameters. Raises ValueError if one is invalid."""
    return Tcp(read_address(address), read_port(port), read_server(server))


class _Waiting:
    """A connection that the loop does not use yet. Only the newest frame received is kept."""

    def __init__(self, connection: socket.socket, end: LoopEnd) -> None:
        self.connection, self.end = connection, end
        self.heard = -math.inf
        """Time at which its newest frame was received [s]."""

    def look(self, now: float) -> bool:
        """Drop all received frames but the newest. Returns whether it is still connected."""
        try:
            seen = self.connection.recv(MOST_SEEN, socket.MSG_PEEK)
            place = self._newest(seen)
            if place is None:
                self.connection.recv(max(0, len(seen) - self.end.frame.size + 1))
            elif place > 0 or math.isinf(self.heard):
                self.heard = now
                self.connection.recv(place)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return seen != b""

    def _newest(self, seen: bytes) -> int | None:
        """The position at which the newest frame begins; None if there is none."""
        size, header = self.end.frame.size, self.end.frame.header
        last = len(seen) - size
        place = last - last % size  # in a stream that begins with a frame
        for _ in range(MOST_TRIED):
            if last < 0 or place < 0:
                break
            if self.end.is_frame(seen[place : place + size]):
                return place
            place = seen.rfind(header, 0, last + len(header))
            last = place - 1
        return None


class Connections(Thread):
    """Keeps a link connected. The descriptor is the loop's until it sets `closed`.

    If a receiver listens, anybody may connect. A connection is used only after a valid frame was
    received over it, so that others neither replace a sender nor keep one out.
    """

    def __init__(self, end: LoopEnd, endpoint: Tcp, listener: socket.socket | None) -> None:
        super().__init__(name=f"spart {endpoint}", daemon=True)
        self.end, self.endpoint, self.listener = end, endpoint, listener
        self.current: socket.socket | None = None
        self.waiting: list[_Waiting] = []
        self.since = 0.0
        self._stopped = Event()

    def run(self) -> None:
        while not self._stopped.wait(PAUSE):
            self.turn(time.monotonic())

    def turn(self, now: float) -> None:
        """Check all connections once."""
        if self.current is not None and self.end.closed:
            self.current.close()
            self.current = None
        self._look(now)
        if self.listener is not None:
            self._accept(now)
        elif self.current is None and (made := self._next()) is not None:
            self.waiting.append(_Waiting(made, self.end))
        ready = next((each for each in self.waiting if self._is_ready(each, now)), None)
        if ready is None:
            return
        if self.current is None:
            self._hand_over(ready, now)
        elif self._is_dead(now):
            self.end.withdraw()

    def stop(self) -> None:
        """End the thread and close the connections. The loop must have ended before."""
        self._stopped.set()
        self.join()
        for each in self.waiting:
            each.connection.close()
        if self.current is not None:
            self.current.close()

    def _look(self, now: float) -> None:
        for each in self.waiting[:]:
            if not each.look(now):
                self._drop(each)

    def _accept(self, now: float) -> None:
        """Accept new connections. Of too many, those without a frame are closed, oldest first."""
        for _ in range(BACKLOG):
            made = self._next()
            if made is None:
                return
            new = _Waiting(made, self.end)
            self.waiting.append(new)
            if not new.look(now):
                self._drop(new)
            if len(self.waiting) > MOST_WAITING:
                self._drop(min(self.waiting, key=lambda each: each.heard))

    def _drop(self, each: _Waiting) -> None:
        self.waiting.remove(each)
        each.connection.close()

    def _is_ready(self, each: _Waiting, now: float) -> bool:
        proven = self.listener is None or self.end.way == "send"
        return proven or now - each.heard <= self.end.timeout

    def _next(self) -> socket.socket | None:
        """A new connection; None if none can be made now."""
        with suppress(OSError), ExitStack() as kept:
            made = kept.enter_context(self._made())
            if self.listener is None and made.getsockname() == made.getpeername():
                return None  # a port can connect to itself
            made.setblocking(False)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            patience = int(1000 * max(1.0, self.end.timeout))
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, patience)
            kept.pop_all()
            return made
        return None  # nobody is there, or has gone again at once

    def _made(self) -> socket.socket:
        if self.listener is not None:
            return self.listener.accept()[0]
        place = (self.endpoint.address, self.endpoint.port)
        return socket.create_connection(place, timeout=PATIENCE)

    def _hand_over(self, each: _Waiting, now: float) -> None:
        self.waiting.remove(each)
        self.current, self.since = each.connection, now
        self.end.reopen(self.current.fileno())

    def _is_dead(self, now: float) -> bool:
        """Whether nothing was received for so long that another sender may take its place."""
        silent = self.end.stale(time.monotonic())
        return self.end.way == "receive" and silent and now - self.since > self.end.timeout
