"""A worker process from the parent's side: start, send, receive, end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from spart_blocks.base.errors import RunError
from spart_blocks.workers.frames import Message, frame, read

_LAST_LINES = 8


class WorkerEndedError(RunError):
    """A worker process ended before it answered."""


def command(module: str) -> list[str]:
    """The command line of a worker that serves a module. -P keeps the current folder, which may
    contain foreign files, out of the module search path."""
    return [sys.executable, "-P", "-m", "spart_blocks.workers", module]


def environment(defaults: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """The environment variables of a worker: those of this process, with its module search path.
    defaults: values of variables that are not set."""
    places = [str(Path(place or ".").absolute()) for place in sys.path]
    return {**defaults, **os.environ, "PYTHONPATH": os.pathsep.join(places)}


def how_it_ended(code: int, log: Path) -> tuple[str, str | None]:
    """The exit code or signal of a process as text, and the last lines of its stderr."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return how, "\n  ".join(lines[-_LAST_LINES:]) or None


class Worker:
    """A worker process that serves a module. log: file for its stderr; defaults: see
    `environment`."""

    def __init__(
        self, module: str, log: Path, defaults: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._log = log
        with log.open("wb") as stderr:
            self._process = subprocess.Popen(
                command(module),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=environment(defaults),
            )

    def send(self, header: Mapping[str, Any], body: bytes = b"") -> None:
        """Send a message. Raises OSError if the process has ended."""
        assert self._process.stdin is not None
        self._process.stdin.write(frame(header, body))
        self._process.stdin.flush()

    def receive(self) -> Message:
        """Wait for the next message. Raises EOFError if the process has ended."""
        assert self._process.stdout is not None
        return read(self._process.stdout)

    def kill(self) -> None:
        """Kill the process."""
        with suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """Close the pipes, which makes the process end, and wait until it has ended."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        self._process.wait()

    def ended(self) -> WorkerEndedError:
        """The error for a missing answer, after `close`."""
        how, hint = how_it_ended(self._process.returncode, self._log)
        return WorkerEndedError(f"its process ended without an answer ({how})", hint=hint)
