"""The record of a run: samples on a uniform grid, or as many rows as straight lines need.

The second is the rule of record.c, which describes it, for runs whose loop is in Python.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import RunError
from spart_blocks.diagram.build.companions import AUDIT
from spart_blocks.diagram.network.clocks import exact
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.events.stops import just_after
from spart_blocks.run.record.recorder import Recorder, Samples, is_book

PART = 1e-3
"""Largest deviation of a signal from straight lines between kept rows, as a fraction
of its range.
"""
STEP_ROWS = 20_000
"""Largest number of rows of one step."""
_SHARE, _RELATIVE, _ABSOLUTE, _HAIR = 0.6, 1e-9, 1e-14, 1e-3
_DEPTH, _PARTS, _SPLIT, _STALLS, _BLUR = 4, 16, 0.4, 2, 0.1
_CUSP, _BENT = 0.7, 1.3  # as in record.c
_WINDOW, _GATHERED = 32, 1000

States = Mapping[str, slice]
Dense = Callable[[Any], Floats]
"""A function that gives the states (nx,) at a time, or (nx, N) at N times."""


def blur_at_least(names: Sequence[str], widths: Sequence[int], states: States) -> Floats:
    """The deviation from a line that is always allowed, for the numbers of some signals and of all
    states; infinite for audits.
    """
    books = [np.full(w, is_book(n)) for n, w in zip(names, widths, strict=True)]
    kept = np.zeros(max((part.stop for part in states.values()), default=0), dtype=bool)
    for name, part in states.items():
        kept[part] = name.endswith(AUDIT)
    return np.where(np.concatenate([*books, kept]), np.inf, 0.0)


class Keeper(ABC):
    """Keeps the record of a run. Subclasses decide which rows are kept."""

    crowded_at: float | None = None
    """The time [s] at which a step first needed more rows than allowed."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    @abstractmethod
    def step(self, dense: Dense, until: float, xd: Floats, near: float | None = None) -> None:
        """Record a step. The states have followed `dense` from the last recorded time to `until`,
        which is kept later or not at all. near: if a crossing ends the step, the latest time
        before it.
        """

    @abstractmethod
    def state(
        self, t: Fraction, x: Floats, xd: Floats, *, sides: bool = True, edge: bool = False
    ) -> None:
        """Record the state from which integration restarts, at a stop or after a crossing. sides:
        whether signals may jump there. edge: whether the run starts or ends there.
        """

    def event(self, t: Fraction, x: Floats, xd: Floats) -> None:  # noqa: B027
        """The same at a known event, whose time is rounded: signals may jump slightly after it."""

    def waiting(self) -> Rows | None:
        """The rows that will be kept but were not passed to the recorder yet; None if there are
        none. values: the kept signals and the states.
        """
        return None

    def close(self) -> None:  # noqa: B027
        """Complete the record at the end of the run."""


class Passing(Keeper):
    """A keeper that passes its calls to another one. Subclasses see them, too."""

    def __init__(self, keeper: Keeper) -> None:
        super().__init__(keeper.recorder)
        self.keeper = keeper

    def step(self, dense: Dense, until: float, xd: Floats, near: float | None = None) -> None:
        self.keeper.step(dense, until, xd, near)
        self.crowded_at = self.keeper.crowded_at

    def state(
        self, t: Fraction, x: Floats, xd: Floats, *, sides: bool = True, edge: bool = False
    ) -> None:
        self.keeper.state(t, x, xd, sides=sides, edge=edge)

    def event(self, t: Fraction, x: Floats, xd: Floats) -> None:
        self.keeper.event(t, x, xd)

    def close(self) -> None:
        self.keeper.close()
        self.crowded_at = self.keeper.crowded_at


class UnrecordedRows(ABC):
    """The rows of a compiled loop that were not passed to the recorder yet."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Their number."""

    @abstractmethod
    def waiting(self, rows: slice) -> tuple[Floats, Floats, Floats, Floats]:
        """A copy of some of them: times (N,), kept signals side by side (N, width), states (N, nx)
        and (N, nd).
        """


class Sampled(Keeper):
    """Keeps samples on a uniform grid, and at the start and the end, from the dense output of
    steps.
    """

    def __init__(self, recorder: Recorder, samples: Samples) -> None:
        super().__init__(recorder)
        self.samples = samples

    def step(self, dense: Dense, until: float, xd: Floats, near: float | None = None) -> None:
        # A sample between the sides of a crossing shows what holds after it, with the next step.
        end = until if near is None else math.nextafter(near, math.inf)
        for t in self.samples.before(exact(end)):
            self.recorder.keep(float(t), np.asarray(dense(float(t))), xd)

    def state(
        self, t: Fraction, x: Floats, xd: Floats, *, sides: bool = True, edge: bool = False
    ) -> None:
        if self.samples.due_at(t) or (edge and not self.recorder.ends_at(float(t))):
            self.samples.pass_by(t)
            self.recorder.keep(float(t), x, xd)


class Grid(Sampled):
    """The same for solvers that step over many samples at once and record them themselves."""


@dataclass(frozen=True)
class Rows:
    """N times (N,), with values (N, width) and discrete states (N, nd)."""

    t: Floats
    values: Floats
    xd: Floats

    def part(self, which: Any) -> Rows:
        """Rows selected by a slice, a mask or indices."""
        return Rows(self.t[which], self.values[which], self.xd[which])

    def with_(self, more: Rows) -> Rows:
        """These rows and others, sorted by time."""
        both = Rows.joined([self, more])
        return both.part(np.argsort(both.t, kind="stable"))

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """Concatenated rows."""
        return Rows(
            np.concatenate([part.t for part in parts]),
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.xd for part in parts]),
        )


class Lines(Keeper):
    """Keeps the rows between which straight lines are accurate.

    samples: a grid of times [s]; signals are evaluated at least once between them, and blocks act
    at them. marks: times (m,) [s] that are always kept.
    """

    def __init__(self, recorder: Recorder, engine: Engine, samples: Samples, marks: Floats) -> None:
        super().__init__(recorder)
        self.engine, self.samples, self.coarse = engine, samples, float(samples.every)
        self.marks = np.sort(marks)
        self._rows: list[Rows] = []  # kept, and not yet given to the recorder
        self._kept: Rows | None = None  # the last row kept
        self._last: Rows | None = None  # the last row looked at
        self._pending: Rows | None = None  # that row, if it is kept only when lines need it
        self._low = self._high = np.zeros(0)
        """Range of slopes of the lines from the last kept row that pass each row since."""

    def step(self, dense: Dense, until: float, xd: Floats, near: float | None = None) -> None:
        assert self._last is not None
        start, end = float(self._last.t[0]), until if near is None else near
        if start < end:
            count = max(np.ceil((end - start) / self.coarse - 1e-9), 1)
            times = np.linspace(start, end, int(count) + 1)[1:]
            marks = self.marks[(self.marks > start) & (self.marks <= end)]
            rows = self._evaluated(np.union1d(times, marks), dense, xd)
            rows = self._refined(Rows.joined([self._last, rows]), dense, xd)
            self._choose(rows.part(slice(1, None)), marks)
            self._last = rows.part(slice(-1, None))
        if self.engine.display.acting:
            for t in self.samples.before(exact(until)):
                self.engine.act(float(t), np.asarray(dense(float(t))), xd)

    def state(
        self, t: Fraction, x: Floats, xd: Floats, *, sides: bool = True, edge: bool = False
    ) -> None:
        row = self._evaluated(np.array([float(t)]), lambda _: x[:, None], xd)
        if self._kept is None:
            self._probe(row, x, xd)
            if self.recorder.ends_at(float(t)):  # continues where another solver has ended
                self._hold(row)
                self._last = row
                return
        elif row.t[0] <= self._kept.t[0]:
            del self._rows[-1:]  # a second row at one time: the last one stays
        elif self._pending is not None and self._parts(self._pending, row, sides):
            self._keep(self._pending)
        self._keep(row)
        self._last = row
        if self.engine.display.acting and (self.samples.due_at(t) or edge):
            self.samples.pass_by(t)
            self.engine.act(float(t), x, xd)

    def event(self, t: Fraction, x: Floats, xd: Floats) -> None:
        assert self._last is not None
        row = self._evaluated(np.array([just_after(float(t))]), lambda _: x[:, None], xd)
        if (np.abs(row.values - self._last.values) > _HAIR * self._tolerance).any():
            self._keep(row)
            self._last = row

    def waiting(self) -> Rows | None:
        return Rows.joined(self._rows[:-1]) if len(self._rows) > 1 else None

    def close(self) -> None:
        if self._pending is not None:
            self._keep(self._pending)
        self._hand_over(len(self._rows))

    # --- looking --------------------------------------------------------------------------

    def _evaluated(self, t: Floats, dense: Dense, xd: Floats) -> Rows:
        """Evaluate the rows at times t (N,)."""
        values = self.recorder.evaluated(t, np.asarray(dense(t)).T, xd)
        rows = Rows(t, values, np.broadcast_to(xd, (len(t), len(xd))))
        least, most = values.min(axis=0), values.max(axis=0)
        if self._last is None:
            self._least, self._most = least, most
            widths = [math.prod(shape) for shape in self.recorder.shapes]
            self._blur = blur_at_least(self.recorder.names, widths, self.engine.continuous)
        self._least, self._most = np.minimum(self._least, least), np.maximum(self._most, most)
        return rows

    @property
    def _tolerance(self) -> Floats:
        """The allowed deviation of each value from a line. It is divided between the choice of
        rows and the curve between evaluations.
        """
        size = np.maximum(np.abs(self._least), np.abs(self._most))
        floor = np.maximum(self._blur, _RELATIVE * size) + _ABSOLUTE
        tolerance: Floats = _SHARE * PART * (self._most - self._least) + floor
        return tolerance

    def _probe(self, row: Rows, x: Floats, xd: Floats) -> None:
        """Determine the uncertainty of each value at a row, which follows from the solver's
        tolerances.
        """
        run = self.engine.run
        off = run.atol + run.rtol * np.abs(x)
        signs = np.array([1 - 2 * ((np.arange(len(x)) >> (2 * way)) % 2) for way in range(2)])
        with suppress(RunError):
            near = self.recorder.evaluated(np.repeat(row.t, 2), x + signs * off, xd)
            change = np.abs(near - row.values).max(axis=0)
            self._blur = np.maximum(self._blur, _BLUR * change)

    def _refined(self, rows: Rows, dense: Dense, xd: Floats) -> Rows:
        """The rows, with further ones between them where lines are not accurate."""
        strays = np.arange(len(rows.t) - 1)  # the intervals that may stray
        parents, stalls = np.full(len(strays), np.inf), np.zeros(len(strays), int)
        probed = False
        for depth in range(_DEPTH + 1):
            a, b = rows.part(strays), rows.part(strays + 1)
            middle = self._evaluated(a.t + _SPLIT * (b.t - a.t), dense, xd)
            bulge = np.abs(middle.values - (1 - _SPLIT) * a.values - _SPLIT * b.values)
            worst = (bulge / self._tolerance).max(axis=1, initial=0.0)
            if not probed and (worst > 1).any():
                probed, at = True, slice(int(np.argmax(worst)), int(np.argmax(worst)) + 1)
                self._probe(middle.part(at), np.asarray(dense(middle.t[at]))[:, 0], xd)
                worst = (bulge / self._tolerance).max(axis=1, initial=0.0)
            stalls = stalls + (worst > 0.5 * parents)
            deeper = (worst > _CUSP) & (stalls < _STALLS)
            # As many parts as a parabola needs, and more if one of them still strays.
            # In quarters a cusp loses more than half of its bulge, wherever it is: noise does not.
            parts = np.clip(np.ceil(1.3 * np.sqrt(worst[deeper])), 4, _PARTS).astype(int)
            crowded = len(rows.t) + parts.sum() > STEP_ROWS
            if crowded and self.crowded_at is None:
                self.crowded_at = float(rows.t[-1])
            if crowded or depth == _DEPTH or not deeper.any():
                return rows.with_(middle)
            first, last = a.t[deeper], b.t[deeper]
            ends = zip(first, last, parts, strict=True)
            between = [np.linspace(t0, t1, n + 1)[1:-1] for t0, t1, n in ends]
            rows = rows.with_(middle.part(~deeper))
            rows = rows.with_(self._evaluated(np.concatenate(between), dense, xd))
            of = np.searchsorted(first, rows.t[:-1], side="right") - 1
            within = (of >= 0) & (rows.t[:-1] < last[np.maximum(of, 0)])
            strays = np.flatnonzero(self._strays(rows) & within)
            if not len(strays):
                return rows
            parents, stalls = worst[deeper][of[strays]], stalls[deeper][of[strays]]
        return rows

    def _strays(self, rows: Rows) -> NDArray[np.bool_]:
        """For each interval, whether its line may deviate too much, if the signal through three
        rows is a parabola, or two lines that meet in a kink.
        """
        dt = np.diff(rows.t)[:, None]
        slopes = np.diff(rows.values, axis=0) / dt
        bends = 2 * np.abs(np.diff(slopes, axis=0)) / (dt[1:] + dt[:-1])
        none = np.zeros((1, rows.values.shape[1]))
        bends = np.maximum(np.vstack([none, bends]), np.vstack([bends, none]))
        return np.asarray((bends * dt**2 > _BENT * self._tolerance).any(axis=1))

    # --- keeping --------------------------------------------------------------------------

    def _choose(self, rows: Rows, marks: Floats) -> None:
        """Keep the rows that lines need, and the marks. The last row may stay pending."""
        marked, at, tolerance = np.isin(rows.t, marks), 0, self._tolerance
        while at < len(rows.t):
            window = rows.part(slice(at, at + _WINDOW))
            slope, half = self._slopes(window, tolerance)
            low = np.maximum.accumulate(np.vstack([self._low, slope - half]))
            high = np.minimum.accumulate(np.vstack([self._high, slope + half]))
            out = np.asarray(((slope < low[:-1]) | (slope > high[:-1])).any(axis=1))
            ends = np.flatnonzero(out | marked[at : at + _WINDOW])
            if not len(ends):
                self._low, self._high = low[-1], high[-1]
                self._pending = window.part(slice(-1, None))
                at += _WINDOW
                continue
            end = int(ends[0])
            if not out[end]:
                self._keep(window.part(slice(end, end + 1)))
                at += end + 1
                continue
            before = window.part(slice(end - 1, end)) if end else self._pending
            assert before is not None
            self._keep(before)
            at += end

    def _slopes(self, rows: Rows, tolerance: Floats) -> tuple[Floats, Floats]:
        """The slopes of the lines from the last kept row, and their tolerances."""
        assert self._kept is not None
        dt = (rows.t - self._kept.t)[:, None]
        return (rows.values - self._kept.values) / dt, tolerance / dt

    def _parts(self, before: Rows, row: Rows, sides: bool) -> bool:
        """Whether the row before this one must be kept too, because the line through it is not
        accurate or a signal jumps.
        """
        tolerance = self._tolerance
        slope, _ = self._slopes(row, tolerance)
        if ((slope < self._low) | (slope > self._high)).any():
            return True
        near = before.t[0] > row.t[0] - 1e-9 * max(1.0, abs(float(row.t[0])))
        jump = (np.abs(row.values - before.values) > _HAIR * tolerance).any()
        return bool(near and (sides or jump))

    def _keep(self, row: Rows) -> None:
        self._rows.append(row)
        self._hold(row)
        if len(self._rows) > _GATHERED:
            self._hand_over(len(self._rows) - 1)  # the last may be taken back

    def _hold(self, row: Rows) -> None:
        """Start new lines at this row."""
        self._kept, self._pending = row, None
        self._low = np.full(row.values.shape[1], -np.inf)
        self._high = -self._low

    def _hand_over(self, count: int) -> None:
        if count:
            rows = Rows.joined(self._rows[:count])
            self.recorder.adopt_evaluated(rows.t, rows.values, rows.xd)
            del self._rows[:count]
