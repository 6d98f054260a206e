"""Links over UDP."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from spart_blocks.transports.endpoints import (
    Carries,
    Endpoint,
    LoopEnd,
    place,
    read_address,
    read_port,
)

RECEIVE_BUFFER = 65536
"""Bytes that the system keeps for a receiver. It holds fewer frames than one call reads
(SB_LINK_MOST), so that a flood never hides the newest frame behind a queue for long."""


@dataclass(frozen=True)
class Udp(Endpoint):
    """The address at which the receiver of packets listens."""

    address: str
    port: int

    def __str__(self) -> str:
        return f"UDP {place(self.address, self.port)}"

    def packets_go_to(self) -> tuple[str, int]:
        return self.address, self.port

    def open(self, end: LoopEnd, kept: ExitStack) -> None:
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        made = kept.enter_context(socket.socket(family, socket.SOCK_DGRAM))
        made.setblocking(False)
        if end.way == "receive":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
            made.bind((self.address, self.port))
        else:
            made.connect((self.address, self.port))
        end.attach(Carries.DATAGRAM, made.fileno())


def read_udp(address: Any, port: Any) -> Udp:
    """The endpoint of these parameters. Raises ValueError if one is invalid."""
    return Udp(read_address(address), read_port(port))
