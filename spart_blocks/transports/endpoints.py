"""Transports of links: their endpoints, and how these are opened.

Each transport is a file beside this one. An endpoint is created when a diagram is read; nothing is
opened then, and no host name is resolved, so that a file from another source cannot contact a
server.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from enum import IntEnum
from ipaddress import ip_address
from typing import Any, ClassVar, Literal, Protocol

from spart_blocks.base.errors import brief
from spart_blocks.ros.graph import NodeOptions
from spart_blocks.transports.frames import Frame

LOOPBACK = "127.0.0.1"
_SIDES = ("receiver", "sender")


class Carries(IntEnum):
    """How frames are exchanged with C, as in sb_transport."""

    DATAGRAM, STREAM, FILE, MEMORY = range(4)


class LoopEnd(Protocol):
    """The end of a link in a running loop. way: receive or send. own: whether it is the end of
    the block's side, otherwise its peer's. frame: of the link. timeout [s]: of the receiver. node:
    of the diagram among nodes of ROS.
    """

    way: Literal["receive", "send"]
    own: bool
    frame: Frame
    node: NodeOptions

    def is_frame(self, data: bytes) -> bool:
        """Whether these bytes are a valid frame."""

    @property
    def timeout(self) -> float: ...

    @property
    def closed(self) -> bool:
        """Whether the loop has given its connection back."""

    def shared(self, name: str, opening: Callable[[], AbstractContextManager[Any]]) -> Any:
        """An object that the links of a subdiagram share under a name; it is opened once."""

    def stamp_by(self, clock: Literal["system", "run"]) -> None:
        """Let a sender's times be those of the system's clock, or since the first step."""

    def attach(self, carries: Carries, fd: int) -> None:
        """Let the loop read or write a descriptor; -1 is none yet, of a stream or memory."""

    def withdraw(self) -> None:
        """Ask the loop for its connection, which it gives back at its next use."""

    def reopen(self, fd: int) -> None:
        """Give the loop another connection."""

    def stale(self, now: float) -> bool:
        """Whether no valid frame came for longer than the timeout, or none ever."""


class Endpoint(ABC):
    """The endpoint of a link, such as an address or a device. `str` gives it as users see it."""

    parameter: ClassVar[str] = "port"
    """The parameter of its blocks at which errors are reported."""
    needs_header: ClassVar[bool] = False
    """Whether frames are found in a stream by their headers."""
    of_frame: ClassVar[str] = "frame.fields"
    """The parameter that names the ports."""

    @property
    def frame(self) -> Frame | None:
        """The frame of a transport whose blocks have no parameter `frame`."""
        return None

    @abstractmethod
    def open(self, end: LoopEnd, kept: ExitStack) -> None:
        """Open the transport for the end of a link in the loop. kept: closes it. Raises OSError,
        InputError, and MissingExtraError if a library is not installed."""

    def packets_go_to(self) -> tuple[str, int] | None:
        """The address and port of a UDP endpoint, which main.c of an exported diagram opens; None
        for other transports."""
        return None


def place(address: str, port: int) -> str:
    """127.0.0.1:5005, or [::1]:5005."""
    return f"{f'[{address}]' if ':' in address else address}:{port}"


def serves(server: str, way: str) -> bool:
    """Whether the side of a link that receives or sends is the one that listens."""
    return (server == "receiver") == (way == "receive")


# --- parameters; invalid ones raise ValueError ---------------------------------------------


def read_address(given: Any) -> str:
    """An IP address."""
    try:
        return LOOPBACK if given == "localhost" else str(ip_address(given))
    except ValueError:
        raise ValueError(f"address must be an IP address, not {brief(given)}") from None


def read_port(given: Any) -> int:
    """The number of a port."""
    return read_whole("port", given, 65535)


def read_whole(name: str, given: Any, most: int) -> int:
    """A whole number from 1."""
    if isinstance(given, bool) or not isinstance(given, int | float) or given != given // 1:
        raise ValueError(f"{name} must be a whole number, not {brief(given)}")
    if not 1 <= given <= most:
        raise ValueError(f"{name} must be 1 to {most}, not {given:g}")
    return int(given)


def read_server(given: Any) -> str:
    """The side that listens: receiver or sender."""
    if given not in _SIDES:
        raise ValueError(f"server must be receiver or sender, not {brief(given)}")
    return str(given)
