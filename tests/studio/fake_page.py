"""A page at the other end of a session, without a browser and without a server."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
from protocol_types import check_answer, check_told

from spart_blocks.studio.client import Client, Session
from spart_blocks.studio.requests import all_handlers, answer

PATIENCE = 120.0


class Page:
    """Sends requests and keeps what is told."""

    def __init__(self, session: Session) -> None:
        self.client = Client(session, self)
        self.told: list[dict[str, Any]] = []
        self.rows: list[tuple[dict[str, Any], np.ndarray]] = []
        self.answers: dict[int, dict[str, Any]] = {}
        self._handlers = all_handlers()
        self._n = 0
        self._news = asyncio.Condition()

    async def send_text(self, data: str) -> None:
        message = json.loads(data)
        async with self._news:
            if "n" in message:
                self.answers[message["n"]] = message
            else:
                check_told(message)
                self.told.append(message)
            self._news.notify_all()

    async def send_bytes(self, data: bytes) -> None:
        (size,) = struct.unpack("<I", data[:4])
        header = json.loads(data[4 : 4 + size])
        start = 4 + size + -(4 + size) % 8
        numbers = np.frombuffer(data[start:], dtype="<f8")
        async with self._news:
            self.rows.append((header, numbers))
            if "n" in header:
                self.answers[header["n"]] = {"ok": (header, numbers)}
            self._news.notify_all()

    async def until(self, found: Callable[[], Any]) -> Any:
        """Wait for something to be told."""
        async with self._news:
            await asyncio.wait_for(self._news.wait_for(found), PATIENCE)
        return found()

    async def asked(self, do: str, **given: Any) -> dict[str, Any]:
        """The whole answer to a request."""
        self._n += 1
        n = self._n
        await answer(self.client, self._handlers, json.dumps({"n": n, "do": do, **given}))
        found: dict[str, Any] = await self.until(lambda: self.answers.get(n))
        check_answer(do, _as_json(found))
        return found

    async def ask(self, do: str, **given: Any) -> Any:
        """What a request gives; its problem fails the test."""
        found = await self.asked(do, **given)
        assert "problem" not in found, found["problem"]
        return found["ok"]

    async def refused(self, do: str, **given: Any) -> str:
        """The message with which a request is refused."""
        found = await self.asked(do, **given)
        assert "problem" in found, found
        return str(found["problem"]["message"])

    def run(self, number: int) -> dict[str, Any]:
        """What was told last of a run."""
        runs = [one["run"] for one in self.told if one["tell"] == "run"]
        return next((run for run in reversed(runs) if run["run"] == number), {})

    async def ended(self, number: int) -> dict[str, Any]:
        """A run, once it has ended or failed."""
        await self.until(lambda: self.run(number).get("state") in ("ended", "failed"))
        return self.run(number)


def _as_json(found: dict[str, Any]) -> dict[str, Any]:
    """An answer without its number; of a binary one, the header."""
    ok = {"ok": found["ok"][0]} if isinstance(found.get("ok"), tuple) else {}
    return {key: value for key, value in found.items() if key != "n"} | ok


@asynccontextmanager
async def page_of(root):
    """A page of a new session in a folder."""
    session = Session(root)
    page = Page(session)
    session.clients.add(page.client)
    task = asyncio.create_task(page.client.deliver())
    try:
        yield page
    finally:
        for close in session.closing:
            await close()
        task.cancel()


@asynccontextmanager
async def another(page):
    """Another page of a page's session."""
    session = page.client.session
    other = Page(session)
    session.clients.add(other.client)
    task = asyncio.create_task(other.client.deliver())
    try:
        yield other
    finally:
        session.clients.discard(other.client)
        task.cancel()


def in_page(root, work):
    """Work with a page of a session in a folder."""

    async def whole():
        async with page_of(root) as page:
            await work(page)

    asyncio.run(whole())
