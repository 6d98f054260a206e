"""Steps of a run: to its next event, to the next tick of a clock, by a time; and its breakpoints.

The run pauses between two of its own steps, so that its results do not change: at events and
ticks, which solvers stop at, exactly there; otherwise after the solver step that leads to the time
asked for or to a breakpoint, and the time of the record that is shown is that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.diagram.network.clocks import Clock, exact
from spart_blocks.run.run import Run
from spart_blocks.studio.runs.breakpoints import Breakpoints, Hit
from spart_blocks.studio.runs.pace import Pace
from spart_blocks.studio.runs.values import clock_text

WAIT = 0.1
"""Longest real time [s] that a run which keeps pace waits for one call of its solver."""
FINE = 0.25
"""The share of what is left of a step by time that is done in one go, without a look."""


@dataclass(frozen=True)
class Step:
    """What a run goes on to. to: "start", its first instant; "event", "tick", "time". until [s]:
    the time of a tick or a time. events: the number of the run's events so far."""

    to: str
    until: float = math.inf
    events: int = 0


@dataclass
class Stepping:
    """The step that a run is in, if any, and its breakpoints. pace: that the run keeps. paused:
    where and why it paused, as `Paused` of the protocol."""

    step: Step | None = None
    pace: Pace = field(default_factory=lambda: Pace(None))
    breakpoints: Breakpoints = field(default_factory=Breakpoints)
    paused: dict[str, Any] | None = None
    _before: tuple[int, float] | None = None
    _hits: list[Hit] = field(default_factory=list)

    @property
    def looks(self) -> bool:
        """Whether each step of the run is looked at."""
        return bool(self.breakpoints) or (self.step is not None and self.step.to != "time")

    def begin(self, run: Run, *, first: bool) -> None:
        """A part of the run begins. first: whether the run does, at the start of the diagram."""
        self.breakpoints.begin(run, starts=first)
        self._before = None
        if self.step is not None and self.step.to == "event":
            self.step = Step("event")
        self.apply(run)

    def go(self, run: Run, asked: Mapping[str, Any]) -> bool:
        """Begin a step. asked: `to`; of "tick" the `clock`, of "time" the `interval` [s]; `t`, the
        time that is shown, if the record goes on from there. Returns whether the run stays paused,
        since it is beyond. Raises InputError."""
        to, t = str(asked.get("to")), float(run.t)
        shown = min(float(asked.get("t") or t), t)
        if to == "event":
            step = Step(to, events=run.events.total)
        elif to == "tick":
            step = Step(to, next_tick(run.clocks, shown, asked.get("clock")))
        elif to == "time":
            step = Step(to, shown + interval_of(asked))
        else:
            raise InputError('a step leads to an "event", a "tick" or a "time"')
        return self._goes_on(run, step)

    def let_go(self, run: Run) -> bool:
        """The run goes on without a step. Returns whether it stays paused, at a breakpoint that was
        met within the same step of the solver."""
        return self._goes_on(run, None)

    def _goes_on(self, run: Run, step: Step | None) -> bool:
        self.step, self.paused, self._before = None, None, None
        until = math.inf if step is None else step.until
        if self._hits and self._hits[0].t <= until:
            self.paused = self._next_hit()
        elif step is not None and until <= float(run.t):
            self.paused = paused(until, step.to, "")
        else:
            self.step = step
        self.apply(run)
        return self.paused is not None

    def halt(self, run: Run) -> None:
        """The run pauses without a step."""
        self.step, self.paused = None, None
        self.apply(run)

    def watch(self, texts: Sequence[str], run: Run | None) -> None:
        """Take other breakpoints from now on."""
        self.breakpoints.set(texts, run)
        self._hits = [hit for hit in self._hits if hit.condition in texts]
        if run is not None:
            self.apply(run)

    def apply(self, run: Run) -> None:
        """Let the run report as often as this needs."""
        debugs = bool(self.breakpoints) or self.step is not None
        run.look = run.coarse if debugs else math.inf
        if self.pace.speed is not None:
            run.look = min(run.coarse, WAIT * self.pace.speed)

    def stride(self, run: Run, steps: int) -> int:
        """How many steps the run may take until its next report, at most `steps`."""
        if self.looks:
            return 1
        if self.step is None:
            return steps
        before, now = self._before, (run.stats.steps, float(run.t))
        self._before = now
        if before is None or now[0] <= before[0]:
            return 1
        each = (now[1] - before[1]) / (now[0] - before[0])
        left = FINE * (self.step.until - now[1])
        return max(1, min(steps, int(left / each))) if each > 0 else 1

    def reached(self, run: Run) -> bool:
        """Whether the run pauses here. Called between its steps."""
        hits = self.breakpoints.met(run) if self.breakpoints else []
        self._hits += hits
        if not run.settled:
            return False
        if self._hits:
            self.paused = self._next_hit()
        elif not self._is_done(run):
            return False
        else:
            self.paused = self._of_step(run)
        self.step = None
        self.apply(run)
        return True

    def _next_hit(self) -> dict[str, Any]:
        first = self._hits[0]
        together = [hit for hit in self._hits if hit.t == first.t]
        self._hits = self._hits[len(together) :]
        text = "; ".join(hit.text for hit in together)
        condition = "; ".join(hit.condition for hit in together)
        return {**paused(first.t, "breakpoint", text), "condition": condition}

    def _is_done(self, run: Run) -> bool:
        step = self.step
        if step is None:
            return False
        if step.to == "event":
            return run.events.total > step.events
        return step.to == "start" or float(run.t) >= step.until

    def _of_step(self, run: Run) -> dict[str, Any]:
        assert self.step is not None
        to, t = self.step.to, float(run.t)
        if to == "event":
            new = run.events.total - self.step.events
            found = [f"{event.block} {event.what}" for event in run.events.kept[-new:]]
            return paused(t, to, "; ".join(found[:3]))
        if to == "tick":
            return paused(t, to, "")
        return paused(t if to == "start" else min(self.step.until, t), to, "")


def paused(t: float, why: str, text: str) -> dict[str, Any]:
    """Where and why a run is paused, as `Paused` of the protocol."""
    return {"t": t, "why": why, "text": text, "condition": None}


def interval_of(asked: Mapping[str, Any]) -> float:
    """The interval of a step by time [s]. Raises InputError."""
    found = asked.get("interval", 1.0)
    good = isinstance(found, int | float) and not isinstance(found, bool)
    if not good or not 0.0 < float(found) < math.inf:
        raise InputError("the interval of a step is a number of seconds above 0")
    return float(found)


def next_tick(clocks: Sequence[Clock], t: float, name: Any = None, *, back: bool = False) -> float:
    """The next tick after t [s] of the clock with this name, None for any; or the last one before.
    Raises InputError where there is none."""
    chosen = [clock for clock in clocks if name is None or clock.name == name]
    if not chosen:
        text = f"there is no clock {str(name)[:60]}" if clocks else "this diagram has no clock"
        raise InputError(Fault(text, hint="step to the next event, or by a time"))
    found = []
    for clock in chosen:
        k = clock.first_tick_from(exact(t))
        if back:
            found += [float(clock.time(k - 1))] if k > clock.first else []
        else:
            while float(clock.time(k)) <= t:
                k += 1
            found.append(float(clock.time(k)))
    if not found:
        raise InputError("there is no tick before this time")
    return max(found) if back else min(found)


def clocks_told(clocks: Sequence[Clock]) -> list[dict[str, str]]:
    """The clocks as `RunClock` of the protocol."""
    return [{"name": clock.name, "text": clock_text(clock)} for clock in clocks]
