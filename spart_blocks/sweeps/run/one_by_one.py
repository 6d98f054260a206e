"""Executes runs one after another, each as `sb.simulate` does, without recording more than
requested. For all runs that cannot be executed in lanes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, SpartError, SpartWarning
from spart_blocks.program import Program
from spart_blocks.run.engines.engine import Engine
from spart_blocks.run.engines.native import Native
from spart_blocks.run.loop import Run
from spart_blocks.run.measure.gauges import Gauge, Readings
from spart_blocks.run.simulate import failing
from spart_blocks.run.start import picked_solver, prepare
from spart_blocks.run.states import set_states, vectors_of
from spart_blocks.sweeps.run.chunks import Stop
from spart_blocks.sweeps.run.executors import spread
from spart_blocks.sweeps.run.failed_runs import measured_nothing
from spart_blocks.sweeps.run.joined_outcomes import stacked
from spart_blocks.sweeps.work import (
    COMPLETE,
    FAILED,
    STATUSES,
    STOPPED,
    Done,
    FileWork,
    Floats,
    Work,
)

AT_ONCE = 1.0
"""Interval [s] at which finished runs are yielded."""


def run(
    work: Work | FileWork,
    *,
    workers: int | None = None,
    executor: Any = None,
    stop: Stop | None = None,
) -> Iterator[Done]:
    """Execute the runs of a work, in processes or by an executor: see `spread`. Yields parts in
    any order.
    """
    return spread(work, each_run, workers=workers, executor=executor, stop=stop)


def each_run(work: Work | FileWork, stop: Stop | None = None) -> Generator[Done, None, None]:
    """Execute the runs of a work in this process. Yields outcomes about every AT_ONCE seconds.

    stop: is called before each run; no more runs start once it returns True. An interrupt (Ctrl-C)
    is raised after the finished runs have been yielded. Raises InputError if no run could start,
    whatever its parameters.
    """
    one = _of_program(work) if isinstance(work, Work) else partial(_of_file, work)
    ended: list[_Ended] = []
    first, begun = 0, time.monotonic()
    try:
        for k in range(len(work.runs)):
            if stop is not None and stop():
                break
            with warnings.catch_warnings():  # they are those of the single run, a thousand times
                warnings.simplefilter("ignore", SpartWarning)
                ended.append(one(k))
            if time.monotonic() - begun > AT_ONCE:
                yield _done(work, first, ended)
                first, ended, begun = k + 1, [], time.monotonic()
    except KeyboardInterrupt:
        if ended:
            yield _done(work, first, ended)
        raise
    if ended:
        yield _done(work, first, ended)


# --- one run --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Ended:
    """The outcome of one run, with the fields of `Done`. times (k,) [s], rows (k, nx + nd):
    recorded states.
    """

    status: str
    t: float
    steps: int
    x: Floats
    xd: Floats
    readings: Mapping[Gauge, Readings]
    events: Mapping[str, float]
    message: str = ""
    times: Floats = field(default_factory=lambda: np.zeros(0))
    rows: Floats = field(default_factory=lambda: np.zeros((0, 0)))


def _of_program(work: Work) -> Callable[[int], _Ended]:
    """A function of k that executes run k of a work."""
    display = replace(work.program.display, acting=())  # one report is read, not a thousand
    base = Native(replace(work.program, display=display), _reference(work))
    solver = picked_solver(base)
    prepare(base, None, None, solver=solver)  # raises what does not depend on parameters
    nothing: Mapping[Gauge, Readings] = {}
    with suppress(SpartError):
        nothing = measured_nothing(base, work.gauges)

    def one(k: int) -> _Ended:
        return _ran(work, lambda: base.with_parameters(work.p[k]), {}, solver, nothing)

    return one


def _of_file(work: FileWork, k: int) -> _Ended:
    """Execute run k of a work whose diagram cannot be traced."""
    file = replace(work.file, overrides=(*work.file.overrides, *work.overrides[k]))

    def engine() -> Engine:
        blocks = file.reference()
        blocks.display = replace(blocks.display, acting=())
        return blocks

    start = {name: states[k] for name, states in work.start.items()}
    return _ran(work, engine, start, None, {})


def _reference(work: Work) -> Callable[[], Engine] | None:
    """A function that makes the engine of the diagram's blocks; None if it is not needed. It is
    needed if EVENT blocks call functions that could not be traced.
    """
    called = [
        crossing.block
        for crossing in work.program.crossings
        if crossing.kind == "event" and crossing.block not in work.program.resets
    ]
    if not called:
        return None
    if work.file is None:
        text = f"the function of the EVENT block {called[0]} is not part of the program"
        raise InputError(Fault(text, hint="sweep the diagram's file, or trace it with its resets"))
    return _blocks_of(work.program, work.file.reference)


_BLOCKS: dict[int, tuple[Program, Callable[[], Engine]]] = {}


def _blocks_of(program: Program, make: Callable[[], Engine]) -> Callable[[], Engine]:
    """A function that loads the blocks of a program once, for all its works in this process."""
    if id(program) not in _BLOCKS:
        while len(_BLOCKS) >= _MOST_BLOCKS:
            del _BLOCKS[next(iter(_BLOCKS))]
        _BLOCKS[id(program)] = (program, cache(make))
    return _BLOCKS[id(program)][1]


_MOST_BLOCKS = 4


def _ran(
    work: Work | FileWork,
    engine_of: Callable[[], Engine],
    start: Mapping[str, Floats],
    solver: str | None,
    nothing: Mapping[Gauge, Readings],
) -> _Ended:
    """Execute one run. start: initial states by block, in place of the diagram's. nothing: the
    readings of a run that fails before it is measured.
    """
    run, message = None, ""
    times = np.zeros(0)
    try:
        with failing("the run cannot begin"):
            engine = engine_of()
            run = prepare(engine, None, None, solver=solver, states=work.every or "at the end")
            set_states(engine, start, run.x, run.xd)
            run.x = engine.project(float(run.t), run.x)
            run.measure(work.gauges)
            if run.kept is not None and work.every is not None:
                times = np.union1d(run.kept.ahead(), [float(run.t), float(run.end)])
        with failing("the run failed", run):
            run.go()
    except SpartError as error:
        message = _message(error, run)
    if run is None:
        return _Ended(FAILED, np.nan, 0, np.zeros(0), np.zeros(0), nothing, {}, message)
    stopped = any("stopped" in event.what for event in run.events)
    if run.interrupted:
        raise KeyboardInterrupt
    first: dict[str, float] = {}
    for event in run.events:
        first.setdefault(event.block, event.t)
    return _Ended(
        status=FAILED if message else STOPPED if stopped else COMPLETE,
        t=float(run.t),
        steps=run.stats.steps,
        x=run.x,
        xd=run.xd,
        readings=run.readings or nothing,
        events=first,
        message=message,
        times=times,
        rows=np.zeros((0, 0)) if work.every is None else _rows(run, times, work.every),
    )


def _message(error: SpartError, run: Run | None) -> str:
    """The first line of an error, with the time that the run reached."""
    text = str(error).partition("\n")[0]
    known = getattr(error, "time", None) is not None
    return text if known or run is None else f"{text} at t = {float(run.t):.9g} s"


def _rows(run: Run, times: Floats, every: float) -> Floats:
    """The states (k, nx + nd) of a run at the times (k,) [s] of its sampling grid; NaN after its
    end.
    """
    kept = run.recorder.times()
    rows = np.full((len(times), len(run.x) + len(run.xd)), np.nan)
    if len(kept):
        near = 1e-6 * every
        at = np.minimum(np.searchsorted(times, kept - near), len(times) - 1)
        on = np.abs(times[at] - kept) <= near  # a run that stops keeps its last state too
        states = np.hstack(vectors_of(run.engine, run.recorder.states(), len(kept)))
        rows[at[on]] = states[on]
    return rows


# --- many runs ------------------------------------------------------------------------


def _done(work: Work | FileWork, first: int, ended: Sequence[_Ended]) -> Done:
    """The outcomes of the runs first, first + 1, ... of a work."""
    runs = work.runs[first : first + len(ended)]
    gauges = dict.fromkeys(gauge for one in ended for gauge in one.readings)
    quantities = {g: next(one.readings[g] for one in ended if g in one.readings) for g in gauges}
    times = max((one.times for one in ended), key=len)
    return Done(
        runs=runs,
        status=np.array([STATUSES.index(one.status) for one in ended], dtype=np.uint8),
        t=np.array([one.t for one in ended]),
        steps=np.array([one.steps for one in ended], dtype=np.int64),
        x=stacked([one.x[None] for one in ended]),
        xd=stacked([one.xd[None] for one in ended]),
        readings={
            gauge: {
                name: stacked([one.readings.get(gauge, {}).get(name, _NONE)[None] for one in ended])
                for name in names
            }
            for gauge, names in quantities.items()
        },
        events={
            block: np.array([one.events.get(block, np.nan) for one in ended])
            for block in work.blocks
        },
        messages={
            int(number): one.message for number, one in zip(runs, ended, strict=True) if one.message
        },
        times=times if work.every is not None else None,
        rows=stacked([one.rows[None] for one in ended]) if work.every is not None else None,
    )


_NONE = np.zeros(0)
