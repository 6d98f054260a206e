"""Runs spread over workers in chunks of about a second.

What comes of a run depends neither on its chunk nor on its worker. A chunk whose worker ends is
done again elsewhere; if its workers end again and again, it is split, and the run that ends them is
recorded as failed.
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
    ProcessWorkers,
)
from spart_blocks.sweeps.run.chunks import Answer, AnyWork, Chunk, Runner, Shared, Stop
from spart_blocks.sweeps.run.failed_runs import failed
from spart_blocks.sweeps.work import Done

SECONDS = 1.0
"""Duration of a chunk [s]."""
WORTH = 3.0
"""Duration of the remaining runs in this process [s] from which on processes are started."""
ENOUGH = 20
"""Number of runs whose time tells that of others although the library may have been compiled."""
GROWTH = 4
"""Factor by which a chunk may have more runs than the largest so far."""
PERIOD = 0.2
"""Time [s] between two questions whether to stop."""
TRIES, PARTS = 2, 8
"""Number of workers that may end during a chunk before it is split, and into how many parts."""


def spread(
    work: AnyWork,
    runner: Runner,
    *,
    workers: int | None = None,
    executor: Any = None,
    stop: Stop | None = None,
) -> Iterator[Done]:
    """The runs of a work, in parts, in any order.

    runner: does the runs of a part in its process; it takes `stop` too. workers: number of
    processes, 1 for this one; by default as many as there are processors, if they are worth their
    start. executor: where to run instead, as `crew_of` takes it. stop: asked now and then; no more
    runs begin once it is true. An interrupt (Ctrl-C) ends the processes at once, and is raised
    after all chunks that had ended are given. Raises InputError if no run could begin.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers is the number of processes, not {workers}")
    if executor is None and workers == 1:
        yield from runner(work, stop)
        return
    if executor is None and workers is None:
        work = yield from _first_here(work, runner, stop)
    if len(work.runs) and not (stop is not None and stop()):
        yield from _Spreading(work, runner, crew_of(executor, workers)).go(stop)


def _first_here(work: AnyWork, runner: Runner, stop: Stop | None) -> Generator[Done, None, AnyWork]:
    """Do the first runs in this process, or all where processes are not worth their start. Returns
    the others."""
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


def crew_of(executor: Any, workers: int | None) -> ChunkWorkers:
    """The crew of an executor: None for our own processes, an Executor, a client of Dask, or the
    address of its scheduler."""
    if executor is None:
        return ProcessWorkers(workers or os.cpu_count() or 1)
    if isinstance(executor, Executor):
        return ExecutorWorkers(executor, workers)
    if isinstance(executor, str) or type(executor).__module__.startswith("distributed"):
        from spart_blocks.sweeps.run.cluster import DaskWorkers

        return DaskWorkers(executor)
    hint = "give an Executor of concurrent.futures, a Client of Dask, or a scheduler's address"
    raise InputError(Fault(f"runs cannot be done by {brief(executor)}", hint=hint))


@dataclass(frozen=True)
class _Range:
    """Runs first to last - 1 of the work. ended: number of workers that have ended during them."""

    first: int
    last: int
    ended: int = 0

    def __len__(self) -> int:
        return self.last - self.first

    def split(self, count: int) -> list[_Range]:
        """About equal parts."""
        size = -(-len(self) // count)
        starts = range(self.first, self.last, size)
        return [replace(self, first=k, last=min(k + size, self.last)) for k in starts]


class _Spreading:
    """The chunks of a work under way."""

    def __init__(self, work: AnyWork, runner: Runner, crew: ChunkWorkers) -> None:
        self.work, self.crew = work, crew
        self.shared = Shared.of(work, runner)
        self.again: deque[_Range] = deque()
        """Runs to be done again."""
        self.next = 0
        """The first run that was never in a chunk."""
        self.under_way: dict[Future[Answer], _Range] = {}
        self.introduced = 0
        """Chunks sent with the shared part. The first ones bring it to each worker."""
        self.lent: dict[str, bytes] = {}
        """Libraries for workers without a compiler, by key."""
        self.largest, self.seconds, self.counted = 0, 0.0, 0
        """The largest chunk, the time of all, and their runs."""

    def go(self, stop: Stop | None) -> Iterator[Done]:
        """Do the work."""
        whole = False
        try:
            while self.again or self.under_way or self.next < len(self.work.runs):
                if stop is not None and stop():
                    return
                self._send()
                wait(self.under_way, timeout=PERIOD, return_when=FIRST_COMPLETED)
                yield from self._ended()
                if self.crew.lost():
                    self._reconnect()
            whole = True
        except KeyboardInterrupt:
            yield from self._ended()
            raise
        finally:
            self.crew.close(at_once=not whole)

    # --- chunks to workers -------------------------------------------------------------

    def _send(self) -> None:
        """Send chunks until all workers have some ahead."""
        workers = self.crew.workers()
        while len(self.under_way) < AHEAD * workers and not self._alone():
            if self.again:
                if self._is_alone(self.again[0]) and self.under_way:
                    return
                self._submit(self.again.popleft(), with_shared=False)
            elif self.next < len(self.work.runs):
                some = _Range(self.next, min(self.next + self._size(workers), len(self.work.runs)))
                self.next = some.last
                self._submit(some, with_shared=self.introduced < workers)
            else:
                return

    def _alone(self) -> bool:
        """Whether a run is under way that must be alone."""
        return any(self._is_alone(some) for some in self.under_way.values())

    def _is_alone(self, some: _Range) -> bool:
        """Whether these runs are done alone before they are recorded as failed, as others may have
        ended their workers."""
        return self.crew.suspects and len(some) == 1 and some.ended >= TRIES

    def _size(self, workers: int) -> int:
        """The number of runs of the next chunk, by the time that others took; towards the end less,
        so that all workers end at about the same time."""
        if not self.counted:
            return 1
        each = max(self.seconds / self.counted, 1e-9)
        left = len(self.work.runs) - self.next
        share = max(left / (2 * workers), 0.1 * SECONDS / each)
        size = int(min(SECONDS / each, share, GROWTH * self.largest))
        return max(size, 1)

    def _submit(self, some: _Range, *, with_shared: bool, wanted: Wanted | None = None) -> None:
        """wanted: a library that a worker lacks; it gets it with all others lent so far, which it
        is going to want."""
        self.introduced += with_shared
        part = self.work.part(slice(some.first, some.last))
        chunk = Chunk.of(self.shared, part, with_shared=with_shared)
        if wanted is not None:
            if wanted.key not in self.lent:
                self.lent[wanted.key] = lent(wanted)
            chunk = replace(chunk, libraries=dict(self.lent))
        self.under_way[self.crew.submit(chunk)] = some

    def _reconnect(self) -> None:
        """Connect to the workers again, and do again all that was under way."""
        self.again.extend(self.under_way.values())
        self.under_way.clear()
        self.introduced = 0
        self.crew.reconnect()

    # --- answers -----------------------------------------------------------------------

    def _ended(self) -> Iterator[Done]:
        """The runs of the chunks that have been answered."""
        for future in [future for future in self.under_way if future.done()]:
            some = self.under_way.pop(future)
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
        """Do runs again, in parts, or record one as failed. Raises the error if it is no worker's
        end."""
        match self.crew.cause(error):
            case "an error":
                raise error
            case "the connection ended":
                self.again.append(some)
            case "the worker ended":
                ended = TRIES if self.crew.suspects else 1
                yield from self._suspected(replace(some, ended=some.ended + ended), error)

    def _suspected(self, some: _Range, error: BaseException) -> Iterator[Done]:
        """Do runs again during which workers have ended."""
        if some.ended < TRIES or (len(some) == 1 and some.ended <= TRIES):
            self.again.append(some)
        elif len(some) > 1:
            ended = 0 if self.crew.suspects else TRIES - 1
            self.again.extend(replace(part, ended=ended) for part in some.split(PARTS))
        else:
            text = "its workers ended without an answer"
            if isinstance(error, RunError):
                text = f"{error.message}, {some.ended} times"
            yield failed(self.work.part(slice(some.first, some.last)), text)
