"""Libraries that another process compiles, for a process without a compiler.

The process without one asks for a library as it comes to need it: `LibraryWantedError` ends what
it was doing, and goes to the other process as a `Wanted`. That one compiles the source for its own
processor, where this fits the borrower's, and the borrower begins again with the library, whose
machine code, and thus every bit of a result, is that of the lender.

A borrower runs code that it was sent, and a lender compiles text that it was sent: both are to be
processes of one user, who sends his programs from one to the other as pickles anyway.
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
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.program.c.compiler import LENDER, processor, shared_library, system

_INSTRUCTIONS = re.compile(
    "(mmx|3dnow|s?sse|pni|avx|fma|f16c|xop|tbm|bmi|abm|lzcnt|popcnt|movbe|adx|cmov|v?aes|v?pclmul|"
    "sha|gfni|cx16|lahf)"
)
"""Flags of an x86 processor that name instructions of compiled programs; kernels list others."""


@dataclass(frozen=True)
class Machine:
    """Where a library runs. system: its kind and its C library; processor: its name; features:
    its instruction sets, where the system lists them."""

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
        """Why it cannot run what was compiled on another machine; None if it can."""
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
    """A library is to be borrowed before this can go on.

    No Exception, so that nothing on its way takes it for a failure of a run.
    """

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted


def lent(wanted: Wanted) -> bytes:
    """A library, compiled here; empty where the compiler fails, as it then does for this process
    too. Raises InputError where it would not run on the machine that asks."""
    machine, here = wanted.machine, Machine.here()
    lack = machine.lacks(here)
    if lack is not None:
        raise InputError(
            Fault(
                f"the worker on {machine.name} has no C compiler for compiled runs, and cannot "
                f"use the libraries of this process: {lack}",
                hint="install a compiler there: `pip install 'spart_blocks[compiler]'`",
            )
        )
    path = shared_library(wanted.source, wanted.flags)
    return b"" if path is None else path.read_bytes()


def received(libraries: Mapping[str, bytes]) -> None:
    """Keep libraries, by their keys. Raises InputError where they cannot be loaded."""
    with _LOCK:
        for key, contents in libraries.items():
            if key not in _HERE:
                _HERE[key] = _stored(key, contents) if contents else None


_LOCK = Lock()
_HERE: dict[str, Path | None] = {}
"""The libraries that this process has borrowed; None for one that no compiler made."""


def _stored(key: str, contents: bytes) -> Path:
    """A library as a file, in a folder that only this user can enter, of this process alone."""
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
    """Context in which libraries are borrowed. Raises LibraryWantedError for one that is not
    here."""
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
