"""Ports of this machine that are free."""

from __future__ import annotations

import socket
from contextlib import ExitStack


def free_port():
    """A port on loopback that is free for UDP and TCP."""
    return free_ports(1)[0]


def free_ports(count):
    """Different ports on loopback, each free for UDP and TCP."""
    found = []
    with ExitStack() as bound:
        while len(found) < count:
            datagrams = bound.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            stream = bound.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            datagrams.bind(("127.0.0.1", 0))
            try:
                stream.bind(datagrams.getsockname())
            except OSError:  # another listens there
                continue
            found.append(datagrams.getsockname()[1])
    return found
