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
from dataclasses import dataclass, field, replace
from typing import Any, Self

from spart_blocks.base.errors import Fault, InputError, RunError, brief, warn
from spart_blocks.measures.work import AnyWork, Done, Work
from spart_blocks.program.c.borrowed import Wanted, lent
from spart_blocks.sweeps.run import lanes
from spart_blocks.sweeps.run.chunks import (
    AHEAD,
    Answer,
    Chunk,
    ChunkWorkers,
    ExecutorWorkers,
    Shared,
    WorkRunner,
)
from spart_blocks.sweeps.run.cluster import DaskWorkers
from spart_blocks.sweeps.run.one_by_one import each_run, failed
from spart_blocks.sweeps.run.with_derivatives import with_derivatives
from spart_blocks.workers.executor import Processes

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
"""Longest wait [s] before the workers are counted, and their connection checked, again."""
TRIES, PARTS = 2, 8
"""Number of workers that may die during a chunk before it is split, and the number of parts."""


def spread(
    work: AnyWork,
    runner: WorkRunner,
    *,
    workers: int | None = None,
    executor: Any = None,
) -> Iterator[Done]:
    """Execute the runs of a work on workers. Yields outcomes in parts, in any order.

    runner: executes the runs of a part in its process. workers: number of
    processes, 1 for the current one; by default the number of processors if starting them is
    worthwhile. executor: where to run instead, as `workers_for` takes it.

    An interrupt (Ctrl-C) ends the processes at once, and is raised after all finished chunks have
    been yielded. Raises InputError if no run could start.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers is the number of processes, not {workers}")
    if executor is None and workers == 1:
        yield from runner(work)
        return
    if executor is None and workers is None:
        work = yield from _first_here(work, runner)
    if len(work.runs):
        yield from _Distribution(work, runner, workers_for(executor, workers)).execute()


def _first_here(work: AnyWork, runner: WorkRunner) -> Generator[Done, None, AnyWork]:
    """Execute the first runs in this process, or all of them if starting processes is not
    worthwhile. Returns the work with the remaining runs.
    """
    begun, first = time.monotonic(), True
    with closing(runner(work)) as parts:
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

    def __init__(self, work: AnyWork, runner: WorkRunner, workers: ChunkWorkers) -> None:
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

    def execute(self) -> Iterator[Done]:
        """Execute the work; yields the outcomes of finished chunks."""
        whole = False
        try:
            while self.again or self.in_progress or self.next < len(self.work.runs):
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


# --- the fastest runner of a work -----------------------------------------------------------------


COST = "about ten times as long"
"""How much longer runs take one by one than in lanes; for the message."""


@dataclass
class Runner:
    """Executes works, each with the fastest possible runner. The choice depends on the runs alone,
    not on earlier works.

    workers: number of threads of the lanes, or of processes; by default one for each processor.
    executor: where to run instead, as `spread` takes it. device: None for the processor, or
    "cuda". precision: "double", or "float" on a card.
    """

    workers: int | None = None
    executor: Any = None
    device: str | None = None
    precision: str = "double"
    _warned: set[str] = field(default_factory=set, init=False)
    _processes: Processes | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.device not in (None, "cuda"):
            hint = "device is 'cuda', or left out for the processors"
            raise InputError(Fault(f"there is no device {self.device!r}", hint=hint))
        if self.precision not in ("double", "float"):
            hint = "precision is 'double' or 'float'"
            raise InputError(Fault(f"there is no precision {brief(self.precision)}", hint=hint))
        if self.precision == "float" and self.device is None:
            hint = "give device='cuda' (--device cuda) too, or leave out precision"
            text = "runs in single precision are for a graphics card: processors do them in double"
            raise InputError(Fault(text, hint=hint))
        if self.device is not None and self.executor is not None:
            raise InputError("device is of this machine, and executor of others; give one of them")
        if self.workers is not None and not (isinstance(self.workers, int) and self.workers > 0):
            given = brief(self.workers)
            raise InputError(f"workers is a number of threads or processes, not {given}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        if self._processes is not None:
            self._processes.end()

    def __call__(self, work: AnyWork) -> Iterator[Done]:
        """Execute the runs of a work. Yields parts, in any order."""
        why = lanes.refusal(work)
        if why is not None:
            self._refuse_device(why)
            self._warn_once(why)
        derived = isinstance(work, Work) and work.derivatives is not None and work.derivatives.by
        if derived:
            self._refuse_device("derivatives are computed on the processors")
        if self.executor is not None:
            runner = with_derivatives if derived else each_run if why is not None else lanes.fastest
            yield from spread(work, runner, workers=self.workers, executor=self.executor)
        elif derived:
            yield from self._one_by_one(work, with_derivatives)
        elif why is not None or not isinstance(work, Work):
            yield from self._one_by_one(work, each_run)
        else:
            single = self.precision == "float"
            yield from lanes.run(work, threads=self.workers, device=self.device, single=single)

    def _one_by_one(self, work: AnyWork, runner: WorkRunner) -> Iterator[Done]:
        """Execute the runs in this process if they are quick, otherwise in processes, which are
        kept for later works. runner: executes those of a part in its process.
        """
        if self.workers is not None and self.workers > 1 and self._processes is None:
            self._processes = Processes(self.workers)
        if self._processes is not None:
            count = self.workers or os.cpu_count() or 1
            yield from spread(work, runner, workers=count, executor=self._processes)
            return
        begun = time.monotonic()
        yield from spread(work, runner, workers=self.workers)
        count = os.cpu_count() or 1
        if self.workers is None and count > 1 and time.monotonic() - begun > WORTH:
            self._processes = Processes(count)

    def _refuse_device(self, why: str) -> None:
        if self.device is not None:
            hint = "leave out device to run them on the processors"
            raise InputError(Fault(f"the runs cannot go to {self.device}: {why}", hint=hint))

    def _warn_once(self, why: str) -> None:
        if why in self._warned:
            return
        self._warned.add(why)
        where = "" if self.executor is None else " on its workers"
        warn(f"runs go one by one{where}, which takes {COST}: {why}")
