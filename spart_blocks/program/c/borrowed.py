"""Compiled libraries from another process, for a process without a compiler.

When the process without a compiler needs a library, `LibraryWantedError` ends what it was doing,
and a `Wanted` is sent to the other process. That process compiles the source for its own
processor, if the borrower can run this code, and the borrower starts again with the library. Since
the machine code is the same, every bit of a result is too.

A borrower executes code that it receives, and a lender compiles text that it receives. Both must
be processes of one user, who sends programs between them as pickles anyway.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from spart_blocks.base.cache import keep, key_of, temporary_folder
from spart_blocks.base.errors import Fault, InputError, pip_install
from spart_blocks.program.c.compiler import LENDER, processor, shared_library, system

_INSTRUCTIONS = re.compile(
    "(mmx|3dnow|s?sse|pni|avx|fma|f16c|xop|tbm|bmi|abm|lzcnt|popcnt|movbe|adx|cmov|v?aes|v?pclmul|"
    "sha|gfni|cx16|lahf)"
)
"""Flags of an x86 processor that are instruction sets used by compiled programs; kernels list
other flags too.
"""


@dataclass(frozen=True)
class Machine:
    """A machine that runs a library. system: operating system and C library. processor: its name.
    features: its instruction sets, if the system lists them.
    """

    name: str
    system: str
    processor: str
    features: frozenset[str] = frozenset()

    @staticmethod
    def here() -> Machine:
        """This machine."""
        text = processor()
        lines = (line.partition(":") for line in text.splitlines())
        words = {
            word
            for name, _, words in lines
            for word in words.split()
            if name.strip().lower() in ("features", "isa")
            or (name.strip().lower() == "flags" and _INSTRUCTIONS.match(word))
        }
        return Machine(platform.node(), system(), text, frozenset(words))

    def lacks(self, other: Machine) -> str | None:
        """Why this machine cannot run code that was compiled on another; None if it can."""
        if self.system != other.system:
            return f"it has {self.system}, and not {other.system}"
        if not other.features:
            return None if self.processor == other.processor else "it has another processor"
        missing = sorted(other.features - self.features)
        return f"its processor has no {', '.join(missing[:3])}" if missing else None


@dataclass(frozen=True)
class Wanted:
    """A library that a machine lacks."""

    source: str
    flags: tuple[str, ...]
    machine: Machine

    @property
    def key(self) -> str:
        return _key(self.source, self.flags)


class LibraryWantedError(BaseException):
    """A library must be borrowed before the work can continue.

    This is not an Exception, so that no handler takes it for a failure of a run.
    """

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted


def lent(wanted: Wanted) -> bytes:
    """Compile a library for another machine. Returns its contents, which are empty if the compiler
    fails, as it then would for this process. Raises InputError if the other machine could not run
    it.
    """
    machine, here = wanted.machine, Machine.here()
    lack = machine.lacks(here)
    if lack is not None:
        raise InputError(
            Fault(
                f"the worker on {machine.name} has no C compiler for compiled runs, and cannot "
                f"use the libraries of this process: {lack}",
                hint=f"install a compiler there: `{pip_install('compiler')}`",
            )
        )
    path = shared_library(wanted.source, wanted.flags)
    return b"" if path is None else path.read_bytes()


def received(libraries: Mapping[str, bytes]) -> None:
    """Store received libraries, by key. Raises InputError if one cannot be loaded."""
    with _LOCK:
        for key, contents in libraries.items():
            if key not in _HERE:
                _HERE[key] = _stored(key, contents) if contents else None


_LOCK = Lock()
_HERE: dict[str, Path | None] = {}
"""The libraries that this process has borrowed; None for one that could not be compiled."""


def _stored(key: str, contents: bytes) -> Path:
    """Store a library as a file, in a folder that only this user can access and only this process
    uses.
    """
    folder = temporary_folder()
    made = folder / f"{key}.{os.getpid()}.so"
    made.write_bytes(contents)
    path = keep(made, folder, key)
    try:
        ctypes.CDLL(str(path))
    except OSError as error:  # on a disk from which nothing may be run
        text = f"a compiled library cannot be loaded on {platform.node()}: {error}"
        raise InputError(Fault(text, hint="set TMPDIR to another folder there")) from None
    return path


@contextmanager
def borrowing() -> Iterator[None]:
    """A context in which libraries are borrowed. Raises LibraryWantedError for one that was not
    received yet.
    """
    before = LENDER.set(_borrowed)
    try:
        yield
    finally:
        LENDER.reset(before)


def _borrowed(source: str, flags: Sequence[str]) -> Path | None:
    key = _key(source, flags)
    if key not in _HERE:
        raise LibraryWantedError(Wanted(source, tuple(flags), Machine.here()))
    return _HERE[key]


def _key(source: str, flags: Sequence[str]) -> str:
    return key_of(json.dumps([source, *flags]))
