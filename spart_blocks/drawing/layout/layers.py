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
from typing import NamedTuple

from spart_blocks.drawing.layout.graph import Box, Edge, Net

Item = int | Net
"""An item of a layer: a box, or the wires of a net that pass through."""


class LayerLink(NamedTuple):
    """A piece of a net from one layer to the next. left_at, right_at: distance of its ends from
    the tops of the items [grid].
    """

    net: Net
    left: Item
    left_at: int
    right: Item
    right_at: int


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


SWEEPS, MOST_SWEPT = 12, 400_000
"""Sweeps there and back, and items that are sorted in all of them: very large parts get fewer."""
_FEW = 400
"""Items up to which neighbours are swapped."""


def reorder(ranks: Ranks, heights: Mapping[Item, int]) -> None:
    """Order each layer so that few wires cross, by the barycentre heuristic in sweeps to the right
    and back.
    """
    order = _Order.of(ranks, heights)
    count = len(order.place)
    sweeps = max(2, min(SWEEPS, MOST_SWEPT // max(count, 1)))
    best = [list(items) for items in order.layers]
    least = order.crossings()
    for sweep in range(2 * sweeps):
        if not least:
            break
        rightward = sweep % 2 == 0
        numbers = range(1, len(best)) if rightward else range(len(best) - 2, -1, -1)
        for number in numbers:
            order.sort_by_neighbours(number, rightward)
        if count < _FEW:
            order.swap_neighbours()
        crossings = order.crossings()
        if crossings < least:
            least, best = crossings, [list(items) for items in order.layers]
    keys = [key for items in ranks.items for key in items]
    ranks.items = [[keys[item] for item in items] for items in best]


_End = tuple[int, float, float]
"""An item, the place of a link's end within it, and how far the end leads it up in an order."""


@dataclass
class _Order:
    """The order of items, by number, in their layers. links[k]: the left and right ends of those
    from layer k - 1 to k. place: of each item in its layer."""

    layers: list[list[int]]
    links: list[list[tuple[_End, _End]]]
    place: list[int]

    @staticmethod
    def of(ranks: Ranks, heights: Mapping[Item, int]) -> _Order:
        index = {key: i for i, key in enumerate(key for items in ranks.items for key in items)}

        def end(number: int, item: Item, at: int) -> _End:
            height = heights[item]
            within = (at / height if height else 0.5) * 0.9
            return index[number, item], within, 0.01 * at / max(height, 1)

        links = [
            [
                (end(number - 1, link.left, link.left_at), end(number, link.right, link.right_at))
                for link in some
            ]
            for number, some in enumerate(ranks.links)
        ]
        layers = [[index[key] for key in items] for items in ranks.items]
        return _Order(layers, links, [place for items in layers for place in range(len(items))])

    def sort_by_neighbours(self, number: int, rightward: bool) -> None:
        """Sort a layer by the mean position of each item's neighbours on one side."""
        place, items = self.place, self.layers[number]
        found: dict[int, list[float]] = {}
        for left, right in self.links[number if rightward else number + 1]:
            (there, within, _), (here, _, lean) = (left, right) if rightward else (right, left)
            found.setdefault(here, []).append(place[there] + within - lean)
        means: dict[int, float] = {item: place[item] for item in items}
        means |= {item: sum(some) / len(some) for item, some in found.items()}
        items.sort(key=means.__getitem__)
        for position, item in enumerate(items):
            place[item] = position

    def swap_neighbours(self) -> None:
        """Swap neighbouring items wherever this saves crossings."""
        for number, items in enumerate(self.layers):
            sides = self._ends(number, rightward=True), self._ends(number, rightward=False)
            for upper in range(len(items) - 1):
                a, b = items[upper], items[upper + 1]
                now = sum(_inverted(side.get(a, []), side.get(b, [])) for side in sides)
                then = sum(_inverted(side.get(b, []), side.get(a, [])) for side in sides)
                if then < now:
                    items[upper], items[upper + 1] = b, a
                    self.place[a], self.place[b] = upper + 1, upper

    def _ends(self, number: int, *, rightward: bool) -> dict[int, list[float]]:
        """For each item of a layer, the places on one side to which its links lead."""
        ends: dict[int, list[float]] = {}
        if not 0 <= (number - 1 if rightward else number + 1) < len(self.layers):
            return ends
        for left, right in self.links[number if rightward else number + 1]:
            (there, within, _), (here, _, _) = (left, right) if rightward else (right, left)
            ends.setdefault(here, []).append(self.place[there] + within)
        return {item: sorted(found) for item, found in ends.items()}

    def crossings(self) -> int:
        """The number of crossings between links."""
        place, total = self.place, 0
        for links in self.links[1:]:
            ends = sorted([(place[a] + p, place[b] + q) for (a, p, _), (b, q, _) in links])
            seen: list[float] = []
            for _, end in ends:
                total += len(seen) - bisect_right(seen, end)
                insort(seen, end)
        return total


def _inverted(upper: Sequence[float], lower: Sequence[float]) -> int:
    """The number of crossings between links of an upper and a lower item that lead to these
    positions.
    """
    return sum(len(upper) - bisect_right(upper, place) for place in lower)
