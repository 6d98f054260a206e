"""A job in a process of its own: its description, how it is stopped, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spart_blocks.base.errors import SpartError
from spart_blocks.studio.requests import problem_of
from spart_blocks.studio.spare import SpareWorker
from spart_blocks.workers.async_process import AsyncWorker
from spart_blocks.workers.frames import error_from_json

PROGRESS = frozenset({"running", "done", "all", "unit"})
"""The facts that change again soon: a page that is slow can miss them."""


class Job:
    """A job. facts: its description for the page; `state` is "running" until it has ended, is
    "stopped" or has "failed". told: called after a change of the facts, with whether also slow
    pages need it. patience: how long it may take to stop [s] before its process is ended."""

    patience = 3.0

    def __init__(self, facts: Mapping[str, Any], told: Callable[[bool], None]) -> None:
        self.facts: dict[str, Any] = {"state": "running", "problem": None, **facts}
        self.told = told
        self.process: AsyncWorker | None = None
        self.stopping = False

    @property
    def active(self) -> bool:
        """Whether it has not ended yet."""
        return bool(self.facts["state"] == "running")

    async def begin(self, spare: SpareWorker, module: str, order: Mapping[str, Any]) -> None:
        """Give the job to a process that serves a module. order: its first message."""
        self.process = await spare.take(module, self._received, self._ended)
        await self.process.send(order)

    async def stop(self) -> None:
        """Interrupt it, as Ctrl-C does. If it does not stop, its process is ended."""
        if not self.active or self.process is None:
            return
        process, self.stopping = self.process, True
        await process.send({"do": "stop"})
        if not await process.gone(self.patience):
            self.change(state="stopped")
            await process.close()

    async def end(self) -> None:
        """End its process at once."""
        if self.active:
            self.change(state="stopped")
        if self.process is not None:
            await self.process.close()

    def change(self, **facts: Any) -> None:
        """Change the facts, and tell them."""
        self.facts = {**self.facts, **facts}
        self.told(not facts.keys() <= PROGRESS)

    def heard(self, what: str, header: dict[str, Any], body: bytes) -> None:
        """Take a message of the process of a kind that not all jobs have."""
        raise NotImplementedError

    def finished(self) -> str:
        """The state after the process has done its work."""
        return "ended"

    def _received(self, header: dict[str, Any], body: bytes) -> None:
        what = header.pop("tell")
        if what in ("began", "progress"):
            self.change(**header)
        elif what == "done":
            self.change(state=self.finished())
        elif what == "stopped":
            self.change(state="stopped")
        elif what == "failed":
            self.change(state="failed", problem=problem_of(error_from_json(header["error"])))
        else:
            self.heard(what, header, body)

    def _ended(self, why: SpartError) -> None:
        """Called when the process has ended; a job that is still active has then failed."""
        if self.active:
            self.change(state="failed", problem=problem_of(why))
        self.process = None
