"""Many runs at once in compiled code: one in each lane of the processor's vectors, on all cores.

Threads call the library; no Python code runs in them. The results of a run do not depend on lanes,
threads or other runs. A run that needs the general engine (see runs.h) is handed back and repeated
by it, one by one.
"""

from __future__ import annotations

import ctypes
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.measures.work import FAILED, STATUSES, AnyWork, Done, Ints, Work, joined
from spart_blocks.program.c.compiler import usual_lanes
from spart_blocks.sweeps.run.card import Card
from spart_blocks.sweeps.run.lane_setup import LaneSetup, WorkStruct
from spart_blocks.sweeps.run.one_by_one import each_run

Arrays = Mapping[str, NDArray[Any]]
"""The arrays that sb_work points to, by field name."""

PENDING, HANDED_BACK = 255, 3
STIFF_RUN = 4
"""The reason why a run was handed back: it is stiff."""
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


def refusal(work: AnyWork) -> str | None:
    """Why the runs of a work cannot be executed in lanes; None if they can."""
    if not isinstance(work, Work):
        return "the diagram cannot be traced"
    return LaneSetup.of(work).refusal


def fastest(work: AnyWork) -> Generator[Done, None, None]:
    """Execute the runs of a work in this thread, in their order: in lanes if possible, otherwise
    one by one.
    """
    if isinstance(work, Work) and refusal(work) is None:
        yield from run(work, threads=1)
    else:
        yield from each_run(work)


def run(
    work: Work,
    *,
    threads: int | None = None,
    lanes: int | None = None,
    device: str | None = None,
    single: bool = False,
) -> Iterator[Done]:
    """Execute the runs of a work. Yields outcomes in chunks; within a chunk, runs that were handed
    back come last.

    threads: by default one for each processor. lanes: runs at once in each thread, 1, 2, 4 or 8;
    by default the size of the processor's vectors. device: "cuda" for a graphics card, with one
    run per thread; runs that are handed back are executed on the processor. single: use single
    precision on a card; runs that are handed back have double precision nevertheless. An
    interrupt (Ctrl-C) is raised after the finished runs have been yielded. Raises InputError if
    `refusal` gives a reason or the runs cannot start.
    """
    setup = LaneSetup.of(work)
    if setup.refusal is not None:
        raise InputError(f"these runs cannot go in lanes: {setup.refusal}")
    if device == "cuda" and single:
        _refuse_single(work)

    @cache
    def loop_of(setup: LaneSetup) -> _CompiledLoop:
        assert setup.made is not None
        if device == "cuda":
            return _OnCard(setup, Card(setup.made, single=single), single)
        return _OnThreads(setup, lanes or usual_lanes(), threads or os.cpu_count() or 1)

    loop = loop_of(setup)
    at, size = 0, loop.at_least
    while at < len(work.runs):
        part = work.part(slice(at, at + min(size, MOST_RUNS)))
        arrays, seconds, interrupted = loop.execute(part)
        at += len(part.runs)
        done, left_off = _completed(setup, part, arrays, loop_of)
        if len(done.runs):
            yield done
        if interrupted or left_off:
            raise KeyboardInterrupt
        if seconds < CHUNK:
            size = max(size, int(min(4.0, CHUNK / max(seconds, 1e-6)) * size))


def why_handed_back(setup: LaneSetup, work: Work) -> int | None:
    """The reason for which the first run of a work is handed back; None if it ends in its lane."""
    arrays, _, _ = _OnThreads(setup, 1, 1).execute(work.part(slice(1)))
    return int(arrays["reason"][0]) if arrays["status"][0] == HANDED_BACK else None


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


class _CompiledLoop(ABC):
    """The compiled loop over the runs of a chunk. at_least: number of runs of the smallest
    chunk.
    """

    at_least: int

    def __init__(self, setup: LaneSetup) -> None:
        self.setup, self.numbers = setup, setup.numbers

    def execute(self, work: Work) -> tuple[Arrays, float, bool]:
        """Execute the runs of a chunk: the arrays, the time that it took [s], and whether it was
        interrupted.
        """
        known, crowded = self.setup.known_times(work.p)
        arrays = self.arrays(work, known)
        began = perf_counter()
        interrupted = self.call(arrays)
        seconds, status = perf_counter() - began, arrays["status"]
        status[crowded & (status != PENDING)] = HANDED_BACK
        return arrays, seconds, interrupted

    @abstractmethod
    def call(self, arrays: Arrays) -> bool:
        """Call the library, which writes into the arrays. Returns whether it was interrupted."""

    def arrays(self, work: Work, known: Arrays) -> Arrays:
        """The inputs and outputs of the library for the runs of a work. known: see
        `LaneSetup.known_times`."""
        n, (ticks, due), made = len(work.runs), self.setup.ticks, self.setup.made
        assert made is not None
        x0, xd0 = work.program.starts(work.p)
        nx, nd = len(work.program.x0), len(work.program.xd0)
        return {
            "x0": x0, "xd0": xd0, "p": np.ascontiguousarray(work.p), "ticks": ticks, "due": due,
            **known, "samples": self.setup.samples, "stop": np.zeros(1, np.intc),
            "status": np.full(n, PENDING, np.uint8), "reason": np.zeros(n, np.uint8),
            "t": np.zeros(n), "steps": np.zeros(n, np.int64),
            "x": np.zeros((n, nx)), "xd": np.zeros((n, nd)),
            "meters": np.full((n, made.meters.numbers), np.nan),
            "events": np.full((n, len(made.blocks)), np.nan),
            "rows": np.full((n, len(self.setup.samples), nx + nd), np.nan),
        }  # fmt: skip

    def struct(self, arrays: Arrays) -> WorkStruct:
        """sb_work with pointers to these arrays."""
        places = {name: array.ctypes.data for name, array in arrays.items()}
        return WorkStruct(runs=len(arrays["status"]), **places, **self.numbers)


def numbers_of_single(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of sb_work with tolerances that single precision can meet. With smaller ones the
    step size would follow the rounding errors of the rates.
    """
    return {**numbers, **{name: max(numbers[name], FINEST[name]) for name in FINEST}}


FINEST = {"rtol": 1e-6, "atol": 1e-7}
"""Smallest tolerances in single precision."""


class _OnCard(_CompiledLoop):
    """Runs on a graphics card."""

    at_least = MOST_RUNS

    def __init__(self, setup: LaneSetup, card: Card, single: bool) -> None:
        super().__init__(setup)
        self.card = card
        if single:
            self.numbers = numbers_of_single(setup.numbers)

    def call(self, arrays: Arrays) -> bool:
        return self.card.go(arrays, self.struct(arrays))


class _OnThreads(_CompiledLoop):
    """Runs in threads that call the compiled library."""

    def __init__(self, setup: LaneSetup, lanes: int, threads: int) -> None:
        super().__init__(setup)
        library = setup.library(lanes)
        assert library is not None
        self.library = library
        self.at_least = LEAST_ROUNDS * lanes * threads
        self.memory = [_aligned(library.sb_size()) for _ in range(threads)]

    def call(self, arrays: Arrays) -> bool:
        n, leave, interrupted = len(arrays["status"]), arrays["stop"], False
        struct, queue, last = self.struct(arrays), np.zeros(1, np.int64), np.array([n])
        memory = self.memory[: max(1, min(len(self.memory), n))]
        pool = ThreadPoolExecutor(len(memory), "spart-lanes")
        try:
            calls = [pool.submit(self._call, own, struct, last, queue, arrays) for own in memory]
            while True:
                try:
                    if not wait(calls, POLLED).not_done:
                        break
                    leave[0] = interrupted
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


def _completed(
    setup: LaneSetup, work: Work, arrays: Arrays, loop_of: Callable[[LaneSetup], _CompiledLoop]
) -> tuple[Done, bool]:
    """The outcomes of the finished runs, and whether an interrupt came. Of those that were handed
    back, stiff ones go in lanes with an implicit method from their start, and the others are
    executed by the general engine.
    """
    parts, interrupted = [_done(setup, work, arrays)], False
    back = arrays["status"] == HANDED_BACK
    stiff = np.flatnonzero(back & (arrays["reason"] == STIFF_RUN))
    if len(stiff):
        again = replace(work.part(stiff), program=setup.for_stiff_runs)
        implicit = LaneSetup.of(again)
        if implicit.refusal is None:
            found, _, interrupted = loop_of(implicit).execute(again)
            parts.append(_done(implicit, again, found))
            back[stiff] = found["status"] == HANDED_BACK
    others = np.flatnonzero(back)
    if len(others) and not interrupted:
        parts += each_run(work.part(others))
    return joined(parts), interrupted


def _done(setup: LaneSetup, work: Work, arrays: Arrays) -> Done:
    """The outcomes of the runs that have ended in the compiled loop."""
    assert setup.made is not None
    ended = ~np.isin(arrays["status"], (PENDING, HANDED_BACK))
    runs, keeps = work.runs[ended], work.every is not None
    names = ("status", "reason", "t", "steps", "x", "xd", "meters", "events", "rows")
    status, reason, t, steps, x, xd, meters, events, rows = (arrays[n][ended] for n in names)
    failed = np.flatnonzero(status == STATUSES.index(FAILED))
    messages = {int(runs[k]): f"{REASONS[int(reason[k])]}, at t = {t[k]:.6g} s" for k in failed}
    readings = setup.made.meters.readings(meters)
    first = {name: events[:, k] for k, name in enumerate(setup.made.blocks)}
    return Done(
        runs=runs, status=status, t=t, steps=steps, x=x, xd=xd, readings=readings, events=first,
        messages=messages, times=setup.samples if keeps else None, rows=rows if keeps else None,
    )  # fmt: skip
