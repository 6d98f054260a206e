"""The tracks of a plant's bodies: as many rows as interpolation within the tolerance needs.

The curve of the states is sampled more densely where it bends, and each body keeps the samples that
it needs. A long run is processed in pieces, so that memory stays bounded; if there are more rows
than a page may have, the tolerance is increased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from spart_blocks.animation.body_curves import PoseMap, Poses, StateCurve, stretches
from spart_blocks.animation.interpolation import between, needed, pose_errors
from spart_blocks.animation.packed import Floats, Packed, steps

SAMPLING, THINNING, ROUNDING = 0.25, 0.5, 0.08
"""Shares of the tolerance for sampling, omitted rows, and rounding."""
TICK = 1e-6
"""Times of rows are multiples of this [s]; of a larger step in runs longer than 2^30 TICK, 18
minutes."""
MOST_ROWS = 600_000
"""Largest number of rows of all tracks of a page; they take at most ten megabytes."""
_PIECE = 20_000  # rows of the run that are taken at once
_MOST_SAMPLES = 400_000  # of a piece
_DEPTH, _SPLIT, _TURN, _COARSER = 14, 0.4, 1.0, 4.0
_ALIKE = 2.0  # intervals side by side, longest to shortest

Looked = Callable[[float], None]
"""Called now and then with the time [s] of the run processed so far."""


@dataclass
class PoseRows:
    """The rows of one body in pieces: t (k,), p (k, 3), q (k, 4), and its lever [m]."""

    lever: float
    t: list[Floats] = field(default_factory=list)
    p: list[Floats] = field(default_factory=list)
    q: list[Floats] = field(default_factory=list)

    @property
    def count(self) -> int:
        return sum(map(len, self.t))

    def add(self, t: Floats, p: Floats, q: Floats, same: float) -> None:
        """Append rows. The first is dropped if it equals the last one within `same` [m]."""
        if self.t and t[0] <= self.t[-1][-1]:
            last = self.p[-1][-1:], self.q[-1][-1:]
            if pose_errors(p[:1], q[:1], *last, self.lever)[0] <= same:
                t, p, q = t[1:], p[1:], q[1:]
        if len(t):
            self.t.append(t)
            self.p.append(p)
            self.q.append(q)

    def joined(self) -> tuple[Floats, Floats, Floats]:
        """All rows. The signs of the quaternions are made continuous."""
        t, p, q = (np.concatenate(parts) for parts in (self.t, self.p, self.q))
        flips = np.where(np.sum(q[1:] * q[:-1], axis=1) < 0, -1.0, 1.0)
        return t, p, q * np.cumprod(np.concatenate([[1.0], flips]))[:, None]

    def thin(self, tolerance: float, same: float) -> None:
        """Reduce the rows to those needed for a tolerance [m]."""
        t, p, q = self.joined()
        self.t, self.p, self.q = [], [], []
        cuts = [0, *(np.flatnonzero(np.diff(t) <= 0) + 1), len(t)]
        for a, b in pairwise(cuts):
            part = slice(int(a), int(b))
            keep = needed(t[part], p[part], q[part], self.lever, tolerance)
            self.add(t[part][keep], p[part][keep], q[part][keep], same)


@dataclass
class Tracks:
    """Collects the tracks of all bodies of a page. tolerance: of poses [m], increased if there are
    too many rows; tick: step of times [s]; most: rows of all bodies."""

    tolerance: float
    tick: float = TICK
    most: int = MOST_ROWS
    bodies: list[PoseRows] = field(default_factory=list)
    looked: Looked = lambda t: None
    doubt: float = 0.0
    """Estimate of the error [m] of the curves between the rows of the run."""

    def add(self, curve: StateCurve, poses: PoseMap, levers: Floats) -> None:
        """Add the bodies of a plant. levers: of each body [m]."""
        mine = [PoseRows(float(lever)) for lever in levers]
        self.bodies += mine
        for piece in _pieces(curve):
            self.doubt = max(self.doubt, _doubt(piece, poses, levers))
            t = np.unique(self._ticks(piece.t))
            t, p, q = _sampled(piece, poses, levers, t, SAMPLING * self.tolerance, self.tick)
            for k, rows in enumerate(mine):
                keep = needed(t, p[:, k], q[:, k], rows.lever, THINNING * self.tolerance)
                rows.add(t[keep], p[keep, k], q[keep, k], ROUNDING * self.tolerance)
            self.looked(float(t[-1]))
            while sum(rows.count for rows in self.bodies) > self.most:
                self._coarsen()

    def _ticks(self, t: Floats) -> Floats:
        ticks: Floats = np.rint(t / self.tick) * self.tick
        return ticks

    def _coarsen(self) -> None:
        more = (_COARSER - 1) * self.tolerance
        self.tolerance *= _COARSER
        for rows in self.bodies:
            if rows.count > 1:
                rows.thin(THINNING * more, ROUNDING * self.tolerance)

    def packed(self) -> list[dict[str, Packed]]:
        """The tracks in the recording's format."""
        return [self._packed(rows) for rows in self.bodies]

    def _packed(self, rows: PoseRows) -> dict[str, Packed]:
        t, p, q = rows.joined()
        still = pose_errors(p, q, p[:1], q[:1], rows.lever).max() <= ROUNDING * self.tolerance
        if still:
            t, p, q = t[:1], p[:1], q[:1]
        step = ROUNDING * self.tolerance
        return {
            "t": steps(t, self.tick),
            "p": steps(p, step),
            "q": steps(q, min(1e-5, step / (2 * rows.lever))),
        }


def _doubt(curve: StateCurve, poses: PoseMap, levers: Floats) -> float:
    """An estimate of the error [m] of the curve between rows, from its error at each row when it is
    interpolated from the two adjacent rows.

    The error of a cubic is x'''' / 24 times the squared product of the distances to its ends.
    """
    a, b = np.diff(curve.t)[:-1], np.diff(curve.t)[1:]
    rows = 1 + np.flatnonzero(np.maximum(a, b) < _ALIKE * np.minimum(a, b))
    if not len(rows):
        return 0.0
    a, b = a[rows - 1], b[rows - 1]
    found, told = poses(curve.x[rows]), poses(curve.beside(rows))
    errors = pose_errors(found.p, found.q, told.p, told.q, levers).max(axis=1, initial=0.0)
    return float((errors * (np.maximum(a, b) / 2) ** 4 / (a * b) ** 2).max())


def tick_of(span: float) -> float:
    """The step of times [s] for a run of length `span` [s]."""
    return max(TICK, span / 2**30)


def _pieces(curve: StateCurve) -> Iterator[StateCurve]:
    """Pieces of the curve of bounded size, without jumps inside."""
    for stretch in stretches(curve.t):
        last = stretch.stop - 1
        for a in range(stretch.start, max(last, stretch.start + 1), _PIECE):
            yield curve.part(slice(a, min(a + _PIECE, last) + 1))


def _sampled(
    curve: StateCurve, poses: PoseMap, levers: Floats, t: Floats, tolerance: float, tick: float
) -> tuple[Floats, Floats, Floats]:
    """Times (N,), positions (N, bodies, 3) and quaternions (N, bodies, 4), between which the
    viewer's interpolation is within the tolerance [m] for all bodies. They include the times t."""

    def posed(times: Floats) -> Poses:
        return poses(curve.at(np.clip(times, curve.t[0], curve.t[-1])))

    t = _unturned(curve, t, tick)
    found = posed(t)
    p, q = found.p, found.q
    open_ = np.ones(max(len(t) - 1, 0), dtype=bool)
    for _ in range(_DEPTH):
        k = np.flatnonzero(open_ & (np.diff(t) > 2 * tick))
        if not len(k) or len(t) > _MOST_SAMPLES:
            break
        middle = np.rint((t[k] + _SPLIT * (t[k + 1] - t[k])) / tick) * tick
        seen = posed(middle)
        part = (middle - t[k]) / (t[k + 1] - t[k])
        errors = pose_errors(seen.p, seen.q, *between(p, q, k, part), levers)
        worst = errors.max(axis=1, initial=0.0)
        bad = worst > tolerance
        if not bad.any():
            break
        count = np.clip(np.ceil(1.1 * np.sqrt(worst[bad] / tolerance)), 2, 16).astype(int)
        ends = zip(t[k[bad]], t[k[bad] + 1], count, strict=True)
        more = [np.rint(np.linspace(a, b, n + 1)[1:-1] / tick) * tick for a, b, n in ends]
        times = np.concatenate([middle, *more])
        added = posed(times[len(middle) :])
        first = np.searchsorted(t, times, side="right") - 1
        fresh = np.isin(first, k[bad])
        t, order = np.unique(np.concatenate([t, times]), return_index=True)
        p = np.concatenate([p, seen.p, added.p])[order]
        q = np.concatenate([q, seen.q, added.q])[order]
        dirty = times[fresh]
        open_ = np.zeros(len(t) - 1, dtype=bool)
        at = np.searchsorted(t, dirty)
        open_[np.minimum(at, len(t) - 2)] = True
        open_[np.maximum(at - 1, 0)] = True
    return t, p, q


def _unturned(curve: StateCurve, t: Floats, tick: float) -> Floats:
    """The times t with more times where joints rotate far, since whole turns would appear as
    rest."""
    if len(t) < 2:
        return t
    speed = curve.spin
    k = np.clip(np.searchsorted(curve.t, t[:-1], side="right") - 1, 0, len(curve.t) - 2)
    turned = np.maximum(speed[k], speed[k + 1]) * np.diff(t)
    parts = np.clip(np.ceil(turned / _TURN), 1, 1000).astype(int)
    if parts.max() == 1:
        return t
    spread = [
        np.linspace(a, b, n, endpoint=False) for a, b, n in zip(t[:-1], t[1:], parts, strict=True)
    ]
    return np.unique(np.rint(np.concatenate([*spread, t[-1:]]) / tick) * tick)
