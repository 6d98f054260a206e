"""The steps of a subdiagram in Python, with CasADi's evaluation of the program: the reference for
exported C."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from spart_blocks.base.errors import RunError
from spart_blocks.diagram.network.clocks import exact
from spart_blocks.export.header import FAULT, OK, STOPPED
from spart_blocks.export.schedule import (
    MOST_STEPS,
    MOST_SWITCHES,
    NEARLY,
    Schedule,
    acting_of,
    eventful,
)
from spart_blocks.program.linearised import linearised_for
from spart_blocks.program.subdiagram import Subdiagram, entries_of
from spart_blocks.program.tracing.switching import UpcomingSwitches
from spart_blocks.run.constants import AHEAD, LOCATED
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.engines.native import Native
from spart_blocks.run.events.acting import enter
from spart_blocks.run.events.crossings import locate
from spart_blocks.run.events.stops import within
from spart_blocks.run.record.record import Dense, Keeper
from spart_blocks.run.solvers.choice import segment_solver
from spart_blocks.run.solvers.steps import (
    Derivatives,
    Trial,
    equal_length,
    is_last,
    linear_over,
    try_,
    up_to,
)
from spart_blocks.run.start import prepare


def stepper_of(part: Subdiagram, schedule: Schedule) -> Stepper | EventfulStepper:
    """The stepper of a subdiagram."""
    kind = EventfulStepper if eventful(part.program, schedule.method) else Stepper
    return kind(part, schedule)


class Stepper:
    """A subdiagram that is stepped in Python. p: its inputs and parameters; set them before
    `output`.
    """

    def __init__(self, part: Subdiagram, schedule: Schedule) -> None:
        self.part, self.program, self.schedule = part, part.program, schedule
        self.k = 0
        self.p: Floats = part.program.p.copy()
        self.xd: Floats = part.program.xd0.copy()
        self.x: Floats = self._projected(0.0, part.program.x0.copy())
        self._rows = entries_of(part.outputs)
        self._acting = acting_of(self.program, schedule.method)
        self._linear = linearised_for(self.program, schedule.tableau)

    @property
    def t(self) -> float:
        return self.schedule.time(self.k)

    def output(self) -> tuple[Floats, int]:
        """The outputs at this step, after due ticks, and the status. Modes are switched until they
        are consistent before and after the ticks.
        """
        t, before = self.t, self.xd.copy()
        if any(ticking.due(self.k) for ticking in self.schedule.clocks):
            self.x = self._settled(t, self.x, before)
        for handing in self.schedule.handovers:
            if handing.ticking.due(self.k):
                states = list(handing.states)
                before[states] = self._called(handing.renewed, t, self.x, before)[states]
        after = before.copy()
        for ticking in self.schedule.clocks:
            if ticking.due(self.k):
                states = list(ticking.states)
                update = self.program.updates[ticking.clock.name]
                after[states] = self._called(update, t, self.x, before)[states]
        self.xd = after
        self.x = self._settled(t, self.x, after)
        y = self._called(self.program.outputs, t, self.x, after)[self._rows]
        if not all(np.isfinite(values).all() for values in (y, after, self.x)):
            raise RunError("an output of the subdiagram is not finite", time=t)
        return y, self._status(t, self.x)

    def _watched(self, t: float, x: Floats, xd: Floats) -> Floats:
        """The values of the zero-crossing functions that have an effect."""
        if not self._acting.rows:
            return np.zeros(0)
        return self._called(self.program.watched, t, x, xd)[list(self._acting.rows)]

    def _status(self, t: float, x: Floats) -> int:
        """The status in a state: whether a STOP block or a fault ends the run."""
        found = self._watched(t, x, self.xd)
        for value, crossing in zip(found, self._acting.of, strict=True):
            if value > 0 and crossing.kind in ("stop", "fault"):
                return STOPPED if crossing.kind == "stop" else FAULT
        return OK

    def _settled(self, t: float, x: Floats, xd: Floats) -> Floats:
        """The states after blocks have switched modes until the modes are consistent."""
        if not self._acting.switches:
            return x
        x, moved = x.copy(), False
        for _ in range(MOST_SWITCHES):
            unfit = self._watched(t, x, xd) > 0
            blocks = {self._acting.first[k] for k in self._acting.kinds("mode") if unfit[k]}
            for k in sorted(blocks):
                states = self._acting.states[k]
                x[states] = self._called(self.program.switched, t, x, xd)[states]
            moved |= bool(blocks)
            if not blocks:
                break
        return self._projected(t, x) if moved else x

    def update(self) -> int:
        """Integrate the states to the next step. Returns the status."""
        if len(self.x):
            t, end, status = self.t, self.schedule.time(self.k + 1), OK
            x, n = self.x, 0
            while t < end and status == OK:
                n += 1
                following = self._next_switch(t, end) if n < MOST_STEPS else end
                x, status = self._segment(t, following, x)
                t = following
            if status != OK:
                return status
            if not np.isfinite(x).all():
                raise RunError("a state of the subdiagram is not finite", time=end)
            self.x = x
        self.k += 1
        return OK

    def _segment(self, a: float, b: float, x: Floats) -> tuple[Floats, int]:
        """Integrate from a to b, between which no source switches: in one step, or in steps short
        enough to detect poses in which loops lose rank. Returns the states and the status.
        """
        program, method = self.program, self.schedule.tableau
        lo, hi = within(a, b)
        t, n, start = a, 0, x

        def rates(t: float, state: Floats) -> Floats:
            seen = min(max(t, lo), hi)
            if program.held is None:
                return self._called(program.rates, seen, state, self.xd)
            return self._called(program.held, seen, state, self.xd, start)

        before = self._watched(t, x, self.xd) if program.reach is not None else np.zeros(0)
        while t < b:
            n += 1
            h, last, start = b - t, True, x
            if program.reach is not None and n < MOST_STEPS:
                reach = float(self._called(program.reach, t, x, self.xd)[0])
                h = equal_length(b - t, reach)
                last = is_last(h, b - t)
            begun = t, x, rates(t, x)
            derivatives = self._derivatives(min(max(t, lo), hi), x)

            def tried(
                h: float,
                begun: tuple[float, Floats, Floats] = begun,
                derivatives: Derivatives | None = derivatives,
            ) -> Trial:
                linear = linear_over(method, derivatives, h)
                return try_(method, rates, *begun, h, self._own_steps, linear)

            slope, after, found = begun[2], tried(h).x, None
            if program.reach is not None and n < MOST_STEPS:
                found = self._crossing(tried, before, t, h, min(t + h, hi))
            if found is None and self._over_surface(rates, t, h, x, slope, after, (lo, hi)):
                after = x + h * slope
            if program.reach is None:
                return self._projected(b, after), OK
            if found is None:
                t, before = b if last else t + h, self._watched(min(t + h, hi), after, self.xd)
                x = self._projected(t, after)
                continue
            at, k = found
            moved, _ = up_to(method, rates, *begun, at, self._own_steps, derivatives)
            t += at
            crossing = self._acting.of[k]
            if not crossing.crossed(before[k], self._watched(t, moved, self.xd)[k]):
                moved = tried(at).x
            x = self._projected(t, moved)
            before, status = self._watched(t, x, self.xd), self._status(t, x)
            if status == FAULT:
                return x, status
        return x, OK

    def _derivatives(self, t: float, x: Floats) -> Derivatives | None:
        """The derivatives of the rates at the start of a step, for a linearly implicit method."""
        if self._linear is None:
            return None
        start = () if self.program.held is None else (x,)
        return self._linear.parted(self._called(self._linear.function, t, x, self.xd, *start))

    def _over_surface(
        self,
        rates: Callable[[float, Floats], Floats],
        t: float,
        h: float,
        x: Floats,
        slope: Floats,
        after: Floats,
        seen: tuple[float, float],
    ) -> bool:
        """Whether the step of length h from x must follow its first slope, to get over a surface
        at which a block switches its mode.

        This is so if the slope leads over the surface and the rates beyond it lead back, as when a
        clutch locks. A step with stages on both sides would stay before the surface, and the mode
        would never switch. after: the end of the step. seen: first and last time at which signals
        may be evaluated.
        """
        modes = self._acting.kinds("mode")
        if not (modes and self._acting.jumps):
            return False

        def values(t: float, x: Floats) -> Floats:
            return self._watched(min(max(t, seen[0]), seen[1]), x, self.xd)[modes]

        def ahead(s: float) -> Floats:
            """The changes of the values within AHEAD of a point of the line."""
            start = x + s * slope
            on = start + AHEAD * rates(t + s, start)
            return values(t + s + AHEAD, on) - values(t + s, start)

        beyond = values(t + h, x + h * slope) > 0
        if not beyond.any() or (values(t, x) > 0).any() or (values(t + h, after) > 0).any():
            return False
        low, high, k = 0.0, h, int(np.argmax(beyond))
        while high - low > LOCATED and low < 0.5 * (low + high) < high:
            middle = 0.5 * (low + high)
            beyond = values(t + middle, x + middle * slope) > 0
            if beyond.any():
                high, k = middle, int(np.argmax(beyond))
            else:
                low = middle
        return bool(ahead(low)[k] > 0 and ahead(high)[k] <= 0)

    def _crossing(
        self, tried: Callable[[float], Trial], before: Floats, t: float, h: float, until: float
    ) -> tuple[float, int] | None:
        """The first time within a step of length h at which loops lose rank, or come nearest to
        it: the length of the step to just after it, and its crossing. None if there is none.
        """
        after = self._watched(until, tried(h).x, self.xd)
        among = self._acting.kinds("limit", "fault")

        def crossed(before: Floats, after: Floats) -> list[int]:
            return [k for k in among if self._acting.of[k].crossed(before[k], after[k])]

        def watched(s: float) -> Floats:
            return self._watched(t + s, tried(s).x, self.xd)

        if not crossed(before, after):
            return None
        return locate(watched, crossed, before, after, 0.0, h)

    def _own_steps(self, t: float, h: float, x: Floats, after: Floats) -> None:
        """Set the states of blocks that have their own one-step map."""
        program = self.program
        if program.advance is None:
            return
        moved = self._called(program.advance, t, x, self.xd, h)
        for slot in program.states:
            if slot.name in program.stepped:
                after[slot.part] = moved[slot.part]

    def _next_switch(self, t: float, end: float) -> float:
        near = NEARLY * float(self.schedule.step)
        found = end
        rows = np.array(self.program.edges(self.p), dtype=float).reshape(-1, 2).tolist()
        for first, period in rows:
            if not (math.isfinite(first) and math.isfinite(period)):
                continue
            time = first
            if period > 0 and first <= t + near:
                time = first + (math.floor((t + near - first) / period) + 1) * period
            if t + near < time < found - near:
                found = time
        return found

    def _projected(self, t: float, x: Floats) -> Floats:
        project = self.program.project
        return x if project is None or not len(x) else self._called(project, t, x, self.xd)

    def _called(self, function: Any, t: float, x: Floats, xd: Floats, *more: Any) -> Floats:
        return np.array(function(t, x, xd, self.p, *more), dtype=float).ravel()


class EventfulStepper:
    """The same where crossings act within a step: the loop of a simulation, in which each step is a
    stop. A fault ends it in the state of the start of the step, as does a STOP within the step.
    """

    def __init__(self, part: Subdiagram, schedule: Schedule) -> None:
        self.part, self.program, self.schedule = part, part.program, schedule
        self.k = 0
        self.p: Floats = part.program.p.copy()
        options = {"solver": schedule.method, "max_step": float(schedule.step), "every": None}
        program = replace(part.program, run=part.program.run.model_copy(update=options))
        self._engine = Native(program)
        self._run = run = prepare(self._engine, None, None, states="at the end")
        run.known = UpcomingSwitches()
        run.x = run.project(0.0, run.x)
        run.keeper = _Unkept(run.recorder)
        self._segments = segment_solver(run)
        self._rows = entries_of(part.outputs)

    @property
    def t(self) -> float:
        return self.schedule.time(self.k)

    @property
    def x(self) -> Floats:
        return self._run.x

    @property
    def xd(self) -> Floats:
        return self._run.xd

    def output(self) -> tuple[Floats, int]:
        """The outputs at this step, and the status."""
        run, t = self._run, self.t
        run.t = self.k * self.schedule.step
        run.end = run.t + 2 * self.schedule.step + 1  # there is always more to come
        if not np.array_equal(self.p, self._engine.program.p):
            run.engine = self._engine = self._engine.with_parameters(self.p)
        with np.errstate(all="ignore"):
            status = self._status(lambda: enter(run, ()))
            if run.held and not status:
                run.x = run.project(t, run.x)
            y = self._engine.outputs(t, run.x, run.xd)[self._rows]
        if not np.isfinite(y).all():
            raise RunError("an output of the subdiagram is not finite", time=t)
        return y, status

    def update(self) -> int:
        """Integrate the states to the next step. Returns the status."""
        run, before = self._run, (self._run.x, self._run.xd)
        with np.errstate(all="ignore"):
            status = self._status(lambda: self._integrate((self.k + 1) * self.schedule.step))
        if status:
            run.x, run.xd = before
        else:
            self.k += 1
        return status

    def _integrate(self, end: Fraction) -> None:
        run = self._run
        known = run.engine.switches_within(run.t, end)
        while run.t < end and run.stopped is None:
            known.drop_until(run.t)
            stop, t = known.first if known else end, float(run.t)
            first = equal_length(float(stop) - t, run.limit)
            run.limit = math.inf
            until = stop if is_last(first, float(stop) - t) else exact(t + first)
            run.t = self._segments.advance(run.t, until)
            if run.t == stop < end:
                enter(run, ())

    def _status(self, act: Callable[[], Any]) -> int:
        try:
            act()
        except RunError:
            return FAULT
        return STOPPED if self._run.stopped else OK


class _Unkept(Keeper):
    """Keeps nothing."""

    def step(self, dense: Dense, until: float, xd: Floats, near: float | None = None) -> None:
        pass

    def state(self, t: Fraction, x: Floats, xd: Floats, **how: bool) -> None:
        pass
