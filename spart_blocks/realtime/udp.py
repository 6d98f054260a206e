"""Sockets of UDP links."""

from __future__ import annotations

import socket

from spart_blocks.blocks._endpoints import Udp

RECEIVE_BUFFER = 65536
"""Bytes that the system keeps for a receiver. It holds fewer frames than one call reads
(SB_LINK_MOST), so that a flood never hides the newest frame behind a queue for long."""


def open_udp(endpoint: Udp, way: str) -> socket.socket:
    """A socket that receives at an endpoint, or sends there. Raises OSError."""
    family = socket.AF_INET6 if ":" in endpoint.address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_DGRAM)
    try:
        made.setblocking(False)
        if way == "receive":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
            made.bind((endpoint.address, endpoint.port))
        else:
            made.connect((endpoint.address, endpoint.port))
    except OSError:
        made.close()
        raise
    return made
