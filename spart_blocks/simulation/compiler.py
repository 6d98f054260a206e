"""C source to a shared library, once: the compiler found, and a cache on disk.

A cached library is keyed by its source, the compiler, the flags and the processor, and
written atomically, so that two processes may compile the same source at once. Only files
of the user, in a folder that nobody else may write, are loaded: a library is code.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

from spart_blocks.errors import SpartWarning

TIMEOUT = 120.0
"""Seconds after which a compiler is given up."""
KEPT_FILES = 200
LARGE = 60_000
"""Characters of source above which less optimisation saves more time than it costs."""


@cache
def _compiler() -> tuple[str, ...] | None:
    """The command of the C compiler: $CC, cc, gcc, clang, or the ziglang wheel's."""
    if os.environ.get("SPART_COMPILER", "").lower() == "none":
        return None
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        path = shutil.which(name) if name else None
        if path:
            return (path,)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc")
    return None


def compiler_name() -> str | None:
    """The C compiler that would be used, or None where there is none.

    SPART_COMPILER=none in the environment switches compiling off.
    """
    command = _compiler()
    return None if command is None else " ".join(command[-2:]) if len(command) > 1 else command[0]


def _flags(source: str) -> list[str]:
    # -O3 takes minutes on long straight code, and was no faster; -ffast-math would remove
    # the tests for NaN.
    level = "-O1" if len(source) > LARGE else "-O2"
    native = "-mcpu=native" if "ziglang" in (_compiler() or ()) else "-march=native"
    return [level, native, "-fno-math-errno", "-fPIC", "-shared"]


@cache
def _processor() -> str:
    """What the machine code depends on: the processor's name and features."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return platform.processor() + platform.machine()
    return "\n".join(
        sorted({x for x in lines if x.startswith(("model name", "flags", "Features"))})
    )


@cache
def _version(command: tuple[str, ...]) -> str:
    out = subprocess.run(
        [*command, "--version"], capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    return out.stdout


def _folder() -> Path:
    """The cache folder, private to the user; a temporary one where it cannot be written."""
    given = os.environ.get("SPART_CACHE")
    if given:
        folder = Path(given)
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Caches" / "spart_blocks"
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA", tempfile.gettempdir())) / "spart_blocks"
    else:
        base = os.environ.get("XDG_CACHE_HOME")
        folder = (Path(base) if base else Path.home() / ".cache") / "spart_blocks"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK) and _private(folder):
            return folder
    except OSError:
        pass
    return _temporary_folder()


@cache
def _temporary_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="spart_blocks-"))


def _private(path: Path) -> bool:
    """Whether a file or folder is the user's, and nobody else may write it."""
    if not hasattr(os, "getuid"):
        return True
    status = path.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def shared_library(source: str) -> Path | None:
    """Compile C source to a shared library, or fetch it from the cache.

    None where there is no compiler, or, with one SpartWarning, where it fails.
    """
    command = _compiler()
    if command is None:
        return None
    try:
        flags = _flags(source)
        parts = (source, *command, _version(command), *flags, _processor())
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        folder = _folder()
        library, seal = folder / f"{key}.so", folder / f"{key}.sha256"
        if not _intact(library, seal):
            _compile(command, flags, source, library, seal)
            _prune(folder)
        else:
            os.utime(library)
        return library
    except (OSError, subprocess.SubprocessError) as error:
        warnings.warn(
            f"running without compiled code: {_reason(error)}", SpartWarning, stacklevel=2
        )
        return None


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _intact(library: Path, seal: Path) -> bool:
    """Whether a cached library is the user's and whole."""
    try:
        return _private(library) and seal.read_text("ascii") == _digest(library)
    except (OSError, UnicodeDecodeError):
        return False


def _compile(
    command: tuple[str, ...], flags: list[str], source: str, library: Path, seal: Path
) -> None:
    with tempfile.TemporaryDirectory(dir=library.parent, prefix="tmp-") as scratch:
        code, out, note = (Path(scratch) / name for name in ("code.c", "code.so", "seal"))
        code.write_text(source, "utf-8")
        subprocess.run(
            [*command, *flags, "-o", str(out), str(code), "-lm"],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=True,
        )
        out.chmod(0o700)
        note.write_text(_digest(out), "ascii")
        os.replace(out, library)
        os.replace(note, seal)


def _prune(folder: Path) -> None:
    """Delete the libraries that were not used for longest."""
    libraries = sorted(folder.glob("*.so"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in libraries[KEPT_FILES:]:
        old.unlink(missing_ok=True)
        old.with_suffix(".sha256").unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = [line for line in error.stderr.splitlines() if "error" in line] or [error.stderr]
        return f"{error.cmd[0]} failed: {lines[0][:300]}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"{error.cmd[0]} took longer than {TIMEOUT:g} s"
    return str(error)
