"""Links over TCP: connections are made, handed to the loop, and made anew when they end."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any

from spart_blocks.links.endpoints import (
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
"""Between two looks at a connection [s]."""
PATIENCE = 0.5
"""For one attempt to connect [s]."""


@dataclass(frozen=True)
class Tcp(Endpoint):
    """Where the server listens, which is the receiver or the sender of frames."""

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
            server = socket.create_server((self.address, self.port), family=family, backlog=2)
            listener = kept.enter_context(server)
            listener.setblocking(False)
        connections = _Connections(end, self, listener)
        connections.start()
        kept.callback(connections.stop)


def read_tcp(address: Any, port: Any, server: Any) -> Tcp:
    """ValueError says what is wrong."""
    return Tcp(read_address(address), read_port(port), read_server(server))


class _Connections(Thread):
    """Keeps a link connected. The descriptor is the loop's until it sets `closed`."""

    def __init__(self, end: LoopEnd, endpoint: Tcp, listener: socket.socket | None) -> None:
        super().__init__(name=f"spart {endpoint}", daemon=True)
        self.end, self.endpoint, self.listener = end, endpoint, listener
        self.current: socket.socket | None = None
        self.waiting: socket.socket | None = None
        self.since = 0.0
        self._stopped = Event()

    def run(self) -> None:
        while not self._stopped.wait(PAUSE):
            if self.current is not None and self.end.closed:
                self.current.close()
                self.current = None
            if self.waiting is None and (self.current is None or self.listener is not None):
                self.waiting = self._next()
            if self.current is None:
                self._hand_over()
            elif self.waiting is not None and self._is_dead():
                with suppress(OSError):  # so that the loop gives it back
                    self.current.shutdown(socket.SHUT_RDWR)

    def stop(self) -> None:
        """End; the loop must have ended before."""
        self._stopped.set()
        self.join()
        for each in (self.current, self.waiting):
            if each is not None:
                each.close()

    def _next(self) -> socket.socket | None:
        """A new connection, if there is one to be had now."""
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

    def _hand_over(self) -> None:
        if self.waiting is None:
            return
        made, self.waiting = self.waiting, None
        self.current, self.since = made, time.monotonic()
        self.end.reopen(made.fileno())

    def _is_dead(self) -> bool:
        """Whether a sender has said nothing for so long that another may take its place."""
        now = time.monotonic()
        silent = self.end.stale(now)
        return self.end.way == "receive" and silent and now - self.since > self.end.timeout
