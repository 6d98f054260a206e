"""Threads that carry frames between a library's messages and a local socket of the loop."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from threading import Event, Thread

from spart_blocks.transports.endpoints import Carries, LoopEnd
from spart_blocks.transports.frames import MOST_BYTES

PAUSE = 0.1
"""The longest wait for a message [s]."""


def local_pair(end: LoopEnd, kept: ExitStack) -> socket.socket:
    """Give a link one end of a pair of sockets; returns the other, which waits up to PAUSE
    for what the loop sends, and never for it to receive."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    kept.enter_context(near)
    kept.enter_context(far)
    near.setblocking(False)
    far.settimeout(PAUSE if end.way == "send" else 0.0)
    end.attach(Carries.DATAGRAM, near.fileno())
    return far


def hand_in(far: socket.socket, message: bytes) -> None:
    """Forward a message to the loop. It is dropped if the loop does not keep up; one that is longer
    than any frame is cut, and the loop counts it as malformed."""
    with suppress(OSError):
        far.send(message[: MOST_BYTES + 1])


class Carrier(Thread):
    """A thread that calls a function repeatedly until it is stopped, and once more at the end."""

    def __init__(self, carry: Callable[[], object], name: str) -> None:
        """carry: waits up to PAUSE for a message, and forwards those that have come."""
        super().__init__(name=f"spart {name}", daemon=True)
        self.carry = carry
        self._stopped = Event()

    def run(self) -> None:
        while not self._stopped.is_set():
            self.carry()
        self.carry()

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def carry_out(far: socket.socket, send: Callable[[bytes], object]) -> None:
    """Forward what the loop sends, until it has sent nothing for PAUSE."""
    with suppress(OSError):
        while True:
            send(far.recv(MOST_BYTES))
