"""The jobs of a session: commands of `spart` in processes of their own, each with a folder for the
files that it writes."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import Fault, InputError, SpartError
from spart_blocks.studio.client import Session
from spart_blocks.studio.jobs.kinds import JobKind
from spart_blocks.studio.jobs.process import Job
from spart_blocks.studio.spare import SpareWorker
from spart_blocks.workers.async_process import AsyncWorker

WORKER = "spart_blocks.cli.job"
MOST_JOBS, MOST_ACTIVE = 20, 3
"""Largest number of jobs that are kept, and of those that go on at once."""
MOST_LINES, LONGEST_LINE = 400, 400
"""The output that is kept of a job: its last lines, and characters of each."""
MOST_FILES = 500
"""Largest number of files of a job that are listed."""


class CommandJob(Job):
    """A command that goes on or has ended. facts: as `Job` of the protocol. folder: where it works.
    words: what it was called with."""

    patience = 15.0  # results are written after an interrupt

    def __init__(
        self, facts: Mapping[str, Any], told: Callable[[bool], None], folder: Path
    ) -> None:
        super().__init__({"lines": [], "files": [], "code": None, **facts}, told)
        self.folder = folder
        self.words: list[str] = []

    @property
    def number(self) -> int:
        """Its number in the session."""
        return int(self.facts["job"])

    def heard(self, what: str, header: dict[str, Any], body: bytes) -> None:
        """Take lines of the output, or the exit code."""
        if what == "exited":
            self.change(code=header["code"])
            return
        mark = "! " if header["stream"] == "err" else ""
        lines = [(mark + line.replace("\r", ""))[:LONGEST_LINE] for line in header["lines"]]
        self.change(lines=[*self.facts["lines"], *lines][-MOST_LINES:])

    def finished(self) -> str:
        """The state after the command: "failed" for another exit code than 0, unless it was asked
        to stop."""
        return "stopped" if self.stopping else "failed" if self.facts["code"] else "ended"

    def change(self, **facts: Any) -> None:
        """Change the facts. Files are listed when the job is over."""
        if facts.get("state", "running") != "running":
            facts["files"] = files_in(self.folder)
        super().change(**facts)

    def file(self, name: str) -> Path:
        """One of its files. Raises InputError for another name."""
        if name not in {one["name"] for one in self.facts["files"]}:
            raise InputError(f"this job has no file {name[:200]!r}")
        return self.folder / name


def written_in(folder: Path) -> list[Path]:
    """The files in a folder, without links and hidden ones."""
    return sorted(
        path for path in folder.rglob("[!.]*") if path.is_file() and not path.is_symlink()
    )


def files_in(folder: Path) -> list[dict[str, Any]]:
    """The files in a folder, each with its path in it and its size, at most MOST_FILES."""
    found = written_in(folder)
    return [
        {"name": path.relative_to(folder).as_posix(), "size": path.stat().st_size}
        for path in found[:MOST_FILES]
    ]


class Jobs:
    """The jobs of a session, by number. The last MOST_JOBS are kept, with their files, until the
    studio ends."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.jobs: dict[int, CommandJob] = {}
        self.last = 0
        self.options: dict[str, Any] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._describing = asyncio.Lock()
        self.spare = session.part(SpareWorker)
        self.spare.active.append(lambda: any(job.active for job in self.jobs.values()))
        session.closing.append(self.close)

    def of(self, path: str) -> list[CommandJob]:
        """The jobs of a file, sorted by number."""
        return [job for job in self.jobs.values() if job.facts["path"] == path]

    def job(self, number: Any) -> CommandJob:
        """The job with a number. Raises InputError if it is not kept."""
        found = self.jobs.get(number) if isinstance(number, int) else None
        if found is None:
            text = f"there is no job {str(number)[:20]}"
            raise InputError(Fault(text, hint=f"the last {MOST_JOBS} jobs are kept"))
        return found

    async def begin(self, path: str, name: str, kind: JobKind, words: list[str]) -> CommandJob:
        """Start a command about a file. name: of the kind. words: after `spart`. Raises InputError
        if too many jobs go on."""
        if sum(job.active for job in self.jobs.values()) >= MOST_ACTIVE:
            text = f"{MOST_ACTIVE} jobs are running"
            raise InputError(Fault(text, hint="stop one, or wait for it"))
        self._make_room()
        self.last += 1
        number = self.last
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="spart-jobs-")
        folder = Path(self._folder.name, str(number))
        folder.mkdir()
        facts = {
            "job": number,
            "path": path,
            "kind": name,
            "title": f"{kind.title} {number}",
            "done": 0.0,
            "all": 0.0,
            "unit": "s",
        }
        job = CommandJob(facts, lambda needed: self._tell(job, needed), folder)
        job.words = words
        self.jobs[number] = job
        await self.start(job)
        return job

    async def start(self, job: CommandJob, *more: str) -> None:
        """Give a job to a process. more: words after those that it has."""
        job.stopping = False
        order = {"arguments": [*job.words, *more], "folder": str(job.folder)}
        await job.begin(self.spare, WORKER, order)

    async def described(self, words: list[str]) -> Mapping[str, Any]:
        """The options of commands, by their words; asked of a process once."""
        async with self._describing:
            if not all(one in self.options for one in words):
                found: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

                def heard(header: dict[str, Any], body: bytes) -> None:
                    if header["tell"] == "described" and not found.done():
                        found.set_result(header["options"])

                def ended(why: SpartError) -> None:
                    if not found.done():
                        found.set_exception(why)

                process = AsyncWorker(WORKER, heard, ended)
                await process.start()
                await process.send({"describe": words})
                try:
                    self.options |= await found
                finally:
                    await process.close()
        return self.options

    async def forget(self, job: CommandJob) -> None:
        """End a job, and remove it with its files."""
        await job.end()
        self._drop(job)

    async def close(self) -> None:
        """End all processes, and remove the files."""
        for job in list(self.jobs.values()):
            await job.end()
        if self._folder is not None:
            self._folder.cleanup()

    def _make_room(self) -> None:
        over = [job for job in self.jobs.values() if not job.active]
        for job in over[: max(0, len(self.jobs) - MOST_JOBS + 1)]:
            self._drop(job)

    def _drop(self, job: CommandJob) -> None:
        self.jobs.pop(job.number, None)
        shutil.rmtree(job.folder, ignore_errors=True)
        told = {"tell": "job-dropped", "path": job.facts["path"], "job": job.number}
        self.session.tell(told)

    def _tell(self, job: CommandJob, needed: bool) -> None:
        if not job.active:
            self.spare.nudge()
        if self.jobs.get(job.number) is job:
            told = {"tell": "job", "path": job.facts["path"], "job": job.facts}
            self.session.tell(told, needed=needed)


def jobs_of(session: Session) -> Jobs:
    """The jobs of a session."""
    return session.part(Jobs)
