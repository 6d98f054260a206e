"""Where links lead to: a kind of place for each transport."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Udp:
    """Where the receiver of packets listens."""

    address: str
    port: int

    def __str__(self) -> str:
        return f"UDP {self.address}:{self.port}"


def read_udp(address: Any, port: Any) -> Udp:
    """The place of a receiver; ValueError where it is none. Names are not looked up: a file
    from elsewhere shall ask no server."""
    if isinstance(port, bool) or not isinstance(port, int | float) or port != port // 1:
        raise ValueError(f"port must be a whole number, not {port!r}")
    if not 1 <= port <= 65535:
        raise ValueError(f"port must be 1 to 65535, not {port:g}")
    try:
        text = LOOPBACK if address == "localhost" else str(ip_address(address))
    except ValueError:
        raise ValueError(f"address must be an IP address, not {address!r}") from None
    return Udp(text, int(port))
