"""Right-angled wires between blocks that stand where people have put them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spart_blocks.diagram.layout import simplified

Point = tuple[float, float]
Net = tuple[str, str]

STUB = 20.0
"""How far a wire runs straight out of an output, and into an input."""
CLEAR = 10.0
"""The distance from blocks that wires keep where they can."""
LANE = 10.0
_BEND, _BLOCK, _SHARED = 40.0, 4000.0, 600.0
"""What a bend, a block in the way, and a run on another wire cost, in pixels of length."""
_MOST_NEAR = 60


@dataclass
class Router:
    """Finds ways between blocks. boxes (n, 4): left, top, right, bottom of each."""

    boxes: NDArray[np.float64]
    across: dict[float, list[tuple[float, float, Net]]] = field(default_factory=dict)
    upright: dict[float, list[tuple[float, float, Net]]] = field(default_factory=dict)

    def keep(self, net: Net, points: Sequence[Point]) -> None:
        """Note a wire, so that others do not run on it."""
        for (x0, y0), (x1, y1) in pairwise(points):
            if y0 == y1:
                self.across.setdefault(y0, []).append((min(x0, x1), max(x0, x1), net))
            else:
                self.upright.setdefault(x0, []).append((min(y0, y1), max(y0, y1), net))

    def is_free(self, points: Sequence[Point]) -> bool:
        """Whether a wire goes through no block."""
        runs = np.array([_run(a, b) for a, b in pairwise(points)])
        return not len(runs) or not _hits(runs, self.boxes, -1.0).any()

    def route(self, net: Net, start: Point, end: Point) -> tuple[Point, ...]:
        """The best of some ways from an output to an input, which is noted."""
        near = self._near(start, end)
        ways = [simplified(way) for way in dict.fromkeys(self._ways(start, end, near))]
        best = min(ways, key=self._costs(ways, near, net).__getitem__)
        self.keep(net, best)
        return best

    def _near(self, start: Point, end: Point) -> NDArray[np.float64]:
        """The blocks in the rectangle of both ends, and around it."""
        low, high = np.minimum(start, end) - 150, np.maximum(start, end) + 150
        b = self.boxes
        inside = (b[:, 2] > low[0]) & (b[:, 0] < high[0]) & (b[:, 3] > low[1]) & (b[:, 1] < high[1])
        found: NDArray[np.float64] = b[inside]
        if len(found) > _MOST_NEAR:  # those nearest to the ends
            centre = (found[:, :2] + found[:, 2:]) / 2
            away = np.minimum(*(np.abs(centre - point).sum(axis=1) for point in (start, end)))
            found = found[np.argsort(away, kind="stable")[:_MOST_NEAR]]
        return found

    def _ways(
        self, start: Point, end: Point, near: NDArray[np.float64]
    ) -> Iterable[tuple[Point, ...]]:
        (x0, y0), (x1, y1) = start, end
        out, into = x0 + STUB, x1 - STUB
        if y0 == y1 and x1 > x0:
            yield start, end
        if into >= out:
            columns = {out, into, (out + into) / 2, *(out + LANE * k for k in range(1, 5))}
            columns |= {into - LANE * k for k in range(1, 5)}
            for left, _, right, _ in near:
                columns |= {left - CLEAR, right + CLEAR, left - 2 * CLEAR, right + 2 * CLEAR}
            for x in sorted(columns):
                if out <= x <= into:
                    yield start, (x, y0), (x, y1), end
        rows = {(y0 + y1) / 2, max(y0, y1) + 60, min(y0, y1) - 60}
        for _, top, _, bottom in near:
            rows |= {top - CLEAR, bottom + CLEAR, top - 2 * CLEAR, bottom + 2 * CLEAR}
            rows |= {bottom + 3 * CLEAR, top - 3 * CLEAR}
        for y in sorted(rows):
            for a, b in ((out, into), (out + LANE, into - LANE), (out + 2 * LANE, into),
                         (out, into - 2 * LANE)):  # fmt: skip
                yield start, (a, y0), (a, y), (b, y), (b, y1), end

    def _costs(
        self, ways: Sequence[tuple[Point, ...]], near: NDArray[np.float64], net: Net
    ) -> dict[tuple[Point, ...], float]:
        runs = [(k, *_run(a, b)) for k, way in enumerate(ways) for a, b in pairwise(way)]
        table = np.array(runs)
        of, rows = table[:, 0].astype(int), table[:, 1:]
        cost = np.zeros(len(ways))
        np.add.at(cost, of, np.abs(rows[:, 2] - rows[:, 0]) + np.abs(rows[:, 3] - rows[:, 1]))
        if len(near):
            np.add.at(cost, of, _BLOCK * _hits(rows, near, -1.0).sum(axis=1))
            np.add.at(cost, of, 30.0 * _hits(rows, near, CLEAR - 1).sum(axis=1))
        found = {}
        for k, way in enumerate(ways):
            found[way] = float(cost[k]) + _BEND * (len(way) - 2)
        cheap = sorted(ways, key=found.__getitem__)[:24]
        for way in cheap:
            found[way] += _SHARED * self._shared(way, net)
        dear = {way: value for way, value in found.items() if way not in cheap}
        return {**found, **{way: value + _SHARED for way, value in dear.items()}}

    def _shared(self, way: Sequence[Point], net: Net) -> int:
        """How many runs of other wires a way lies on."""
        count = 0
        for (x0, y0), (x1, y1) in pairwise(way):
            table, at = (self.across, y0) if y0 == y1 else (self.upright, x0)
            low, high = (x0, x1) if y0 == y1 else (y0, y1)
            low, high = min(low, high), max(low, high)
            for a, b, other in table.get(at, ()):
                if other != net and a < high and low < b:
                    count += 1
        return count


def _run(a: Point, b: Point) -> tuple[float, float, float, float]:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])


def _hits(runs: NDArray[np.float64], boxes: NDArray[np.float64], grown: float) -> NDArray[np.bool_]:
    """Which runs (m, 4) cross which boxes (n, 4), grown by a margin."""
    return np.asarray(
        (runs[:, None, 0] < boxes[None, :, 2] + grown)
        & (runs[:, None, 2] > boxes[None, :, 0] - grown)
        & (runs[:, None, 1] < boxes[None, :, 3] + grown)
        & (runs[:, None, 3] > boxes[None, :, 1] - grown)
    )
