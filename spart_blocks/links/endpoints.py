"""Where links lead to: a kind of place for each transport.

Nothing is opened here, and no name looked up: a file from elsewhere shall ask no server.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from spart_blocks.errors import brief

LOOPBACK = "127.0.0.1"
_ENDS = ("receiver", "sender")
_DEVICE = re.compile(r"/dev/(?:tty|cu\.|serial/|pts/)[A-Za-z0-9_./:+-]{1,100}")
_MEMORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
MOST_TOPIC = 200
FASTEST = 16_000_000
"""Bits per second of a serial line."""


@dataclass(frozen=True)
class Udp:
    """Where the receiver of packets listens."""

    address: str
    port: int

    def __str__(self) -> str:
        return f"UDP {place(self)}"


@dataclass(frozen=True)
class Tcp:
    """Where the server listens, which is the receiver or the sender of frames."""

    address: str
    port: int
    server: str
    needs_header = True

    def __str__(self) -> str:
        return f"TCP {place(self)}"


@dataclass(frozen=True)
class Serial:
    """The device of the block's side, and that of the other side where there is one."""

    device: str
    peer: str | None
    baud: int
    needs_header = True

    def __str__(self) -> str:
        return f"{self.device} at {self.baud} baud"


@dataclass(frozen=True)
class Memory:
    """Shared memory, by its name."""

    name: str

    def __str__(self) -> str:
        return f"shared memory {self.name}"


@dataclass(frozen=True)
class Zmq:
    """Where one side binds, the receiver or the sender of frames."""

    address: str
    port: int
    server: str

    def __str__(self) -> str:
        return f"ZeroMQ {place(self)}"


@dataclass(frozen=True)
class Mqtt:
    """A topic at a broker."""

    address: str
    port: int
    topic: str

    def __str__(self) -> str:
        return f"MQTT {self.topic} at {place(self)}"


def place(endpoint: Udp | Tcp | Zmq | Mqtt) -> str:
    """127.0.0.1:5005, or [::1]:5005."""
    address = endpoint.address
    return f"{f'[{address}]' if ':' in address else address}:{endpoint.port}"


def read_udp(address: Any, port: Any) -> Udp:
    """ValueError says what is wrong; so do the others."""
    return Udp(_address(address), _whole("port", port, 65535))


def read_tcp(address: Any, port: Any, server: Any) -> Tcp:
    return Tcp(_address(address), _whole("port", port, 65535), _end(server))


def read_serial(device: Any, peer: Any, baud: Any) -> Serial:
    if peer is not None and _device("peer", peer) == device:
        raise ValueError("peer must be another device than this side's")
    return Serial(_device("device", device), peer, _whole("baud", baud, FASTEST))


def read_memory(memory: Any) -> Memory:
    if not isinstance(memory, str) or not _MEMORY.fullmatch(memory):
        raise ValueError(f"memory must be a name of letters, digits, _ and -, not {brief(memory)}")
    return Memory(memory)


def read_zmq(address: Any, port: Any, server: Any) -> Zmq:
    return Zmq(_address(address), _whole("port", port, 65535), _end(server))


def read_mqtt(topic: Any, address: Any, port: Any) -> Mqtt:
    good = isinstance(topic, str) and 0 < len(topic) <= MOST_TOPIC and topic.isprintable()
    if not good or set(topic) & set("#+$"):
        raise ValueError(f"topic must be a text without #, + and $, not {brief(topic)}")
    return Mqtt(_address(address), _whole("port", port, 65535), topic)


def _address(given: Any) -> str:
    try:
        return LOOPBACK if given == "localhost" else str(ip_address(given))
    except ValueError:
        raise ValueError(f"address must be an IP address, not {brief(given)}") from None


def _whole(name: str, given: Any, most: int) -> int:
    if isinstance(given, bool) or not isinstance(given, int | float) or given != given // 1:
        raise ValueError(f"{name} must be a whole number, not {brief(given)}")
    if not 1 <= given <= most:
        raise ValueError(f"{name} must be 1 to {most}, not {given:g}")
    return int(given)


def _end(given: Any) -> str:
    if given not in _ENDS:
        raise ValueError(f"server must be receiver or sender, not {brief(given)}")
    return str(given)


def _device(name: str, given: Any) -> str:
    if not isinstance(given, str) or not _DEVICE.fullmatch(given) or ".." in given:
        raise ValueError(f"{name} must be a serial device as /dev/ttyUSB0, not {brief(given)}")
    return given
