"""Many runs at once in compiled code: one in each lane of the processor's vectors, on all cores.

Threads call the library; no Python code runs in them. The results of a run do not depend on lanes,
threads or other runs. A run that needs the general engine (see runs.h) is handed back and repeated
by it, one by one.
"""

from __future__ import annotations

import ctypes
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.sweeps.run.card import Card
from spart_blocks.sweeps.run.chunks import Stop
from spart_blocks.sweeps.run.joined_outcomes import joined
from spart_blocks.sweeps.run.lane_setup import KnownTimes, LaneSetup, WorkStruct, usual_lanes
from spart_blocks.sweeps.run.one_by_one import each_run
from spart_blocks.sweeps.work import FAILED, STATUSES, Done, Floats, Ints, Work

Arrays = Mapping[str, NDArray[Any]]

PENDING, HANDED_BACK = 255, 3
REASONS = {
    1: "the solver failed: its step became too small, or gave no finite number",
    2: "a block's next state is not finite",
    3: "a measured signal is not finite",
}
MOST_RUNS, LEAST_ROUNDS, CHUNK = 16_384, 8, 2.0
"""A chunk has at most MOST_RUNS runs, at least LEAST_ROUNDS for each lane, and takes about CHUNK
[s].
"""
POLLED = 0.05
"""Interval [s] at which an interrupt is checked while threads work."""


def refusal(work: Work) -> str | None:
    """Why the runs of a work cannot be executed in lanes; None if they can."""
    return LaneSetup.of(work).refusal


def run(
    work: Work,
    *,
    threads: int | None = None,
    lanes: int | None = None,
    device: str | None = None,
    single: bool = False,
    stop: Stop | None = None,
) -> Iterator[Done]:
    """Execute the runs of a work. Yields outcomes in chunks; within a chunk, runs that were handed
    back come last.

    threads: by default one for each processor. lanes: runs at once in each thread, 1, 2, 4 or 8;
    by default the size of the processor's vectors. device: "cuda" for a graphics card, with one
    run per thread; runs that are handed back are executed on the processor. single: use single
    precision on a card; runs that are handed back have double precision nevertheless. stop: is
    called from time to time; once it returns True, finished runs are yielded and no more are
    started. An interrupt (Ctrl-C) is raised after the same. Raises InputError if `refusal` gives a
    reason or the runs cannot start.
    """
    ready = LaneSetup.of(work)
    if ready.refusal is not None:
        raise InputError(f"these runs cannot go in lanes: {ready.refusal}")
    assert ready.made is not None
    crew: _Crew
    if device == "cuda":
        if single:
            _refuse_single(work)
        crew = _Cards(ready, Card(ready.made, single=single), single)
    else:
        crew = _Threads(ready, lanes or usual_lanes(), threads or os.cpu_count() or 1)
    at, size = 0, crew.at_least
    while at < len(work.runs) and not (stop is not None and stop()):
        part = work.part(slice(at, at + min(size, MOST_RUNS)))
        found = crew.go(part, stop)
        at += len(part.runs)
        done = _completed(ready, part, found)
        if len(done.runs):
            yield done
        if found.interrupted:
            raise KeyboardInterrupt
        if found.seconds < CHUNK:
            size = max(size, int(min(4.0, CHUNK / max(found.seconds, 1e-6)) * size))


def _refuse_single(work: Work) -> None:
    """Raise InputError if runs are not possible in single precision."""
    if any(crossing.unsolved for crossing in work.program.crossings):
        text = "algebraic loops cannot be solved to 1e-12 in single precision"
        raise InputError(Fault(text, hint="leave out precision for double"))
    random = next(iter(work.program.random), None)
    if random is not None:
        why = f"{random} draws from whole numbers of 32 bits, of which its states hold 24"
        text = f"the runs cannot have single precision: {why}"
        raise InputError(Fault(text, hint="leave out precision for double"))


@dataclass
class _Found:
    """The outputs of the library for some runs."""

    status: NDArray[np.uint8]
    reason: NDArray[np.uint8]
    t: Floats
    steps: Ints
    x: Floats
    xd: Floats
    meters: Floats
    events: Floats
    rows: Floats
    seconds: float = 0.0
    interrupted: bool = False


class _Crew(ABC):
    """Executes the runs of a chunk. at_least: number of runs of the smallest chunk."""

    at_least: int

    def __init__(self, ready: LaneSetup) -> None:
        self.ready = ready
        self.numbers = ready.numbers

    def go(self, work: Work, stop: Stop | None) -> _Found:
        """Execute the runs of a chunk."""
        found = self.room(len(work.runs))
        known = self.ready.known_times(work.p)
        arrays = self.arrays(work, found, known)
        began = perf_counter()
        found.interrupted = self.fill(arrays, found, stop)
        found.seconds = perf_counter() - began
        found.status[known.crowded & (found.status != PENDING)] = HANDED_BACK
        return found

    @abstractmethod
    def fill(self, arrays: Arrays, found: _Found, stop: Stop | None) -> bool:
        """Call the library, which writes into `found`. Returns whether it was interrupted."""

    def arrays(self, work: Work, found: _Found, known: KnownTimes) -> Arrays:
        """The arrays that sb_work points to, by field name."""
        ticks, due = self.ready.ticks
        x0, xd0 = work.program.starts(work.p)
        return {
            "x0": x0, "xd0": xd0, "p": np.ascontiguousarray(work.p), "ticks": ticks, "due": due,
            "known": known.times, "known_from": known.first, "known_to": known.last,
            "samples": self.ready.samples, "status": found.status, "reason": found.reason,
            "t": found.t, "x": found.x, "xd": found.xd, "meters": found.meters,
            "events": found.events, "rows": found.rows, "steps": found.steps,
            "stop": np.zeros(1, np.intc),
        }  # fmt: skip

    def struct(self, arrays: Arrays) -> WorkStruct:
        """sb_work with pointers to these arrays."""
        places = {name: array.ctypes.data for name, array in arrays.items()}
        return WorkStruct(runs=len(arrays["status"]), **places, **self.numbers)

    def room(self, n: int) -> _Found:
        """Output arrays for n runs."""
        program, made = self.ready.program, self.ready.made
        assert made is not None
        nx, nd = len(program.x0), len(program.xd0)
        return _Found(
            status=np.full(n, PENDING, np.uint8), reason=np.zeros(n, np.uint8), t=np.zeros(n),
            steps=np.zeros(n, np.int64), x=np.zeros((n, nx)), xd=np.zeros((n, nd)),
            meters=np.full((n, made.meters.numbers), np.nan),
            events=np.full((n, len(made.blocks)), np.nan),
            rows=np.full((n, len(self.ready.samples), nx + nd), np.nan),
        )  # fmt: skip


def numbers_of_single(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of sb_work with tolerances that single precision can meet. With smaller ones the
    step size would follow the rounding errors of the rates.
    """
    return {**numbers, **{name: max(numbers[name], FINEST[name]) for name in FINEST}}


FINEST = {"rtol": 1e-6, "atol": 1e-7}
"""Smallest tolerances in single precision."""


class _Cards(_Crew):
    """Runs on a graphics card."""

    at_least = MOST_RUNS

    def __init__(self, ready: LaneSetup, card: Card, single: bool) -> None:
        super().__init__(ready)
        self.card = card
        if single:
            self.numbers = numbers_of_single(ready.numbers)

    def fill(self, arrays: Arrays, found: _Found, stop: Stop | None) -> bool:
        return self.card.go(arrays, self.struct(arrays), stop)


class _Threads(_Crew):
    """Runs in threads that call the compiled library."""

    def __init__(self, ready: LaneSetup, lanes: int, threads: int) -> None:
        super().__init__(ready)
        library = ready.library(lanes)
        assert library is not None
        self.library = library
        self.at_least = LEAST_ROUNDS * lanes * threads
        self.memory = [_aligned(library.sb_size()) for _ in range(threads)]

    def fill(self, arrays: Arrays, found: _Found, stop: Stop | None) -> bool:
        n, leave, interrupted = len(found.status), arrays["stop"], False
        struct, queue, last = self.struct(arrays), np.zeros(1, np.int64), np.array([n])
        memory = self.memory[: max(1, min(len(self.memory), n))]
        pool = ThreadPoolExecutor(len(memory), "spart-lanes")
        try:
            calls = [pool.submit(self._call, own, struct, last, queue, arrays) for own in memory]
            while True:
                try:
                    if not wait(calls, POLLED).not_done:
                        break
                    leave[0] = interrupted or (stop is not None and stop())
                except KeyboardInterrupt:
                    interrupted = True
        finally:
            leave[0] = 1  # also when an interrupt comes at any other place
            pool.shutdown()
        for call in calls:
            call.result()
        return interrupted

    def _call(
        self,
        memory: NDArray[np.uint8],
        struct: WorkStruct,
        last: Ints,
        queue: Ints,
        arrays: Arrays,
    ) -> None:
        """The work of one thread. It keeps references to the arrays that the library writes to."""
        places = (last.ctypes.data, queue.ctypes.data)
        self.library.sb_go(memory.ctypes.data, ctypes.byref(struct), *places)
        del arrays


def _aligned(size: int) -> NDArray[np.uint8]:
    """`size` bytes of memory, aligned to 64 bytes."""
    whole = np.zeros(size + 64, np.uint8)
    start = -whole.ctypes.data % 64
    return whole[start : start + size]


# --- what came of it ----------------------------------------------------------------------


def _completed(ready: LaneSetup, work: Work, found: _Found) -> Done:
    """The outcomes of the finished runs. Runs that were handed back are executed by the general
    engine.
    """
    back = np.flatnonzero(found.status == HANDED_BACK)
    ended = (found.status != PENDING) & (found.status != HANDED_BACK)
    done = _done(ready, work, found, ended)
    if not len(back):
        return done
    return joined([done, *each_run(work.part(back))])


def _done(ready: LaneSetup, work: Work, found: _Found, ended: NDArray[np.bool_]) -> Done:
    assert ready.made is not None
    runs = work.runs[ended]
    status = found.status[ended]
    failed = np.flatnonzero(status == STATUSES.index(FAILED))
    reason, t = found.reason[ended], found.t[ended]
    messages = {int(runs[k]): f"{REASONS[int(reason[k])]}, at t = {t[k]:.6g} s" for k in failed}
    readings = ready.made.meters.readings(found.meters[ended].copy())
    events = {name: found.events[ended, k] for k, name in enumerate(ready.made.blocks)}
    keeps = work.every is not None
    return Done(
        runs=runs, status=status, t=t, steps=found.steps[ended], x=found.x[ended],
        xd=found.xd[ended], readings=readings, events=events, messages=messages,
        times=ready.samples if keeps else None, rows=found.rows[ended] if keeps else None,
    )  # fmt: skip
