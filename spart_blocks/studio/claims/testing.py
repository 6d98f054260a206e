"""The tests of a session: at most one for each file at a time, each in a process of its own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import Fault, InputError, SpartError
from spart_blocks.claims.baselines import record
from spart_blocks.claims.outcome import Change
from spart_blocks.studio.client import Session
from spart_blocks.studio.files.opened import Stamp, stamp_of
from spart_blocks.studio.files.session import opened_files
from spart_blocks.studio.requests import problem_of
from spart_blocks.workers.async_process import AsyncWorker, Standby
from spart_blocks.workers.frames import error_from_json

WORKER = "spart_blocks.studio.claims.worker"
STOPPING = 3.0
"""How long a test may take to stop [s] before its process is ended."""


@dataclass(frozen=True)
class Proposed:
    """A baseline that a test would write over an existing one. case: index of the test case.
    stamps: of the diagram and of the baseline when they were compared."""

    case: int
    change: Change
    stamps: tuple[Stamp, Stamp]


@dataclass
class FileTest:
    """A test of a file. facts: its description for the page, as `Test` of the protocol. stamp: of
    the file when the test began."""

    path: Path
    stamp: Stamp
    facts: dict[str, Any]
    process: AsyncWorker | None = None
    proposed: list[Proposed] = field(default_factory=list)

    @property
    def active(self) -> bool:
        """Whether it has not ended yet."""
        return bool(self.facts["state"] == "running")


class FileTests:
    """The last test of each file of a session, by the file's path relative to the root."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.tests: dict[str, FileTest] = {}
        self._standby = Standby(WORKER)
        opened_files(session).closed.append(self._end)
        session.closing.append(self.close)

    async def begin(self, name: str, path: Path, update: bool) -> dict[str, Any]:
        """Start a test of a file. One that is still active is ended."""
        await self._end(name)
        facts = {
            "state": "running",
            "update": update,
            "revision": "",
            "running": "",
            "done": 0.0,
            "all": 0.0,
            "unit": "s",
            "cases": [],
            "problem": None,
        }
        test = self.tests[name] = FileTest(path, stamp_of(path), facts)
        process = test.process = await self._standby.take(
            lambda header, body: self._received(name, test, header, body),
            lambda why: self._ended(name, test, why),
        )
        file = {
            "path": str(path),
            "root": str(self.session.root.resolve()),
            "blocks": list(self.session.blocks),
        }
        await process.send({"file": file, "update": update})
        return test.facts

    async def stop(self, name: str) -> None:
        """Interrupt the test of a file, as Ctrl-C does. If it does not stop, its process is
        ended."""
        test = self.tests.get(name)
        if test is None or not test.active or test.process is None:
            return
        await test.process.send({"do": "stop"})
        if not await test.process.gone(STOPPING):
            self._tell(name, test, state="stopped")
            await test.process.close()

    async def record(self, name: str) -> dict[str, Any]:
        """Write the baselines that the last test of a file proposes to change. Raises InputError if
        there are none, or if the diagram or a baseline has changed since."""
        test = self.tests.get(name)
        if test is None or not test.proposed:
            raise InputError(Fault("no baseline is to be written", hint="update it first"))
        for one in test.proposed:
            if one.stamps != (stamp_of(test.path), stamp_of(one.change.path)):
                text = "the diagram or its baseline has changed since they were compared"
                raise InputError(Fault(text, hint="update the baseline again"))
        while test.proposed:
            await self._write(name, test, test.proposed[0].case, test.proposed[0].change)
            del test.proposed[0]
        return test.facts

    async def close(self) -> None:
        """End all processes."""
        for name in list(self.tests):
            await self._end(name)
        await self._standby.close()

    async def _end(self, name: str) -> None:
        """End the process of a test at once."""
        test = self.tests.get(name)
        if test is None:
            return
        if test.active:
            self._tell(name, test, state="stopped")
        if test.process is not None:
            await test.process.close()

    # --- what a process tells -----------------------------------------------------------------

    def _received(self, name: str, test: FileTest, header: dict[str, Any], body: bytes) -> None:
        what = header.pop("tell")
        if what in ("began", "progress"):
            self._tell(name, test, **header)
        elif what == "tested":
            self._tested(name, test, header["case"], body.decode())
        elif what == "failed":
            self._tell(
                name, test, state="failed", problem=problem_of(error_from_json(header["error"]))
            )
        else:
            self._tell(name, test, state={"done": "ended", "stopped": "stopped"}[what])

    def _tested(self, name: str, test: FileTest, case: dict[str, Any], text: str) -> None:
        cases = [*test.facts["cases"], case]
        self._tell(name, test, cases=cases)
        if case["change"] is None or case["change"]["written"]:
            return
        path = self.session.root.resolve() / case["change"]["file"]
        change = Change(path, text, tuple(case["change"]["lines"]))
        stamps = test.stamp, stamp_of(path)
        test.proposed.append(Proposed(len(cases) - 1, change, stamps))

    def _ended(self, name: str, test: FileTest, why: SpartError) -> None:
        if test.active:
            self._tell(name, test, state="failed", problem=problem_of(why))
        test.process = None

    async def _write(self, name: str, test: FileTest, case: int, change: Change) -> None:
        await asyncio.to_thread(record, change)
        cases = list(test.facts["cases"])
        cases[case] = {**cases[case], "change": {**cases[case]["change"], "written": True}}
        self._tell(name, test, cases=cases)

    def _tell(self, name: str, test: FileTest, **facts: Any) -> None:
        test.facts = {**test.facts, **facts}
        if self.tests.get(name) is test:
            needed = facts.keys() != _PROGRESS
            self.session.tell({"tell": "test", "path": name, "test": test.facts}, needed=needed)


_PROGRESS = {"running", "done", "all", "unit"}


def tests_of(session: Session) -> FileTests:
    """The tests of a session."""
    return session.part(FileTests)
