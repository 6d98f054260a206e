"""The studio's end of a run's process: commands to it, answers and messages from it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from spart_blocks.errors import RunError, SpartError
from spart_blocks.simulation.processes import error_from, how_it_ended
from spart_blocks.studio.runs.frames import read_frame

WORKER = "spart_blocks.studio.runs.worker"
PATIENCE = 300.0
"""Longest wait for an answer [s]: a first push traces and compiles the diagram."""
_DYING = 2.0  # s, from the end of its output to that of a process

Heard = Callable[[dict[str, Any], bytes], None]


class RunProcess:
    """A process for one run. heard: called with each message that is no answer. ended: called once
    with why, when the process has ended."""

    def __init__(self, heard: Heard, ended: Callable[[SpartError], None]) -> None:
        self.heard, self.ended = heard, ended
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[int, asyncio.Future[tuple[Any, bytes]]] = {}
        self._number = 0
        self._log = tempfile.NamedTemporaryFile(prefix="spart-studio-", suffix=".txt")  # noqa: SIM115
        self._reader: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the process, which waits for a job."""
        places = [str(Path(place or ".").absolute()) for place in sys.path]
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", WORKER),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
            start_new_session=True,  # Ctrl-C in the terminal is the studio's
        )
        self._reader = asyncio.create_task(self._read())

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process is not None and self._process.returncode is None

    async def write(self, line: Mapping[str, Any]) -> None:
        """Send the job, or a command. Raises RunError where the process is gone."""
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(line).encode() + b"\n")
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            raise RunError("the process of this run has ended") from None

    async def ask(
        self, what: str, arguments: Mapping[str, Any], patience: float = PATIENCE
    ) -> tuple[Any, bytes]:
        """The answer to a command, and its body. patience: how long to wait for it [s]. Raises the
        SpartError that it is refused with."""
        if not self.alive:
            raise RunError("the process of this run has ended")
        self._number += 1
        number = self._number
        future: asyncio.Future[tuple[Any, bytes]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            await self.write({**arguments, "do": what, "id": number})
            return await asyncio.wait_for(future, patience)
        except TimeoutError:
            raise RunError(f"the run did not answer within {patience:g} s") from None
        finally:
            self._waiting.pop(number, None)

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        with suppress(asyncio.IncompleteReadError, ConnectionError, ValueError):
            while True:
                header, body = await read_frame(self._process.stdout)
                if "id" not in header:
                    self.heard(header, body)
                    continue
                future = self._waiting.get(header["id"])
                if future is None or future.done():
                    continue
                if "error" in header:
                    future.set_exception(error_from(header["error"]))
                else:
                    future.set_result((header.get("ok"), body))
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

    async def close(self) -> None:
        """End the process: at once, whatever it does."""
        if self.alive and self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
        if self._reader is not None:
            with suppress(asyncio.CancelledError):
                await self._reader
