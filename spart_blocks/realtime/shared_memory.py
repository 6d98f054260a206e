"""Shared memory of links."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import stat
from contextlib import ExitStack
from pathlib import Path

from spart_blocks.links.endpoints import Memory
from spart_blocks.realtime.link_structs import LinkStruct, MemoryStruct, Transport

FOLDER = Path("/dev/shm")
PREFIX = "spart-"


def open_memory(struct: LinkStruct, endpoint: Memory, way: str, kept: ExitStack) -> MemoryStruct:
    """Give a link its memory, which lives as long as what is returned. Raises OSError.

    One sender has it at a time. It stays when all have ended, so that either side may begin
    again; a receiver takes what is written from now on.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(FOLDER / f"{PREFIX}{endpoint.name}", flags, 0o600)
    kept.callback(os.close, fd)
    state, size = os.fstat(fd), ctypes.sizeof(MemoryStruct)
    if not stat.S_ISREG(state.st_mode) or state.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "it is of another user")
    if way == "send":
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError(errno.EADDRINUSE, "it has a sender") from None
        kept.callback(fcntl.flock, fd, fcntl.LOCK_UN)  # the mapping keeps a descriptor open
    if state.st_size != size:
        os.ftruncate(fd, size)
    memory = MemoryStruct.from_buffer(mmap.mmap(fd, size))
    struct.transport, struct.fd = Transport.MEMORY, -1
    struct.memory, struct.version = ctypes.addressof(memory), memory.version
    return memory
