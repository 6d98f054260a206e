"""Loops of `spart realtime` on this machine: list, watch and tune them."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from itertools import chain
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from spart_blocks.base.document import parse_value
from spart_blocks.base.errors import InputError, RunError, SpartError
from spart_blocks.realtime.live_client import LiveClient, WatchedSignals
from spart_blocks.realtime.live_places import chosen, running
from spart_blocks.run.engines.engine import Floats
from spart_blocks.studio.client import Client, Handler, Session
from spart_blocks.studio.requests import text_of
from spart_blocks.studio.runs.record import check_names
from spart_blocks.studio.runs.registry import facts_of_run

RATE = 200.0
"""Requested rate of rows from a loop [Hz]."""
_PERIOD = 1 / 30
_PREFIX = "loop:"
MOST_LOOPS = 8

Given = dict[str, Any]


class Attached:
    """A connection to a loop. It has its own thread, since the loop's client blocks until an answer
    comes."""

    def __init__(self, session: Session, name: str) -> None:
        self.session, self.name = session, name
        self.watching: dict[Client, list[str]] = {}
        self.path = f"{_PREFIX}{name}"
        self.facts: Given = {}
        self.first: dict[str, str] = {}
        self._asked: SimpleQueue[tuple[Callable[[LiveClient], Any], Future[Any]]] = SimpleQueue()
        self._over = False
        self._loop = asyncio.get_running_loop()
        self._begun: Future[Given] = Future()
        Thread(target=self._serve, name=f"loop {name}", daemon=True).start()

    async def begun(self) -> Given:
        """Wait for the connection; returns the description of the loop. Raises InputError or
        RunError."""
        return await asyncio.wrap_future(self._begun)

    async def ask(self, what: Callable[[LiveClient], Any]) -> Any:
        """Call a function with the loop's client in the connection's thread; returns its result."""
        future: Future[Any] = Future()
        self._asked.put((what, future))
        return await asyncio.wrap_future(future)

    async def watch(self, client: Client, names: list[str]) -> None:
        """Add the signals that a page shows to those that the loop sends. Raises InputError."""
        before, self.watching = self.watching, {**self.watching, client: names}
        wanted = list(dict.fromkeys(chain.from_iterable(self._by_page().values())))
        try:
            await self.ask(lambda loop: loop.watch(wanted, RATE))
        except SpartError:
            self.watching = before
            raise

    def leave(self, client: Client | None = None) -> None:
        """Remove a page, by default all; the connection closes after the last one. The loop keeps
        running."""
        self.watching.pop(client, None) if client else self.watching.clear()
        if not self._by_page():
            self._over = True
            _attached(self.session).pop(self.name, None)

    def _by_page(self) -> dict[Client, list[str]]:
        """The watched signals of each page that is still connected."""
        return {page: self.watching[page] for page in self.watching if page in self.session.clients}

    # --- the thread ---------------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            with LiveClient(chosen(self.name)) as client:
                watched = client.watch((), RATE)
                self.facts = _facts(client, watched)
                self._begun.set_result(self.facts)
                self._go(client)
                reason = client.ended
        except Exception as error:
            if not self._begun.done():
                self._begun.set_exception(error)
                return
            reason = str(error)
        if not self._over:
            message = {"tell": "loop-ended", "loop": self.name, "reason": reason or "it is gone"}
            self._call(lambda: self._ended(message))
        self._refuse()

    def _go(self, client: LiveClient) -> None:
        while client.ended is None and not self._over:
            with suppress(Empty):
                self._answer(client, *self._asked.get_nowait())
            rows = client.rows(_PERIOD)
            watched = client.watched
            if len(rows) and watched is not None:
                self._call(partial(self._tell, self._head(watched, len(rows)), rows))

    def _tell(self, head: Given, rows: Floats) -> None:
        if self._by_page():
            self.session.tell_numbers(head, rows)
        else:  # the pages that looked on are closed
            self.leave()

    def _answer(
        self, client: LiveClient, what: Callable[[LiveClient], Any], future: Future[Any]
    ) -> None:
        try:
            future.set_result(what(client))
        except Exception as error:
            future.set_exception(error)

    def _refuse(self) -> None:
        with suppress(Empty):
            while True:
                future = self._asked.get_nowait()[1]
                future.set_exception(RunError(f"the loop {self.name} has ended"))

    def _head(self, watched: WatchedSignals, rows: int) -> Given:
        widths = [
            {"name": name, "width": math.prod(shape)}
            for name, shape in zip(watched.names, watched.shapes, strict=True)
        ]
        return {
            "tell": "rows",
            "path": self.path,
            "run": 0,
            "signals": widths,
            "rows": rows,
            "width": watched.width - 1,
        }

    def _call(self, what: Callable[[], Any]) -> None:
        with suppress(RuntimeError):  # the studio has ended
            self._loop.call_soon_threadsafe(what)

    def _ended(self, message: Given) -> None:
        _attached(self.session).pop(self.name, None)
        self._refuse()
        self.session.tell(message)


def _facts(client: LiveClient, watched: WatchedSignals) -> Given:
    """The description of a loop, in the form of a run's description."""
    found = client.describe()
    signals = [
        {
            "name": row["name"],
            "shape": list(row["shape"]),
            "unit": row["unit"],
            "labels": [],
            "entries": [],
            "live": True,
        }
        for row in found["signals"]
    ]
    return facts_of_run(
        run=0,
        label=client.hello["name"],
        state="running",
        t=found["time"],
        start=found["time"],
        T=None,
        speed=1.0,
        scopes=[{"title": name, "signals": [name]} for name in watched.names],
        signals=signals,
        tuned={
            row["name"]: json.dumps(row["value"])
            for row in found["parameters"]
            if row.get("changed")
        },
        kept="signals",
    )


class _Attached(dict[str, Attached]):
    """The loops that the pages of a session are attached to, by name."""

    def __init__(self, session: Session) -> None:
        session.closing.append(self.leave_all)

    async def leave_all(self) -> None:
        for one in [*self.values()]:
            one.leave()


def _attached(session: Session) -> dict[str, Attached]:
    return session.part(_Attached)


def _one(session: Session, name: str) -> Attached:
    found = _attached(session).get(name)
    if found is None:
        raise InputError(f"the loop {name[:60]!r} is not attached")
    return found


def is_loop(path: str) -> bool:
    """Whether the path in a request names a loop."""
    return path.startswith(_PREFIX)


async def loops(client: Client, given: Given) -> list[Given]:
    """The running loops."""
    places = await asyncio.to_thread(running)
    return [{"name": place.name, "pid": place.pid, "diagram": place.name} for place in places]


async def attach(client: Client, given: Given) -> Given:
    """Connect to a loop. From now on, its outputs are sent to the page."""
    name, all_of_them = text_of(given, "loop"), _attached(client.session)
    if name not in all_of_them and len(all_of_them) >= MOST_LOOPS:
        raise InputError(f"{MOST_LOOPS} loops are attached already")
    one = all_of_them.get(name) or Attached(client.session, name)
    all_of_them[name] = one
    one.watching.setdefault(client, [])
    try:
        facts = await one.begun()
    except SpartError:
        all_of_them.pop(name, None)
        raise
    await one.watch(client, [name for scope in facts["scopes"] for name in scope["signals"]])
    return facts


async def watch(client: Client, given: Given) -> None:
    """Choose the signals that a loop sends."""
    one, names = _one(client.session, text_of(given, "loop")), check_names(given.get("names"))
    await one.watch(client, names)


async def detach(client: Client, given: Given) -> None:
    """Disconnect the page from a loop, or from all if none is named. The loop keeps running."""
    everyone = _attached(client.session)
    names = list(everyone) if given.get("loop") is None else [text_of(given, "loop")]
    for name in names:
        _one(client.session, name).leave(client)


async def tune(session: Session, path: str, name: str, text: str) -> None:
    """Set a parameter of a loop."""
    one, value = _one(session, path.removeprefix(_PREFIX)), parse_value(text, name)
    await one.ask(lambda loop: loop.set({name: value}))
    one.facts["tuned"] = {**one.facts["tuned"], name: text}
    session.tell({"tell": "run", "path": one.path, "run": one.facts})


async def tunables(session: Session, path: str) -> list[Given]:
    """The parameters and free inputs of a loop."""
    one = _one(session, path.removeprefix(_PREFIX))
    found = await one.ask(lambda loop: loop.describe()["parameters"])
    rows = [row for row in found if "value" in row]
    for row in rows:
        one.first.setdefault(row["name"], json.dumps(row["value"]))
    return [
        {
            "name": row["name"],
            "text": json.dumps(row["value"]),
            "first": one.first[row["name"]],
            "unit": row["unit"],
            "doc": "an input" if row["kind"] == "input" else "",
            "min": row["bounds"][0],
            "max": row["bounds"][1],
            "used": [],
        }
        for row in rows
    ]


HANDLERS: dict[str, Handler] = {
    "loops": loops,
    "attach": attach,
    "watch": watch,
    "detach": detach,
}
