"""Vertical positions of boxes and wires in time that is linear in their number.

Each item is aligned with a median of its neighbours in the layer before, so that long wires become
straight. The aligned items form blocks, which are packed as closely as the gaps allow. This is done
four times, from the left or from the right and from the top or from the bottom; the position of an
item is the mean of the middle two of its four.

Source: U. Brandes, B. Koepf, "Fast and simple horizontal coordinate assignment" (2002), with the
compaction of U. Brandes, J. Walter, J. Zink, "Erratum: Fast and simple horizontal coordinate
assignment" (2020); U. Rueegg et al., "Size- and port-aware horizontal node coordinate assignment"
(2015), for items with heights and ports.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

Link = tuple[int, int, int, int]
"""The left item, the height of the link's end from its top, and the same of the right item."""


@dataclass(frozen=True)
class Layered:
    """Items in layers, by number. layers: their items from top to bottom. links[k]: those from
    layer k - 1 to k. heights: of the items. passing: whether an item is a wire that passes through.
    gap: the clear space between an item and the one below it."""

    layers: Sequence[Sequence[int]]
    links: Sequence[Sequence[Link]]
    heights: Sequence[int]
    passing: Sequence[bool]
    gap: Callable[[int, int], int]


def positions(graph: Layered) -> list[int]:
    """The top of each item. Items keep their order and their gaps."""
    found: list[list[int]] = []
    for is_leftward in (False, True):
        for is_upward in (False, True):
            turned = _turned(graph, is_leftward, is_upward)
            tops = _packed(turned, *_aligned(turned))
            if is_upward:
                tops = [-top - height for top, height in zip(tops, graph.heights, strict=True)]
            found.append(tops)
    bottoms = [max(map(int.__add__, tops, graph.heights)) for tops in found]
    firsts = [min(tops) for tops in found]
    best = min(range(4), key=lambda k: bottoms[k] - firsts[k])
    for k, tops in enumerate(found):
        is_upward = k % 2 == 1
        shift = bottoms[best] - bottoms[k] if is_upward else firsts[best] - firsts[k]
        found[k] = [top + shift for top in tops]
    # Order and gaps of all four hold for the middle ones, too, and rounding down keeps them.
    tops = [(sum(four) - min(four) - max(four)) // 2 for four in zip(*found, strict=True)]
    least = min(tops)
    return [top - least for top in tops]


def _turned(graph: Layered, is_leftward: bool, is_upward: bool) -> Layered:
    """The same items from the right to the left, and from the bottom to the top."""
    layers = [list(items) for items in graph.layers]
    links = [list(some) for some in graph.links]
    gap, heights = graph.gap, graph.heights
    if is_upward:
        layers = [items[::-1] for items in layers]
        links = [
            [(a, heights[a] - at, b, heights[b] - to) for a, at, b, to in some] for some in links
        ]

        def gap(upper: int, lower: int) -> int:
            return graph.gap(lower, upper)

    if is_leftward:
        layers.reverse()
        links = [[], *([(b, to, a, at) for a, at, b, to in some] for some in links[:0:-1])]
    return Layered(layers, links, heights, graph.passing, gap)


def _aligned(graph: Layered) -> tuple[list[int], list[int], list[int]]:
    """Align items with their median neighbours in the layer before. Returns for each item the first
    one of its block, the next one in it (of the last the first), and its distance below the first.
    """
    count = len(graph.heights)
    root, after, shift = list(range(count)), list(range(count)), [0] * count
    place = [0] * count
    for items in graph.layers:
        for position, item in enumerate(items):
            place[item] = position
    for items, links in zip(graph.layers[1:], graph.links[1:], strict=True):
        crossed = _crossed(graph, items, links, place)
        neighbours: dict[int, list[Link]] = {}
        for link in links:
            neighbours.setdefault(link[2], []).append(link)
        lowest = -1.0
        for item in items:
            some = neighbours.get(item)
            if some is None:
                continue
            if len(some) > 1:
                heights = graph.heights
                some.sort(key=lambda link: (place[link[0]], link[1] / max(heights[link[0]], 1)))
            middle = len(some) - 1
            for k in dict.fromkeys((middle // 2, (middle + 1) // 2)):
                link = some[k]
                left, at, _, to = link
                if lowest < place[left] and link not in crossed:
                    first = root[left]
                    after[left], root[item], after[item] = item, first, first
                    shift[item] = shift[left] + at - to
                    lowest = place[left]
                    break
    return root, after, shift


def _crossed(
    graph: Layered, items: Sequence[int], links: Sequence[Link], place: Sequence[int]
) -> set[Link]:
    """The links that cross one between two wires that pass: these shall be straight. links: to a
    layer with these items."""
    passing = graph.passing
    inner = {link[2]: place[link[0]] for link in links if passing[link[0]] and passing[link[2]]}
    if not inner:
        return set()
    above, below = [-1] * len(items), [0] * len(items)
    last = -1
    for position, item in enumerate(items):
        above[position] = last
        last = max(last, inner.get(item, -1))
    last = len(place)
    for position in range(len(items) - 1, -1, -1):
        below[position] = last
        last = min(last, inner.get(items[position], last))
    return {
        link
        for link in links
        if not (passing[link[0]] and passing[link[2]])
        and not above[place[link[2]]] <= place[link[0]] <= below[place[link[2]]]
    }


def _packed(
    graph: Layered, root: Sequence[int], after: Sequence[int], shift: Sequence[int]
) -> list[int]:
    """Pack blocks of aligned items against those above them. Returns the tops of the items."""
    count = len(root)
    upper = [-1] * count
    needed = [0] * count  # from the top of an item's block to that of the block above it
    for items in graph.layers:
        for a, b in pairwise(items):
            upper[b] = a
            needed[b] = graph.heights[a] + graph.gap(a, b) + shift[a] - shift[b]
    sink, top = list(range(count)), [0] * count
    for first in _downwards(root, after, upper):
        item = first
        while True:
            if upper[item] >= 0:
                other = root[upper[item]]
                if sink[first] == first:
                    sink[first] = sink[other]
                if sink[first] == sink[other]:
                    top[first] = max(top[first], top[other] + needed[item])
            item = after[item]
            if item == first:
                break
    return [
        top[root[item]] + moved + shift[item]
        for item, moved in enumerate(_class_shifts(graph, root, after, upper, needed, sink, top))
    ]


def _downwards(root: Sequence[int], after: Sequence[int], upper: Sequence[int]) -> list[int]:
    """The first items of blocks, each after those of the blocks directly above it."""
    order: list[int] = []
    begun = [False] * len(root)
    for start in range(len(root)):
        if root[start] != start or begun[start]:
            continue
        begun[start] = True
        path = [(start, start)]
        while path:
            first, item = path.pop()
            while True:
                above = root[upper[item]] if upper[item] >= 0 else first
                following = after[item]
                if not begun[above]:
                    begun[above] = True
                    path += [(first, item), (above, above)]
                    break
                if following == first:
                    order.append(first)
                    break
                item = following
    return order


def _class_shifts(
    graph: Layered,
    root: Sequence[int],
    after: Sequence[int],
    upper: Sequence[int],
    needed: Sequence[int],
    sink: Sequence[int],
    top: Sequence[int],
) -> list[int]:
    """How far the class of each item moves. A class is what is packed against one block; classes
    are moved together, each against the ones below it, in the order of the erratum."""
    far = 1 << 60
    moved = [far] * len(root)
    layer = [0] * len(root)
    place = [0] * len(root)
    for number, items in enumerate(graph.layers):
        for position, item in enumerate(items):
            layer[item], place[item] = number, position
    for items in graph.layers:
        if not items or sink[root[items[0]]] != items[0]:
            continue
        own = items[0]
        if moved[own] == far:
            moved[own] = 0
        item = own
        while True:
            while True:  # along the block
                if upper[item] >= 0 and sink[root[upper[item]]] != own:
                    other = root[upper[item]]
                    room = top[root[item]] - top[other] - needed[item]
                    moved[sink[other]] = min(moved[sink[other]], moved[own] + room)
                if after[item] == root[item]:
                    break
                item = after[item]
            row = graph.layers[layer[item]]
            following = place[item] + 1
            if following >= len(row) or sink[root[row[following]]] != own:
                break
            item = row[following]
    return [0 if moved[sink[first]] == far else moved[sink[first]] for first in root]
