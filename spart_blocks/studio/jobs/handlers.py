"""Handlers of the requests about jobs: commands of `spart` that the page gives."""

from __future__ import annotations

import asyncio
import shutil
import zipfile
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.results.signal_names import file_name
from spart_blocks.studio.client import Client, Handler, Session
from spart_blocks.studio.files.session import path_in
from spart_blocks.studio.jobs.kinds import EXPORTS, KINDS
from spart_blocks.studio.jobs.registry import CommandJob, jobs_of, written_in
from spart_blocks.studio.jobs.sweeps import point_of, table_of
from spart_blocks.studio.requests import number_of, text_of
from spart_blocks.studio.runs.handlers import speed_of
from spart_blocks.studio.runs.opened import job_of
from spart_blocks.studio.runs.registry import runs_of

Given = dict[str, Any]
SWEEP = "sweep"
"""The folder of a sweep within that of its job."""


async def job_options(client: Client, given: Given) -> list[Given]:
    """What the page can set of the commands, by their kinds."""
    options = await jobs_of(client.session).described(sorted({k.words for k in KINDS.values()}))
    return [
        {
            "kind": what,
            "command": kind.words,
            "title": kind.title,
            "export": what in EXPORTS,
            "formats": list(kind.formats),
            "options": [
                next(one for one in options[kind.words] if f"--{one['name']}" == name)
                for name in kind.options
            ],
        }
        for what, kind in KINDS.items()
    ]


async def job(client: Client, given: Given) -> Given:
    """Start a job about a file as it is on disk."""
    what, options = text_of(given, "kind"), given.get("options") or {}
    kind = KINDS.get(what)
    if kind is None or not isinstance(options, dict):
        raise InputError(f"there is no job {what[:40]!r}")
    name, run = job_of(client.session, text_of(given, "path"))
    file = run["file"]
    stem = file_name(Path(name).stem, "diagram")
    words = [*kind.words.split(), file["path"]]
    if given.get("other") is not None:
        words.append(_other(client.session, text_of(given, "other")))
        if not kind.other:
            raise InputError(f"{kind.title} is of one diagram")
    words += kind.own(stem, kind.format(given.get("format")))
    words += [f"--root={file['root']}", *(f"--blocks={one}" for one in file["blocks"])]
    words += kind.arguments(options)
    if kind.variants:
        words += [f"--variant={one}" for one in file["variants"]]
    return (await jobs_of(client.session).begin(name, what, kind, words)).facts


def _other(session: Session, given: str) -> str:
    return str(path_in(session.root, given)[0])


async def jobs(client: Client, given: Given) -> list[Given]:
    """The jobs of a file that are kept."""
    return [one.facts for one in jobs_of(client.session).of(text_of(given, "path"))]


async def stop_job(client: Client, given: Given) -> None:
    """Interrupt a job."""
    await jobs_of(client.session).job(given.get("job")).stop()


async def resume_job(client: Client, given: Given) -> Given:
    """Go on with a sweep that was stopped."""
    registry = jobs_of(client.session)
    found = registry.job(given.get("job"))
    if found.active or found.facts["kind"] != SWEEP or not _has_sweep(found):
        raise InputError("a sweep that was stopped can go on")
    found.change(state="running", code=None, problem=None, lines=[])
    await registry.start(found, "--resume")
    return found.facts


async def forget_job(client: Client, given: Given) -> None:
    """Remove a job with its files."""
    registry = jobs_of(client.session)
    await registry.forget(registry.job(given.get("job")))


async def sweep_table(client: Client, given: Given) -> Given:
    """A part of the table of a sweep."""
    found = _sweep(client, given)
    start, sort = int(number_of(given, "start")), text_of(given, "sort", "")
    down = given.get("down") is True
    return await asyncio.to_thread(table_of, found.folder / SWEEP, max(0, start), sort, down)


async def sweep_run(client: Client, given: Given) -> Given:
    """Start a run with the values of one of a sweep."""
    found, run = _sweep(client, given), int(number_of(given, "run"))
    file, values = await asyncio.to_thread(point_of, found.folder / SWEEP, run)
    path = found.facts["path"]
    _, order = job_of(client.session, path)
    order["file"] |= {"variants": list(file.variants), "overrides": list(file.overrides)}
    label = f"run {{}}, {found.facts['title'].lower()}, run {run}: {values}"
    order |= {"speed": speed_of(given), "T": None}
    return (await runs_of(client.session).begin(path, order, label)).facts


def _sweep(client: Client, given: Given) -> CommandJob:
    """The sweep of a request. Raises InputError if it has no runs yet."""
    found = jobs_of(client.session).job(given.get("job"))
    if found.facts["kind"] != SWEEP or found.active or not _has_sweep(found):
        title = found.facts["title"]
        raise InputError(Fault(f"{title} has no runs to show", hint="wait until it has ended"))
    return found


def _has_sweep(found: CommandJob) -> bool:
    return (found.folder / SWEEP / "sweep.json").is_file()


# --- its files --------------------------------------------------------------------------------


async def job_file(session: Session, number: str, name: str) -> Path:
    """A file of a job; without a name an archive of all. Raises InputError if there is none."""
    found = jobs_of(session).job(int(number) if number.isdecimal() and len(number) < 9 else None)
    if name:
        return found.file(name)
    if not found.facts["files"]:
        raise InputError(f"{found.facts['title']} has no files")
    archive = found.folder.with_suffix(".zip")
    try:
        await asyncio.to_thread(_pack, found.folder, archive)
    except OSError as error:
        raise InputError(f"the archive cannot be written: {error.strerror or error}") from None
    return archive


def _pack(folder: Path, archive: Path) -> None:
    free = shutil.disk_usage(folder).free
    paths = written_in(folder)
    size = sum(path.stat().st_size for path in paths)
    if size > free // 2:
        raise InputError(f"the files have {size:,} bytes: there is no room for an archive of them")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in paths:
            packed.write(path, path.relative_to(folder).as_posix())


HANDLERS: dict[str, Handler] = {
    "job-options": job_options,
    "job": job,
    "jobs": jobs,
    "stop-job": stop_job,
    "resume-job": resume_job,
    "forget-job": forget_job,
    "sweep-table": sweep_table,
    "sweep-run": sweep_run,
}
