"""The loop of a run: solver steps between clock ticks, known event times and zero-crossings.

Step policy. The run is cut into segments at every clock tick and every known event time; the
solver is restarted there and never steps over one. Within a segment [a, b) blocks see times below
b, so that a signal that switches at b does so after the segment. At b the order is: known events,
with the modes and resets that they trigger; then the ticks: all due clocks read the values before
and update together; then what these trigger.

Signals are right-continuous: a sample at a tick or an event is the value after it. A record by
lines also has the value before it, at a time a few units in the last place earlier; record.c
describes what it keeps in between.
"""

from __future__ import annotations

import math
import time as wall_clock
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from spart_blocks.base.tableaus import tableau
from spart_blocks.diagram.network.clocks import exact
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.run.engines.native import Native
from spart_blocks.run.events.acting import enter
from spart_blocks.run.events.shrinking import report
from spart_blocks.run.events.stops import just_before
from spart_blocks.run.measure.measuring import Panelled
from spart_blocks.run.record.record import Grid, Keeper, Lines, Sampled
from spart_blocks.run.run import Run
from spart_blocks.run.tape import Taped

if TYPE_CHECKING:
    from spart_blocks.run.engines.compiled import CompiledLoop, Library


def execute(run: Run) -> None:
    """Run to the end, to a STOP, or to an interrupt; the record so far is kept."""
    started = 0.0
    try:
        with np.errstate(all="ignore"):
            run.engine.check_shapes(float(run.t), run.x, run.xd)
            if run.measuring is not None:
                run.measuring.begin(float(run.t), run.x, run.xd)
            run.leave_out_unseen()
            run.bound_steps()
            run.bound_record()
            run.solvers = [(float(run.t), run.options.solver)]
            loop = run.loop = _compiled(run)
            started = wall_clock.perf_counter()
            if loop is not None:
                loop.go()
                run.loop = None
            if loop is None or loop.left:
                _loop(run)
            if run.measuring is not None:
                run.measuring.end(float(run.t), run.x, run.xd)
    except KeyboardInterrupt:
        run.interrupted = True
        run.stopped = f"interrupted at t = {float(run.t):.6g} s"
    finally:
        run.loop = None
        run.recorder.end_stream(run.t == run.end)
        run.stats.wall_time = wall_clock.perf_counter() - started if started else 0.0


def _compiled(run: Run) -> CompiledLoop | None:
    """This run's loop as compiled code; None if it runs without a compiled program."""
    compiled = library(run)
    if compiled is None:
        return None
    from spart_blocks.run.engines.compiled import CompiledLoop

    return CompiledLoop(run, compiled)


def library(run: Run) -> Library | None:
    """The compiled program of a run; None if the engine, the solver or a missing compiler do not
    allow it. Sinks that act at every sample, and sliding, need the loop in Python. The first call
    compiles it, which may take seconds.
    """
    engine = run.engine
    if not isinstance(engine, Native) or engine.display.acting or run.slides:
        return None
    method = tableau(run.options.solver)
    if method is None:
        return None
    from spart_blocks.run.engines.compiled import library_of_run

    return library_of_run(run, method)


def prepare_library(options: RunOptions) -> None:
    """Begin to compile what the libraries of all runs by a compiled method need."""
    if tableau(options.solver) is not None:
        from spart_blocks.run.engines.compiled import begin_driver

        begin_driver()


def _loop(run: Run) -> None:
    from spart_blocks.run.solvers.choice import segment_solver

    run.keeper = _keeper(run)
    begins = len(run.solvers) == 1
    if begins:
        enter(run, run.engine.jump_inputs(float(run.t), run.x, run.xd))
    run.keeper.state(run.t, run.x, run.xd, edge=begins)
    if begins:
        report(run, float(run.t), settled=True)
    segments = segment_solver(run)
    try:
        while run.t < run.end and run.stopped is None:
            run.cut_here()
            if segments.solver != run.options.solver:
                segments = segment_solver(run)
            b, limit = _next_stop(run), run.limit
            run.limit = math.inf
            until = b if float(run.t) + limit >= float(b) else exact(float(run.t) + limit)
            known = bool(run.known) and run.known.first == b
            reached = segments.advance(run.t, until)
            run.t = reached
            sides = reached < b or known
            if reached == b:
                sides |= enter(run, run.engine.jump_inputs(just_before(float(b)), run.x, run.xd))
            run.keeper.state(run.t, run.x, run.xd, sides=sides)
            if known and reached == b < run.end:
                run.keeper.event(run.t, run.x, run.xd)
            if run.lines:
                run.crowded_at = run.keeper.crowded_at
            report(run, float(run.t), settled=True)
        run.keeper.state(run.t, run.x, run.xd, sides=False, edge=True)
    finally:
        run.keeper.close()


def _keeper(run: Run) -> Keeper:
    keeper: Keeper = Grid(run.recorder, run.samples)
    if run.kept is not None:
        keeper = Sampled(run.recorder, run.kept)
    elif run.lines:
        keeper = Lines(run.recorder, run.engine, run.samples, run.marks)
    if run.tape is not None:
        keeper = Taped(keeper, run.tape)
    return Panelled(keeper, run.measuring, run.longest) if run.measuring else keeper


def _next_stop(run: Run) -> Fraction:
    """The next tick, known event time or end, whichever is first."""
    times = [clock.time(run.ticks[clock.name]) for clock in run.clocks]
    run.known.drop_until(run.t)
    if run.known:
        times.append(run.known.first)
    named = run.engine.next_stop(run.x)
    if float(run.t) < named < float(run.end):
        times.append(exact(named))
    return min([run.end, *times])
