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


STANDBY = "spart_blocks.workers.standby"


class Standby:
    """Keeps one worker process that was started before there is work for it. order: what it was
    told to prepare last; doing: what it does for that, as text, if it says so. ready: called when
    it has done an order."""

    def __init__(self, ready: Callable[[], None]) -> None:
        self.ready = ready
        self.order: Mapping[str, Any] | None = None
        self.doing: str | None = None
        self._waiting: AsyncWorker | None = None
        self._done = False
        self._lock = asyncio.Lock()

    @property
    def alive(self) -> bool:
        """Whether there is a process that waits for work."""
        return self._waiting is not None and self._waiting.alive

    @property
    def busy(self) -> bool:
        """Whether it has not done its order yet."""
        return self.alive and not self._done

    async def prepare(self, order: Mapping[str, Any]) -> None:
        """Give an order to the waiting process, which is started if there is none. It must not be
        busy. order: see `workers.standby`."""
        async with self._lock:
            if not self.alive:
                await self._close()
                self._waiting = AsyncWorker(STANDBY, self._heard, lambda _: None)
                await self._waiting.start()
            assert self._waiting is not None
            self.order, self._done = order, False
            with suppress(RunError):  # it has ended just now: `alive` says so
                await self._waiting.send(order)

    async def take(
        self,
        module: str,
        heard: Heard,
        ended: Callable[[SpartError], None],
        stage: Callable[[str | None], None] = lambda doing: None,
    ) -> AsyncWorker:
        """The waiting process, as a worker of this module; a new one if there is none. stage:
        called with what it does before the work begins."""
        async with self._lock:
            found, doing = self._waiting, self.doing
            self._waiting = None
            self._reset()
            if found is not None and found.alive:
                found.heard, found.ended = _without_orders(heard, stage), ended
                with suppress(RunError):
                    await found.send({"serve": module})
                    if doing is not None:
                        stage(doing)
                    return found
            if found is not None:
                found.heard, found.ended = lambda *_: None, lambda _: None
                await found.close()
            new = AsyncWorker(module, heard, ended)
            await new.start()
            return new

    async def close(self) -> None:
        """End the waiting process."""
        async with self._lock:
            await self._close()

    async def _close(self) -> None:
        found, self._waiting = self._waiting, None
        self._reset()
        if found is not None:
            await found.close()

    def _reset(self) -> None:
        self.order, self.doing, self._done = None, None, False

    def _heard(self, header: dict[str, Any], body: bytes) -> None:
        self.doing = header.get("doing")
        if header["tell"] == "ready":
            self._done = True
            self.ready()


def _without_orders(heard: Heard, stage: Callable[[str | None], None]) -> Heard:
    """The messages of a worker without those about orders that it was still doing."""

    def heard_of_work(header: dict[str, Any], body: bytes) -> None:
        if header.get("tell") == "doing":
            stage(header["doing"])
        elif header.get("tell") != "ready":
            heard(header, body)

    return heard_of_work
