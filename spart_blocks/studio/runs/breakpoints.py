"""Watches the conditions of breakpoints while a run goes on.

After each step the conditions are compared with those at its start, and at points within it that
are at most as far apart as samples. One that changes is located within the step: between its ends
the states are a cubic with the rates at both (Hermite), so that neither the steps nor the record
of the run depend on breakpoints. What acts at the end of a step, ticks and events, is looked at
apart from the way there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spart_blocks.base.errors import RunError, SpartError
from spart_blocks.run.engines.engine import Floats, Pick
from spart_blocks.run.events.stops import just_after, just_before
from spart_blocks.run.run import Run
from spart_blocks.studio.runs.conditions import Condition, checked, is_within, read_condition
from spart_blocks.studio.runs.values import text_of

MOST_BREAKPOINTS = 100
MOST_POINTS = 1000
"""Largest number of points within a step at which conditions are looked at."""
LOCATED = 1e-12
"""How precisely a condition is located within a step, as a fraction of its time, at least 1 s."""


Way = Callable[[float], tuple[float, Floats, Floats]]
"""Time, states and discrete states at a share of a step."""


@dataclass(frozen=True)
class Hit:
    """A breakpoint that is met. t [s]; text: the values, or the events, that tell why."""

    condition: str
    t: float
    text: str


@dataclass(frozen=True)
class _Moment:
    """The run at one instant, after all that happens there."""

    t: float
    x: Floats
    xd: Floats
    sides: Mapping[str, Floats]


@dataclass
class Breakpoints:
    """The breakpoints of a run that are enabled. counts: how often each was met; problems: why one
    cannot be watched in this run.
    """

    texts: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    _conditions: list[Condition] = field(default_factory=list)
    _last: _Moment | None = None
    _run: Run | None = None
    _events: int = 0
    _names: tuple[str, ...] = ()
    _picks: dict[tuple[str, ...], Pick] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self._conditions)

    @property
    def told(self) -> dict[str, Any]:
        """The hits and the problems by condition, as `Run` of the protocol has them."""
        return {
            text: {"hits": self.counts.get(text, 0), "problem": self.problems.get(text)}
            for text in self.texts
        }

    def set(self, texts: Sequence[str], run: Run | None) -> None:
        """Take other conditions from now on; those that hold now are met when they do again."""
        self.texts = tuple(dict.fromkeys(texts))[:MOST_BREAKPOINTS]
        self.counts = {text: count for text, count in self.counts.items() if text in self.texts}
        if run is not None:
            self.begin(run, starts=False)

    def begin(self, run: Run, *, starts: bool) -> None:
        """Watch a run from its present instant on. starts: conditions that hold there are met."""
        self._run, self._conditions, self.problems = run, [], {}
        self._events, self._last, self._picks = run.events.total, None, {}
        for text in self.texts:
            try:
                condition = read_condition(text, run.engine)
                known = self._values(condition.reads, run, float(run.t), run.x, run.xd)
                self._conditions.append(checked(condition, known))
            except SpartError as error:
                self.problems[text] = str(error)
        self._names = tuple(sorted({name for one in self._conditions for name in one.reads}))
        if not starts:
            self._last = self._now(run)

    def met(self, run: Run) -> list[Hit]:
        """The breakpoints that are met since the last look, the earliest first."""
        if run is not self._run:  # a run begins
            self.begin(run, starts=False)
        try:
            hits = self._events_since(run)
            now, last = self._now(run), self._last
            self._last = now
            for condition in self._conditions:
                if condition.block is None:
                    hits += self._crossings(run, condition, last, now)
        except (RunError, ValueError, IndexError):
            return []  # where the run itself fails, or will
        for hit in hits:
            self.counts[hit.condition] = self.counts.get(hit.condition, 0) + 1
        return sorted(hits, key=lambda hit: hit.t)

    def _events_since(self, run: Run) -> list[Hit]:
        new = run.events.total - self._events
        self._events = run.events.total
        events = run.events.kept[-new:] if new else []
        hits = []
        for condition in self._conditions:
            if condition.block is None:
                continue
            found = [event for event in events if is_within(event.block, condition.block)]
            if found:
                text = "; ".join(f"{event.block} {event.what}" for event in found[:3])
                hits.append(Hit(condition.text, found[0].t, text))
        return hits

    def _crossings(
        self, run: Run, condition: Condition, last: _Moment | None, now: _Moment
    ) -> list[Hit]:
        after = now.sides[condition.text]
        if last is None:  # the first instant of the run
            holds = not condition.is_number and bool(after.all())
            return [self._hit(run, condition, now.t, now.x, now.xd)] if holds else []
        before = last.sides[condition.text]

        def is_met(sides: Floats) -> bool:
            changed = before.shape == sides.shape and (before != sides)
            return bool(np.any(changed if condition.is_number else changed & (sides > 0)))

        length = now.t - last.t
        points = min(math.ceil(length / run.coarse), MOST_POINTS) if length > 0 else 0
        if points <= 1 and not is_met(after):
            return []
        if length > 0:
            way, low = _way(run, last, now), 0.0
            ends = np.linspace(0.0, 1.0, points + 1)[1:].tolist()
            for end, known in zip(ends, self._along(run, condition, way, ends), strict=True):
                if is_met(condition.sides(known)):
                    share = self._located(run, condition, is_met, way, low, end, now.t)
                    return [self._hit(run, condition, *way(share))]
                low = end
        return [self._hit(run, condition, now.t, now.x, now.xd)] if is_met(after) else []

    def _located(
        self,
        run: Run,
        condition: Condition,
        is_met: Callable[[Floats], bool],
        way: Way,
        low: float,
        high: float,
        t: float,
    ) -> float:
        """The share of a step at which a condition is met, which it is not at `low`."""
        length = way(1.0)[0] - way(0.0)[0]
        while (high - low) * length > LOCATED * max(1.0, t):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            if is_met(self._sides_at(run, condition, *way(middle))):
                high = middle
            else:
                low = middle
        return high

    def _hit(self, run: Run, condition: Condition, t: float, x: Floats, xd: Floats) -> Hit:
        known = self._values(condition.reads, run, t, x, xd)
        told = [f"{text} = {text_of(value(known))}" for text, value in condition.shown]
        return Hit(condition.text, t, ", ".join(told))

    def _now(self, run: Run) -> _Moment:
        t, x, xd = float(run.t), run.x.copy(), run.xd.copy()
        known = self._values(self._names, run, t, x, xd)
        sides = {one.text: one.sides(known) for one in self._conditions}
        return _Moment(t, x, xd, sides)

    def _along(
        self, run: Run, condition: Condition, way: Way, shares: Sequence[float]
    ) -> list[dict[str, Any]]:
        """The values at some shares of a step."""
        t, x, xd = map(np.array, zip(*map(way, shares), strict=True))
        values = run.engine.over(condition.reads, t, x, xd) if condition.reads else []
        return [
            {"t": one, **{name: v[k] for name, v in zip(condition.reads, values, strict=True)}}
            for k, one in enumerate(t.tolist())
        ]

    def _sides_at(self, run: Run, condition: Condition, t: float, x: Floats, xd: Floats) -> Floats:
        found: Floats = condition.sides(self._values(condition.reads, run, t, x, xd))
        return found

    def _values(
        self, names: Sequence[str], run: Run, t: float, x: Floats, xd: Floats
    ) -> dict[str, Any]:
        key = tuple(names)
        if key not in self._picks:
            self._picks[key] = run.engine.alone(key)
        return {"t": t, **dict(zip(key, self._picks[key](t, x, xd), strict=True))}


def _way(run: Run, last: _Moment, now: _Moment) -> Way:
    """The time, the states and the discrete states at a share of the step between two instants."""
    h, lo, hi = now.t - last.t, just_after(last.t), just_before(now.t)
    slopes = [np.zeros_like(now.x)] * 2
    if len(now.x):
        try:
            slopes = [run.engine.derivative(lo, last.x, last.xd)]
            slopes.append(run.engine.derivative(hi, now.x, last.xd))
        except RunError:
            slopes = [(now.x - last.x) / h] * 2

    def at(s: float) -> tuple[float, Floats, Floats]:
        a, b = h * s * (1 - s) ** 2, h * s**2 * (1 - s)
        blend = s**2 * (3 - 2 * s)
        x = (1 - blend) * last.x + blend * now.x + a * slopes[0] - b * slopes[1]
        return min(max(last.t + s * h, lo), hi), x, last.xd

    return at
