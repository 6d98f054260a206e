"""A connected page, and the state that all pages share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

MOST_WAITING = 256
"""Largest number of messages queued for a slow page; further rows and poses are dropped."""


Part = TypeVar("Part")


@dataclass
class Session:
    """The state that all pages of a studio share.

    root: the project's folder; requests cannot access files outside. opened: the file given on the
    command line, relative to root. parts: data of the studio's modules, by class. leaving:
    functions called when a page disconnects. closing: functions called when the studio ends.
    """

    root: Path
    opened: str | None = None
    blocks: tuple[str, ...] = ()
    clients: set[Client] = field(default_factory=set)
    parts: dict[Any, Any] = field(default_factory=dict)
    leaving: list[Callable[[Client], Awaitable[None]]] = field(default_factory=list)
    closing: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    def part(self, kind: Callable[[Session], Part]) -> Part:
        """The object of a class that belongs to this session, which is made at first."""
        if kind not in self.parts:
            self.parts[kind] = kind(self)
        found: Part = self.parts[kind]
        return found

    async def left_by(self, client: Client) -> None:
        """Handle the disconnection of a page."""
        self.clients.discard(client)
        for leave in self.leaving:
            await leave(client)

    def tell(self, message: Mapping[str, Any], *, needed: bool = True) -> None:
        """Send a message to all pages. needed: whether slow pages need it too; False if it will
        soon be sent again."""
        text = json.dumps(message)
        for client in self.clients:
            if needed or not client.is_behind:
                client.post(text)

    def tell_numbers(self, header: Mapping[str, Any], numbers: NDArray[np.float64]) -> None:
        """Send rows of numbers to all pages; they are dropped for a slow page."""
        data = numbers_message(header, numbers)
        for client in self.clients:
            client.post(data)


@dataclass(eq=False)
class Client:
    """A connected page. A task of its own sends its messages in order, so that a slow page does not
    delay others."""

    session: Session
    socket: WebSocket
    waiting: asyncio.Queue[str | bytes] = field(default_factory=asyncio.Queue)

    @property
    def is_behind(self) -> bool:
        """Whether MOST_WAITING messages or more are queued."""
        return self.waiting.qsize() >= MOST_WAITING

    def post(self, message: str | bytes) -> None:
        """Queue a message; a binary one is dropped if the page is slow."""
        if isinstance(message, str) or not self.is_behind:
            self.waiting.put_nowait(message)

    def post_numbers(self, header: Mapping[str, Any], numbers: NDArray[np.float64]) -> None:
        """Queue rows of numbers that are never dropped, such as an answer."""
        self.waiting.put_nowait(numbers_message(header, numbers))

    async def deliver(self) -> None:
        """Send queued messages until cancelled or disconnected."""
        with suppress(RuntimeError, OSError):
            while True:
                message = await self.waiting.get()
                if isinstance(message, str):
                    await self.socket.send_text(message)
                else:
                    await self.socket.send_bytes(message)


Handler = Callable[[Client, dict[str, Any]], Awaitable[Any]]
"""Answers a request, given its arguments. Raises SpartError if it refuses the request."""

LATER = object()
"""Returned by a handler that sends its answer itself, by `post_numbers` with the request's n."""


def numbers_message(header: Mapping[str, Any], numbers: NDArray[np.float64]) -> bytes:
    """A binary message: the length of its header, the header, padding to 8 bytes, the numbers."""
    head = json.dumps(header).encode()
    padding = -(4 + len(head)) % 8
    data = np.ascontiguousarray(numbers, dtype="<f8").tobytes()
    return len(head).to_bytes(4, "little") + head + bytes(padding) + data
