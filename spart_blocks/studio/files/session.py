"""The files that are open in the pages of a studio. Changes by other programs are detected."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from spart_blocks.base.errors import Fault, InputError, SpartError
from spart_blocks.studio.client import Client, Session
from spart_blocks.studio.files.opened import OpenedFile
from spart_blocks.studio.files.reading import built
from spart_blocks.studio.requests import text_of

WATCHED_EVERY = 0.5  # s
SUFFIXES = (".yaml", ".yml")
MOST_OPENED = 100
_LOG = logging.getLogger(__name__)
Found = TypeVar("Found")


@dataclass
class OpenedFiles:
    """The opened files of a session, by their paths relative to the root. closed: functions called
    with the path of a file when no page has it open any more. settled: functions called with a file
    after it was opened or has changed."""

    session: Session
    files: dict[str, OpenedFile] = field(default_factory=dict)
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    ahead: asyncio.Task[None] | None = None
    watch: asyncio.Task[None] | None = None
    building: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    closed: list[Callable[[str], Awaitable[None]]] = field(default_factory=list)
    settled: list[Callable[[OpenedFile], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.session.leaving.append(self.leave)

    async def open(self, client: Client, given: str) -> OpenedFile:
        """Open a file, or return it if it is open. Raises InputError if it is not in the project,
        and DiagramError if it cannot be read."""
        file = await self._opened(given)
        file.clients.add(client)
        self._begin()
        self.settle(file)
        return file

    async def _opened(self, given: str) -> OpenedFile:
        path, name = path_in(self.session.root, given)
        async with self.opening:
            file = self.files.get(name)
            if file is None:
                if len(self.files) >= MOST_OPENED:
                    self._forget()
                file = await asyncio.to_thread(
                    OpenedFile.of, path, name, self.session.root.resolve()
                )
                self.files[name] = file
        return file

    def read_ahead(self, given: str) -> None:
        """Begin to read a file and to make its sheet, as a page that is loading will ask for it."""
        if self.ahead is None:
            self.ahead = asyncio.get_running_loop().create_task(self._read_ahead(given))
            self._end_with_session()

    async def _read_ahead(self, given: str) -> None:
        with suppress(SpartError):  # the page is told when it opens the file
            file = await self._opened(given)
            await with_file(file, file.sheet, "")

    def of(self, given: Mapping[str, Any]) -> OpenedFile:
        """The opened file that a request names. Raises InputError if it is not open."""
        name = text_of(given, "path")
        if name not in self.files:
            raise InputError(Fault(f"{name[:200]} is not open", hint="open it first"))
        return self.files[name]

    async def close(self, client: Client, file: OpenedFile) -> None:
        """Record that a page has closed a file."""
        file.clients.discard(client)
        if not file.clients & self.session.clients:
            for close in self.closed:
                await close(file.name)

    async def leave(self, client: Client) -> None:
        """Close all files of a page that has disconnected."""
        for file in [file for file in self.files.values() if client in file.clients]:
            await self.close(client, file)

    def tell_others(self, client: Client, file: OpenedFile) -> None:
        """Notify all other pages that a file has changed."""
        others = [other for other in self.session.clients if other is not client]
        if others:
            message = {"tell": "changed", "path": file.name, "opened": file.opened()}
            for other in others:
                other.post(json.dumps(message))

    def _forget(self) -> None:
        """Drop the oldest file that no page has open. Raises InputError if all are open."""
        live = self.session.clients
        unused = [name for name, file in self.files.items() if not file.clients & live]
        if not unused:
            raise InputError(f"{MOST_OPENED} files are open: close some first")
        del self.files[unused[0]]

    def _begin(self) -> None:
        if self.watch is None or self.watch.done():
            self.watch = asyncio.get_running_loop().create_task(self._watched())
            self._end_with_session()

    def _end_with_session(self) -> None:
        if self._end not in self.session.closing:
            self.session.closing.append(self._end)

    async def _end(self) -> None:
        for task in (self.ahead, self.watch, *self.building.values()):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    def settle(self, file: OpenedFile) -> None:
        """Follow a file that was opened or has changed: build a large diagram in the background,
        then send its mistakes to the pages. It is not begun before the first sheet is made, which
        it would delay."""
        if file.reading.pending and file.shown and file.name not in self.building:
            task = asyncio.get_running_loop().create_task(self._built(file))
            self.building[file.name] = task
        for settled in self.settled:
            settled(file)

    async def _built(self, file: OpenedFile) -> None:
        try:
            while file.reading.pending:
                reading = await asyncio.to_thread(built, file.reading)
                async with file.lock:
                    if file.settle(reading):
                        await self.tell_state(file)
        finally:
            del self.building[file.name]

    async def _watched(self) -> None:
        """Check all files for changes every WATCHED_EVERY seconds."""
        while True:
            await asyncio.sleep(WATCHED_EVERY)
            for file in list(self.files.values()):
                try:
                    await self.look(file)
                except Exception:  # of one file; the others are watched on
                    _LOG.exception("watching %s", file.name)

    async def look(self, file: OpenedFile) -> None:
        """Read a file again if another program has changed it, and notify the pages."""
        if not file.is_stale():
            return
        async with file.lock:
            if file.is_stale() and await asyncio.to_thread(file.refresh):
                await self.tell_state(file)
                self.settle(file)

    async def tell_state(self, file: OpenedFile) -> None:
        """Send the current description of a file, or its problem, to all pages. Its lock must be
        held."""
        if file.problem is not None:
            message: dict[str, Any] = {"tell": "conflict", "problem": file.problem}
        else:
            message = {"tell": "changed", "opened": await asyncio.to_thread(file.opened)}
        self.session.tell({**message, "path": file.name})


def opened_files(session: Session) -> OpenedFiles:
    """The opened files of a session."""
    return session.part(OpenedFiles)


async def with_file(file: OpenedFile, work: Callable[..., Found], *arguments: Any) -> Found:
    """Run a function in a thread while holding the file's lock; returns its result."""
    async with file.lock:
        return await asyncio.to_thread(work, *arguments)


async def changed_by(
    client: Client, file: OpenedFile, given: Mapping[str, Any], work: Callable[..., None],
    *arguments: Any,
) -> dict[str, Any]:  # fmt: skip
    """Change a file in a thread and notify the other pages; returns the file and a sheet after the
    change. After an error, the file is read again if it was changed by another program. given: the
    request: `at` is the path of the sheet; with `version`, that of the sheet that the page has,
    only what has changed of it is returned."""
    files = opened_files(client.session)
    at, version = text_of(given, "at", ""), given.get("version")

    def done() -> dict[str, Any]:
        work(*arguments)
        return file.changed(at, version)

    try:
        found = await with_file(file, done)
    except SpartError:
        await files.look(file)
        raise
    files.tell_others(client, file)
    files.settle(file)
    return found


def path_in(root: Path, given: str, *, new: bool = False) -> tuple[Path, str]:
    """The path of a diagram file, and its name relative to the root. new: it need not exist. Raises
    InputError for a path outside the project, or one that does not end in .yaml or .yml."""
    limit = root.resolve()
    try:
        path = (limit / given).resolve()
        inside = path.is_relative_to(limit) and not Path(given).is_absolute() and "\0" not in given
        there = path.is_file()
    except (OSError, ValueError, RuntimeError):
        raise InputError(f"{given[:200]!r} is no path") from None
    if not inside:
        raise InputError(f"{given[:200]} leaves the project")
    if path.suffix not in SUFFIXES:
        raise InputError(f"{given[:200]} is no diagram: its name must end in .yaml")
    if not there and not new:
        raise InputError(f"there is no file {given[:200]}")
    return path, path.relative_to(limit).as_posix()
