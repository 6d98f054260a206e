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
import sys
import time as wall_clock
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import RunError
from spart_blocks.base.tableaus import tableau
from spart_blocks.diagram.network.clocks import Clock, exact, grid
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.program.tracing.switching import Crossing
from spart_blocks.results import Event, FinalState
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.engines.native import Native
from spart_blocks.run.events.acting import enter
from spart_blocks.run.events.bounces import Bounces
from spart_blocks.run.events.crossings import Chatter
from spart_blocks.run.events.holds import Held
from spart_blocks.run.events.shrinking import Pace, look
from spart_blocks.run.events.stops import just_before
from spart_blocks.run.measure.gauges import Gauge, Readings
from spart_blocks.run.measure.measuring import Measuring, Panelled
from spart_blocks.run.record.record import MOST_NUMBERS, Grid, Keeper, Lines, Sampled
from spart_blocks.run.record.recorder import Recorder, Samples

if TYPE_CHECKING:
    from spart_blocks.run.engines.compiled import CompiledLoop, Library
    from spart_blocks.run.solvers.solver import SegmentSolver

LOOKS = 500
"""A measured run is divided into at least this many intervals."""
LEAST_STEPS = 50
"""Smallest number of steps of a run, as in Simulink."""
STEPS_A_REPORT = 20_000

Progress = Callable[[float, float], None]


@dataclass
class Stats:
    """The cost of a run."""

    steps: int = 0
    evaluations: int = 0
    wall_time: float = 0.0


@dataclass
class Run:
    """The mutable state of one run.

    options: those of the engine, with the solver in use. event_times [s]: in descending order.
    solvers: those used so far, each with its start time. stiff: whether the run has reported
    stiffness. lines: whether the record keeps as many rows as straight lines need; otherwise it
    keeps samples only. fixed_step [s]: step of methods without error control. kept: the sample
    times of a run that records states only; they replace `samples`, which solvers use
    nevertheless. steps_a_report: largest number of steps of a compiled loop between two reports.
    cut: end the run at the next time from which another run can continue. marks: times (m,) [s]
    that lines always keep. crowded_at [s]: when a step first needed more rows than allowed.
    thinned_at [s]: when the record was full.
    """

    engine: Engine
    options: RunOptions
    recorder: Recorder
    t: Fraction
    end: Fraction
    x: Floats
    xd: Floats
    ticks: dict[str, int]
    event_times: list[Fraction]
    samples: Samples
    fixed_step: float
    lines: bool = True
    kept: Samples | None = None
    marks: Floats = field(default_factory=lambda: np.zeros(0))
    start: Fraction = Fraction(0)
    known: tuple[Fraction, ...] = ()
    progress: Progress | None = None
    most_steps: int = sys.maxsize
    steps_a_report: int = field(default_factory=lambda: STEPS_A_REPORT)
    cut: bool = False
    loop: CompiledLoop | None = None
    stats: Stats = field(default_factory=Stats)
    events: list[Event] = field(default_factory=list)
    stopped: str | None = None
    interrupted: bool = False
    solvers: list[tuple[float, str]] = field(default_factory=list)
    stiff: bool = False
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=3))
    """The times of the latest crossings."""
    chatter: Chatter = field(default_factory=Chatter)
    keeper: Keeper = field(init=False)
    measuring: Measuring | None = None
    crowded_at: float | None = None
    thinned_at: float | None = None
    before: Floats | None = None
    """The zero-crossing values before the next stop."""
    bounces: dict[int, Bounces] = field(default_factory=dict)
    """For each crossing of an EVENT block the effects of its resets."""
    held: Held = field(default_factory=Held)
    """The surfaces and contacts that hold the states at present."""
    pace: Pace = field(default_factory=Pace)
    limit: float = math.inf
    """Longest allowed next step [s]."""

    @property
    def clocks(self) -> tuple[Clock, ...]:
        return self.engine.clocks

    @property
    def crossings(self) -> Sequence[Crossing]:
        return self.engine.crossings

    # --- the loop ------------------------------------------------------------------

    def go(self) -> None:
        """Run to the end, to a STOP, or to an interrupt; the record so far is kept."""
        started = 0.0
        try:
            with np.errstate(all="ignore"):
                self.engine.check_shapes(float(self.t), self.x, self.xd)
                if self.measuring is not None:
                    self.measuring.begin(float(self.t), self.x, self.xd)
                self.bound_steps()
                self.solvers = [(float(self.t), self.options.solver)]
                loop = self.loop = self._compiled()
                started = wall_clock.perf_counter()
                if loop is not None:
                    loop.go()
                    self.loop = None
                if loop is None or len(self.solvers) > 1:
                    self._loop()
                if self.measuring is not None:
                    self.measuring.end(float(self.t), self.x, self.xd)
        except KeyboardInterrupt:
            self.interrupted = True
            self.stopped = f"interrupted at t = {float(self.t):.6g} s"
        finally:
            self.loop = None
            self.stats.wall_time = wall_clock.perf_counter() - started if started else 0.0

    def bound_steps(self) -> None:
        """Make the run take at least LEAST_STEPS steps if zero-crossings have effects. Otherwise a
        step without another limit, for example with states at rest, could step over two crossings
        at once.
        """
        sliding = self.slides and any(crossing.kind == "bend" for crossing in self.crossings)
        if (self.acting or sliding) and self.options.max_step is None:
            step = float(self.end) / LEAST_STEPS
            self.options = self.options.model_copy(update={"max_step": step})

    def _compiled(self) -> CompiledLoop | None:
        """This run's loop as compiled code; None if the engine, the solver or a missing compiler
        do not allow it. Sinks that act at every sample, and sliding, need the loop in Python.
        """
        from spart_blocks.run.engines.compiled import CompiledLoop

        method, library = tableau(self.options.solver), self.library()
        if library is None or method is None:
            return None
        assert isinstance(self.engine, Native)
        return CompiledLoop(self, self.engine, library, method)

    def library(self) -> Library | None:
        """The compiled program of this run; None if it runs without one. The first call compiles
        it, which may take seconds.
        """
        if not isinstance(self.engine, Native) or self.engine.display.acting or self.slides:
            return None
        from spart_blocks.run.engines.compiled import library_of

        if tableau(self.options.solver) is None:
            return None
        measured = self.measuring.names if self.measuring else ()
        return library_of(self.engine.program, self.recorder.names, measured)

    @property
    def longest(self) -> float:
        """The longest interval [s] that is measured as one panel."""
        return float(self.end) / LOOKS

    def measure(self, gauges: Iterable[Gauge]) -> None:
        """Attach gauges, which measure this run from its start."""
        measuring = Measuring(self.engine, gauges)
        self.measuring = measuring if measuring.names else None

    @property
    def readings(self) -> dict[Gauge, Readings]:
        """Readings of the gauges."""
        return self.measuring.read() if self.measuring else {}

    @property
    def coarse(self) -> float:
        """The longest interval [s] between two evaluations for the record."""
        return float(self.samples.every)

    def thin_from(self, t: float) -> None:
        """From t on, keep samples only, because the record is full."""
        self.lines, self.thinned_at = False, t
        self.samples.pass_by(exact(t))

    def stops_and_ticks(self) -> tuple[Floats, NDArray[np.uint8], NDArray[np.uint8]]:
        """All times [s] from now on at which the solver must stop; the clocks that tick there
        (stops, clocks); and the cause of jumps there: 1 a tick, 2 a known event.
        """
        ticks = [grid(c.offset, c.period, self.ticks[c.name], self.end) for c in self.clocks]
        known = np.array([float(t) for t in (self.t, *self.event_times, self.end)])
        stops = np.unique(np.concatenate([known, *ticks]))
        due = np.array([np.isin(stops, times) for times in ticks], dtype=np.uint8)
        due = np.ascontiguousarray(due.reshape(len(ticks), len(stops)).T)
        jumps = np.asarray(due.any(axis=1), dtype=np.uint8)
        jumps[np.isin(stops, [float(t) for t in self.event_times])] = 2
        return stops, due, jumps

    def sample_times(self) -> Floats:
        """The sample times [s] from now on, with the start and the end."""
        now = [] if self.thinned_at is not None else [float(self.t)]
        ahead = self.samples.ahead() if self.kept is None else self.kept.ahead()
        if self.kept is not None and not len(self.x):  # where crossings are looked for
            ahead = np.union1d(ahead, self.samples.ahead())
        return np.union1d(ahead, [*now, float(self.end)])

    def _loop(self) -> None:
        from spart_blocks.run.solvers.choice import segment_solver

        self.keeper = self._keeper()
        begins = len(self.solvers) == 1
        if begins:
            enter(self, self.engine.told(float(self.t), self.x, self.xd))
        self.keeper.state(self.t, self.x, self.xd, edge=begins)
        segments: SegmentSolver = segment_solver(self)
        try:
            while self.t < self.end and self.stopped is None:
                self.cut_here()
                if segments.solver != self.options.solver:
                    segments = segment_solver(self)
                b, limit = self._next_stop(), self.limit
                self.limit = math.inf
                until = b if float(self.t) + limit >= float(b) else exact(float(self.t) + limit)
                known = bool(self.event_times) and self.event_times[-1] == b
                reached = segments.advance(self.t, until)
                self.t = reached
                sides = reached < b or known
                if reached == b:
                    sides |= enter(self, self.engine.told(just_before(float(b)), self.x, self.xd))
                self.keeper.state(self.t, self.x, self.xd, sides=sides)
                if known and reached == b < self.end:
                    self.keeper.event(self.t, self.x, self.xd)
                self._thin_out()
            self.keeper.state(self.t, self.x, self.xd, sides=False, edge=True)
        finally:
            self.keeper.close()

    def _keeper(self) -> Keeper:
        keeper: Keeper = Grid(self.recorder, self.samples)
        if self.kept is not None:
            keeper = Sampled(self.recorder, self.kept)
        elif self.lines:
            keeper = Lines(self.recorder, self.engine, self.samples, self.marks)
        return Panelled(keeper, self.measuring, self.longest) if self.measuring else keeper

    def _thin_out(self) -> None:
        """Keep samples only from now on if the record is full."""
        if self.lines:
            self.crowded_at = self.keeper.crowded_at
        if self.lines and self.recorder.size > MOST_NUMBERS:
            self.keeper.close()
            self.thin_from(float(self.t))
            self.keeper = self._keeper()
            self.keeper.state(self.t, self.x, self.xd)

    def stops_left(self, t: float) -> int:
        """The number of times after t at which the solver must stop."""
        known = sum(time > t for time in self.event_times)
        return known + sum(int((float(self.end) - t) / c.period) for c in self.clocks)

    def change_solver(self, solver: str, t: float) -> None:
        """Continue with another solver from the state reached at t."""
        self.options = self.options.model_copy(update={"solver": solver})
        self.solvers.append((t, solver))

    def _next_stop(self) -> Fraction:
        """The next tick, known event time or end, whichever is first."""
        times = [clock.time(self.ticks[clock.name]) for clock in self.clocks]
        while self.event_times and self.event_times[-1] <= self.t:
            self.event_times.pop()
        if self.event_times:
            times.append(self.event_times[-1])
        named = self.engine.next_stop(self.x)
        if float(self.t) < named < float(self.end):
            times.append(exact(named))
        return min([self.end, *times])

    def report(self, t: float) -> None:
        """Report progress; called from time to time. t: the time reached [s]. Raises RunError if
        the run takes too many steps or makes no progress.
        """
        if self.stats.steps > self.most_steps:
            hint = "it may diverge, or its max_step be too short for its T"
            text = f"the run has taken more than {self.most_steps:,} steps"
            raise RunError(text, time=t, hint=hint)
        look(self, t)
        if self.progress is not None:
            self.progress(t, float(self.end))

    def cut_here(self) -> None:
        """End the run if `cut` is set. Called where another run can continue: between steps, with
        all crossings handled.
        """
        if self.cut:
            raise KeyboardInterrupt

    # --- the equations and the held states -------------------------------------------

    @property
    def slides(self) -> bool:
        """Whether states may slide along surfaces, and signals rest at zero."""
        return self.options.sliding == "filippov"

    def derivative(self, t: float, x: Floats, start: Floats | None = None) -> Floats:
        """dx/dt; start: the state at the start of the step."""
        if self.held:
            return self.held.rates(self.engine, t, x, self.xd)
        return self.engine.derivative(t, x, self.xd, start)

    def project(self, t: float, x: Floats) -> Floats:
        """x projected onto its constraints."""
        x = self.engine.project(t, x)
        return self.held.project(self.engine, t, x, self.xd) if self.held else x

    def watch(self, t: float, x: Floats) -> Floats:
        """Values of the zero-crossing functions; empty if there are none."""
        if not self.crossings:
            return np.zeros(0)
        values = self.engine.watch(t, x, self.xd)
        return self.held.watch(self.engine, t, x, self.xd, values) if self.held else values

    # --- crossings -------------------------------------------------------------------

    def crossed(self, before: Floats, after: Floats) -> list[int]:
        """The crossings whose values have changed sides of zero, in their directions."""
        directions = self._directions
        either = (before > 0) != (after > 0)
        rises, falls = (before <= 0) & (after > 0), (before >= 0) & (after < 0)
        one = np.where(directions > 0, rises, falls)
        found: list[int] = np.flatnonzero(np.where(directions == 0, either, one)).tolist()
        return found

    @cached_property
    def acting(self) -> frozenset[int]:
        """The crossings with an effect: those of STOPs, EVENTs, modes and faults."""
        kinds = ("stop", "event", "mode", "fault")
        return frozenset(k for k, c in enumerate(self.crossings) if c.kind in kinds)

    @cached_property
    def _directions(self) -> Floats:
        """The directions of the crossings."""
        return np.array([crossing.direction for crossing in self.crossings], dtype=float)

    # --- the end -----------------------------------------------------------------------

    def final_state(self) -> FinalState:
        """The states at the present time, by block."""
        engine = self.engine
        return FinalState(
            float(self.t),
            {name: self.x[part].copy() for name, part in engine.continuous.items()},
            {name: self.xd[part].copy() for name, part in engine.sampled.items()},
            dict(self.ticks),
        )
