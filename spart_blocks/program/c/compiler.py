"""Compiles C to shared libraries, and caches them.

The compiler is the first that works of: the environment's CC, cc, gcc, clang, the `ziglang`
package. SPART_COMPILER=none turns compilation off. A library is stored in the user's cache folder
(or in SPART_CACHE) under a hash of everything that affects it, and is reused without starting a
compiler.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

from spart_blocks.base.cache import (
    BUILD,
    REMEMBERED,
    keep,
    key_of,
    stored,
    temporary_folder,
    user_folder,
)
from spart_blocks.base.errors import Fault, InputError, SpartError, pip_install, warn
from spart_blocks.base.file_locks import lock

_logger = logging.getLogger(__name__)

TIMEOUT = 120.0  # s
FIRST_OF_ZIG = 3
"""Zig may take this many times longer: for its first program it compiles libraries of its own."""
LONG = 100_000
"""Number of lines from which a compilation is announced: gcc 12 takes half a minute for them."""
# Straight-line code gains nothing from more: runs of shipped diagrams take 0.93 to 1.04 of
# their time at -O3 (gcc 12, clang 14), and compiling takes a half to a third. The flags behind
# the level make gcc's code 5 to 15 % faster at no cost; clang says that it ignores the last two. By
# the last, what one side of a selection needs is not moved behind a branch: thousands of small
# blocks were jumped over, and the projection of a delta robot onto its loops took 2.8 times as
# long.
LEVEL = ("-O1", "-ftree-vectorize", "-fexpensive-optimizations", "-fno-tree-sink")

# Of /proc/cpuinfo, on x86, ARM, POWER and RISC-V.
_CPU_FIELDS = (
    *("vendor_id", "cpu family", "model", "model name", "flags", "features", "cpu", "isa"),
    *("cpu implementer", "cpu architecture", "cpu variant", "cpu part"),
)


LENDER: ContextVar[Callable[[str, Sequence[str]], Path | None] | None]
LENDER = ContextVar("LENDER", default=None)
"""A function (source, flags) that provides a library instead of a compiler; see borrowed.py."""


@dataclass(frozen=True)
class _Compiler:
    """A compiler. command: how it is started. files: its executables, whose modification times
    serve as a version.
    """

    command: tuple[str, ...]
    files: tuple[str, ...]
    zig: bool = False


class _CompileError(Exception):
    """Why a library could not be made."""


class NoCompilerError(InputError):
    """A compiler is needed and there is none."""


class CompilerError(SpartError):
    """The compiler rejected its input."""


def shared_library(source: str, extra: Sequence[str] = ()) -> Path | None:
    """The shared library of a C source, compiled now or from the cache.

    extra: flags in addition to those for the fastest code on this machine. Returns None without a
    compiler, and None after a SpartWarning if compilation failed or took longer than TIMEOUT.
    """
    try:
        return _library(source, None, extra)
    except (_CompileError, OSError) as error:
        warn(
            f"the C compiler {shlex.join(_compiler_in_use())} made no library, so the "
            f"program runs uncompiled, which is slower: {error}\n"
            "  SPART_COMPILER=none does not try, CC=... names another compiler"
        )
        return None


def compile_ahead(source: str) -> None:
    """Begin to compile a source in a thread, so that its library is in the cache when it is needed.

    Who asks for it meanwhile waits for the lock of its file; without a cache folder nothing is
    begun. A failure is reported to those who ask.
    """

    def work() -> None:
        with suppress(Exception):
            _library(source, None)

    if LENDER.get() is None and user_folder(told=False):
        Thread(target=work, name="spart compiler", daemon=True).start()


def strict_library(source: str, flags: Sequence[str]) -> Path:
    """The shared library of a C source, compiled with only these flags or from the cache; it runs
    on any machine of this kind.

    Raises CompilerError with the compiler's message, NoCompilerError if there is no compiler.
    """
    try:
        path = _library(source, tuple(flags))
    except (_CompileError, OSError) as error:
        text = f"the C compiler {shlex.join(_compiler_in_use())} made no library: {error}"
        raise CompilerError(text) from None
    if path is None:
        hint = f"install one, or `{pip_install('compiler')}`"
        raise NoCompilerError(Fault("there is no C compiler, which this needs", hint=hint))
    return path


def strict_loaded(source: str, flags: Sequence[str]) -> ctypes.CDLL:
    """The library of `strict_library`, loaded. Raises the same errors, and CompilerError if it
    cannot be loaded.
    """
    path = strict_library(source, flags)
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:  # a cache on a disk from which nothing may be run
        text = f"compiled code cannot be loaded: {error}; set SPART_CACHE to another folder"
        raise CompilerError(text) from None


WASM = ("-target", "wasm32-wasi", "-mexec-model=reactor", "-O2", "-ffp-contract=off", "-s")
"""Flags for WebAssembly. Without contraction results are those of lanes, which have none either."""


def wasm_module(source: str, exports: Sequence[str]) -> bytes:
    """A C source as a WebAssembly module with these exported functions, compiled by the `ziglang`
    package or from the cache. Nothing is imported by a module that does no input and output.

    Raises CompilerError with the compiler's message, NoCompilerError without that package.
    """
    zig = next((compiler for compiler in _compilers() if compiler.zig), None)
    if zig is None:
        text = "compiling for browsers needs the package ziglang, which is not there"
        if os.environ.get("SPART_COMPILER", "").strip().lower() == "none":
            text = "compiling for browsers is off: SPART_COMPILER is none"
        raise NoCompilerError(Fault(text, hint=pip_install("web")))
    flags = [*WASM, *(f"-Wl,--export={name}" for name in exports)]
    folder, key = user_folder(), _key(zig, flags, source)
    try:
        with _alone(folder, key):
            found = stored(folder, key) if folder else None
            return (found or _build(zig, flags, source, key, folder)).read_bytes()
    except (_CompileError, OSError) as error:
        raise CompilerError(f"the package ziglang made no WebAssembly: {error}") from None


def _library(source: str, given: tuple[str, ...] | None, extra: Sequence[str] = ()) -> Path | None:
    """Compile a source, or find it in the cache. given: flags; by default those for the fastest
    code on this machine.
    """
    lender = LENDER.get()
    if lender is not None and given is None:
        return lender(source, extra)
    compilers = _compilers()
    folder = user_folder() if compilers else None
    for compiler in compilers:
        flags = _flags(compiler) if given is None else [*given, *_plain(compiler)]
        flags += extra
        key = _key(compiler, flags, source)
        found = stored(folder, key) if folder else None
        if found:
            return found
        if _answers(compiler):
            with _alone(folder, key):
                found = stored(folder, key) if folder else None
                return found or _build(compiler, flags, source, key, folder)
    return None


def _compiler_in_use() -> tuple[str, ...]:
    return next(compiler.command for compiler in _compilers() if _answers(compiler))


def loaded_library(source: str, extra: Sequence[str] = ()) -> ctypes.CDLL | None:
    """The library of a C source, loaded. extra: further flags. None if it cannot be compiled, or,
    after a SpartWarning, if it cannot be loaded.
    """
    path = shared_library(source, extra)
    if path is None:
        return None
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:  # a cache on a disk from which nothing may be run
        text = f"running without compiled code: {error}; set SPART_CACHE to another folder"
        warn(text)
        return None


def compiler_name() -> str | None:
    """The first line of the compiler's version text; None without a compiler."""
    if LENDER.get() is not None:
        return "the compiler of another process"
    for compiler in _compilers():
        version = _answers(compiler)
        if version:
            return f"ziglang: {version}" if compiler.zig else version
    return None


# --- compilers ----------------------------------------------------------------------


def _compilers() -> Sequence[_Compiler]:
    """All compilers found, best first. Starts no process. The search is repeated if the environment
    has changed or a compiler found before is gone."""
    if os.environ.get("SPART_COMPILER", "").strip().lower() == "none":
        return ()
    folder = ""
    with suppress(OSError):  # the folder was removed, and nothing is found beside it
        folder = os.getcwd()
    where = os.environ.get("CC", ""), os.environ.get("PATH", ""), folder
    found = _looked_up(*where)
    if all(os.path.exists(name) for compiler in found for name in compiler.files[:1]):
        return found
    _looked_up.cache_clear()
    return _looked_up(*where)


@lru_cache(maxsize=8)
def _looked_up(cc: str, path: str, folder: str) -> tuple[_Compiler, ...]:
    """The compilers for these values of CC and PATH and this current folder. Cached, since the
    search takes a millisecond, a fifth of a short run.
    """
    named = cc.strip()
    commands = [[named] if shutil.which(named) else _words(named)] if named else []
    commands += [["cc"], ["gcc"], ["clang"]]
    found = []
    for first, *rest in filter(None, commands):
        program = shutil.which(first)
        if program:
            program = os.path.abspath(program)  # it will run in another folder
            others = [path for path in map(shutil.which, rest) if path]
            found.append(_Compiler((program, *rest), (program, *others)))
    zig = find_spec("ziglang")
    if zig and zig.submodule_search_locations and sys.executable:
        home = Path(next(iter(zig.submodule_search_locations)))
        program = str(home / ("zig.exe" if os.name == "nt" else "zig"))
        found.append(_Compiler((sys.executable, "-m", "ziglang", "cc"), (program,), zig=True))
    return tuple(found)


def _words(command: str) -> list[str]:
    """Split CC, which can contain arguments, as in 'ccache gcc', and spaces in its path, quoted or
    not.
    """
    words = _split(command)
    if words and not shutil.which(words[0]):
        for end in range(len(command) - 1, 0, -1):
            if command[end] == " " and shutil.which(command[:end]):
                return [command[:end], *_split(command[end:])]
    return words


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command, posix=os.name != "nt")
    except ValueError:  # an unclosed quote
        return []


@lru_cache(maxsize=8)
def _answers(compiler: _Compiler) -> str | None:
    """The first line of a compiler's version text; None if it does not work. Starts it once."""
    if sys.platform == "darwin" and compiler.command[0].startswith("/usr/bin/"):
        # Without developer tools these are stubs which open a window that offers them.
        if not _output("/usr/bin/xcode-select", "-p"):
            return None
    lines = (_output(*compiler.command, "--version") or "").splitlines()
    return next((line.strip() for line in lines if line.strip()), None)


def _output(*command: str) -> str | None:
    """What a command prints; None if it cannot run or fails."""
    try:
        run = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if run.returncode else run.stdout.decode(errors="replace")


def _flags(compiler: _Compiler) -> list[str]:
    """Flags for this machine. Not -ffast-math: it removes checks for NaN."""
    level = ("-O3",) if compiler.zig else LEVEL  # zig knows no levels between
    machine = platform.machine().lower()
    if compiler.zig or machine in ("arm64", "aarch64", "ppc64le"):
        native = ["-mcpu=native"]
    else:
        native = ["-march=native"] if machine in ("x86_64", "amd64", "i686", "x86") else []
    return [*level, *native, "-fno-math-errno", *_shared()]


def _plain(compiler: _Compiler) -> list[str]:
    """Flags for any machine of this kind; by default zig targets this machine's processor."""
    return [*_shared(), *(["-mcpu=baseline"] if compiler.zig else [])]


def _shared() -> list[str]:
    return ["-shared"] if sys.platform == "win32" else ["-fPIC", "-shared"]


# --- the key ------------------------------------------------------------------------


def _key(compiler: _Compiler, flags: list[str], source: str) -> str:
    """The hash of everything that determines a library."""
    versions = []
    for name in compiler.files:
        path = os.path.realpath(name)
        with suppress(OSError):
            status = os.stat(path)
            versions.append([path, status.st_size, status.st_mtime_ns])
    parts = [source, compiler.command, versions, flags, processor(), system()]
    return key_of(json.dumps(parts))


@lru_cache(maxsize=1)
def processor() -> str:
    """The processor and its instruction sets, for which libraries are compiled."""
    kept = []
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if not line.strip():
                break  # the next processor
            if line.partition(":")[0].strip().lower() in _CPU_FIELDS:
                kept.append(" ".join(line.split()))
    if kept:
        return "\n".join(kept)
    if sys.platform == "darwin":
        return _output("/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string") or ""
    else:
        return platform.processor()


def usual_lanes() -> int:
    """The number of doubles in a vector register of this processor."""
    asked = os.environ.get("SPART_LANES", "")
    if asked in ("1", "2", "4", "8"):
        return int(asked)
    features = processor().split()
    return 8 if "avx512f" in features else 4 if "avx2" in features else 2


def system() -> str:
    """Operating system, architecture, and version of the C library if known."""
    libc = None
    if sys.platform == "linux":
        with suppress(ValueError, OSError):  # where it is not GNU's
            libc = os.confstr("CS_GNU_LIBC_VERSION")
    return f"{sys.platform} {platform.machine()} {libc}"


# --- compiling ----------------------------------------------------------------------


@contextmanager
def _alone(folder: Path | None, key: str) -> Iterator[None]:
    """A context in which no other process compiles the same library, if the system has file locks.
    Many workers that start together need the same library.
    """
    if folder is None:
        yield
        return
    path = folder / f"{key}.lock"
    try:
        file = path.open("w")
    except OSError:
        yield
        return
    with file:
        with suppress(OSError):  # a file system without locks
            lock(file, wait=True)
        try:
            yield
        finally:
            with suppress(OSError):  # Windows, where others wait for it
                path.unlink(missing_ok=True)


def _build(
    compiler: _Compiler, flags: list[str], source: str, key: str, folder: Path | None
) -> Path:
    """Compile into the cache folder, or into a temporary one if that is not writable.

    A subfolder is used, which is removed in any case. A compiler that timed out is not tried again
    for a day.
    """
    build = None
    if folder:
        with suppress(OSError):
            build = Path(tempfile.mkdtemp(prefix=BUILD, dir=folder))
    if folder is None or build is None:
        folder = temporary_folder()
        found = stored(folder, key)
        if found:
            return found
        build = Path(tempfile.mkdtemp(prefix=BUILD, dir=folder))
    try:
        given_up = folder / f"{key}.timeout"
        if given_up.exists() and abs(time.time() - given_up.stat().st_mtime) < REMEMBERED:
            raise _CompileError(f"it took too long before; remove {given_up} to try again")
        _tell_size(source)
        try:
            made = _compile(compiler, flags, source, build)
        except subprocess.TimeoutExpired as error:
            given_up.touch()
            raise _CompileError(f"it was stopped after {error.timeout:g} s") from None
        try:
            return keep(made, folder, key)
        except OSError:  # something is in the way there
            folder = temporary_folder()
            return keep(Path(shutil.copy(made, folder)), folder, key)
    finally:
        shutil.rmtree(build, ignore_errors=True)


def _tell_size(source: str) -> None:
    """Log the size of a source that takes long to compile. It is no SpartWarning: nothing is wrong
    with the diagram, whose tests may take warnings for errors.
    """
    lines = source.count("\n")
    if lines > LONG:
        _logger.warning(
            "compiling %s lines of C (%.1f MB), which takes a while, %g s at most\n"
            "  Ctrl-C ends it; SPART_COMPILER=none runs without compiled code",
            *(f"{lines:,}", len(source) / 1e6, TIMEOUT),
        )


def _compile(compiler: _Compiler, flags: list[str], source: str, build: Path) -> Path:
    """Compile in the folder `build`. Returns the library. Raises _CompileError with the first
    lines of the compiler's output.
    """
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    made = build / f"program{suffix}"
    (build / "program.c").write_bytes(source.encode())
    libraries = [] if sys.platform == "win32" else ["-lm"]
    limit = TIMEOUT * (FIRST_OF_ZIG if compiler.zig else 1)
    command = [*compiler.command, *flags, "-o", made.name, "program.c", *libraries]
    # Its temporary files go where they are cleared away, also when it is killed.
    environment = {**os.environ, "TMPDIR": str(build), "TMP": str(build), "TEMP": str(build)}
    if compiler.zig:
        environment["ZIG_LOCAL_CACHE_DIR"] = str(build / "zig")
        environment.setdefault("ZIG_GLOBAL_CACHE_DIR", str(build.parent / "zig"))
    log = build / "log.txt"
    with log.open("wb") as file:
        code = _run(command, build, environment, file.fileno(), limit)
    if code or not made.is_file():
        lines = log.read_bytes().decode(errors="replace").splitlines()
        lines = [line.strip() for line in lines if line.strip()]
        errors = [line for line in lines if "error" in line.lower()] or lines
        raise _CompileError("\n  ".join([f"exit code {code}", *errors[:3]]))
    return made


def _run(
    command: list[str], folder: Path, environment: dict[str, str], output: int, limit: float
) -> int:
    """Run a command and return its exit code. After limit [s], on Ctrl-C, and when this process
    ends in any way, it is killed with all that it started; it has its own session for this.
    """
    guarded = sys.platform != "win32"
    process = subprocess.Popen(
        ["/bin/sh", "-c", _GUARDED, "sh", *command] if guarded else command,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE if guarded else subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.wait(limit)
    except BaseException:
        if sys.platform == "win32":
            process.kill()
        else:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    finally:
        if process.stdin:
            process.stdin.close()


_GUARDED = """\
exec 3<&0
(read -r end <&3; kill -9 0) &
guard=$!
"$@" </dev/null 3<&-
code=$?
kill -9 $guard
exit $code
"""
"""A shell that runs a command. Its input is a pipe from this process, which the system closes when
this process ends: then the whole session is killed. A signal for the death of a parent would reach
the compiler, but not the processes that it starts.
"""
