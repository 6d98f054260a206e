"""Many runs at once in compiled code: several in the lanes of a processor's vectors, on all cores.

Threads call the library; no Python runs in them. Results of a run do not depend on lanes, threads
or the other runs. A run that needs the general engine (see runs.h) is done again by it, one by one.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.errors import InputError
from spart_blocks.program import Program
from spart_blocks.program.compiler import compiler_name, loaded_library
from spart_blocks.program.lane_code import FLAGS
from spart_blocks.simulation.native import Native
from spart_blocks.simulation.run import LEAST_STEPS, Run
from spart_blocks.simulation.start import prepare
from spart_blocks.sweeps.running.card import Card
from spart_blocks.sweeps.running.chunks import Stop
from spart_blocks.sweeps.running.joining import joined
from spart_blocks.sweeps.running.lane_meters import meters_of
from spart_blocks.sweeps.running.lane_source import Made, refused, source
from spart_blocks.sweeps.running.one_by_one import each_run
from spart_blocks.sweeps.work import FAILED, STATUSES, Done, Floats, Ints, Work
from spart_blocks.tableaus import tableau

PENDING, HANDED_BACK = 255, 3
REASONS = {
    1: "the solver failed: its step became too small, or gave no finite number",
    2: "a block's next state is not finite",
    3: "a measured signal is not finite",
}
MOST_RUNS, LEAST_ROUNDS, CHUNK = 16_384, 8, 2.0
"""A chunk has at most so many runs, at least so many for each lane, and lasts about CHUNK [s]."""
POLLED = 0.05
"""Time [s] between two looks at an interrupt while threads work."""
LOOKS = 50
"""A run is measured in at least as many panels of five points; those that are not smooth are
halved. Ten times fewer than in one run: they took most of the time of small diagrams."""


class WorkStruct(ctypes.Structure):
    """sb_work of runs.h."""

    _fields_ = (
        ("runs", ctypes.c_longlong),
        *((name, ctypes.c_void_p) for name in ("x0", "xd0", "p", "ticks", "due", "known")),
        *((name, ctypes.c_void_p) for name in ("known_at", "samples")),
        *((name, ctypes.c_longlong) for name in ("nticks", "nsamples")),
        *(
            (n, ctypes.c_double)
            for n in ("end", "rtol", "atol", "max_step", "fixed_step", "coarse")
        ),
        *((name, ctypes.c_int) for name in ("heeds_stiffness", "bounces")),
        *((name, ctypes.c_void_p) for name in ("status", "reason", "t", "x", "xd", "meters")),
        *((name, ctypes.c_void_p) for name in ("events", "rows", "steps", "stop")),
    )


def refusal(work: Work) -> str | None:
    """Why the runs of this work cannot go in lanes; None if they can."""
    if compiler_name() is None:
        return "there is no C compiler"
    program = work.program
    if program.run.sliding != "error":
        return "run: sliding is filippov"
    if not len(program.x0):
        return "it has no continuous states"
    solver = _begun(work).options.solver
    if tableau(solver) is None:
        return f"solver {solver} is not an explicit method of ours"
    return refused(_made(work)) or _compiled(work, usual_lanes()).refusal


def run(
    work: Work,
    *,
    threads: int | None = None,
    lanes: int | None = None,
    device: str | None = None,
    stop: Stop | None = None,
) -> Iterator[Done]:
    """The runs of a work, in chunks, in order.

    threads: by default one for each processor. lanes: runs at once in each thread, 1, 2, 4 or 8; by
    default what the processor's vectors hold. device: "cuda" for a graphics card, each thread of
    which is one run; runs that are handed back run here. stop: asked now and then; once it is true,
    what has ended is given, and no more. An interrupt (Ctrl-C) is raised after that too. Raises
    InputError where `refusal` gives a reason or the runs cannot begin.
    """
    card = Card(_made(work)) if device == "cuda" else None
    compiled = _compiled(work, lanes or usual_lanes()) if card is None else None
    crew = _Crew(work, threads or os.cpu_count() or 1, compiled, card)
    at, size = 0, crew.at_least
    while at < len(work.runs) and not (stop is not None and stop()):
        part = work.part(slice(at, at + min(size, MOST_RUNS)))
        found = crew.go(part, stop)
        at += len(part.runs)
        done = _completed(part, found)
        if len(done.runs):
            yield done
        if found.interrupted:
            raise KeyboardInterrupt
        if found.seconds < CHUNK:
            size = max(size, int(min(4.0, CHUNK / max(found.seconds, 1e-6)) * size))


def usual_lanes() -> int:
    """As many doubles as a vector register of this processor holds."""
    asked = os.environ.get("SPART_LANES", "")
    if asked in ("1", "2", "4", "8"):
        return int(asked)
    flags = _flags()
    return 8 if "avx512f" in flags else 4 if "avx2" in flags else 2


@lru_cache(maxsize=1)
def _flags() -> frozenset[str]:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            line = next((line for line in file if line.startswith(("flags", "Features"))), "")
    except OSError:
        return frozenset()
    return frozenset(line.split())


# --- what is compiled ---------------------------------------------------------------------


def _begun(work: Work) -> Run:
    """A run with the nominal parameters, at its start, for its clocks, samples and options."""
    program = work.program
    if work.every is not None:
        program = replace(program, run=program.run.model_copy(update={"every": work.every}))
    return prepare(Native(program), None, None)


def _made(work: Work) -> Made:
    method = tableau(_begun(work).options.solver)
    assert method is not None
    return Made(work.program, method, meters_of(work.program, work.gauges), work.blocks)


@dataclass
class _Found:
    """What the library wrote of some runs."""

    status: NDArray[np.uint8]
    reason: NDArray[np.uint8]
    t: Floats
    steps: Ints
    x: Floats
    xd: Floats
    meters: Floats
    events: Floats
    rows: Floats
    times: Floats
    crew: _Crew
    seconds: float = 0.0
    interrupted: bool = False


@dataclass(frozen=True, eq=False)
class _Compiled:
    """A library. made: what it was made for."""

    made: Made
    lanes: int
    library: ctypes.CDLL | None

    @property
    def refusal(self) -> str | None:
        """Why there is none; None if there is."""
        return "the C compiler made no library" if self.library is None else None


_REMEMBERED: dict[tuple[Any, ...], _Compiled] = {}
_MOST_REMEMBERED = 8


def _compiled(work: Work, lanes: int) -> _Compiled:
    """The library of a work, remembered by the identity of the program's functions."""
    made = _made(work)
    names = (work.gauges, work.blocks, work.program.run.solver, lanes)
    key = (*(id(f) for f in (made.program.rates, made.program.outputs)), *names)
    if key not in _REMEMBERED:
        while len(_REMEMBERED) >= _MOST_REMEMBERED:
            del _REMEMBERED[next(iter(_REMEMBERED))]
        library = loaded_library(source(made, lanes), FLAGS)
        if library is not None:
            library.sb_size.restype = library.sb_work_size.restype = ctypes.c_size_t
            assert library.sb_work_size() == ctypes.sizeof(WorkStruct)
            library.sb_go.restype = None
            library.sb_go.argtypes = [ctypes.c_void_p] * 4
        _REMEMBERED[key] = _Compiled(made, lanes, library)
    return _REMEMBERED[key]


class _Crew:
    """A library for a work and the threads that call it, or a graphics card."""

    def __init__(
        self, work: Work, threads: int, compiled: _Compiled | None, card: Card | None
    ) -> None:
        if compiled is not None and compiled.library is None:
            raise InputError(f"these runs cannot go in lanes: {compiled.refusal}")
        self.threads, self.card, self.made = threads, card, _made(work)
        self.library = None if compiled is None else compiled.library
        self.at_least = MOST_RUNS if compiled is None else LEAST_ROUNDS * compiled.lanes * threads
        self.begun = _begun(work)
        self.every = work.every
        self.ticks, self.due = _ticks(self.begun)
        size = 0 if self.library is None else self.library.sb_size()
        self.memory = [_aligned(size) for _ in range(threads)]

    def go(self, work: Work, stop: Stop | None) -> _Found:
        """What comes of the runs of a chunk."""
        found = self._room(len(work.runs))
        began = perf_counter()
        arrays = self._arrays(work, found)
        if self.card is None:
            self._in_threads(arrays, found, stop)
        else:
            found.interrupted = self.card.go(arrays, self._struct(arrays, found), stop)
        found.seconds = perf_counter() - began
        return found

    def _arrays(self, work: Work, found: _Found) -> dict[str, NDArray[Any]]:
        """The arrays of sb_work, by name."""
        known, known_at = _known_times(work.program, work.p, self.begun)
        x0, xd0 = starts(work.program, work.p)
        return {
            "x0": x0, "xd0": xd0, "p": np.ascontiguousarray(work.p), "ticks": self.ticks,
            "due": self.due, "known": known, "known_at": known_at, "samples": found.times,
            "status": found.status, "reason": found.reason, "t": found.t, "x": found.x,
            "xd": found.xd, "meters": found.meters, "events": found.events, "rows": found.rows,
            "steps": found.steps, "stop": np.zeros(1, np.intc),
        }  # fmt: skip

    def _struct(self, arrays: dict[str, NDArray[Any]], found: _Found) -> WorkStruct:
        places = {name: array.ctypes.data for name, array in arrays.items()}
        return WorkStruct(runs=len(found.status), **places, **self._numbers())

    def _in_threads(
        self, arrays: dict[str, NDArray[Any]], found: _Found, stop: Stop | None
    ) -> None:
        assert self.library is not None
        n, leave = len(found.status), arrays["stop"]
        struct, queue, last = self._struct(arrays, found), np.zeros(1, np.int64), np.array([n])
        memory = self.memory[: max(1, min(self.threads, n))]
        pool = ThreadPoolExecutor(self.threads, "spart-lanes")
        try:
            calls = [pool.submit(self._call, own, struct, last, queue, arrays) for own in memory]
            while True:
                try:
                    if not wait(calls, POLLED).not_done:
                        break
                    leave[0] = found.interrupted or (stop is not None and stop())
                except KeyboardInterrupt:
                    found.interrupted = True
        finally:
            leave[0] = 1  # also when an interrupt comes at any other place
            pool.shutdown()
        for call in calls:
            call.result()

    def _call(
        self,
        memory: NDArray[np.uint8],
        struct: WorkStruct,
        last: Ints,
        queue: Ints,
        arrays: dict[str, NDArray[Any]],
    ) -> None:
        """What one thread does; it keeps alive all that the library writes to."""
        assert self.library is not None
        places = (last.ctypes.data, queue.ctypes.data)
        self.library.sb_go(memory.ctypes.data, ctypes.byref(struct), *places)
        del arrays

    def _numbers(self) -> dict[str, Any]:
        run, options = self.begun, self.begun.options
        acting = any(c.kind in ("stop", "event", "mode") for c in run.crossings)
        longest = options.max_step or (float(run.end) / LEAST_STEPS if acting else np.inf)
        return {
            "nticks": len(self.ticks), "nsamples": len(self._samples()), "end": float(run.end),
            "rtol": options.rtol, "atol": options.atol, "max_step": longest,
            "fixed_step": run.fixed_step, "coarse": float(run.end) / LOOKS,
            "heeds_stiffness": self.made.program.run.solver == "auto" and not run.engine.damped,
            "bounces": 1,
        }  # fmt: skip

    def _samples(self) -> Floats:
        return np.zeros(0) if self.every is None else self.begun.sample_times()

    def _room(self, n: int) -> _Found:
        program, samples = self.made.program, self._samples()
        nx, nd = len(program.x0), len(program.xd0)
        return _Found(
            status=np.full(n, PENDING, np.uint8), reason=np.zeros(n, np.uint8), t=np.zeros(n),
            steps=np.zeros(n, np.int64), x=np.zeros((n, nx)), xd=np.zeros((n, nd)),
            meters=np.full((n, self.made.meters.numbers), np.nan),
            events=np.full((n, len(self.made.blocks)), np.nan),
            rows=np.full((n, len(samples), nx + nd), np.nan), times=samples, crew=self,
        )  # fmt: skip


def _aligned(size: int) -> NDArray[np.uint8]:
    """Memory at a multiple of 64."""
    whole = np.zeros(size + 64, np.uint8)
    start = -whole.ctypes.data % 64
    return whole[start : start + size]


def _ticks(run: Run) -> tuple[Floats, NDArray[np.uint8]]:
    """The times at which clocks tick, and which (k, clocks)."""
    run.event_times = []  # each run of a sweep has its own
    stops, due, _ = run.stops_and_ticks()
    ticking = due.any(axis=1) if due.shape[1] else np.zeros(len(stops), bool)
    return np.ascontiguousarray(stops[ticking]), np.ascontiguousarray(due[ticking])


def starts(program: Program, p: Floats) -> tuple[Floats, Floats]:
    """The initial states (n, nx), (n, nd) of runs with parameters p (n, np)."""
    parts = {slot.name: slot.part for slot in program.parameters}
    vectors = []
    for slots in (program.states, program.discrete):
        columns = [np.zeros((len(p), 0))]
        for slot in slots:
            size = slot.part.stop - slot.part.start
            given = program.start.get(slot.name)
            columns.append(np.zeros((len(p), size)) if given is None else p[:, parts[given]])
        vectors.append(np.ascontiguousarray(np.hstack(columns)))
    return vectors[0], vectors[1]


def _known_times(program: Program, p: Floats, run: Run) -> tuple[Floats, Ints]:
    """Known times at which signals switch, run by run in order, and where those of each begin."""
    if not program.switching:
        return np.zeros(1), np.zeros(len(p) + 1, np.int64)
    edges = np.array(program.edges(p.T), dtype=float).T.reshape(len(p), -1)
    rows, which = np.unique(edges, axis=0, return_inverse=True)
    first = {int(k): n for n, k in reversed(list(enumerate(which.ravel())))}
    times = []
    for k in range(len(rows)):
        engine = Native(replace(program, p=p[first[k]]))
        times.append([float(t) for t in reversed(engine.event_times(run.start, run.end))])
    counts = np.array([len(times[k]) for k in which.ravel()])
    at = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    known = np.concatenate([np.zeros(0), *(times[k] for k in which.ravel())])
    return (known if len(known) else np.zeros(1)), at


# --- what came of it ----------------------------------------------------------------------


def _completed(work: Work, found: _Found) -> Done:
    """The runs that have ended, those that were handed back done by the general engine."""
    back = np.flatnonzero(found.status == HANDED_BACK)
    ended = (found.status != PENDING) & (found.status != HANDED_BACK)
    done = _done(work, found, ended)
    if not len(back):
        return done
    return joined([done, *each_run(work.part(back))])


def _done(work: Work, found: _Found, ended: NDArray[np.bool_]) -> Done:
    runs = work.runs[ended]
    status = found.status[ended]
    failed = np.flatnonzero(status == STATUSES.index(FAILED))
    reason, t = found.reason[ended], found.t[ended]
    messages = {int(runs[k]): f"{REASONS[int(reason[k])]}, at t = {t[k]:.6g} s" for k in failed}
    kept = found.meters[ended].copy()
    readings = found.crew.made.meters.readings(kept)
    events = {name: found.events[ended, k] for k, name in enumerate(found.crew.made.blocks)}
    keeps = work.every is not None
    return Done(
        runs=runs, status=status, t=t, steps=found.steps[ended], x=found.x[ended],
        xd=found.xd[ended], readings=readings, events=events, messages=messages,
        times=found.times if keeps else None, rows=found.rows[ended] if keeps else None,
    )  # fmt: skip
