"""Assigns the vertical runs of wires (trunks) in a channel to lanes, so that none overlap and few
cross.

The trunks are ordered from left to right. If the net of one trunk leaves to the right at the
height at which another net arrives from the left, the first must be right of the second. Among the
orders that respect this, one with few crossings is chosen greedily. If the conditions are
circular, a trunk is split in two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spart_blocks.drawing.layout.graph import Net

_MOST_COMPARED = 3000
"""Trunks in a channel up to which their crossings are compared in pairs."""


@dataclass
class Trunk:
    """The vertical run of a net in a channel. lefts, rights: heights at which the net continues to
    the left and to the right [grid].
    """

    net: Net
    lefts: tuple[float, ...]
    rights: tuple[float, ...]
    lane: int = 0

    @property
    def top(self) -> float:
        return min(*self.lefts, *self.rights)

    @property
    def bottom(self) -> float:
        return max(*self.lefts, *self.rights)


def assign_lanes(channel: Sequence[list[Trunk]], levels: Iterable[float]) -> int:
    """Set the lane of each trunk. Returns the number of lanes, counted from the left.

    levels: the heights at which nets run horizontally in the channel.

    A trunk whose net leaves to the right at the height where another arrives from the left must be
    right of it, otherwise the two would overlap. If this is circular, a trunk is split in two with
    a horizontal step between them; the list of the net then contains both.
    """
    taken = set(levels)
    while True:
        trunks = [trunk for pieces in channel for trunk in pieces]
        order, stuck = _ordered(trunks, channel)
        if stuck is None:
            break
        pieces = next(pieces for pieces in channel if stuck in pieces)
        taken.add(_split(pieces, stuck, taken))
    placed: list[Trunk] = []
    for trunk in order:
        near = [t.lane for t in placed if t.top - 1 < trunk.bottom and trunk.top - 1 < t.bottom]
        trunk.lane = max(near, default=-1) + 1
        placed.append(trunk)
    return max((trunk.lane for trunk in placed), default=-1) + 1


def _ordered(
    trunks: Sequence[Trunk], channel: Sequence[list[Trunk]]
) -> tuple[list[Trunk], Trunk | None]:
    """The trunks from left to right with few crossings; or a trunk that is part of a circular
    condition.
    """
    count = len(trunks)
    if not count:
        return [], None
    before = _before(trunks, channel)
    after: list[list[int]] = [[] for _ in range(count)]
    for i, others in enumerate(before):
        for j in others:
            after[j].append(i)
    blockers = np.array([len(others) for others in before], dtype=np.int64)
    gain = _gains(trunks) if count <= _MOST_COMPARED else None
    score = np.zeros(count, dtype=np.int64) if gain is None else gain.sum(axis=1)
    waiting = np.ones(count, dtype=bool)
    order: list[Trunk] = []
    while len(order) < count:
        free = waiting & (blockers == 0)
        if not free.any():
            return [], _in_circle(trunks, before, set(np.flatnonzero(waiting).tolist()))
        best = int(np.where(free, score, np.iinfo(np.int64).min).argmax())
        order.append(trunks[best])
        waiting[best] = False
        blockers[after[best]] -= 1
        if gain is not None:
            score -= gain[:, best]
    return order, None


def _before(trunks: Sequence[Trunk], channel: Sequence[list[Trunk]]) -> list[set[int]]:
    """For each trunk those that must be left of it."""
    arriving: dict[float, list[int]] = {}
    for j, trunk in enumerate(trunks):
        for y in trunk.lefts:
            arriving.setdefault(y, []).append(j)
    before = [
        {j for y in one.rights for j in arriving.get(y, ()) if trunks[j].net != one.net}
        for one in trunks
    ]
    position = {id(trunk): i for i, trunk in enumerate(trunks)}
    for pieces in channel:
        for first, second in pairwise(pieces):
            before[position[id(second)]].add(position[id(first)])
    return before


def _gains(trunks: Sequence[Trunk]) -> NDArray[np.int64]:
    """For each pair of trunks i, j the crossings that it saves if i is left of j."""
    count = len(trunks)
    tops = np.array([trunk.top for trunk in trunks])
    bottoms = np.array([trunk.bottom for trunk in trunks])

    def within(sides: Sequence[Sequence[float]]) -> NDArray[np.int64]:
        """The number of heights of trunk i that lie between the ends of trunk j."""
        flat = np.array([y for side in sides for y in side])[:, None]
        found = np.zeros((len(flat) + 1, count), dtype=np.int64)
        np.cumsum((tops < flat) & (flat < bottoms), axis=0, out=found[1:])
        ends = np.cumsum([len(side) for side in sides])
        between: NDArray[np.int64] = np.diff(found[np.concatenate([[0], ends])], axis=0)
        return between

    rights = within([trunk.rights for trunk in trunks])
    lefts = within([trunk.lefts for trunk in trunks])
    crossings = rights + lefts.T
    return crossings.T - crossings


def _in_circle(trunks: Sequence[Trunk], before: Sequence[set[int]], left: set[int]) -> Trunk:
    """A trunk, not split yet, of a circle of trunks each of which must be left of the next."""
    path = [min(left)]
    while (step := min(before[path[-1]] & left)) not in path:
        path.append(step)
    nets = [trunk.net for trunk in trunks]
    circle = [i for i in path[path.index(step) :] if nets.count(nets[i]) == 1]
    return trunks[min(circle, key=lambda i: (len(trunks[i].rights), len(trunks[i].lefts), i))]


def _split(pieces: list[Trunk], trunk: Trunk, taken: Iterable[float]) -> float:
    """Split a trunk at a height where no net runs, near its middle; returns the height."""
    inside = sorted(y for y in taken if trunk.top <= y <= trunk.bottom)
    centre = (trunk.top + trunk.bottom) / 2
    gaps = [(high - low, (low + high) / 2) for low, high in pairwise(inside)]
    widest = max(gap for gap, _ in gaps)
    step = min((y for gap, y in gaps if gap > 0.6 * widest), key=lambda y: abs(y - centre))
    at = pieces.index(trunk)
    first = Trunk(trunk.net, trunk.lefts, (step,))
    pieces[at : at + 1] = [first, Trunk(trunk.net, (step,), trunk.rights)]
    return step
