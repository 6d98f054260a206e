"""Routes of wires with right angles between blocks at given positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.drawing.faced import Way
from spart_blocks.drawing.layout import simplified

Point = tuple[float, float]
Net = tuple[str, str]
Ways = tuple[Way, Way]
"""The directions in which a wire leaves its output and comes to its input."""
RIGHT: Ways = (1, 0), (1, 0)

STUB = 20.0
"""Length of the straight piece at an output and at an input."""
CLEAR = 10.0
"""Distance that wires keep from blocks if possible."""
LANE = 10.0
_BEND, _BLOCK, _NEAR, _SHARED = 40.0, 4000.0, 30.0, 600.0
"""Costs of a bend, of crossing a block, of passing near one, and of a run on another wire, as
lengths [px]."""
_MOST_NEAR, _COMPARED = 40, 40
_DETOURS = 4
"""How often a detour is sought, each time also around the blocks that the last one crosses."""
_APART = 5.0
"""Runs at a smaller distance look like one [px]."""
Boxes = NDArray[np.float64]
_Kept = tuple[float, float, float, Net]
"""A run of a wire: where it runs, from where to where along that, and its net."""


@dataclass
class Router:
    """Finds routes between blocks. boxes (n, 4): left, top, right, bottom of each."""

    boxes: Boxes
    across: dict[int, list[_Kept]] = field(default_factory=dict)
    upright: dict[int, list[_Kept]] = field(default_factory=dict)

    def keep(self, net: Net, points: Sequence[Point]) -> None:
        """Record a route, so that others avoid it."""
        for (x0, y0), (x1, y1) in pairwise(points):
            if y0 == y1:
                kept = y0, min(x0, x1), max(x0, x1), net
                self.across.setdefault(round(y0 / LANE), []).append(kept)
            else:
                kept = x0, min(y0, y1), max(y0, y1), net
                self.upright.setdefault(round(x0 / LANE), []).append(kept)

    def is_free(self, points: Sequence[Point]) -> bool:
        """Whether a route crosses no block."""
        return not self._crossed(points).any()

    def _crossed(self, points: Sequence[Point]) -> NDArray[np.bool_]:
        """Which blocks a route crosses."""
        return np.asarray(hits(runs_of([points])[0], self.boxes, -1.0).any(axis=0))

    def route(self, net: Net, start: Point, end: Point, ways: Ways = RIGHT) -> tuple[Point, ...]:
        """The cheapest of some routes from an output to an input. It is recorded."""
        near = self._near(start, end)
        best = self._right(net, start, end, near) if ways == RIGHT else ()
        for _ in range(_DETOURS):
            if best and self.is_free(best):
                break
            if best:
                near = np.unique(np.concatenate([near, self.boxes[self._crossed(best)]]), axis=0)
            best = self._detour(net, start, end, ways, near) or best or _plain(start, end, ways)
        self.keep(net, best)
        return best

    def _right(self, net: Net, start: Point, end: Point, near: Boxes) -> tuple[Point, ...]:
        """The cheapest route with few bends from an output at the right to an input at the left."""
        turns = _turns(start, end, near)
        cost = _costs(start, end, turns, near)
        best: tuple[Point, ...] = (start, end)
        least = np.inf
        for k in np.argsort(cost, kind="stable")[:_COMPARED]:
            if cost[k] >= least:
                break
            a, y, b = turns[k].tolist()
            way = simplified([start, (a, start[1]), (a, y), (b, y), (b, end[1]), end])
            whole = float(cost[k]) + _SHARED * self._shared(way, net)
            if whole < least:
                best, least = way, whole
        return best

    def _near(self, start: Point, end: Point) -> Boxes:
        """The blocks within 150 px of the rectangle spanned by both ends, at most _MOST_NEAR."""
        low, high = np.minimum(start, end) - 150, np.maximum(start, end) + 150
        b = self.boxes
        inside = (b[:, 2] > low[0]) & (b[:, 0] < high[0]) & (b[:, 3] > low[1]) & (b[:, 1] < high[1])
        found: Boxes = b[inside]
        if len(found) > _MOST_NEAR:  # those nearest to the ends
            centre = (found[:, :2] + found[:, 2:]) / 2
            away = np.minimum(*(np.abs(centre - point).sum(axis=1) for point in (start, end)))
            found = found[np.argsort(away, kind="stable")[:_MOST_NEAR]]
        return found

    def _detour(
        self, net: Net, start: Point, end: Point, ways: Ways, near: Boxes
    ) -> tuple[Point, ...]:
        """The cheapest route with any number of bends along lines beside the blocks, where none
        with few bends passes them; empty if there is none. It is a shortest path between the
        crossings of these lines, in two layers: for runs across, and for upright ones."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import dijkstra

        out, into = _stubs(start, end, ways)
        xs, ys = (_lines(near, axis, out[axis], into[axis]) for axis in (0, 1))
        count = len(ys) * len(xs)
        node = np.arange(count).reshape(len(ys), len(xs))
        y, x = np.meshgrid(ys, xs, indexing="ij")
        ends: list[NDArray[Any]] = [np.stack([node.ravel(), node.ravel() + count], axis=1)]
        costs: list[NDArray[Any]] = [np.full(count, _BEND)]
        for before, after, upright in (
            (np.s_[:, :-1], np.s_[:, 1:], False),
            (np.s_[:-1], np.s_[1:], True),
        ):
            runs = np.stack([x[before], y[before], x[after], y[after]], axis=-1).reshape(-1, 4)
            cost = (runs[:, 2:] - runs[:, :2]).sum(axis=1)
            cost += _NEAR * hits(runs, near, CLEAR - 1).any(axis=1)
            cost += _SHARED * self._covered(runs, net, upright)
            free = ~hits(runs, near, -1.0).any(axis=1)
            pairs = np.stack([node[before].ravel(), node[after].ravel()], axis=1)
            ends.append(pairs[free] + count * upright)
            costs.append(cost[free])
        joined = np.concatenate(ends).T
        graph = coo_array((np.concatenate(costs), (joined[0], joined[1])), (2 * count, 2 * count))
        first, at = (
            int(node[ys.searchsorted(one[1]), xs.searchsorted(one[0])]) + count * (way[0] == 0)
            for one, way in zip((out, into), ways, strict=True)
        )
        _, previous = dijkstra(graph.tocsr(), False, first, return_predecessors=True)
        way = [end, into]
        while at != first:
            at = int(previous[at])
            if at < 0:
                return ()
            row, column = divmod(at % count, len(xs))
            way.append((float(xs[column]), float(ys[row])))
        return simplified([start, *reversed(way)])

    def _covered(self, runs: NDArray[np.float64], net: Net, upright: bool) -> NDArray[np.bool_]:
        """Which runs (m, 4) lie on a run of another net, or too near to one."""
        table = self.upright if upright else self.across
        where, along = (0, 1) if upright else (1, 0)
        left, right = runs[:, where].min(initial=np.inf), runs[:, where].max(initial=-np.inf)
        lanes = range(round(left / LANE) - 1, round(right / LANE) + 2) if len(runs) else ()
        others = [kept[:3] for lane in lanes for kept in table.get(lane, ()) if kept[3] != net]
        if not others:
            return np.zeros(len(runs), bool)
        at, low, high = np.array(others).T
        return np.asarray(
            (
                (np.abs(runs[:, None, where] - at) < _APART)
                & (runs[:, None, along] < high)
                & (runs[:, None, along + 2] > low)
            ).any(axis=1)
        )

    def _shared(self, way: Sequence[Point], net: Net) -> int:
        """Number of runs of other wires that a route overlaps, or is too near to."""
        count = 0
        for (x0, y0), (x1, y1) in pairwise(way):
            table, at = (self.across, y0) if y0 == y1 else (self.upright, x0)
            low, high = (x0, x1) if y0 == y1 else (y0, y1)
            low, high = min(low, high), max(low, high)
            lane = round(at / LANE)
            for near in (lane - 1, lane, lane + 1):
                for where, a, b, other in table.get(near, ()):
                    if other != net and a < high and low < b and abs(where - at) < _APART:
                        count += 1
        return count


def _stubs(start: Point, end: Point, ways: Ways) -> tuple[Point, Point]:
    """The ends of the straight pieces at an output and at an input."""
    (a, b), (c, d) = ways
    return (start[0] + STUB * a, start[1] + STUB * b), (end[0] - STUB * c, end[1] - STUB * d)


def _plain(start: Point, end: Point, ways: Ways) -> tuple[Point, ...]:
    """A route with right angles that passes no block around."""
    out, into = _stubs(start, end, ways)
    corner = (into[0], out[1]) if ways[0][0] else (out[0], into[1])
    return simplified([start, out, corner, into, end])


def _turns(start: Point, end: Point, near: Boxes) -> NDArray[np.float64]:
    """The turns (n, 3) of candidate routes: a, y, b of a route that runs right to x = a, then to
    height y, across to x = b, to the height of the end, and right to the end."""
    (x0, y0), (x1, y1) = start, end
    out, into = x0 + STUB, x1 - STUB
    found = []
    if into >= out:
        beside = [near[:, 0] - CLEAR, near[:, 2] + CLEAR]
        lanes = LANE * np.arange(5)
        columns = np.unique(
            np.concatenate([out + lanes, into - lanes, [(out + into) / 2], *beside])
        )
        columns = columns[(columns >= out) & (columns <= into)]
        found.append(np.stack([columns, np.full(len(columns), y1), columns], axis=1))
    over = [near[:, 1] - CLEAR * k for k in (1, 2, 3)]
    under = [near[:, 3] + CLEAR * k for k in (1, 2, 3)]
    rows = np.unique(np.concatenate(
        [[(y0 + y1) / 2, max(y0, y1) + 60, min(y0, y1) - 60], *over, *under]))  # fmt: skip
    for k, m in ((0, 0), (1, 1), (2, 0), (0, 2)):
        a, b = np.full(len(rows), out + k * LANE), np.full(len(rows), into - m * LANE)
        found.append(np.stack([a, rows, b], axis=1))
    return np.concatenate(found)


def _costs(
    start: Point, end: Point, turns: NDArray[np.float64], near: Boxes
) -> NDArray[np.float64]:
    """The cost of each route by itself (n,): its length, bends, and blocks that it crosses."""
    a, y, b = turns.T
    (x0, y0), (x1, y1) = (np.broadcast_to(point, (len(turns), 2)).T for point in (start, end))
    xs, ys = np.stack([x0, a, a, b, b, x1]), np.stack([y0, y0, y, y, y1, y1])
    length = (np.abs(np.diff(xs, axis=0)) + np.abs(np.diff(ys, axis=0))).sum(axis=0)
    bends = np.where(a == b, 2, 4) - 2 * ((a == b) & (y0 == y1))
    cost = length + _BEND * bends
    if len(near):
        low = np.stack([np.minimum(xs[1:], xs[:-1]), np.minimum(ys[1:], ys[:-1])], axis=-1)
        high = np.stack([np.maximum(xs[1:], xs[:-1]), np.maximum(ys[1:], ys[:-1])], axis=-1)
        runs = np.concatenate([low, high], axis=-1).reshape(-1, 4)
        for grown, dear in ((-1.0, _BLOCK), (CLEAR - 1, _NEAR)):
            cost += dear * hits(runs, near, grown).sum(axis=1).reshape(5, -1).sum(axis=0)
    return np.asarray(cost)


def _lines(near: Boxes, axis: int, start: float, end: float) -> NDArray[np.float64]:
    """The coordinates along an axis at which a detour may run: those of its ends, and beside the
    blocks."""
    beside = [
        *(near[:, axis] - CLEAR * k for k in (1, 2)),
        *(near[:, axis + 2] + CLEAR * k for k in (1, 2)),
    ]
    return np.unique(np.concatenate([[start, end], *beside]))


def runs_of(ways: Sequence[Sequence[Point]]) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """The runs of routes (m, 4) as left, top, right, bottom, and the number of each one's route."""
    pairs = np.array([(*a, *b) for way in ways for a, b in pairwise(way)], float).reshape(-1, 4)
    counts = [max(len(way) - 1, 0) for way in ways]
    low, high = np.minimum(pairs[:, :2], pairs[:, 2:]), np.maximum(pairs[:, :2], pairs[:, 2:])
    return np.concatenate([low, high], axis=1), np.repeat(np.arange(len(ways)), counts)


def hits(runs: NDArray[np.float64], boxes: Boxes, grown: float) -> NDArray[np.bool_]:
    """Which runs (m, 4) cross which boxes (n, 4), grown by a margin."""
    return np.asarray(
        (runs[:, None, 0] < boxes[None, :, 2] + grown)
        & (runs[:, None, 2] > boxes[None, :, 0] - grown)
        & (runs[:, None, 1] < boxes[None, :, 3] + grown)
        & (runs[:, None, 3] > boxes[None, :, 1] - grown)
    )
