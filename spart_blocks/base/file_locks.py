"""Locks of open files among processes: flock, or on Windows the lock of a byte far behind the end.

A lock ends when the file is closed, or its process ends.
"""

from __future__ import annotations

import errno
import os
import time
from importlib import import_module
from typing import IO, Any

_FAR = 1 << 40
"""The byte that Windows locks: no other process can read what is locked there."""
_PAUSE = 0.05  # s
_HELD = (errno.EACCES, errno.EDEADLK, errno.EAGAIN)


def lock(file: int | IO[Any], *, wait: bool = False) -> bool:
    """Lock a file; returns False if another process has it locked. wait: until it has not. Raises
    OSError on file systems without locks."""
    try:
        fcntl: Any = import_module("fcntl")
    except ModuleNotFoundError:
        return _lock_byte(file, wait)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def unlock(file: int | IO[Any]) -> None:
    """End a lock before its file is closed, also where a child process has inherited it."""
    try:
        fcntl: Any = import_module("fcntl")
    except ModuleNotFoundError:
        _on_byte(file, import_module("msvcrt").LK_UNLCK)
    else:
        fcntl.flock(file, fcntl.LOCK_UN)


def _lock_byte(file: int | IO[Any], wait: bool) -> bool:
    while True:
        try:
            _on_byte(file, import_module("msvcrt").LK_NBLCK)
        except OSError as error:
            if error.errno not in _HELD:
                raise
            if not wait:
                return False
            time.sleep(_PAUSE)
        else:
            return True


def _on_byte(file: int | IO[Any], mode: int) -> None:
    """Lock or unlock the byte; the position in the file stays."""
    number = file if isinstance(file, int) else file.fileno()
    before = os.lseek(number, 0, os.SEEK_CUR)
    os.lseek(number, _FAR, os.SEEK_SET)
    try:
        import_module("msvcrt").locking(number, mode, 1)
    finally:
        os.lseek(number, before, os.SEEK_SET)
