"""Distributes runs over workers, in chunks of about a second.

The outcome of a run depends neither on its chunk nor on its worker. If a worker dies, its chunk is
repeated elsewhere. If its workers die repeatedly, the chunk is split, until the run that kills
them is found; this run is recorded as failed.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from spart_blocks.base.errors import Fault, InputError, RunError, brief
from spart_blocks.program.c.borrowed import Wanted, lent
from spart_blocks.sweeps.run.chunk_workers import (
    AHEAD,
    ChunkWorkers,
    ExecutorWorkers,
)
from spart_blocks.sweeps.run.chunks import Answer, Chunk, Runner, Shared, Stop
from spart_blocks.sweeps.run.cluster import DaskWorkers
from spart_blocks.sweeps.run.one_by_one import failed
from spart_blocks.sweeps.work import AnyWork, Done

SECONDS = 1.0
"""Intended duration of a chunk [s]."""
WORTH = 3.0
"""Processes are started if the remaining runs would take longer than this in the current process
[s].
"""
ENOUGH = 20
"""Number of runs after which their mean time is representative, even if it includes compilation."""
GROWTH = 4
"""Largest growth of a chunk's number of runs, relative to the largest chunk so far."""
PERIOD = 0.2
"""Interval [s] at which `stop` is called."""
TRIES, PARTS = 2, 8
"""Number of workers that may die during a chunk before it is split, and the number of parts."""


def spread(
    work: AnyWork,
    runner: Runner,
    *,
    workers: int | None = None,
    executor: Any = None,
    stop: Stop | None = None,
) -> Iterator[Done]:
    """Execute the runs of a work on workers. Yields outcomes in parts, in any order.

    runner: executes the runs of a part in its process; it also takes `stop`. workers: number of
    processes, 1 for the current one; by default the number of processors if starting them is
    worthwhile. executor: where to run instead, as `workers_for` takes it. stop: is called from time
    to time; no more runs start once it returns True.

    An interrupt (Ctrl-C) ends the processes at once, and is raised after all finished chunks have
    been yielded. Raises InputError if no run could start.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers is the number of processes, not {workers}")
    if executor is None and workers == 1:
        yield from runner(work, stop)
        return
    if executor is None and workers is None:
        work = yield from _first_here(work, runner, stop)
    if len(work.runs) and not (stop is not None and stop()):
        yield from _Distribution(work, runner, workers_for(executor, workers)).execute(stop)


def _first_here(work: AnyWork, runner: Runner, stop: Stop | None) -> Generator[Done, None, AnyWork]:
    """Execute the first runs in this process, or all of them if starting processes is not
    worthwhile. Returns the work with the remaining runs.
    """
    begun, first = time.monotonic(), True
    with closing(runner(work, stop)) as parts:
        for done in parts:
            yield done
            work = work.part(slice(len(done.runs), None))
            taken, begun = time.monotonic() - begun, time.monotonic()
            compiling, first = first and len(done.runs) < ENOUGH, False
            if compiling:  # the time is no measure of the others
                continue
            if taken / len(done.runs) * len(work.runs) > WORTH and (os.cpu_count() or 1) > 1:
                break
    return work


def workers_for(executor: Any, workers: int | None) -> ChunkWorkers:
    """The workers for an executor: None for our own processes, an Executor, a client of Dask, or
    the address of its scheduler.
    """
    if executor is None or isinstance(executor, Executor):
        return ExecutorWorkers(executor, workers)
    if isinstance(executor, str) or type(executor).__module__.startswith("distributed"):
        return DaskWorkers(executor)
    hint = "give an Executor of concurrent.futures, a Client of Dask, or a scheduler's address"
    raise InputError(Fault(f"runs cannot be done by {brief(executor)}", hint=hint))


@dataclass(frozen=True)
class _Range:
    """Runs first to last - 1 of the work. ended: number of workers that died while they executed
    them.
    """

    first: int
    last: int
    ended: int = 0

    def __len__(self) -> int:
        return self.last - self.first

    def split(self, count: int) -> list[_Range]:
        """Parts of about equal size."""
        size = -(-len(self) // count)
        starts = range(self.first, self.last, size)
        return [replace(self, first=k, last=min(k + size, self.last)) for k in starts]


class _Distribution:
    """The state of a distributed work: which chunks are in progress, and which runs remain."""

    def __init__(self, work: AnyWork, runner: Runner, workers: ChunkWorkers) -> None:
        self.work, self.workers = work, workers
        self.shared = Shared.of(work, runner)
        self.again: deque[_Range] = deque()
        """Runs to be done again."""
        self.next = 0
        """The first run that was never in a chunk."""
        self.in_progress: dict[Future[Answer], _Range] = {}
        self.introduced = 0
        """Chunks sent with the shared part. The first ones bring it to each worker."""
        self.lent: dict[str, bytes] = {}
        """Libraries for workers without a compiler, by key."""
        self.largest, self.seconds, self.counted = 0, 0.0, 0
        """The largest chunk, the time of all, and their runs."""

    def execute(self, stop: Stop | None) -> Iterator[Done]:
        """Execute the work; yields the outcomes of finished chunks."""
        whole = False
        try:
            while self.again or self.in_progress or self.next < len(self.work.runs):
                if stop is not None and stop():
                    return
                self._send()
                wait(self.in_progress, timeout=PERIOD, return_when=FIRST_COMPLETED)
                yield from self._answered()
                if self.workers.lost():
                    self._reconnect()
            whole = True
        except KeyboardInterrupt:
            yield from self._answered()
            raise
        finally:
            self.workers.close(at_once=not whole)

    # --- chunks to workers -------------------------------------------------------------

    def _send(self) -> None:
        """Submit chunks until all workers have enough."""
        workers = self.workers.count()
        while len(self.in_progress) < AHEAD * workers and not self._alone():
            if self.again:
                if self._is_alone(self.again[0]) and self.in_progress:
                    return
                self._submit(self.again.popleft(), with_shared=False)
            elif self.next < len(self.work.runs):
                some = _Range(self.next, min(self.next + self._size(workers), len(self.work.runs)))
                self.next = some.last
                self._submit(some, with_shared=self.introduced < workers)
            else:
                return

    def _alone(self) -> bool:
        """Whether a run is in progress that must be the only one."""
        return any(self._is_alone(some) for some in self.in_progress.values())

    def _is_alone(self, some: _Range) -> bool:
        """Whether these runs must be executed while no others are. This is the last try before a
        run is recorded as failed, since other runs may have killed its workers.
        """
        return self.workers.suspects and len(some) == 1 and some.ended >= TRIES

    def _size(self, workers: int) -> int:
        """The number of runs of the next chunk, from the mean time of earlier runs. Chunks get
        smaller towards the end, so that all workers finish at about the same time.
        """
        if not self.counted:
            return 1
        each = max(self.seconds / self.counted, 1e-9)
        left = len(self.work.runs) - self.next
        share = max(left / (2 * workers), 0.1 * SECONDS / each)
        size = int(min(SECONDS / each, share, GROWTH * self.largest))
        return max(size, 1)

    def _submit(self, some: _Range, *, with_shared: bool, wanted: Wanted | None = None) -> None:
        """Submit a chunk. wanted: a library that the worker lacks. All libraries sent so far go
        with it, since the worker will need them too.
        """
        self.introduced += with_shared
        part = self.work.part(slice(some.first, some.last))
        chunk = Chunk.of(self.shared, part, with_shared=with_shared)
        if wanted is not None:
            if wanted.key not in self.lent:
                self.lent[wanted.key] = lent(wanted)
            chunk = replace(chunk, libraries=dict(self.lent))
        self.in_progress[self.workers.submit(chunk)] = some

    def _reconnect(self) -> None:
        """Connect to the workers again, and repeat all chunks that were in progress."""
        self.again.extend(self.in_progress.values())
        self.in_progress.clear()
        self.introduced = 0
        self.workers.reconnect()

    # --- answers -----------------------------------------------------------------------

    def _answered(self) -> Iterator[Done]:
        """The outcomes of the chunks that have been answered."""
        for future in [future for future in self.in_progress if future.done()]:
            some = self.in_progress.pop(future)
            try:
                answer = future.result()
            except (Exception, CancelledError) as error:
                yield from self._unanswered(some, error)
                continue
            if answer.done is None:
                self._submit(some, with_shared=True, wanted=answer.wanted)
                continue
            self.seconds += answer.seconds
            self.counted += len(some)
            self.largest = max(self.largest, len(some))
            yield answer.done

    def _unanswered(self, some: _Range, error: BaseException) -> Iterator[Done]:
        """Handle a chunk that raised an error: repeat it, split it, or record its only run as
        failed. Raises the error if no worker died.
        """
        match self.workers.cause(error):
            case "an error":
                raise error
            case "the connection ended":
                self.again.append(some)
            case "the worker ended":
                ended = TRIES if self.workers.suspects else 1
                yield from self._suspected(replace(some, ended=some.ended + ended), error)

    def _suspected(self, some: _Range, error: BaseException) -> Iterator[Done]:
        """Repeat or split a chunk during which workers died, or record its only run as failed."""
        if some.ended < TRIES or (len(some) == 1 and some.ended <= TRIES):
            self.again.append(some)
        elif len(some) > 1:
            ended = 0 if self.workers.suspects else TRIES - 1
            self.again.extend(replace(part, ended=ended) for part in some.split(PARTS))
        else:
            text = "its workers ended without an answer"
            if isinstance(error, RunError):
                text = f"{error.message}, {some.ended} times"
            yield failed(self.work.part(slice(some.first, some.last)), text)
