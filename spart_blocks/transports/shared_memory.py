"""Links over shared memory."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import stat
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

from spart_blocks.base.errors import brief
from spart_blocks.base.file_locks import lock, unlock
from spart_blocks.transports.endpoints import Carries, Endpoint, LoopEnd
from spart_blocks.transports.frames import MOST_BYTES

FOLDER = Path("/dev/shm")
PREFIX = "spart-"
PAUSE = 0.05
"""Interval between checks of the file [s]."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")


class MemoryStruct(ctypes.Structure):
    """The newest frame in the file, as sb_memory has it."""

    _fields_ = (("version", ctypes.c_uint32), ("words", ctypes.c_uint32 * ((MOST_BYTES + 3) // 4)))


@dataclass(frozen=True)
class Memory(Endpoint):
    """Shared memory, by its name.

    It has one sender at a time. The file remains when both sides have ended, so that either may
    start again; a receiver reads only what is written after it was opened.
    """

    name: str
    parameter = "memory"

    def __str__(self) -> str:
        return f"shared memory {self.name}"

    @property
    def path(self) -> Path:
        return FOLDER / f"{PREFIX}{self.name}"

    def open(self, end: LoopEnd, kept: ExitStack) -> None:
        end.attach(Carries.MEMORY, -1)
        keeper = _Keeper(end, self)
        keeper.start()
        kept.callback(keeper.stop)

    def opened(self, way: str) -> int:
        """A descriptor of the file, which has its full size and room for it. Raises OSError."""
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            state = os.fstat(fd)
            if not stat.S_ISREG(state.st_mode) or state.st_uid != os.geteuid():
                raise PermissionError(errno.EPERM, "it is of another user")
            if way == "send" and not lock(fd):
                raise OSError(errno.EADDRINUSE, "it has a sender")
            os.posix_fallocate(fd, 0, ctypes.sizeof(MemoryStruct))
        except OSError:
            os.close(fd)
            raise
        return fd


def read_memory(memory: Any) -> Memory:
    """The endpoint of these parameters. Raises ValueError if one is invalid."""
    if not isinstance(memory, str) or not _NAME.fullmatch(memory):
        raise ValueError(f"memory must be a name of letters, digits, _ and -, not {brief(memory)}")
    return Memory(memory)


class _Keeper(Thread):
    """Thread that opens the file of a shared-memory link, and reopens it if it was removed or
    replaced. The loop owns the descriptor until it sets `closed`."""

    def __init__(self, end: LoopEnd, memory: Memory) -> None:
        """Raises OSError."""
        super().__init__(name=f"spart {memory}", daemon=True)
        self.end, self.memory = end, memory
        self.fd: int | None = None
        self._stopped = Event()
        self._open()

    def run(self) -> None:
        while not self._stopped.wait(PAUSE):
            if self.end.closed:
                self._close()
                with suppress(OSError):
                    self._open()
            elif not self._is_there():
                self.end.withdraw()

    def stop(self) -> None:
        """End the thread and close the file. The loop must have ended before."""
        self._stopped.set()
        self.join()
        self._close()

    def _open(self) -> None:
        self.fd = self.memory.opened(self.end.way)
        self.end.reopen(self.fd)

    def _close(self) -> None:
        if self.fd is not None:
            unlock(self.fd)
            os.close(self.fd)
            self.fd = None

    def _is_there(self) -> bool:
        """Whether the file at the path is the one that is open."""
        with suppress(OSError):
            there = os.stat(self.memory.path, follow_symlinks=False)
            return self.fd is not None and os.path.samestat(there, os.fstat(self.fd))
        return False
