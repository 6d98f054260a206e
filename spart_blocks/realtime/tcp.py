"""Connections of TCP links: made, handed to the loop, and made anew when they end."""

from __future__ import annotations

import ctypes
import socket
import time
from contextlib import ExitStack, suppress
from threading import Event, Thread

from spart_blocks.links.endpoints import Tcp
from spart_blocks.realtime.link_structs import LinkStruct, Transport, library

PAUSE = 0.05
"""Between two looks at a connection [s]."""
PATIENCE = 0.5
"""For one attempt to connect [s]."""


def open_tcp(struct: LinkStruct, endpoint: Tcp, way: str, kept: ExitStack) -> None:
    """Give a link its connections, from now on until kept is closed. Raises OSError."""
    struct.transport, struct.fd, struct.closed = Transport.STREAM, -1, 1
    serves = (endpoint.server == "receiver") == (way == "receive")
    listener = None
    if serves:
        family = socket.AF_INET6 if ":" in endpoint.address else socket.AF_INET
        place = (endpoint.address, endpoint.port)
        listener = kept.enter_context(socket.create_server(place, family=family, backlog=2))
        listener.setblocking(False)
    connections = _Connections(struct, endpoint, way, listener)
    connections.start()
    kept.callback(connections.stop)


class _Connections(Thread):
    """Keeps a link connected. The descriptor is the loop's until it sets `closed`."""

    def __init__(
        self, struct: LinkStruct, endpoint: Tcp, way: str, listener: socket.socket | None
    ) -> None:
        super().__init__(name=f"spart {endpoint}", daemon=True)
        self.struct, self.endpoint, self.way, self.listener = struct, endpoint, way, listener
        self.current: socket.socket | None = None
        self.waiting: socket.socket | None = None
        self.since = 0.0
        self._stopped = Event()

    def run(self) -> None:
        while not self._stopped.wait(PAUSE):
            if self.current is not None and self.struct.closed:
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
            patience = int(1000 * max(1.0, self.struct.timeout))
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
        library().sb_link_reopen(ctypes.byref(self.struct), made.fileno())

    def _is_dead(self) -> bool:
        """Whether a sender has said nothing for so long that another may take its place."""
        now = time.monotonic()
        silent = bool(library().sb_link_stale(ctypes.byref(self.struct), now))
        return self.way == "receive" and silent and now - self.since > self.struct.timeout
