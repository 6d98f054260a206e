"""The whole layout: each connected part of the diagram is laid out in layers, and the parts are
stacked vertically.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt

from spart_blocks.drawing.layout.align import BOX_GAP, WIRE_GAP, align
from spart_blocks.drawing.layout.graph import Box, Edge, Layout, Net, Point, feedback, groups
from spart_blocks.drawing.layout.layers import Item, layer_numbers, rank, reorder
from spart_blocks.drawing.layout.routes import CHANNEL, route

PART_GAP = 6
_ASPECT, _LOWEST = 1.6, 160.0
"""Width over height of parts in shelves, and the height of a stack up to which it stays one."""
_TALLEST = 1000
"""Height of a layer [grid] above which it is several columns: of some 80 boxes."""
_FEW = 40
"""Boxes without wires that are in rows of a fixed width."""


def arrange(boxes: Sequence[Box], edges: Sequence[Edge]) -> Layout:
    """The layout of boxes and wires; the same input gives the same layout."""
    parts = groups(len(boxes), edges)
    corners: list[Point] = [(0.0, 0.0)] * len(boxes)
    routes: dict[int, tuple[Point, ...]] = {}
    dots: list[Point] = []
    leaving: dict[int, list[int]] = {}
    for i, edge in enumerate(edges):
        leaving.setdefault(edge.source, []).append(i)
    wired = [part for part in parts if len(part) > 1 or part[0] in leaving]
    wired.sort(key=lambda part: (-len(part), part))
    owned = [sorted(i for box in part for i in leaving.get(box, ())) for part in wired]
    layouts = []
    for part, own in zip(wired, owned, strict=True):
        local = {box: i for i, box in enumerate(part)}
        inner = [
            Edge(local[e.source], e.output, local[e.target], e.input)
            for e in (edges[i] for i in own)
        ]
        layouts.append(_arrange_part([boxes[box] for box in part], inner))
    places, width, height = _shelves(layouts)
    for part, own, layout, (right, down) in zip(wired, owned, layouts, places, strict=True):
        for box, (x, y) in zip(part, layout.corners, strict=True):
            corners[box] = x + right, y + down
        for i, corner in zip(own, layout.routes, strict=True):
            routes[i] = tuple((x + right, y + down) for x, y in corner)
        dots += [(x + right, y + down) for x, y in layout.dots]
    alone = [part[0] for part in parts if len(part) == 1 and part[0] not in leaving]
    width, height = _rows(boxes, alone, corners, width, height)
    return Layout(
        tuple(corners), tuple(routes[i] for i in range(len(edges))), tuple(dots), width, height
    )


def _shelves(layouts: Sequence[Layout]) -> tuple[list[Point], float, float]:
    """The corners of parts: under each other, or in shelves where that would be a narrow column.
    Returns also the whole width and height."""
    width = max((layout.width for layout in layouts), default=0.0)
    stacked = sum(layout.height + PART_GAP for layout in layouts)
    is_tall = stacked > max(_LOWEST, 2 * width)
    if is_tall:
        area = sum((part.width + PART_GAP) * (part.height + PART_GAP) for part in layouts)
        width = max(width, (_ASPECT * area) ** 0.5)
    corners: list[Point] = []
    x = y = low = 0.0
    for layout in layouts:
        if x and (not is_tall or x + layout.width > width):
            x, y = 0.0, low + PART_GAP
        corners.append((x, y))
        x, low = x + layout.width + PART_GAP, max(low, y + layout.height)
    return corners, width, low


def _arrange_part(boxes: Sequence[Box], edges: Sequence[Edge]) -> Layout:
    back = feedback(boxes, edges)
    forward = [edge for edge in edges if edge not in back]
    numbers = layer_numbers(len(boxes), forward)
    layer = _folded(boxes, forward, numbers)
    ranks = rank(boxes, layer, forward)
    if layer != numbers:
        ranks.items = [_around_wires(items) for items in ranks.items]
    heights: dict[Item, int] = {edge.net: 0 for edge in edges}
    heights |= {box: boxes[box].height for box in range(len(boxes))}
    reorder(ranks, heights)
    tops = align(ranks, heights, boxes)
    return route(boxes, edges, back, layer, tops)


def _folded(boxes: Sequence[Box], forward: Sequence[Edge], layer: Sequence[int]) -> list[int]:
    """The layers of boxes, where one that would be a very high column is several columns. Wires
    pass through those: there are only so many columns that these do not need most of their height.
    """
    members: dict[int, list[int]] = {}
    for box, number in enumerate(layer):
        members.setdefault(number, []).append(box)
    tall = {
        number: height
        for number, some in members.items()
        if (height := sum(boxes[box].height + BOX_GAP for box in some)) > _TALLEST
    }
    nets: dict[int, tuple[set[Net], set[Net]]] = {number: (set(), set()) for number in tall}
    for edge in forward:
        if layer[edge.target] in tall:
            nets[layer[edge.target]][0].add(edge.net)
        if layer[edge.source] in tall:
            nets[layer[edge.source]][1].add(edge.net)
    found = list(layer)
    more = 0
    for number in sorted(members):
        some, columns = members[number], 1
        if number in tall:
            width = max(boxes[box].width for box in some) + CHANNEL
            wires = WIRE_GAP * max(map(len, nets[number]))
            square = ceil(sqrt(_ASPECT * tall[number] / width))
            columns = max(1, min(square, len(some), tall[number] // max(wires, 1)))
        for place, box in enumerate(some):
            found[box] += more + place * columns // len(some)
        more += columns - 1
    return found


def _around_wires(items: Sequence[tuple[int, Item]]) -> list[tuple[int, Item]]:
    """A layer with the wires that pass in its middle: one that leads to columns of boxes goes
    straight through them."""
    boxes = [key for key in items if isinstance(key[1], int)]
    wires = [key for key in items if not isinstance(key[1], int)]
    half = len(boxes) // 2
    return [*boxes[:half], *wires, *boxes[half:]]


def _rows(
    boxes: Sequence[Box], alone: Sequence[int], corners: list[Point], width: float, height: float
) -> tuple[float, float]:
    """Place boxes without wires in rows underneath. Returns the new width and height."""
    if not alone:
        return width, height
    area = sum((boxes[box].width + BOX_GAP) * (boxes[box].height + BOX_GAP) for box in alone)
    widest = max(width, 80.0, (_ASPECT * area) ** 0.5 if len(alone) > _FEW else 0.0)
    x, y, row = 0.0, height + PART_GAP if height else 0.0, 0
    for box in alone:
        if x and x + boxes[box].width > widest:
            x, y, row = 0.0, y + row + BOX_GAP, 0
        corners[box] = x, y
        x += boxes[box].width + BOX_GAP
        row = max(row, boxes[box].height)
        width = max(width, x - BOX_GAP)
    return width, y + row
