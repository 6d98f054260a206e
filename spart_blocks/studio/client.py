"""One page at the other end of a WebSocket, and what all pages share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

MOST_WAITING = 256
"""Messages that may wait for a slow page; rows and poses beyond them are left out."""


class Socket(Protocol):
    """What is used of a WebSocket."""

    async def send_text(self, data: str) -> None: ...
    async def send_bytes(self, data: bytes) -> None: ...


@dataclass
class Session:
    """What all pages of one studio share.

    root: the project's folder, which no request leaves. opened: the file that the command line
    named, from the root. parts: what the modules of the studio keep here, by module. leaving: run
    when a page is gone. closing: run when the studio ends.
    """

    root: Path
    opened: str | None = None
    blocks: tuple[str, ...] = ()
    clients: set[Client] = field(default_factory=set)
    parts: dict[str, Any] = field(default_factory=dict)
    leaving: list[Callable[[Client], Awaitable[None]]] = field(default_factory=list)
    closing: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    async def left_by(self, client: Client) -> None:
        """A page is gone."""
        self.clients.discard(client)
        for leave in self.leaving:
            await leave(client)

    def tell(self, message: Mapping[str, Any], *, needed: bool = True) -> None:
        """Tell all pages what has happened. needed: also a page that is behind; what is told again
        soon is not."""
        text = json.dumps(message)
        for client in self.clients:
            if needed or not client.is_behind:
                client.post(text)

    def tell_numbers(self, header: Mapping[str, Any], numbers: NDArray[np.float64]) -> None:
        """Send rows of numbers to all pages; a page that is behind misses them."""
        data = numbers_message(header, numbers)
        for client in self.clients:
            client.post(data)


@dataclass(eq=False)
class Client:
    """One page. Messages are sent in order by a task of its own, so that a slow page does not
    make others wait."""

    session: Session
    socket: Socket
    waiting: asyncio.Queue[str | bytes] = field(default_factory=asyncio.Queue)

    @property
    def is_behind(self) -> bool:
        """Whether many messages wait for the page."""
        return self.waiting.qsize() >= MOST_WAITING

    def post(self, message: str | bytes) -> None:
        """Send a message later."""
        if isinstance(message, str) or not self.is_behind:
            self.waiting.put_nowait(message)

    def post_numbers(self, header: Mapping[str, Any], numbers: NDArray[np.float64]) -> None:
        """Send rows of numbers to this page alone, such as an answer."""
        self.waiting.put_nowait(numbers_message(header, numbers))

    async def deliver(self) -> None:
        """Send what waits, until cancelled or the page is gone."""
        with suppress(RuntimeError, OSError):
            while True:
                message = await self.waiting.get()
                if isinstance(message, str):
                    await self.socket.send_text(message)
                else:
                    await self.socket.send_bytes(message)


Handler = Callable[[Client, dict[str, Any]], Awaitable[Any]]
"""Answers a request of a client with its arguments. Raises SpartError for what it refuses."""

LATER = object()
"""The answer of a handler that posts its answer itself, by `post_numbers` with the number n."""


def numbers_message(header: Mapping[str, Any], numbers: NDArray[np.float64]) -> bytes:
    """A binary message: the length of its header, the header, padding to 8 bytes, the numbers."""
    head = json.dumps(header).encode()
    padding = -(4 + len(head)) % 8
    data = np.ascontiguousarray(numbers, dtype="<f8").tobytes()
    return len(head).to_bytes(4, "little") + head + bytes(padding) + data
