"""Gauges: measurements of a run that are taken while it proceeds.

A run is divided into panels, on each of which a signal is a polynomial (see measure.c). So
extremes are located within steps, integrals are those of the polynomials, and nothing between
recorded samples is missed. A Gauge is plain data; `meter` makes the object that measures.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Readings = Mapping[str, Floats]
"""Readings of a gauge: for each quantity, a value for each element of the signal."""

_SINE = math.sqrt(3 / 7)
NODES = np.array([0.0, 0.5 - 0.5 * _SINE, 0.5, 0.5 + 0.5 * _SINE, 1.0])
"""Gauss-Lobatto nodes of a panel, as fractions of its length."""
WEIGHTS = np.array([0.05, 49 / 180, 16 / 45, 49 / 180, 0.05])
"""Weights of the nodes in an integral over a panel of length 1."""
_TO_POWERS = np.linalg.inv(np.vander(NODES, 5, increasing=True))
_FINE = np.linspace(0.0, 1.0, 17)

BAND = 0.02
"""Half the width of the settling band, as a fraction of the step."""
RISE = (0.1, 0.9)
"""Fractions of the step between which the rise time is measured."""
LEAST_STEP = 1e-3
"""A response whose initial distance from its reference is below this fraction of its peak error
has no initial step.
"""
_SAME = 1e-12


@dataclass(frozen=True)
class Gauge:
    """What to measure of a signal, by kind with its readings.

    extremes: `least` and `most` with their times, `first`, `last`, and whether there was `any`
    value. integral: the `integral` over time, and the `span` of time. square: the same of the
    square. step: `rise_time`, `settling_time`, `overshoot_percent` of the response to the
    reference's last step. rotation, displacement: the `largest` distance from the first attitude
    (3, 3) or position (3,). falling_back, rising_back: the largest distance `back` from the
    previous maximum (minimum), with `when`, `reached` and `got`.

    reference: a signal that is subtracted first; for step, the signal to follow. since, until [s]:
    only the time between them is measured.
    """

    kind: Literal[
        "extremes",
        "integral",
        "square",
        "step",
        "rotation",
        "displacement",
        "falling_back",
        "rising_back",
    ]
    signal: str
    reference: str | None = None
    since: float = -math.inf
    until: float = math.inf


@dataclass(frozen=True, eq=False)
class Panels:
    """P panels of a run: start and end times (P,) [s], and the values of m signals at the nodes
    (P, 5, m).
    """

    start: Floats
    end: Floats
    y: Floats

    def column(self, which: Any) -> Panels:
        """The panels of some of the m signals."""
        return Panels(self.start, self.end, self.y[:, :, which])

    def within(self, since: float, until: float) -> Panels:
        """The panels cut to the time between `since` and `until`."""
        kept = (self.end > since) & (self.start < until)
        kept |= (self.start == self.end) & (self.start >= since) & (self.end <= until)
        start, end, y = self.start[kept], self.end[kept], self.y[kept].copy()
        new_start, new_end = np.maximum(start, since), np.minimum(end, until)
        for k in np.flatnonzero((new_start > start) | (new_end < end)):
            a, b = ((t - start[k]) / (end[k] - start[k]) for t in (new_start[k], new_end[k]))
            moved = np.vander(a + NODES * (b - a), 5, increasing=True) @ (_TO_POWERS @ y[k])
            y[k] = np.where((y[k] == y[k, 0]).all(axis=0), y[k], moved)  # constants stay exact
        return Panels(new_start, new_end, y)

    def fine(self) -> tuple[Floats, Floats]:
        """Times (P, F) and values (P, F, m) on a fine grid within the panels, which includes all
        extremes.
        """
        powers = np.einsum("kn,pnm->pkm", _TO_POWERS, self.y)
        slope = np.einsum("fk,pkm->pfm", _derivative(_FINE), powers)
        # The zeros of the slope, by straight lines and two steps of Newton's method.
        turns = np.sign(slope[:, :-1]) * np.sign(slope[:, 1:]) < 0  # products may overflow
        share = np.divide(
            slope[:, :-1],
            slope[:, :-1] - slope[:, 1:],
            out=np.full(turns.shape, 0.5),
            where=turns,
        )
        at = _FINE[:-1, None] + share * (_FINE[1] - _FINE[0])
        for _ in range(2):
            first, second = _slopes_at(powers, at)
            step = np.divide(first, second, out=np.zeros_like(at), where=second != 0)
            at = np.clip(at - step, _FINE[:-1, None], _FINE[1:, None])
        inner = np.where(turns, _values_at(powers, at), self.y[:, :1])
        times = np.where(turns, at, 0.0)
        everywhere = np.broadcast_to(_FINE[None, :, None], (len(self.y), 17, self.y.shape[2]))
        values = np.einsum("fk,pkm->pfm", np.vander(_FINE, 5, increasing=True), powers)
        parts = np.concatenate([everywhere, times], axis=1)
        values = np.concatenate([values, inner], axis=1)
        # Two nodes with the extreme value of all: the signal saturates there, and the polynomial's
        # excess beyond it is an artefact; so is that of rounding.
        flat = self.y[:, 1:] == self.y[:, :-1]
        size = np.abs(self.y).max(axis=1, keepdims=True)
        rounding = _SAME * np.minimum(size, np.finfo(float).max)
        for pick, clip in ((np.max, np.minimum), (np.min, np.maximum)):
            edge = pick(self.y, axis=1, keepdims=True)
            own = (flat & (self.y[:, 1:] == edge)).any(axis=1, keepdims=True)
            values = np.where(own, clip(values, edge), values)
            values = np.where(np.abs(values - edge) <= rounding, edge, values)
        order = np.argsort(parts, axis=1, kind="stable")
        parts = np.take_along_axis(parts, order, 1)
        length = (self.end - self.start)[:, None, None]
        return self.start[:, None, None] + parts * length, np.take_along_axis(values, order, 1)


def joined(panels: Sequence[Panels]) -> Panels:
    """Concatenated panels."""
    start, end, y = (
        np.concatenate([getattr(one, name) for one in panels]) for name in ("start", "end", "y")
    )
    return Panels(start, end, y)


def instant(t: float, y: Floats) -> Panels:
    """A panel of length zero with the values y (m,) at time t."""
    at = np.array([t])
    return Panels(at, at, np.broadcast_to(y, (1, len(NODES), len(y))))


def straight(t: Floats, y: Floats) -> Panels:
    """Panels with straight lines between samples t (N,), y (N, m). Two samples at the same time
    are a jump of the signal.
    """
    kept = np.flatnonzero(np.diff(t) > 0)
    nodes = y[kept, None, :] + NODES[:, None] * (y[kept + 1] - y[kept])[:, None, :]
    return Panels(t[kept], t[kept + 1], nodes)


def _derivative(at: Floats) -> Floats:
    k = np.arange(5)
    return np.asarray(k * np.power(at[:, None], np.maximum(k - 1, 0)))


def _values_at(powers: Floats, at: Floats) -> Floats:
    value = np.zeros_like(at)
    for k in range(4, -1, -1):
        value = value * at + powers[:, k : k + 1]
    return value


def _slopes_at(powers: Floats, at: Floats) -> tuple[Floats, Floats]:
    first, second = np.zeros_like(at), np.zeros_like(at)
    for k in range(4, 0, -1):
        second = second * at + first
        first = first * at + k * powers[:, k : k + 1]
    return first, second


class Meter(ABC):
    """Measures the quantities of a gauge. Panels must be given in the order of time."""

    @abstractmethod
    def take(self, panels: Panels) -> None:
        """Measure more panels."""

    @abstractmethod
    def read(self) -> Readings:
        """The readings so far."""

    def instants(self) -> Readings:
        """Times [s] at which its readings were found, where no reading tells them."""
        return {}


class Extremes(Meter):
    """The smallest and largest value of each element, and their times."""

    def __init__(self, width: int, start: float = math.nan) -> None:
        self.low, self.high = np.full(width, np.inf), np.full(width, -np.inf)
        self.when_low, self.when_high = np.full(width, start), np.full(width, start)
        self.first: Floats | None = None
        self.last = np.full(width, np.nan)

    def take(self, panels: Panels) -> None:
        if not len(panels.start):
            return
        if self.first is None:
            self.first = panels.y[0, 0].copy()
        self.last = panels.y[-1, -1].copy()
        # A polynomial through the nodes exceeds them by less than it varies between them.
        least, most = panels.y.min(axis=1), panels.y.max(axis=1)
        slack = most - least
        low = np.minimum(self.low, least.min(axis=0))
        high = np.maximum(self.high, most.max(axis=0))
        near = ((least - slack < low) | (most + slack > high)).any(axis=1)
        near |= (least <= low).any(axis=1) | (most >= high).any(axis=1)
        if not near.any():
            return
        chosen = Panels(panels.start[near], panels.end[near], panels.y[near])
        times, values = chosen.fine()
        flat, when = (a.reshape(-1, a.shape[2]) for a in (values, times))
        for pick, better, best, at in (
            (np.argmin, np.less, self.low, self.when_low),
            (np.argmax, np.greater, self.high, self.when_high),
        ):
            k = pick(flat, axis=0)
            found = np.take_along_axis(flat, k[None], 0)[0]
            new = better(found, best)
            best[new] = found[new]
            at[new] = np.take_along_axis(when, k[None], 0)[0][new]

    def read(self) -> Readings:
        none = np.full(len(self.low), np.nan)
        return {
            "least": self.low,
            "most": self.high,
            "when_least": self.when_low,
            "when_most": self.when_high,
            "first": none if self.first is None else self.first,
            "last": self.last,
            "any": np.full(len(self.low), float(self.first is not None)),
        }


class Integral(Meter):
    """The integral over time of a power of each element."""

    def __init__(self, width: int, power: int = 1) -> None:
        self.power = power
        self.integral, self.span = np.zeros(width), 0.0

    def take(self, panels: Panels) -> None:
        length, y = panels.end - panels.start, panels.y**self.power
        self.integral = self.integral + np.einsum("p,n,pnm->m", length, WEIGHTS, y)
        self.span += float(length.sum())

    def read(self) -> Readings:
        return {"integral": self.integral, "span": np.full(len(self.integral), self.span)}


class FromStart(Meter):
    """The largest distance from the first value: of positions, or of attitudes half the chord,
    from which the angle follows.

    The chord is |R - R[0]|_F = 2 sqrt(2) |sin(angle / 2)|. It is accurate for small angles, unlike
    the arc cosine of the trace. Source: Hartley et al., Rotation Averaging, Int. J. Computer
    Vision 103 (2013), section 4.
    """

    def __init__(self, rotation: bool) -> None:
        self.rotation = rotation
        self.first: Floats | None = None
        self.squares = Extremes(1)

    def take(self, panels: Panels) -> None:
        if not len(panels.start):
            return
        if self.first is None:
            self.first = panels.y[0, 0].copy()
        square = np.sum((panels.y - self.first) ** 2, axis=2, keepdims=True)
        self.squares.take(Panels(panels.start, panels.end, square))

    def read(self) -> Readings:
        if self.first is None:
            return {"largest": np.array([np.nan])}
        distance = np.sqrt(np.maximum(self.squares.high, 0.0))
        if self.rotation:
            distance = 2.0 * np.arcsin(np.clip(distance / math.sqrt(8.0), 0.0, 1.0))
        return {"largest": distance}

    def instants(self) -> Readings:
        """`when` it was farthest from its first value."""
        return {"when": self.squares.when_high}


class Back(Meter):
    """The largest distance of each element back from its previous maximum; with `sign` -1 from its
    minimum.
    """

    def __init__(self, width: int, sign: float) -> None:
        self.sign = sign
        self.top = np.full(width, -np.inf)
        self.worst = np.zeros(width)
        self.when, self.reached, self.got = (np.full(width, np.nan) for _ in range(3))
        self.when_top, self.when_reached = (np.full(width, np.nan) for _ in range(2))

    def take(self, panels: Panels) -> None:
        if not len(panels.start):
            return
        times, values = panels.fine()
        t, v = times.reshape(-1, times.shape[2]), self.sign * values.reshape(-1, values.shape[2])
        tops = np.maximum(np.maximum.accumulate(v, axis=0), self.top)
        v = np.where(tops - v <= _SAME * np.abs(tops), tops, v)  # ignore rounding
        k = np.argmax(tops - v, axis=0)[None]
        top, got, when = (np.take_along_axis(a, k, 0)[0] for a in (tops, v, t))
        at, last = (self._when(v, t, row) for row in (top, tops[-1]))
        new = top - got > self.worst
        new |= np.isnan(self.when)
        self.worst[new], self.when[new] = (top - got)[new], when[new]
        self.reached[new], self.got[new] = self.sign * top[new], self.sign * got[new]
        self.when_reached[new] = at[new]
        self.top, self.when_top = tops[-1], last

    def _when(self, v: Floats, t: Floats, top: Floats) -> Floats:
        """The times at which each column of v (N, m) reaches a value, now or before."""
        k = np.argmax(v == top, axis=0)[None]
        there = np.take_along_axis(v, k, 0)[0] == top
        now = there & ((top > self.top) | np.isnan(self.when_top))
        return np.where(now, np.take_along_axis(t, k, 0)[0], self.when_top)

    def read(self) -> Readings:
        return {"back": self.worst, "when": self.when, "reached": self.reached, "got": self.got}

    def instants(self) -> Readings:
        """`when_reached`: the time of the extreme from which it went back farthest."""
        return {"when_reached": self.when_reached}
