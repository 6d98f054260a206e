"""The state of a run, which the parts of its loop change."""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spart_blocks.diagram.network.clocks import Clock, exact, grid
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.program.tracing.switching import Crossing, UpcomingSwitches
from spart_blocks.results import FinalState
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.events.crossings import Chatter
from spart_blocks.run.events.holds import Held
from spart_blocks.run.measure.gauges import Gauge, Readings
from spart_blocks.run.measure.measuring import Measuring
from spart_blocks.run.record.event_log import EventLog
from spart_blocks.run.record.record import Keeper, UnrecordedRows
from spart_blocks.run.record.recorder import Recorder, Samples
from spart_blocks.run.record.thinning import Bound
from spart_blocks.run.tape import Act, Tape

LOOKS = 500
"""A measured run is divided into at least this many intervals."""
LEAST_STEPS = 50
"""Smallest number of steps of a run, as in Simulink."""
STEPS_A_REPORT = 20_000
WINDOW = 100_000
"""About the largest number of ticks that a compiled loop knows in advance."""

Progress = Callable[[float, float], None]


@dataclass
class Pace:
    """The run at the last check: number of steps, time [s], and whether a jump was found nearby."""

    steps: int = 0
    t: float = 0.0
    jumped: bool = False


@dataclass
class Bounces:
    """The resets of one EVENT block that turned its signal back.

    times [s]: of the last three; count: of all. jump: change of the states by the last reset that
    was not a mere touch.
    """

    times: deque[float] = field(default_factory=lambda: deque(maxlen=3))
    count: int = 0
    jump: Floats | None = None
    hardest: float = 0.0


@dataclass
class Stats:
    """The cost of a run."""

    steps: int = 0
    evaluations: int = 0
    wall_time: float = 0.0


@dataclass
class Run:
    """The mutable state of one run.

    options: those of the engine, with the solver in use. known: the times at which sources
    switch.
    solvers: those used so far, each with its start time. stiff: whether the run has reported
    stiffness. lines: whether the record keeps as many rows as straight lines need; otherwise it
    keeps samples only. fixed_step [s]: step of methods without error control. kept: the sample
    times of a run that records states only; they replace `samples`, which solvers use
    nevertheless. steps_a_report: largest number of steps of a compiled loop between two reports.
    look: longest interval [s] between two reports of solvers that advance by long calls, which
    begin anew there. settled: whether all that happens at the time of the last report has happened.
    cut: end the run at the next time from which another run can continue. marks: times (m,) [s]
    that lines always keep. crowded_at [s]: when a step first needed more rows than
    allowed.
    """

    engine: Engine
    options: RunOptions
    recorder: Recorder
    t: Fraction
    end: Fraction
    x: Floats
    xd: Floats
    ticks: dict[str, int]
    known: UpcomingSwitches
    samples: Samples
    fixed_step: float
    lines: bool = True
    kept: Samples | None = None
    marks: Floats = field(default_factory=lambda: np.zeros(0))
    start: Fraction = Fraction(0)
    progress: Progress | None = None
    most_steps: int = sys.maxsize
    steps_a_report: int = field(default_factory=lambda: STEPS_A_REPORT)
    look: float = math.inf
    settled: bool = False
    cut: bool = False
    loop: UnrecordedRows | None = None
    stats: Stats = field(default_factory=Stats)
    events: EventLog = field(default_factory=EventLog)
    stopped: str | None = None
    interrupted: bool = False
    solvers: list[tuple[float, str]] = field(default_factory=list)
    stiff: bool = False
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=3))
    """The times of the latest crossings."""
    chatter: Chatter = field(default_factory=Chatter)
    keeper: Keeper = field(init=False)
    measuring: Measuring | None = None
    tape: Tape | None = None
    crowded_at: float | None = None
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

    def leave_out_unseen(self) -> None:
        """Locate no bends that nothing can see: no state, and no signal that this run records or
        measures. Called once all of these are known.
        """
        measured = self.measuring.names if self.measuring else ()
        self.engine = self.engine.seeing({*self.recorder.names, *measured})

    def bound_steps(self) -> None:
        """Make the run take at least LEAST_STEPS steps if zero-crossings have effects. Otherwise a
        step without another limit, for example with states at rest, could step over two crossings
        at once.
        """
        sliding = self.slides and any(crossing.kind == "bend" for crossing in self.crossings)
        if (self.acting or sliding) and self.options.max_step is None:
            step = float(self.end) / LEAST_STEPS
            self.options = self.options.model_copy(update={"max_step": step})

    @property
    def longest(self) -> float:
        """The longest interval [s] that is measured as one panel."""
        return float(self.end) / LOOKS

    def measure(self, gauges: Iterable[Gauge]) -> None:
        """Attach gauges, which measure this run from its start."""
        measuring = Measuring(self.engine, gauges)
        self.measuring = measuring if measuring.names else None

    def take_tape(self) -> Tape:
        """Write all steps of this run, and what acts between them, on a tape."""
        self.tape = Tape(len(self.x), len(self.xd))
        return self.tape

    @property
    def readings(self) -> dict[Gauge, Readings]:
        """Readings of the gauges."""
        return self.measuring.read() if self.measuring else {}

    @property
    def coarse(self) -> float:
        """The longest interval [s] between two evaluations for the record."""
        return float(self.samples.every)

    def bound_record(self) -> None:
        """Let a record by lines be thinned when it is full."""
        if self.lines:
            self.recorder.bound = Bound(float(self.t), float(self.end - self.t), self.marks)

    @property
    def window(self) -> float:
        """A time [s] in which clocks tick and sources switch about WINDOW times."""
        rate = self.known.rate + sum(1 / clock.period for clock in self.clocks)
        return float(WINDOW / rate) if rate else math.inf

    def stops_and_ticks(
        self, until: float = math.inf, after: float | None = None
    ) -> tuple[Floats, NDArray[np.uint8], NDArray[np.uint8]]:
        """The times [s] at which the solver must stop; the clocks that tick there (stops, clocks);
        and the cause of jumps there: 1 a tick, 2 a known event. They go from now to the end of the
        run, or to `until`. after: the last stop of the times before, which comes first again.
        """
        first = float(self.t) if after is None else after
        beyond = -math.inf if after is None else after
        last = self.end if until >= self.end else exact(until)
        grids = [
            grid(c.offset, c.period, self.ticks[c.name], min(last + c.period, self.end))
            for c in self.clocks
        ]
        # Times are chosen by their rounded values, so that none falls between two windows.
        ticks = [times[(beyond < times) & (times <= until)] for times in grids]
        known = self.known.within(beyond, until)
        ends = [first, float(self.end)] if last == self.end else [first]
        stops = np.sort(np.concatenate([ends, known, *ticks]))
        stops = stops[np.append(True, np.diff(stops) > 0)]  # np.unique imports masked arrays
        due = np.array([np.isin(stops, times) for times in ticks], dtype=np.uint8)
        due = np.ascontiguousarray(due.reshape(len(ticks), len(stops)).T)
        jumps = np.asarray(due.any(axis=1), dtype=np.uint8)
        jumps[np.isin(stops, known)] = 2
        return stops, due, jumps

    def sample_times(self) -> Floats:
        """The sample times [s] from now on, with the start and the end."""
        ahead = self.samples.ahead() if self.kept is None else self.kept.ahead()
        if self.kept is not None and not len(self.x):  # where crossings are looked for
            ahead = np.union1d(ahead, self.samples.ahead())
        return np.union1d(ahead, [float(self.t), float(self.end)])

    def stops_left(self, t: float) -> int:
        """The number of times after t at which the solver must stop."""
        return self.known.count_after(t) + sum(
            int((float(self.end) - t) / c.period) for c in self.clocks
        )

    def change_solver(self, solver: str, t: float) -> None:
        """Continue with another solver from the state reached at t."""
        self.options = self.options.model_copy(update={"solver": solver})
        self.solvers.append((t, solver))

    def cut_here(self) -> None:
        """End the run if `cut` is set. Called where another run can continue: between steps, with
        all crossings handled.
        """
        if self.cut:
            raise KeyboardInterrupt

    @property
    def slides(self) -> bool:
        """Whether states may slide along surfaces, and signals rest at zero."""
        return self.options.sliding == "filippov"

    def hold(self, t: float, held: Held) -> None:
        """Hold the states by this from time t [s] on."""
        if self.tape is not None and held != self.held:
            self.tape.acts.append(Act(t, "held", held=held, x=self.x))
        self.held = held

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
    def resetting(self) -> frozenset[int]:
        """The crossings of EVENTs."""
        return frozenset(k for k, c in enumerate(self.crossings) if c.kind == "event")

    @cached_property
    def _directions(self) -> Floats:
        """The directions of the crossings."""
        return np.array([crossing.direction for crossing in self.crossings], dtype=float)

    def final_state(self) -> FinalState:
        """The states at the present time, by block."""
        engine = self.engine
        return FinalState(
            float(self.t),
            {name: self.x[part].copy() for name, part in engine.continuous.items()},
            {name: self.xd[part].copy() for name, part in engine.sampled.items()},
            dict(self.ticks),
        )
