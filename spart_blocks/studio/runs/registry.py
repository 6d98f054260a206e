"""The runs of a session: their descriptions, and their processes."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, SpartError
from spart_blocks.results import Results
from spart_blocks.studio.client import Session
from spart_blocks.studio.files.opened import OpenedFile
from spart_blocks.studio.files.session import opened_files
from spart_blocks.studio.requests import problem_of
from spart_blocks.studio.runs.opened import AHEAD, order_of
from spart_blocks.studio.spare import SpareWorker
from spart_blocks.workers.async_process import PATIENCE, AsyncWorker
from spart_blocks.workers.frames import error_from_json

WORKER = "spart_blocks.studio.runs.worker"
MOST_RUNS = 20
"""Largest number of runs that are kept."""
MOST_PROCESSES = 4
"""Largest number of processes of ended runs; the results of older runs are kept in files."""
STOPPING = 3.0
"""How long a run may take to stop [s] before its process is ended."""
STARTING = "starting a process"
QUIETLY = 0.3
"""What a run does before its first step is told when it lasts longer than this [s]."""
ACTIVE = ("preparing", "running", "paused")


@dataclass
class RunEntry:
    """A run. facts: its description, as `Run` of the protocol. saved: the file with its results,
    once its process has been ended. quiet: whether the page is not told yet what it does."""

    number: int
    path: str
    process: AsyncWorker | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    saved: Path | None = None
    quiet: bool = True

    @property
    def told(self) -> dict[str, Any]:
        """The facts for the page."""
        return {**self.facts, "doing": None} if self.quiet else self.facts

    @property
    def active(self) -> bool:
        """Whether it has not ended yet."""
        return self.facts.get("state") in ACTIVE

    @property
    def computes(self) -> bool:
        """Whether its process is at work."""
        return self.active and self.facts["state"] != "paused"


def facts_of_run(**known: Any) -> dict[str, Any]:
    """The description of a run, as `Run` of the protocol. known: what differs from that of a run of
    which nothing is known yet."""
    return {
        "state": "preparing",
        "t": 0.0,
        "start": 0.0,
        "scopes": [],
        "signals": [],
        "tuned": {},
        "carried": {},
        "kept": "whole",
        "stopped": None,
        "doing": None,
        "warnings": [],
        "problem": None,
        "clocks": [],
        "paused": None,
        "breakpoints": {},
        **known,
    }


class RunRegistry:
    """The runs of a session, by number."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.entries: dict[int, RunEntry] = {}
        self.shows_motion: set[str] = set()
        self._last = self._files = 0
        self._opened: str | None = None
        self._has_run: set[str] = set()
        self.spare = session.part(SpareWorker)
        self.spare.imports, self.spare.order = AHEAD, self._order
        self.spare.active.append(lambda: any(one.computes for one in self.entries.values()))
        opened_files(session).settled.append(self.look_at)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        session.closing.append(self.close)

    # --- what is prepared -----------------------------------------------------------------------

    def look_at(self, file: OpenedFile) -> None:
        """Note that a file was opened or has changed, for which a process is made ready."""
        self._opened = file.name
        self._later(self.spare.changed())

    def _order(self) -> Mapping[str, Any] | None:
        """What a process shall prepare now. Only a file that has been run is traced and compiled
        ahead; the program of another is loaded if it is in the cache."""
        path = self._opened
        return None if path is None else order_of(self.session, path, path in self._has_run)

    # --- finding ----------------------------------------------------------------------------

    def of(self, path: str) -> list[RunEntry]:
        """The runs of a file, sorted by number."""
        return [entry for entry in self.entries.values() if entry.path == path]

    def current(self, path: str) -> RunEntry:
        """The latest run of a file. Raises InputError if there is none."""
        found = self.of(path)
        if not found:
            raise InputError(Fault("this diagram has not been run", hint="run it first"))
        return found[-1]

    def entry(self, path: str, number: Any) -> RunEntry:
        """The run of a file with this number. Raises InputError if it is not kept."""
        found = self.entries.get(number) if isinstance(number, int) else None
        if found is None or found.path != path:
            text = f"there is no run {str(number)[:20]} of this diagram"
            raise InputError(Fault(text, hint=f"the last {MOST_RUNS} runs are kept"))
        return found

    # --- beginning ----------------------------------------------------------------------------

    async def begin(self, path: str, job: Mapping[str, Any], label: str) -> RunEntry:
        """Start a run of a file. A run of it that is still active is stopped first."""
        for other in self.of(path):
            if other.active:
                await self.end(other)
        self._last += 1
        entry = RunEntry(self._last, path)
        dropped = await self._make_room()
        entry.facts = facts_of_run(
            run=entry.number,
            label=label.format(entry.number),
            T=job.get("T") or 0.0,
            speed=job.get("speed"),
            doing=STARTING,
            warnings=dropped,
        )
        self.entries[entry.number] = entry
        self._opened = path
        asyncio.get_running_loop().call_later(QUIETLY, self._speak, entry)
        process = await self.spare.take(
            WORKER,
            lambda header, body: self._received(entry, header, body, dropped),
            lambda why: self._ended(entry, why),
            lambda doing: self._tell(entry, doing=doing or STARTING),
        )
        self._has_run.add(path)
        if not entry.active:  # stopped meanwhile
            await process.close()
            return entry
        entry.process = process
        await entry.process.send(job)
        if path in self.shows_motion:
            self._later(_quietly(entry.process, "poses"))
        return entry

    def carried(self, path: str) -> dict[str, tuple[str, str | None]]:
        """The values tuned in the latest run of a file that differ from the file's, each with the
        file's: the next run begins with them."""
        latest = [entry.facts for entry in self.of(path)[-1:]]
        return {
            name: (facts["tuned"][name], given)
            for facts in latest
            for name, given in facts["carried"].items()
        }

    async def _make_room(self) -> list[str]:
        """Drop the oldest runs beyond MOST_RUNS, and save those beyond MOST_PROCESSES and end their
        processes. Returns a warning for each dropped run."""
        warnings = []
        while len(self.entries) >= MOST_RUNS:
            oldest = next(iter(self.entries.values()))
            await self._drop(oldest)
            warnings.append(
                f"{oldest.facts['label']} is no longer kept: {MOST_RUNS} runs are the most"
            )
        there = [e for e in self.entries.values() if e.process is not None and not e.active]
        for entry in there[: max(0, len(there) - MOST_PROCESSES + 1)]:
            await self._store(entry)
        return warnings

    async def _store(self, entry: RunEntry) -> None:
        """Save the results of a run to a file, and end its process."""
        assert entry.process is not None
        file = self.new_file(".npz")
        if await _quietly(entry.process, "save", file=str(file)):
            entry.saved = file
        await entry.process.close()
        entry.process = None
        self._tell(entry, kept="signals")

    async def _drop(self, entry: RunEntry) -> None:
        del self.entries[entry.number]
        if entry.process is not None:
            await entry.process.close()
        if entry.saved is not None:
            entry.saved.unlink(missing_ok=True)
        self.session.tell({"tell": "run-dropped", "path": entry.path, "run": entry.number})

    def new_file(self, suffix: str) -> Path:
        """A path for a new file in the temporary folder of this session."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="spart-studio-")
        self._files += 1
        return Path(self._folder.name, f"{self._files}{suffix}")

    # --- ending -------------------------------------------------------------------------------

    async def end(self, entry: RunEntry) -> None:
        """Stop a run. If it does not answer, its process is ended."""
        if not entry.active:
            return
        if entry.process is None:  # `begin` is starting one
            self._tell(entry, state="ended", doing=None, stopped="stopped before it began")
            return
        preparing = entry.facts["state"] == "preparing"
        patience = STOPPING if entry.facts["doing"] is None else PATIENCE
        if preparing or not await _quietly(entry.process, "stop", patience):
            why = "before it began" if preparing else "with its process, which did not answer"
            self._tell(entry, state="ended", doing=None, stopped=f"stopped {why}")
            await entry.process.close()
            entry.process = None

    async def close(self) -> None:
        """End all processes, and remove the files."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        processes = [entry.process for entry in self.entries.values()]
        for process in processes:
            if process is not None:
                await process.close()
        if self._folder is not None:
            self._folder.cleanup()

    def _later(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- what processes tell --------------------------------------------------------------------

    def _received(
        self, entry: RunEntry, header: dict[str, Any], body: bytes, dropped: list[str]
    ) -> None:
        what = header.pop("tell")
        if what in ("rows", "poses"):
            numbers = np.frombuffer(body, dtype="<f8")
            head = {"tell": what, "path": entry.path, "run": entry.number, **header}
            self.session.tell_numbers(head, numbers)
        elif what == "described":
            self._tell(entry, **header)
        elif what == "status":
            problem = header.get("problem")
            header["problem"] = problem and _at_block(problem_of(error_from_json(problem)))
            header["warnings"] = [*dropped, *header["warnings"]]
            self._tell(entry, **header)

    def _ended(self, entry: RunEntry, why: SpartError) -> None:
        """Called when the process has ended; a run that is still active has then failed."""
        if entry.active:
            self._tell(entry, state="failed", doing=None, problem=problem_of(why))
        entry.process = None

    def _tell(self, entry: RunEntry, **facts: Any) -> None:
        before, entry.facts = entry.facts, {**entry.facts, **facts}
        needed = {**before, "t": entry.facts["t"]} != entry.facts
        message = {"tell": "run", "path": entry.path, "run": entry.told}
        self.session.tell(message, needed=needed)
        if before["state"] in ACTIVE and not entry.active:
            self.spare.nudge()

    def _speak(self, entry: RunEntry) -> None:
        """Tell the page from now on what a run does."""
        entry.quiet = False
        if entry.active and entry.facts["doing"] is not None:
            self._tell(entry)


def _at_block(problem: dict[str, Any]) -> dict[str, Any]:
    """A problem that names one of a block's signals, changed to name the block."""
    if "block" in problem:
        around, slash, name = problem["block"].rpartition("/")
        problem["block"] = around + slash + name.partition(".")[0]
    return problem


async def _quietly(
    process: AsyncWorker, what: str, patience: float = PATIENCE, **arguments: Any
) -> bool:
    """Send a command that may fail; returns whether it succeeded."""
    try:
        await process.ask(what, arguments, patience)
    except SpartError:
        return False
    return True


def runs_of(session: Session) -> RunRegistry:
    """The runs of a session."""
    return session.part(RunRegistry)


@lru_cache(maxsize=4)
def loaded(file: Path) -> Results:
    """The results in a file that this session has saved."""
    return Results.load(file)
