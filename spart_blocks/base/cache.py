"""The user's cache folder: files stored under the hash of everything that determines their
contents.

A file's name is its key and the hash of its contents. A file is used only if the user owns it,
others can change neither it nor its folder, and its contents have the hash in its name, because
libraries are code and programs determine what is run.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from spart_blocks.base.errors import warn

LARGEST_CACHE = 512 * 1024**2  # bytes
MOST_FILES = 1000
BUILD = ".build-"
"""Prefix of the folders for files under construction; an abandoned one is removed after hours."""
REMEMBERED = 24 * 3600.0  # s
"""Lifetime of the file `KEY.timeout`, which records that a file took too long to make."""
_ABANDONED = 2 * 3600.0  # s

_KEPT = re.compile(r"[0-9a-f]{32}-[0-9a-f]{32}\.(so|dylib|dll|program|source)")
_MARK = re.compile(r"[0-9a-f]{32}\.(timeout|lock)")


def key_of(text: str) -> str:
    """The key of what a text describes completely."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def cache_folder() -> Path | None:
    """The place of the user's caches on this system; None without a home folder."""
    chosen = os.environ.get("SPART_CACHE")
    if chosen:
        return Path(os.path.abspath(chosen))
    root: str | None
    if sys.platform == "win32":
        root = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        root = os.path.expanduser("~/Library/Caches")
    else:
        root = os.environ.get("XDG_CACHE_HOME", "")
        root = root if os.path.isabs(root) else os.path.expanduser("~/.cache")
    return Path(root, "spart_blocks") if root and os.path.isabs(root) else None


def user_folder(*, told: bool = True) -> Path | None:
    """The cache folder, created if missing; None, after a warning if `told`, if others may write
    there.
    """
    folder = cache_folder()
    if folder is None:
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    if _private(status):
        return folder
    if told:
        warn(
            f"the cache folder {folder} belongs to another user or is writable by everyone, so "
            "compiled programs are not kept there\n  chmod o-w, or SPART_CACHE=another folder"
        )
    return None


@lru_cache(maxsize=1)
def temporary_folder() -> Path:
    """A replacement for the cache folder that lasts as long as this process."""
    folder, owner = tempfile.mkdtemp(prefix="spart_blocks-"), os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # and not a child forked from it
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return Path(folder)


def _private(status: os.stat_result) -> bool:
    """Whether it belongs to this user, and others cannot change it."""
    if sys.platform == "win32":
        return True  # by the access list of the user's profile
    else:
        return status.st_uid == os.geteuid() and not status.st_mode & stat.S_IWOTH


def stored(folder: Path, key: str) -> Path | None:
    """The file stored under this key, if it is there and intact; a damaged file is removed."""
    for path in folder.glob(f"{key}-*"):
        if not _KEPT.fullmatch(path.name):
            continue
        with suppress(OSError):
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode) or not _private(status):
                continue
            if digest(path) == path.stem.partition("-")[2]:
                with suppress(OSError):
                    os.utime(path)  # for _prune: used now
                return path
            path.unlink()
    return None


def digest(path: Path) -> str:
    """The hash of a file's contents."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]


def _prune(folder: Path, keep: Path) -> None:
    """Remove the least recently used files beyond the limits, and abandoned files."""
    objects = []
    for entry in os.scandir(folder):
        with suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            age = time.time() - status.st_mtime
            if _KEPT.fullmatch(entry.name):
                objects.append((status.st_mtime, status.st_size, entry.path))
            elif entry.name.startswith(BUILD) and age > _ABANDONED:
                shutil.rmtree(entry.path, ignore_errors=True)
            elif _MARK.fullmatch(entry.name) and age > REMEMBERED:
                os.unlink(entry.path)
    total = 0
    for count, (_, size, path) in enumerate(sorted(objects, reverse=True), start=1):
        total += size
        if (count > MOST_FILES or total > LARGEST_CACHE) and Path(path) != keep:
            with suppress(OSError):
                os.unlink(path)


def keep(made: Path, folder: Path, key: str) -> Path:
    """Move a finished file to its place atomically, and make room for it. Raises OSError."""
    made.chmod(0o700)
    place = folder / f"{key}-{digest(made)}{made.suffix}"
    try:
        os.replace(made, place)
    except OSError:  # Windows, where another process has just loaded the same
        if stored(folder, key) != place:
            raise
    _prune(folder, place)
    return place


def keep_text(text: str, folder: Path, key: str, suffix: str) -> Path:
    """Store a text: .program or .source. Raises OSError."""
    with tempfile.TemporaryDirectory(prefix=BUILD, dir=folder) as build:
        made = Path(build, f"text{suffix}")
        made.write_text(text, encoding="utf-8")
        return keep(made, folder, key)
