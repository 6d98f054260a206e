"""The steps of a part in Python, by CasADi's own evaluation of the program: what the C is
compared with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spart_blocks.errors import RunError
from spart_blocks.export.modes import MOST_SWITCHES, modes_of, switched, watched_by
from spart_blocks.export.schedule import MOST_PIECES, NEARLY, Schedule, stops_of
from spart_blocks.program.part import Part, entries_of
from spart_blocks.simulation.engine import Floats
from spart_blocks.simulation.steps import try_
from spart_blocks.simulation.stops import within


class Stepper:
    """A part at a step. p: the part's inputs and parameters; set them before `output`."""

    def __init__(self, part: Part, schedule: Schedule) -> None:
        self.part, self.program, self.schedule = part, part.program, schedule
        self.k = 0
        self.p: Floats = part.program.p.copy()
        self.xd: Floats = part.program.xd0.copy()
        self.x: Floats = self._projected(0.0, part.program.x0.copy())
        self._rows = entries_of(part.outputs)
        modes = modes_of(self.program)
        self._modes = [(mode, switched(self.program, mode)) for mode in modes]
        self._watched = watched_by(self.program, modes) if modes else None

    @property
    def t(self) -> float:
        return self.schedule.time(self.k)

    def output(self) -> tuple[Floats, bool]:
        """The outputs at this step, after the ticks that are due, and whether a STOP acts."""
        t, before = self.t, self.xd.copy()
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
            raise RunError("an output of the part is not finite", time=t)
        stops = stops_of(self.part)
        watched = self._called(self.program.watched, t, self.x, after)[stops] if stops else y[:0]
        return y, bool((watched > 0).any())

    def _settled(self, t: float, x: Floats, xd: Floats) -> Floats:
        """The states after blocks have switched modes until they fit."""
        if self._watched is None:
            return x
        x, moved = x.copy(), False
        for _ in range(MOST_SWITCHES):
            unfit = self._called(self._watched, t, x, xd) > 0
            if not unfit.any():
                break
            moved = True
            for mode, after in self._modes:
                if unfit[mode.at : mode.at + len(mode.rows)].any():
                    x[mode.states] = self._called(after, t, x, xd)
        return self._projected(t, x) if moved else x

    def update(self) -> None:
        """Move the states to the next step."""
        if len(self.x):
            t, end = self.t, self.schedule.time(self.k + 1)
            x = self.x
            for n in range(MOST_PIECES):
                following = self._next_switch(t, end) if n < MOST_PIECES - 1 else end
                x = self._piece(t, following, x)
                t = following
                if t >= end:
                    break
            if not np.isfinite(x).all():
                raise RunError("a state of the part is not finite", time=end)
            self.x = x
        self.k += 1

    def _piece(self, a: float, b: float, x: Floats) -> Floats:
        program = self.program
        lo, hi = within(a, b)

        def rates(t: float, state: Floats) -> Floats:
            seen = min(max(t, lo), hi)
            if program.held is None:
                return self._called(program.rates, seen, state, self.xd)
            return self._called(program.held, seen, state, self.xd, x)

        after = try_(self.schedule.tableau, rates, a, x, rates(a, x), b - a, self._own_steps).x
        return self._projected(b, after)

    def _own_steps(self, t: float, h: float, x: Floats, after: Floats) -> None:
        """The states of blocks with a one-step map of their own."""
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
