"""Links over shared memory."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import re
import stat
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spart_blocks.errors import brief
from spart_blocks.links.endpoints import Endpoint, LoopEnd
from spart_blocks.links.frames import MOST_BYTES

FOLDER = Path("/dev/shm")
PREFIX = "spart-"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")


class MemoryStruct(ctypes.Structure):
    """The newest frame, as sb_memory has it."""

    _fields_ = (("version", ctypes.c_uint32), ("words", ctypes.c_uint32 * ((MOST_BYTES + 3) // 4)))


@dataclass(frozen=True)
class Memory(Endpoint):
    """Shared memory, by its name.

    One sender has it at a time. It stays when all have ended, so that either side may begin
    again; a receiver takes what is written from now on.
    """

    name: str
    parameter = "memory"

    def __str__(self) -> str:
        return f"shared memory {self.name}"

    @property
    def path(self) -> Path:
        return FOLDER / f"{PREFIX}{self.name}"

    def open(self, end: LoopEnd, kept: ExitStack) -> None:
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        kept.callback(os.close, fd)
        state, size = os.fstat(fd), ctypes.sizeof(MemoryStruct)
        if not stat.S_ISREG(state.st_mode) or state.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it is of another user")
        if end.way == "send":
            _lock(fd, kept)
        if state.st_size != size:
            os.ftruncate(fd, size)
        memory = MemoryStruct.from_buffer(mmap.mmap(fd, size))
        end.attach_memory(memory, memory.version)

    def again(self, fd: int) -> int:
        return os.open(self.path, os.O_RDWR | os.O_NOFOLLOW)


def read_memory(memory: Any) -> Memory:
    """ValueError says what is wrong."""
    if not isinstance(memory, str) or not _NAME.fullmatch(memory):
        raise ValueError(f"memory must be a name of letters, digits, _ and -, not {brief(memory)}")
    return Memory(memory)


def _lock(fd: int, kept: ExitStack) -> None:
    import fcntl  # not on Windows, where diagrams with such links are simulated

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OSError(errno.EADDRINUSE, "it has a sender") from None
    kept.callback(fcntl.flock, fd, fcntl.LOCK_UN)  # the mapping keeps a descriptor open
