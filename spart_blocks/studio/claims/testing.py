"""The tests of a session: at most one for each file at a time, each in a process of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.claims.baselines import record
from spart_blocks.claims.outcome import Change
from spart_blocks.studio.client import Session
from spart_blocks.studio.files.opened import Stamp, stamp_of
from spart_blocks.studio.files.session import opened_files
from spart_blocks.studio.jobs.process import Job
from spart_blocks.studio.spare import SpareWorker

WORKER = "spart_blocks.studio.claims.worker"


@dataclass(frozen=True)
class Proposed:
    """A baseline that a test would write over an existing one. case: index of the test case.
    stamps: of the diagram and of the baseline when they were compared."""

    case: int
    change: Change
    stamps: tuple[Stamp, Stamp]


class FileTest(Job):
    """A test of a file. facts: as `Test` of the protocol. stamp: of the file when the test began.
    root: the project's folder."""

    def __init__(
        self, facts: dict[str, Any], told: Callable[[bool], None], path: Path, root: Path
    ) -> None:
        super().__init__(facts, told)
        self.path, self.root, self.stamp = path, root, stamp_of(path)
        self.proposed: list[Proposed] = []

    def heard(self, what: str, header: dict[str, Any], body: bytes) -> None:
        """Take the outcome of a test case."""
        case, cases = header["case"], [*self.facts["cases"], header["case"]]
        self.change(cases=cases)
        if case["change"] is None or case["change"]["written"]:
            return
        path = self.root / case["change"]["file"]
        change = Change(path, body.decode(), tuple(case["change"]["lines"]))
        self.proposed.append(Proposed(len(cases) - 1, change, (self.stamp, stamp_of(path))))

    async def record(self) -> None:
        """Write the proposed baselines. Raises InputError if there are none, or if the diagram or a
        baseline has changed since."""
        if not self.proposed:
            raise InputError(_NO_BASELINE)
        for one in self.proposed:
            if one.stamps != (stamp_of(self.path), stamp_of(one.change.path)):
                text = "the diagram or its baseline has changed since they were compared"
                raise InputError(Fault(text, hint="update the baseline again"))
        while self.proposed:
            await asyncio.to_thread(record, self.proposed[0].change)
            cases = list(self.facts["cases"])
            case = cases[self.proposed[0].case]
            cases[self.proposed[0].case] = {**case, "change": {**case["change"], "written": True}}
            self.change(cases=cases)
            del self.proposed[0]


_NO_BASELINE = Fault("no baseline is to be written", hint="update it first")


class FileTests:
    """The last test of each file of a session, by the file's path relative to the root."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.tests: dict[str, FileTest] = {}
        self.spare = session.part(SpareWorker)
        self.spare.active.append(lambda: any(test.active for test in self.tests.values()))
        opened_files(session).closed.append(self._end)
        session.closing.append(self.close)

    async def begin(self, name: str, path: Path, update: bool) -> dict[str, Any]:
        """Start a test of a file. One that is still active is ended."""
        await self._end(name)
        root = self.session.root.resolve()
        facts = {
            "update": update,
            "revision": "",
            "running": "",
            "done": 0.0,
            "all": 0.0,
            "unit": "s",
            "cases": [],
        }
        test = FileTest(facts, lambda needed: self._tell(name, test, needed), path, root)
        self.tests[name] = test
        file = {"path": str(path), "root": str(root), "blocks": list(self.session.blocks)}
        await test.begin(self.spare, WORKER, {"file": file, "update": update})
        return test.facts

    async def stop(self, name: str) -> None:
        """Interrupt the test of a file, as Ctrl-C does."""
        if name in self.tests:
            await self.tests[name].stop()

    async def record(self, name: str) -> dict[str, Any]:
        """Write the baselines that the last test of a file proposes to change; see `FileTest`."""
        if name not in self.tests:
            raise InputError(_NO_BASELINE)
        await self.tests[name].record()
        return self.tests[name].facts

    async def close(self) -> None:
        """End all processes."""
        for name in list(self.tests):
            await self._end(name)

    async def _end(self, name: str) -> None:
        """End the process of a test at once."""
        if name in self.tests:
            await self.tests[name].end()

    def _tell(self, name: str, test: FileTest, needed: bool) -> None:
        if not test.active:
            self.spare.nudge()
        if self.tests.get(name) is test:
            self.session.tell({"tell": "test", "path": name, "test": test.facts}, needed=needed)


def tests_of(session: Session) -> FileTests:
    """The tests of a session."""
    return session.part(FileTests)
