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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

Link = tuple[int, int, int, int]
"""The left item, the height of the link's end from its top, and the same of the right item."""


@dataclass(frozen=True)
class Layered:
    """Items in layers, by number. layers: their items from top to bottom. links[k]: those from
    layer k - 1 to k. heights: of the items. passing: whether an item is a wire that passes through.
    box_gap, wire_gap: the clear space between two boxes, and between neighbours of which one is a
    wire."""

    layers: Sequence[Sequence[int]]
    links: Sequence[Sequence[Link]]
    heights: Sequence[int]
    passing: Sequence[bool]
    box_gap: int
    wire_gap: int


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
    heights = graph.heights
    if is_upward:
        layers = [items[::-1] for items in layers]
        links = [
            [(a, heights[a] - at, b, heights[b] - to) for a, at, b, to in some] for some in links
        ]
    if is_leftward:
        layers.reverse()
        links = [[], *([(b, to, a, at) for a, at, b, to in some] for some in links[:0:-1])]
    return replace(graph, layers=layers, links=links)


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
    heights, passing = graph.heights, graph.passing
    for items, links in zip(graph.layers[1:], graph.links[1:], strict=True):
        neighbours: dict[int, list[Link]] = {}
        inner: dict[int, int] = {}
        for link in links:
            left, _, right, _ = link
            if passing[left] and passing[right]:
                neighbours[right], inner[right] = [link], place[left]
            elif right not in inner:
                neighbours.setdefault(right, []).append(link)
        above, below = _bounds(items, inner, len(place))
        lowest = -1
        for position, item in enumerate(items):
            some = neighbours.get(item)
            if some is None:
                continue
            tried = some
            if len(some) > 1:
                some.sort(key=lambda link: (place[link[0]], link[1] / max(heights[link[0]], 1)))
                middle = (len(some) - 1) // 2
                tried = some[middle : middle + 2 - len(some) % 2]
            for left, at, _, to in tried:
                found = place[left]
                if found <= lowest:
                    continue
                if item in inner or above[position] < found < below[position]:
                    first = root[left]
                    after[left], root[item], after[item] = item, first, first
                    shift[item] = shift[left] + at - to
                    lowest = found
                    break
    return root, after, shift


def _bounds(
    items: Sequence[int], inner: Mapping[int, int], most: int
) -> tuple[list[int], list[int]]:
    """For each place of a layer, the places in the layer before between which a link may end: at
    others it would share or cross a link between two wires that pass, which shall be straight.
    inner: the places in the layer before of the wires that pass there, too."""
    above, below = [-1] * len(items), [most] * len(items)
    if inner:
        last = -1
        for position, item in enumerate(items):
            above[position] = last
            if (found := inner.get(item, -1)) > last:
                last = found
        last = most
        for position in range(len(items) - 1, -1, -1):
            below[position] = last
            if (found := inner.get(items[position], most)) < last:
                last = found
    return above, below


def _packed(
    graph: Layered, root: Sequence[int], after: Sequence[int], shift: Sequence[int]
) -> list[int]:
    """Pack blocks of aligned items against those above them. Returns the tops of the items."""
    count = len(root)
    upper = [-1] * count
    needed = [0] * count  # from the top of an item's block to that of the block above it
    heights, passing = graph.heights, graph.passing
    for items in graph.layers:
        for a, b in pairwise(items):
            gap = graph.wire_gap if passing[a] or passing[b] else graph.box_gap
            upper[b], needed[b] = a, heights[a] + gap + shift[a] - shift[b]
    sink, top = list(range(count)), [0] * count
    for first in _downwards(root, after, upper):
        item = first
        while True:
            if upper[item] >= 0:
                other = root[upper[item]]
                if sink[first] == first:
                    sink[first] = sink[other]
                if sink[first] == sink[other] and top[other] + needed[item] > top[first]:
                    top[first] = top[other] + needed[item]
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
