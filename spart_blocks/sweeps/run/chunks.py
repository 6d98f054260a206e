"""Chunks of runs: the message to a worker process, its execution there, and the answer.

What all runs of a work have in common is sent once to each worker, and is identified by the hash
of its pickle. A chunk contains this hash and the values that differ between runs. A worker that
does not know the hash answers so, and the shared part is sent to it; likewise a worker without a
compiler gets the compiled libraries that it lacks. Chunks are pickles and libraries are machine
code: whoever sends them can execute anything in the worker, so use only workers of your own.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.metadata import version
from typing import Any, Literal

import numpy as np

from spart_blocks.base.errors import Fault, InputError, RunError, told
from spart_blocks.measures.work import AnyWork, Done, FileWork, Work, joined
from spart_blocks.program.c.borrowed import LibraryWantedError, Wanted, borrowing, received
from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.workers.executor import Processes
from spart_blocks.workers.process import WorkerEndedError

WorkRunner = Callable[[Any], Generator[Done, None, None]]
"""A module-level function that executes the runs of a work in its process, in their order."""

_VARYING = {Work: ("runs", "p"), FileWork: ("runs", "overrides", "start")}


@dataclass(frozen=True)
class Shared:
    """What all chunks of a work have in common.

    key: hash of the pickle. made_with: versions that must be the same in a worker, so that its
    runs give the same bits.
    """

    key: str
    pickled: bytes
    made_with: Mapping[str, str]

    @staticmethod
    def of(work: AnyWork, runner: WorkRunner) -> Shared:
        """The shared part of a work. Raises InputError if the diagram cannot be pickled."""
        try:
            pickled = pickle.dumps((work.part(np.arange(0)), runner))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            text = f"this diagram cannot be sent to another process: {error}"
            raise InputError(Fault(text, hint="give workers=1")) from None
        key = hashlib.sha256(pickled).hexdigest()
        return Shared(key, pickled, _made_with())


@dataclass(frozen=True)
class Chunk:
    """A chunk of runs.

    varying: the fields of the work that differ between its runs. pickled: the shared part; None if
    the worker is expected to have it. libraries: compiled libraries by key, which the worker may
    lack.
    """

    key: str
    made_with: Mapping[str, str]
    varying: Mapping[str, Any]
    pickled: bytes | None = None
    libraries: Mapping[str, bytes] = field(default_factory=dict)

    @staticmethod
    def of(shared: Shared, part: AnyWork, *, with_shared: bool) -> Chunk:
        """A chunk with the runs of `part`."""
        varying = {name: getattr(part, name) for name in _VARYING[type(part)]}
        return Chunk(shared.key, shared.made_with, varying, shared.pickled if with_shared else None)

    @property
    def compiles(self) -> bool:
        """Whether the sender runs compiled code for these runs."""
        return self.made_with[_COMPILED] == "yes"


@dataclass(frozen=True)
class Answer:
    """The answer to a chunk.

    done: the outcomes of the runs; None if the worker lacks the shared part or a library. seconds:
    the time that they took. wanted: the library that the worker lacks.
    """

    done: Done | None
    seconds: float = 0.0
    wanted: Wanted | None = None


def do(chunk: Chunk) -> Answer:
    """Execute the runs of a chunk, in a worker. Raises InputError if none could start."""
    if chunk.key not in _KNOWN:
        if chunk.pickled is None:
            return Answer(None)
        _check(chunk.made_with)
        while len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.pop(next(iter(_KNOWN)), None)
        _KNOWN[chunk.key] = pickle.loads(chunk.pickled)
    work, runner = _KNOWN[chunk.key]
    received(chunk.libraries)
    begun = time.perf_counter()
    try:
        with borrowing() if chunk.compiles and not compiler_name() else nullcontext():
            parts = list(runner(replace(work, **chunk.varying)))
    except LibraryWantedError as error:
        return Answer(None, wanted=error.wanted)
    return Answer(joined(parts), time.perf_counter() - begun)


_KNOWN: dict[str, tuple[AnyWork, WorkRunner]] = {}
_MOST_KNOWN = 4


def _check(wanted: Mapping[str, str]) -> None:
    """Raise InputError if the versions in this worker would give results that differ in their last
    bits.
    """
    here = _made_with()
    if wanted[_COMPILED] == "yes":  # what a worker cannot compile it borrows
        here[_COMPILED] = "yes"
    faults = [
        Fault(
            f"the worker on {platform.node()} has {name} {here[name]}, this process has {value}",
            hint="runs would differ in their last bits: give all the same",
        )
        for name, value in wanted.items()
        if here[name] != value
    ]
    if faults:
        raise InputError(faults)


def _made_with() -> dict[str, str]:
    return {**_versions(), _COMPILED: "yes" if compiler_name() else "no"}


_COMPILED = "compiled runs:"


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    return {name: version(name) for name in ("spart_blocks", "casadi", "numpy", "scipy")}


# --- workers that execute chunks ------------------------------------------------------------------
# Workers that execute chunks of runs: our own processes, or an executor of
# `concurrent.futures`.


Cause = Literal["the worker ended", "the connection ended", "an error"]

AHEAD = 2
"""Number of submitted chunks per worker, so that no worker has to wait."""


class ChunkWorkers(ABC):
    """Executes several chunks at once.

    suspects: when a worker dies, whether chunks that were only waiting for it are counted as a
    possible cause too. A chunk is then blamed only after several workers have died, not after one.
    """

    suspects = False

    @abstractmethod
    def count(self) -> int:
        """The number of chunks that are executed at once; it may change."""

    @abstractmethod
    def submit(self, chunk: Chunk) -> Future[Answer]:
        """Start the execution of a chunk."""

    @abstractmethod
    def cause(self, error: BaseException) -> Cause:
        """Why a chunk raised `error` instead of giving an answer."""

    def lost(self) -> bool:
        """Whether the connection to the workers is lost, and with it all chunks in progress."""
        return False

    def reconnect(self) -> None:
        """Connect to the workers again. Raises RunError if this is not possible."""
        raise RunError("the executor is broken, and runs have not ended")

    @abstractmethod
    def close(self, *, at_once: bool) -> None:
        """Release the workers. at_once: without waiting for chunks in progress."""


class ExecutorWorkers(ChunkWorkers):
    """Chunks in an executor of the caller, which is not shut down; without one, in our own
    processes.
    """

    def __init__(self, executor: Executor | None, workers: int | None) -> None:
        self.own = executor is None
        self.executor = executor or Processes(workers or os.cpu_count() or 1)
        known = getattr(self.executor, "_max_workers", None)
        self._workers = workers or known or os.cpu_count() or 1
        self._in_progress: set[Future[Answer]] = set()

    def count(self) -> int:
        return self._workers

    def submit(self, chunk: Chunk) -> Future[Answer]:
        try:
            future = self.executor.submit(do, chunk)
        except RuntimeError as error:  # broken or shut down
            raise RunError(f"the executor takes no more chunks: {told(error)}") from error
        self._in_progress.add(future)
        future.add_done_callback(self._in_progress.discard)
        return future

    def cause(self, error: BaseException) -> Cause:
        if isinstance(error, WorkerEndedError):
            return "the worker ended"
        broken = isinstance(error, BrokenExecutor | CancelledError)
        return "the connection ended" if broken else "an error"

    def close(self, *, at_once: bool) -> None:
        if self.own and isinstance(self.executor, Processes):
            self.executor.end() if at_once else self.executor.shutdown()
            return
        for future in list(self._in_progress):
            future.cancel()
