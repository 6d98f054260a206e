"""The meters of a run's gauges, and the signals that they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError, RunError
from spart_blocks.base.paths import select, split_index
from spart_blocks.base.rows import parted
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.events.stops import just_after
from spart_blocks.run.measure.gauges import (
    NODES,
    Back,
    Extremes,
    FromStart,
    Gauge,
    Integral,
    Meter,
    Panels,
    Readings,
    instant,
    joined,
)
from spart_blocks.run.measure.step_meter import StepAnswer
from spart_blocks.run.record.record import Dense, Keeper, Passing

Indices = NDArray[np.intp]

HALVINGS, SMOOTH = 5, 3e-6
MOST_PANELS, MOST_VALUES = 512, 200_000
"""Largest numbers of panels, and of values at their nodes, that are buffered before they are
measured.
"""
_FOURTH = np.array([0.109375, -49 / 192, 7 / 24, -49 / 192, 0.109375])
"""The weights that give the coefficient of the Chebyshev polynomial T4 from the values at a
panel's nodes.
"""


class Measuring:
    """The meters of some gauges in a run.

    names: full names of the signals that they need, without duplicates. Gauges of unknown signals
    have no readings.
    """

    def __init__(self, engine: Engine, gauges: Iterable[Gauge]) -> None:
        self.engine = engine
        known = set(engine.signals())
        self._columns: dict[Gauge, tuple[Indices, Indices | None]] = {}
        wanted = [g for g in dict.fromkeys(gauges) if self._full(g.signal) in known]
        wanted = [g for g in wanted if g.reference is None or self._full(g.reference) in known]
        names = [self._full(n) for g in wanted for n in (g.signal, g.reference) if n is not None]
        self.names = tuple(dict.fromkeys(names))
        self.width = 0
        self._meters: dict[Gauge, Meter] = {}
        self._wanted = wanted
        self._waiting: list[Panels] = []

    def begin(self, t: float, x: Floats, xd: Floats) -> None:
        """Determine the shapes of the signals, at the start of a run."""
        values = self.engine.over(self.names, np.array([t]), x[None], xd[None])
        self.width = sum(value.size for value in values)
        numbers = parted(np.arange(self.width)[None], [value.shape[1:] for value in values])
        ids = dict(zip(self.names, numbers, strict=True))
        for gauge in self._wanted:
            try:
                which = self._which(gauge.signal, ids)
                other = None if gauge.reference is None else self._which(gauge.reference, ids)
            except InputError:
                continue  # the caller reports the fault
            if other is not None and len(other) not in (1, len(which)):
                continue
            self._columns[gauge] = (which, other)
            self._meters[gauge] = _meter(gauge, len(which))

    def take(self, panels: Panels) -> None:
        """Buffer panels with values (P, 5, width) of all signals. They are measured when there are
        many, since a meter needs about the same time for few.
        """
        self._waiting.append(panels)
        count = sum(len(waiting.start) for waiting in self._waiting)
        if count >= MOST_PANELS or count * len(NODES) * self.width >= MOST_VALUES:
            self._measure()

    def end(self, t: float, x: Floats, xd: Floats) -> None:
        """Measure the final values, after all events of the last instant."""
        values = self.engine.over(self.names, np.array([t]), x[None], xd[None])
        flat = np.concatenate([np.zeros(0), *map(np.ravel, values)])
        if np.isfinite(flat).all():
            self.take(instant(t, flat))

    def _measure(self) -> None:
        """Measure the buffered panels."""
        if not self._waiting:
            return
        panels = joined(self._waiting)
        self._waiting = []
        for gauge, meter in self._meters.items():
            which, other = self._columns[gauge]
            y = panels.y[:, :, which]
            if other is not None:
                r = np.broadcast_to(panels.y[:, :, other], y.shape)
                y = np.concatenate([y, r], axis=2) if gauge.kind == "step" else y - r
            part = Panels(panels.start, panels.end, y)
            if np.isfinite([gauge.since, gauge.until]).any():
                part = part.within(gauge.since, gauge.until)
            meter.take(part)

    def read(self) -> dict[Gauge, Readings]:
        """The readings of each gauge."""
        self._measure()
        return {gauge: meter.read() for gauge, meter in self._meters.items()}

    def instants(self) -> dict[Gauge, Readings]:
        """The times at which the readings of each gauge were found, where no reading tells them."""
        self._measure()
        return {gauge: meter.instants() for gauge, meter in self._meters.items()}

    def _full(self, name: str) -> str:
        base = split_index(name)[0]
        aliases = self.engine.display.aliases
        return aliases.get(base, base)

    def _which(self, name: str, ids: Mapping[str, Indices]) -> Indices:
        """The indices of a signal's elements among all measured values."""
        return np.ravel(select(name, ids[self._full(name)], split_index(name)[1]))


def _meter(gauge: Gauge, width: int) -> Meter:
    match gauge.kind:
        case "extremes":
            return Extremes(width)
        case "integral" | "square":
            return Integral(width, 1 if gauge.kind == "integral" else 2)
        case "step":
            return StepAnswer(width)
        case "rotation" | "displacement":
            return FromStart(gauge.kind == "rotation")
        case "falling_back" | "rising_back":
            return Back(width, 1.0 if gauge.kind == "falling_back" else -1.0)


class Panelled(Passing):
    """A keeper that gives panels to gauges, by the rule of measure.c."""

    def __init__(self, keeper: Keeper, measuring: Measuring, coarse: float) -> None:
        super().__init__(keeper)
        self.measuring, self.coarse = measuring, coarse
        self._from = np.inf
        self._least = self._most = np.zeros(0)

    def step(self, dense: Dense, until: float, xd: Floats, near: float | None = None) -> None:
        start, end = self._from, until if near is None else near
        if end > start:
            count = max(int(np.ceil((end - start) / self.coarse - 1e-9)), 1)
            edges = np.linspace(start, end, count + 1)
            try:
                self._measure(edges[:-1], edges[1:], dense, xd)
            except RunError:
                self.keeper.step(dense, until, xd, near)  # keeps the step first
                raise
            self._from = end
        super().step(dense, until, xd, near)

    def state(
        self, t: Fraction, x: Floats, xd: Floats, *, sides: bool = True, edge: bool = False
    ) -> None:
        self._from = just_after(float(t))
        super().state(t, x, xd, sides=sides, edge=edge)

    def _measure(self, start: Floats, end: Floats, dense: Dense, xd: Floats) -> None:
        panels: list[Panels] = []
        for depth in range(HALVINGS + 1):
            t = start[:, None] + NODES * (end - start)[:, None]
            t[:, -1] = end
            y = self._values(t.ravel(), dense, xd).reshape(*t.shape, -1)
            flat = y.reshape(-1, y.shape[2])
            if not len(self._least):
                self._least, self._most = flat.min(axis=0), flat.max(axis=0)
            self._least = np.minimum(self._least, flat.min(axis=0))
            self._most = np.maximum(self._most, flat.max(axis=0))
            size = np.maximum(np.abs(self._least), np.abs(self._most))
            bound = SMOOTH * (self._most - self._least) + 1e-11 * size + 1e-14
            rough = (np.abs(np.einsum("n,pnm->pm", _FOURTH, y)) > bound).any(axis=1)
            if depth == HALVINGS:
                rough[:] = False
            panels.append(Panels(start[~rough], end[~rough], y[~rough]))
            if not rough.any():
                break
            middle = 0.5 * (start + end)[rough]
            start = np.ravel(np.column_stack([start[rough], middle]))
            end = np.ravel(np.column_stack([middle, end[rough]]))
        self.measuring.take(_ordered(panels))

    def _values(self, t: Floats, dense: Dense, xd: Floats) -> Floats:
        x, engine = np.asarray(dense(t)).T, self.measuring.engine
        held = np.broadcast_to(xd, (len(t), len(xd)))
        values = engine.over(self.measuring.names, t, x, held)
        flat = np.hstack([np.zeros((len(t), 0)), *(v.reshape(len(t), -1) for v in values)])
        finite = np.isfinite(flat).all(axis=1)
        if not finite.all():
            k = int(np.argmin(finite))
            engine.explain(float(t[k]), x[k], xd)
        return flat


def _ordered(panels: Sequence[Panels]) -> Panels:
    whole = joined(panels)
    order = np.argsort(whole.start, kind="stable")
    return Panels(whole.start[order], whole.end[order], whole.y[order])
