"""The worker process of a session that is ready before a run, a test or a job asks for one.

It is started when a page has a file open and nothing has happened for a moment, and has then
imported what runs need. Where it can, it has also loaded the program of the file that was opened or
changed last. It is one for the whole session, and ends when no page is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from spart_blocks.base.errors import SpartError
from spart_blocks.studio.client import Client, Session
from spart_blocks.workers.async_process import AsyncWorker, Heard, Standby

QUIET = 1.0
"""How long nothing must have happened before a process is started or prepares something [s]."""
LONGEST = 60.0
"""How long it may prepare a file before its process is ended [s]."""
MOST_PREPARED = 8
"""How many programs a process prepares before another takes its place; each stays in its memory."""
NICE = 5
"""By how much the priority of what is prepared is lowered."""

Order = Mapping[str, Any]


class SpareWorker:
    """The ready worker of a session.

    imports: the module that a new process imports first. order: returns what is to be prepared now,
    or None; it is called when nothing has happened for a moment. active: functions that say whether
    work of their kind goes on; nothing is prepared meanwhile.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.standby = Standby(self._begin)
        self.imports: str | None = None
        self.order: Callable[[], Order | None] = lambda: None
        self.active: list[Callable[[], bool]] = []
        self._failed: Order | None = None
        self._prepared = 0
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._over = False
        session.leaving.append(self._left)
        session.closing.append(self.close)

    def nudge(self) -> None:
        """Note that something has happened: what is prepared is looked at in a moment."""
        if self._over:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(QUIET, self._begin)

    async def changed(self) -> None:
        """As `nudge`, after a change that makes what is being prepared useless: it is given up."""
        await self._clear()
        self.nudge()

    async def take(
        self,
        module: str,
        heard: Heard,
        ended: Callable[[SpartError], None],
        stage: Callable[[str | None], None] = lambda doing: None,
    ) -> AsyncWorker:
        """A process for work; see `Standby.take`. One that prepares something else is given up."""
        await self._clear()
        self.nudge()
        return await self.standby.take(module, heard, ended, stage)

    async def close(self) -> None:
        """End the process, and start no other."""
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])
        await self.standby.close()

    async def _clear(self) -> None:
        """End the process if it is preparing a file that is not wanted any more."""
        if self.standby.busy and self._prepares_file and self.standby.order != self._wanted():
            await self.standby.close()

    @property
    def _prepares_file(self) -> bool:
        return "file" in (self.standby.order or {})

    def _wanted(self) -> Order | None:
        order = self.order()
        return None if order is None else {**order, "nice": NICE}

    async def _left(self, client: Client) -> None:
        self.nudge()

    def _begin(self) -> None:
        if self._task is not None and not self._task.done():
            self.nudge()
        elif not self._over:
            self._task = asyncio.get_running_loop().create_task(self._settle())

    async def _settle(self) -> None:
        """Start a process, and let it prepare what is wanted; end it if there is no page."""
        if not self.session.clients:
            await self.standby.close()
            return
        if self.imports is None:
            return
        await self._clear()
        works, order = any(active() for active in self.active), self._wanted()
        if not self.standby.alive:
            if self._prepares_file:
                self._failed = self.standby.order  # its process has ended by this
            self._prepared = 0
            await self.standby.prepare({"module": self.imports, "nice": NICE if works else 0})
        elif self.standby.busy or works or order in (None, self.standby.order, self._failed):
            return
        elif self._prepared == MOST_PREPARED:
            await self.standby.close()
            self.nudge()
        else:
            assert order is not None
            self._prepared += 1
            await self.standby.prepare(order)
            asyncio.get_running_loop().call_later(LONGEST, self._give_up, order)

    def _give_up(self, order: Order) -> None:
        """End the process if it still prepares this."""
        if self.standby.busy and self.standby.order == order:
            self._failed = order
            self._task = asyncio.get_running_loop().create_task(self.standby.close())
            self.nudge()
