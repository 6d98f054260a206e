"""Sockets of UDP links."""

from __future__ import annotations

import socket
from contextlib import ExitStack

from spart_blocks.links.endpoints import Udp
from spart_blocks.realtime.link_structs import LinkStruct, Transport

RECEIVE_BUFFER = 65536
"""Bytes that the system keeps for a receiver. It holds fewer frames than one call reads
(SB_LINK_MOST), so that a flood never hides the newest frame behind a queue for long."""


def open_udp(struct: LinkStruct, endpoint: Udp, way: str, kept: ExitStack) -> None:
    """Give a link a socket that receives at its endpoint, or sends there. Raises OSError."""
    family = socket.AF_INET6 if ":" in endpoint.address else socket.AF_INET
    made = kept.enter_context(socket.socket(family, socket.SOCK_DGRAM))
    made.setblocking(False)
    if way == "receive":
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        made.bind((endpoint.address, endpoint.port))
    else:
        made.connect((endpoint.address, endpoint.port))
    struct.transport, struct.fd = Transport.DATAGRAM, made.fileno()
