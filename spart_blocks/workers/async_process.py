"""A worker process in an event loop: sends commands, receives answers and other messages.

A command is {"do": what, "id": number, ...}; its answer has the same id and "ok" or "error".
Messages without an id can come at any time.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import RunError, SpartError
from spart_blocks.workers.frames import error_from_json, frame, read_async
from spart_blocks.workers.process import command, environment, how_it_ended

PATIENCE = 300.0
"""Default time to wait for an answer [s]; the first push of a body traces and compiles the
diagram."""
_DYING = 2.0  # s, from the end of its output to that of a process

Heard = Callable[[dict[str, Any], bytes], None]


class AsyncWorker:
    """A worker process that serves a module. heard: called with each message that is no answer.
    ended: called once when the process has ended, with an error that says why."""

    def __init__(self, module: str, heard: Heard, ended: Callable[[SpartError], None]) -> None:
        self.module, self.heard, self.ended = module, heard, ended
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[int, asyncio.Future[tuple[Any, bytes]]] = {}
        self._number = 0
        self._log = tempfile.NamedTemporaryFile(prefix="spart-worker-", suffix=".txt")  # noqa: SIM115
        self._reader: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the process. It then waits for a job."""
        self._process = await asyncio.create_subprocess_exec(
            *command(self.module),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
            env=environment(),
            start_new_session=True,  # Ctrl-C in the terminal is the parent's
        )
        self._reader = asyncio.create_task(self._read())

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process is not None and self._process.returncode is None

    async def send(self, header: Mapping[str, Any]) -> None:
        """Send the job or a command. Raises RunError if the process has ended."""
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(frame(header))
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            raise RunError("the process of this run has ended") from None

    async def ask(
        self, what: str, arguments: Mapping[str, Any], patience: float = PATIENCE
    ) -> tuple[Any, bytes]:
        """Send a command; returns its answer and the body. patience: how long to wait for it [s].
        Raises the SpartError of the answer, or RunError if there is none."""
        if not self.alive:
            raise RunError("the process of this run has ended")
        self._number += 1
        number = self._number
        future: asyncio.Future[tuple[Any, bytes]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            await self.send({**arguments, "do": what, "id": number})
            return await asyncio.wait_for(future, patience)
        except TimeoutError:
            raise RunError(f"the run did not answer within {patience:g} s") from None
        finally:
            self._waiting.pop(number, None)

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        with suppress(EOFError, ConnectionError, ValueError):
            while True:
                self._take(*await read_async(self._process.stdout))
        try:
            code = await asyncio.wait_for(self._process.wait(), _DYING)
        except TimeoutError:  # it goes on, but what it wrote cannot be read
            self._process.kill()
            code = await self._process.wait()
        how, hint = how_it_ended(code, Path(self._log.name))
        gone = RunError(f"the process of the run has ended ({how})", hint=hint)
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(gone)
        self._log.close()
        self.ended(gone)

    def _take(self, header: dict[str, Any], body: bytes) -> None:
        """Dispatch a message: an answer to the waiting command, any other message to `heard`."""
        if "id" not in header:
            self.heard(header, body)
            return
        future = self._waiting.get(header["id"])
        if future is None or future.done():
            return
        if "error" in header:
            future.set_exception(error_from_json(header["error"]))
        else:
            future.set_result((header.get("ok"), body))

    async def gone(self, patience: float) -> bool:
        """Whether the process ends by itself within `patience` [s]."""
        if self._reader is None:
            return True
        done, _ = await asyncio.wait([self._reader], timeout=patience)
        return bool(done)

    async def close(self) -> None:
        """Kill the process and wait until it has ended."""
        if self.alive and self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
        if self._reader is not None:
            with suppress(asyncio.CancelledError):
                await self._reader


class Standby:
    """Provides worker processes that serve a module. One is always started in advance and waits for
    a job."""

    def __init__(self, module: str) -> None:
        self.module = module
        self._next: AsyncWorker | None = None
        self._starting: asyncio.Task[None] | None = None

    async def take(self, heard: Heard, ended: Callable[[SpartError], None]) -> AsyncWorker:
        """The waiting process, or a new one if it has ended. The next one is started in the
        background."""
        if self._starting is not None:
            await self._starting
        found, self._next = self._next, None
        if found is None or not found.alive:
            found = AsyncWorker(self.module, heard, ended)
            await found.start()
        found.heard, found.ended = heard, ended
        self._starting = asyncio.create_task(self._start())
        return found

    async def _start(self) -> None:
        """Start the next process. It may end before it gets a job; `take` then starts another."""
        self._next = AsyncWorker(self.module, lambda *_: None, lambda _: None)
        await self._next.start()

    async def close(self) -> None:
        """End the waiting process."""
        if self._starting is not None:
            await self._starting
        if self._next is not None:
            await self._next.close()
