"""Assigns boxes to layers, and orders each layer.

A box is in a layer right of all boxes that feed it (longest path); boxes with few inputs are moved
right, next to the boxes that they feed. A net that skips layers gets a place in each of these. The
order in the layers is improved by the barycentre heuristic: each layer is sorted by the mean
position of its neighbours, in sweeps to the right and back, then neighbours are swapped where this
saves crossings. The best order is kept.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spart_blocks.drawing.layout.graph import Box, Edge, Net

Item = int | Net
"""An item of a layer: a box, or the wires of a net that pass through."""


@dataclass(frozen=True)
class LayerLink:
    """A piece of a net from one layer to the next. left_at, right_at: distance of its ends from
    the tops of the items [grid].
    """

    net: Net
    left: Item
    left_at: int
    right: Item
    right_at: int

    def ends(self, rightward: bool) -> tuple[Item, int, Item, int]:
        """The item and distance at the end that it leads to, then those that it comes from, if it
        is followed rightward or back."""
        left, right = (self.left, self.left_at), (self.right, self.right_at)
        return (*right, *left) if rightward else (*left, *right)


@dataclass
class Ranks:
    """The layers. items[k]: those of layer k from top to bottom. links[k]: those from layer k - 1
    to k.
    """

    items: list[list[tuple[int, Item]]]
    links: list[list[LayerLink]]


def layer_numbers(count: int, forward: Sequence[Edge]) -> list[int]:
    """The layer of each box: right of all boxes that feed it, and sources just left of the boxes
    that they feed.
    """
    feeding: list[set[int]] = [set() for _ in range(count)]
    fed: list[set[int]] = [set() for _ in range(count)]
    for edge in forward:
        feeding[edge.target].add(edge.source)
        fed[edge.source].add(edge.target)
    waiting = [len(sources) for sources in feeding]
    order = [box for box in range(count) if not waiting[box]]
    layer = [0] * count
    for box in order:
        for target in sorted(fed[box]):
            layer[target] = max(layer[target], layer[box] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                order.append(target)
    for box in reversed(order):
        if (fed[box] and len(feeding[box]) < len(fed[box])) or (fed[box] and not feeding[box]):
            layer[box] = min(layer[target] for target in fed[box]) - 1
    first = min(layer, default=0)
    return [number - first for number in layer]


def rank(boxes: Sequence[Box], layer: Sequence[int], forward: Sequence[Edge]) -> Ranks:
    """The layers with their boxes, and the nets that pass through layers."""
    depth = max(layer) + 1
    items: list[list[tuple[int, Item]]] = [[] for _ in range(depth)]
    links: list[list[LayerLink]] = [[] for _ in range(depth)]
    for box, number in enumerate(layer):
        items[number].append((number, box))
    nets: dict[Net, list[Edge]] = {}
    for edge in forward:
        nets.setdefault(edge.net, []).append(edge)
    for net, edges in nets.items():
        last = max(layer[edge.target] for edge in edges)
        left: Item = net[0]
        left_at = boxes[net[0]].outputs[net[1]]
        for number in range(layer[net[0]] + 1, last + 1):
            for edge in edges:
                if layer[edge.target] == number:
                    at = boxes[edge.target].inputs[edge.input]
                    links[number].append(LayerLink(net, left, left_at, edge.target, at))
            if number < last:
                items[number].append((number, net))
                links[number].append(LayerLink(net, left, left_at, net, 0))
                left, left_at = net, 0
    return Ranks(items, links)


def reorder(ranks: Ranks, heights: Mapping[Item, int], sweeps: int = 12) -> None:
    """Order each layer so that few wires cross, by the barycentre heuristic in sweeps to the right
    and back.
    """
    best = [list(items) for items in ranks.items]
    least = _crossings(ranks, heights)
    for sweep in range(2 * sweeps):
        if not least:
            break
        rightward = sweep % 2 == 0
        numbers = range(1, len(ranks.items)) if rightward else range(len(ranks.items) - 2, -1, -1)
        for number in numbers:
            _sort_by_neighbours(ranks, number, heights, rightward)
        if sum(map(len, ranks.items)) < 400:
            _swap_neighbours(ranks, heights)
        crossings = _crossings(ranks, heights)
        if crossings < least:
            least, best = crossings, [list(items) for items in ranks.items]
    ranks.items = best


def _positions(items: Sequence[tuple[int, Item]]) -> dict[Item, int]:
    return {item: position for position, (_, item) in enumerate(items)}


def _place(position: int, at: int, height: int) -> float:
    """The position of a link's end in a layer: position of its item plus that of the port within
    it.
    """
    return position + (at / height if height else 0.5) * 0.9


def _sort_by_neighbours(
    ranks: Ranks, number: int, heights: Mapping[Item, int], rightward: bool
) -> None:
    """Sort a layer by the mean position of each item's neighbours on one side."""
    links = ranks.links[number] if rightward else ranks.links[number + 1]
    beside = _positions(ranks.items[number - 1 if rightward else number + 1])
    sums: dict[Item, list[float]] = {}
    for link in links:
        here, own, there, at = link.ends(rightward)
        lean = 0.01 * own / max(heights[here], 1)
        sums.setdefault(here, []).append(_place(beside[there], at, heights[there]) - lean)
    own_places = _positions(ranks.items[number])
    means = {item: sum(found) / len(found) for item, found in sums.items()}
    ranks.items[number].sort(key=lambda pair: means.get(pair[1], own_places[pair[1]]))


def _swap_neighbours(ranks: Ranks, heights: Mapping[Item, int]) -> None:
    """Swap neighbouring items wherever this saves crossings."""
    for number, items in enumerate(ranks.items):
        left = _ends(ranks, number, heights, rightward=True)
        right = _ends(ranks, number, heights, rightward=False)
        for upper in range(len(items) - 1):
            a, b = items[upper][1], items[upper + 1][1]
            now = sum(_inverted(side.get(a, []), side.get(b, [])) for side in (left, right))
            then = sum(_inverted(side.get(b, []), side.get(a, [])) for side in (left, right))
            if then < now:
                items[upper], items[upper + 1] = items[upper + 1], items[upper]


def _ends(
    ranks: Ranks, number: int, heights: Mapping[Item, int], rightward: bool
) -> dict[Item, list[float]]:
    """For each item of a layer, the positions in the layer on one side that its links lead to."""
    other = number - 1 if rightward else number + 1
    if not 0 <= other < len(ranks.items):
        return {}
    beside = _positions(ranks.items[other])
    ends: dict[Item, list[float]] = {}
    for link in ranks.links[max(number, other)]:
        here, _, there, at = link.ends(rightward)
        ends.setdefault(here, []).append(_place(beside[there], at, heights[there]))
    return {item: sorted(found) for item, found in ends.items()}


def _inverted(upper: Sequence[float], lower: Sequence[float]) -> int:
    """The number of crossings between links of an upper and a lower item that lead to these
    positions.
    """
    return sum(len(upper) - bisect_right(upper, place) for place in lower)


def _crossings(ranks: Ranks, heights: Mapping[Item, int]) -> int:
    total = 0
    for number in range(1, len(ranks.items)):
        left, right = _positions(ranks.items[number - 1]), _positions(ranks.items[number])
        ends = sorted(
            (
                _place(left[link.left], link.left_at, heights[link.left]),
                _place(right[link.right], link.right_at, heights[link.right]),
            )
            for link in ranks.links[number]
        )
        seen: list[float] = []
        for _, end in ends:
            total += len(seen) - bisect_right(seen, end)
            insort(seen, end)
    return total
