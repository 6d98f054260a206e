"""A run of the interpreter: solver steps between clock ticks, known event times and
zero-crossings.

Step policy. The span is cut at every clock tick and every declared event time; the
solver is restarted there and never steps over one. Within a piece [a, b) blocks see
times below b, so that a signal that switches at b does so after it. At a tick all due
clocks read the values before it and update together. Signals are right-continuous: the
sample kept at a tick or an event is the one after it.
"""

from __future__ import annotations

import time as wall_clock
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import integrate

from spart_blocks.diagram.clocks import Clock, exact, grid
from spart_blocks.diagram.model import Diagram
from spart_blocks.errors import Fault, InputError, RunError
from spart_blocks.results import Event, FinalState
from spart_blocks.simulation.crossings import Crossing, handle, locate
from spart_blocks.simulation.cvodes import METHODS, Cvodes
from spart_blocks.simulation.interpreter import Floats, Interpreter
from spart_blocks.simulation.recorder import Recorder
from spart_blocks.simulation.tableaus import FixedStep, tableau

if TYPE_CHECKING:
    from spart_blocks.simulation.compiled import CompiledLoop

Progress = Callable[[float, float], None]


@dataclass
class Stats:
    """What a run cost."""

    steps: int = 0
    evaluations: int = 0
    wall_time: float = 0.0


@dataclass
class Run:
    """The mutable state of one run: time, states, ticks done, samples kept."""

    diagram: Diagram
    engine: Interpreter
    clocks: tuple[Clock, ...]
    crossings: tuple[Crossing, ...]
    recorder: Recorder
    t: Fraction
    end: Fraction
    x: Floats
    xd: Floats
    ticks: dict[str, int]
    event_times: list[Fraction]
    samples: Samples
    progress: Progress | None = None
    stats: Stats = field(default_factory=Stats)
    events: list[Event] = field(default_factory=list)
    stopped: str | None = None
    last_step: float | None = None
    _before: list[float] = field(default_factory=list)  # watched values before a stop
    cvodes: Cvodes | None = None

    # --- the loop ------------------------------------------------------------------

    def go(self) -> None:
        """Run to the end, to a STOP, or to an interrupt, which keeps what is there."""
        started = 0.0
        try:
            with np.errstate(all="ignore"):
                self.engine.check_shapes(float(self.t), self.x, self.xd)
                loop = self._compiled()
                started = wall_clock.perf_counter()
                if loop is None:
                    self._loop()
                else:
                    loop.go()
                    self._record(self.t, always=True)
        except KeyboardInterrupt:
            self.stopped = f"interrupted at t = {float(self.t):.6g} s"
        finally:
            self.stats.wall_time = wall_clock.perf_counter() - started if started else 0.0

    def _compiled(self) -> CompiledLoop | None:
        """This run's loop as compiled code, where the engine, the solver and a compiler
        allow; sinks that act at every sample and functions in a STOP need Python."""
        from spart_blocks.simulation.native import Native

        functions = any(crossing.has_function for crossing in self.crossings)
        if not isinstance(self.engine, Native) or self.recorder.sinks or functions:
            return None
        from spart_blocks.simulation.compiled import CompiledLoop, library_of

        method = tableau(self.diagram.run.solver)
        if method is None:
            return None
        sources = self.recorder.kept.values()
        self.recorder.shapes = [self.engine.slot_of(source).shape for source in sources]
        library = library_of(self.engine, list(sources), self.crossings)
        return CompiledLoop(self, self.engine, library, method) if library else None

    @property
    def fixed_step(self) -> float:
        """The step [s] of the methods without error control."""
        return self.diagram.run.max_step or float(self.samples.every)

    def stops_and_ticks(self) -> tuple[Floats, NDArray[np.uint8]]:
        """Every time from now to the end at which the solver must stop, and which clocks
        tick there, (stops, clocks)."""
        ticks = [grid(c.offset, c.period, self.ticks[c.name], self.end) for c in self.clocks]
        known = np.array([float(t) for t in (self.t, *self.event_times, self.end)])
        stops = np.unique(np.concatenate([known, *ticks]))
        due = np.array([np.isin(stops, times) for times in ticks], dtype=np.uint8)
        return stops, np.ascontiguousarray(due.reshape(len(ticks), len(stops)).T)

    def sample_times(self) -> Floats:
        """The grid of samples from now on, with the start and the end."""
        times = grid(Fraction(0), self.samples.every, self.samples.k, self.end)
        return np.union1d(times, [float(self.t), float(self.end)])

    def _loop(self) -> None:
        self._tick()
        self._jump()
        self._record(self.t, always=True)
        while self.t < self.end and self.stopped is None:
            b = self._next_stop()
            reached = self._integrate(self.t, b)
            self.t = reached
            if reached == b:
                self._tick()
                self._jump()
            self._record(self.t)
        self._record(self.t, always=True)

    def _next_stop(self) -> Fraction:
        """The next tick, known event time or end, whichever comes first."""
        times = [clock.time(self.ticks[clock.name]) for clock in self.clocks]
        while self.event_times and self.event_times[-1] <= self.t:
            self.event_times.pop()
        if self.event_times:
            times.append(self.event_times[-1])
        return min([self.end, *times])

    def _tick(self) -> None:
        due = [c for c in self.clocks if c.time(self.ticks[c.name]) == self.t]
        if not due:
            return
        self.xd = self.engine.tick(float(self.t), self.x, self.xd, due)
        for clock in due:
            self.ticks[clock.name] += 1

    def _record(self, t: Fraction, *, always: bool = False) -> None:
        """Keep a sample of the present state if one is due now; at the first and the last
        time, in any case."""
        if self.samples.due_at(t) or (always and not self.recorder.ends_at(float(t))):
            self.samples.pass_by(t)
            self.recorder.keep(self.engine, float(t), self.x, self.xd)

    # --- integration -----------------------------------------------------------------

    def _integrate(self, a: Fraction, b: Fraction) -> Fraction:
        """Advance x from a to b, or to a crossing before b; returns the time reached."""
        t0, t1 = float(a), float(b)
        if not len(self.x):
            return self._skip(a, b)
        if self.diagram.run.solver in METHODS:
            return self._multistep(a, b)
        before_end = np.nextafter(t1, t0)
        xd = self.xd
        if t1 - t0 < 1e-12 * max(1.0, t1):  # two stops that rounding parts
            self._before = self._watch(t0, self.x)
            self.x = self.x + (t1 - t0) * self.engine.derivative(t0, self.x, xd)
            return b
        refused: list[RunError] = []

        def rhs(t: float, x: Floats) -> Floats:
            self.stats.evaluations += 1
            try:
                return self.engine.derivative(min(t, before_end), x, xd)
            except RunError as error:
                # A trial step may reach too far; NaN makes the solver try a shorter one.
                if self.diagram.run.solver == "LSODA":  # its Fortran does not look for NaN
                    raise
                if np.isfinite(x).all():  # later stages only echo the first NaN
                    refused.append(error)
                return np.full_like(x, np.nan)

        solver = self._solver(rhs, t0, t1)
        watched = self._watch(t0, self.x)
        while solver.status == "running":
            message = self._step(solver, refused)
            if solver.status == "failed":
                raise self._failure(refused, message, solver.t)
            refused.clear()
            self.stats.steps += 1
            dense = solver.dense_output()
            found, watched = self._first_crossing(dense, solver, watched, before_end)
            until = found[1] if found else solver.t
            self._record_between(dense, until, b)
            self.t = exact(until)
            self.x = np.asarray(dense(until)) if found else solver.y
            self.report(until)
            if found:
                return self.cross(found[0], until)
        self._before = watched
        self.last_step = getattr(solver, "h_abs", None)
        self.x = self.engine.project(solver.y)
        return b

    def _multistep(self, a: Fraction, b: Fraction) -> Fraction:
        """Advance from a to b with CVODES, which steps inside one call."""
        cvodes = self._cvodes()
        samples = [t for t in self.samples.within(a, b) if t > a]
        states = cvodes.over(float(a), [float(t) for t in (*samples, b)], self.x, self.xd)
        for t, x in zip(samples, states[:-1], strict=True):
            self.recorder.keep(self.engine, float(t), x, self.xd)
        self.x = self.engine.project(states[-1])
        self.stats.steps, self.stats.evaluations = cvodes.steps, cvodes.evaluations
        self.report(float(b))
        return b

    def _cvodes(self) -> Cvodes:
        if self.cvodes is None:
            from spart_blocks.simulation.native import Native

            options = self.diagram.run
            if not isinstance(self.engine, Native) or self.crossings:
                why = "STOP and EVENT blocks" if self.crossings else "blocks that are not traced"
                raise InputError(
                    Fault(f"{options.solver} cannot run with {why}", hint="use BDF or LSODA")
                )
            self.cvodes = Cvodes(self.engine.program, options.solver, options.rtol, options.atol)
        return self.cvodes

    def _step(self, solver: Any, refused: list[RunError]) -> str | None:
        try:
            message: str | None = solver.step()
        except ValueError as error:  # SciPy's implicit solvers refuse NaN so
            if refused:
                raise refused[-1] from None
            raise RunError(f"the solver failed: {error}", time=solver.t) from error
        return message

    def _failure(self, refused: list[RunError], message: str | None, t: float) -> RunError:
        if refused:  # no step was short enough to keep clear of it
            return refused[-1]
        return RunError(
            f"the solver failed: {message}",
            time=t,
            hint="try a smaller max_step, another solver, or looser tolerances",
        )

    def _solver(self, rhs: Callable[[float, Floats], Floats], t0: float, t1: float) -> Any:
        options = self.diagram.run
        method = tableau(options.solver)
        if method is not None and method.e is None:
            return FixedStep(rhs, t0, self.x, t1, method, self.fixed_step)
        arguments: dict[str, Any] = {"rtol": options.rtol, "atol": options.atol}
        if options.max_step is not None:
            arguments["max_step"] = options.max_step
        if self.last_step is not None:
            arguments["first_step"] = min(self.last_step, options.max_step or np.inf, t1 - t0)
        jacobian = self.engine.jacobian
        if jacobian is not None and options.solver in ("Radau", "BDF", "LSODA"):
            xd = self.xd
            arguments["jac"] = lambda t, x: jacobian(t, x, xd)
        return getattr(integrate, options.solver)(rhs, t0, self.x, t1, **arguments)

    def _skip(self, a: Fraction, b: Fraction) -> Fraction:
        """Pass over an interval without continuous states."""
        for t in (*self.samples.within(a, b), b):
            t0 = float(self.t)
            t1 = float(t) if t < b else float(np.nextafter(float(t), t0))
            before, after = self._watch(t0, self.x), self._watch(t1, self.x)
            found = self._crossed_between(before, after, lambda _: self.x, t0, t1)
            if found:
                return self.cross(*found)
            self._before = after
            self.t = t
            if t < b:
                self.recorder.keep(self.engine, t1, self.x, self.xd)
        self.report(float(b))
        return b

    def _record_between(self, dense: Callable[[float], Floats], until: float, b: Fraction) -> None:
        """Samples due after the last kept one and before `until`, from the dense output."""
        for t in self.samples.within(self.t, min(exact(until), b)):
            self.recorder.keep(self.engine, float(t), np.asarray(dense(float(t))), self.xd)

    def report(self, t: float) -> None:
        if self.progress is not None:
            self.progress(t, float(self.end))

    # --- crossings -------------------------------------------------------------------

    def _watch(self, t: float, x: Floats) -> list[float]:
        if not self.crossings:
            return []
        values = self.engine.outputs(t, x, self.xd)
        return [crossing.value(self.engine, values) for crossing in self.crossings]

    def _first_crossing(
        self, dense: Any, solver: Any, before: list[float], before_end: float
    ) -> tuple[tuple[Crossing, float] | None, list[float]]:
        """The earliest crossing within the solver's last step, and the values at its end."""
        if not self.crossings:
            return None, before
        t0, t1 = solver.t_old, min(solver.t, before_end)
        after = self._watch(t1, solver.y)
        return self._crossed_between(before, after, dense, t0, t1), after

    def _crossed_between(
        self, before: list[float], after: list[float], dense: Any, t0: float, t1: float
    ) -> tuple[Crossing, float] | None:
        found = [
            (crossing, locate(crossing, self.engine, dense, self.xd, t0, t1))
            for crossing, old, new in zip(self.crossings, before, after, strict=True)
            if crossing.crossed(old, new)
        ]
        return min(found, key=lambda pair: pair[1]) if found else None

    def _jump(self) -> None:
        """Act on a crossing by a jump at this stop, or on a STOP whose signal is above zero."""
        now = self._watch(float(self.t), self.x)
        for k, crossing in enumerate(self.crossings):
            jumped = bool(self._before) and crossing.crossed(self._before[k], now[k])
            if now[k] > 0 if crossing.stop else jumped:
                self.cross(crossing, float(self.t))
                return

    def cross(self, crossing: Crossing, t: float) -> Fraction:
        """Act on a crossing at t: stop, or let an EVENT block's function reset states."""
        if crossing.stop:
            self._stop(crossing, t)
        else:
            self.events.append(Event(t, crossing.node.name, "crossed zero"))
            self.x, self.xd = handle(crossing, self.engine, t, self.x, self.xd)
            self.last_step = None
        return exact(t)

    def _stop(self, crossing: Crossing, t: float) -> None:
        self.events.append(Event(t, crossing.node.name, "stopped the run"))
        self.stopped = f"stopped by block {crossing.node.name} at t = {t:.6g} s"

    # --- the end -----------------------------------------------------------------------

    def final_state(self) -> FinalState:
        """The states at the time reached, by block."""
        engine = self.engine
        return FinalState(
            float(self.t),
            {engine.nodes[i].name: self.x[part].copy() for i, part in engine.continuous.items()},
            {engine.nodes[i].name: self.xd[part].copy() for i, part in engine.sampled.items()},
            dict(self.ticks),
        )


class Samples:
    """The grid of sample times k * every, walked once."""

    def __init__(self, start: Fraction, every: Fraction) -> None:
        self.every = every
        self.k = -(-start // every)  # the first grid time at or after start

    def due_at(self, t: Fraction) -> bool:
        return self.k * self.every == t

    def pass_by(self, t: Fraction) -> None:
        self.k = t // self.every + 1

    def within(self, a: Fraction, b: Fraction) -> list[Fraction]:
        """The grid times in [a, b) not yet passed; they count as passed from here on."""
        times = []
        while self.k * self.every < b:
            times.append(self.k * self.every)
            self.k += 1
        return times
