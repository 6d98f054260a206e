"""Executes runs one after another, each as `sb.simulate` does, without recording more than
requested. For all runs that cannot be executed in lanes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial

import numpy as np

from spart_blocks.base.errors import Fault, InputError, SpartError, SpartWarning
from spart_blocks.measures.work import (
    COMPLETE,
    FAILED,
    STATUSES,
    STOPPED,
    AnyWork,
    Done,
    FileWork,
    Floats,
    Work,
    joined,
)
from spart_blocks.program import Program
from spart_blocks.run.engines.engine import Engine
from spart_blocks.run.engines.native import Native
from spart_blocks.run.loop import execute
from spart_blocks.run.measure.gauges import Gauge, Readings
from spart_blocks.run.measure.measuring import Measuring
from spart_blocks.run.run import Run
from spart_blocks.run.simulate import failing
from spart_blocks.run.start import picked_solver, prepare
from spart_blocks.run.states import set_states, vectors_of

AT_ONCE = 1.0
"""Interval [s] at which finished runs are yielded."""


def each_run(work: AnyWork) -> Generator[Done, None, None]:
    """Execute the runs of a work in this process. Yields outcomes about every AT_ONCE seconds.

    An interrupt (Ctrl-C) is raised after the finished runs have been yielded. Raises InputError if
    no run could start, whatever its parameters.
    """
    one = of_program(work) if isinstance(work, Work) else partial(_of_file, work)
    yield from in_turn(one, len(work.runs))


def in_turn(one: Callable[[int], Done], count: int) -> Generator[Done, None, None]:
    """Execute runs 0 to count - 1 by a function of k. Yields as `each_run` does."""
    ended: list[Done] = []
    begun = time.monotonic()
    try:
        for k in range(count):
            with warnings.catch_warnings():  # they are those of the single run, a thousand times
                warnings.simplefilter("ignore", SpartWarning)
                ended.append(one(k))
            if time.monotonic() - begun > AT_ONCE:
                yield joined(ended)
                ended, begun = [], time.monotonic()
    except KeyboardInterrupt:
        if ended:
            yield joined(ended)
        raise
    if ended:
        yield joined(ended)


# --- one run --------------------------------------------------------------------------


def of_program(work: Work) -> Callable[[int], Done]:
    """A function of k that executes run k of a work."""
    display = replace(work.program.display, acting=())  # one report is read, not a thousand
    base = Native(replace(work.program, display=display), reference_of(work))
    solver = picked_solver(base)
    prepare(base, None, None, solver=solver)  # raises what does not depend on parameters
    nothing = _no_readings(base, work.gauges)
    return lambda k: _execute(work, k, lambda: base.with_parameters(work.p[k]), {}, solver, nothing)


def _of_file(work: FileWork, k: int) -> Done:
    """Execute run k of a work whose diagram cannot be traced."""
    file = work.file_of(k)

    def engine() -> Engine:
        blocks = file.reference()
        blocks.display = replace(blocks.display, acting=())
        return blocks

    start = {name: states[k] for name, states in work.start.items()}
    return _execute(work, k, engine, start, None, {})


def reference_of(work: Work) -> Callable[[], Engine] | None:
    """A function that makes the engine of the diagram's blocks; None if it is not needed. It is
    needed if EVENT blocks call functions that could not be traced.
    """
    called = [
        crossing.block
        for crossing in work.program.crossings
        if crossing.kind == "event" and crossing.event not in work.program.resets
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


def _execute(
    work: AnyWork,
    k: int,
    engine_of: Callable[[], Engine],
    start: Mapping[str, Floats],
    solver: str | None,
    nothing: Mapping[Gauge, Readings],
) -> Done:
    """Execute run k of a work. start: initial states by block, in place of the diagram's. nothing:
    the readings of a run that fails before it is measured.
    """
    run, message = None, ""
    times, runs = np.zeros(0), work.runs[k : k + 1]
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
            execute(run)
    except SpartError as error:
        message = _message(error, run)
    if run is None:
        return Done.unstarted(runs, {int(runs[0]): message}, work, nothing)
    stopped = any("stopped" in event.what for event in run.events.kept)
    if run.interrupted:
        raise KeyboardInterrupt
    first: dict[str, float] = {}
    for event in run.events.kept:
        first.setdefault(event.block, event.t)
    status = FAILED if message else STOPPED if stopped else COMPLETE
    return Done(
        runs=runs,
        status=np.array([STATUSES.index(status)], dtype=np.uint8),
        t=np.array([float(run.t)]),
        steps=np.array([run.stats.steps], dtype=np.int64),
        x=run.x[None],
        xd=run.xd[None],
        readings={
            gauge: {name: np.asarray(value)[None] for name, value in read.items()}
            for gauge, read in (run.readings or nothing).items()
        },
        events={block: np.array([first.get(block, np.nan)]) for block in work.blocks},
        messages={int(runs[0]): message} if message else {},
        times=None if work.every is None else times,
        rows=None if work.every is None else _rows(run, times, work.every)[None],
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


# --- runs that cannot start -----------------------------------------------------------


def failed(work: AnyWork, message: str) -> Done:
    """The outcomes of a work all runs of which failed before they started, such as runs that kill
    their process.
    """
    messages = {int(number): message for number in work.runs}
    if isinstance(work, FileWork):
        return Done.unstarted(work.runs, messages, work)
    engine = Native(work.program)
    nx, nd = map(len, engine.initial())
    return Done.unstarted(work.runs, messages, work, _no_readings(engine, work.gauges), nx, nd)


def _no_readings(engine: Engine, gauges: Iterable[Gauge]) -> Mapping[Gauge, Readings]:
    """Readings of the right shapes with all values NaN; empty if the shapes cannot be computed."""
    with suppress(SpartError):
        measuring = Measuring(engine, gauges)
        if not measuring.names:
            return {}
        with np.errstate(all="ignore"):
            measuring.begin(0.0, *engine.initial())
        return {
            gauge: {name: np.full(np.shape(value), np.nan) for name, value in read.items()}
            for gauge, read in measuring.read().items()
        }
    return {}
