"""The whole layout: each connected part of the diagram is laid out in layers, and the parts are
stacked vertically.
"""

from __future__ import annotations

from collections.abc import Sequence

from spart_blocks.drawing.layout.align import BOX_GAP, align
from spart_blocks.drawing.layout.graph import Box, Edge, Layout, Point, feedback, groups
from spart_blocks.drawing.layout.layers import Item, layer_numbers, rank, reorder
from spart_blocks.drawing.layout.routes import route

PART_GAP = 6


def arrange(boxes: Sequence[Box], edges: Sequence[Edge]) -> Layout:
    """The layout of boxes and wires; the same input gives the same layout."""
    parts = groups(len(boxes), edges)
    corners: list[Point] = [(0.0, 0.0)] * len(boxes)
    routes: dict[int, tuple[Point, ...]] = {}
    dots: list[Point] = []
    width = height = 0.0
    leaving: dict[int, list[int]] = {}
    for i, edge in enumerate(edges):
        leaving.setdefault(edge.source, []).append(i)
    wired = [part for part in parts if len(part) > 1 or part[0] in leaving]
    for part in sorted(wired, key=lambda part: (-len(part), part)):
        local = {box: i for i, box in enumerate(part)}
        own = sorted(i for box in part for i in leaving.get(box, ()))
        inner = [
            Edge(local[e.source], e.output, local[e.target], e.input)
            for e in (edges[i] for i in own)
        ]
        layout = _arrange_part([boxes[box] for box in part], inner)
        down = height + PART_GAP if height else 0.0
        for box, (x, y) in zip(part, layout.corners, strict=True):
            corners[box] = x, y + down
        for i, corner in zip(own, layout.routes, strict=True):
            routes[i] = tuple((x, y + down) for x, y in corner)
        dots += [(x, y + down) for x, y in layout.dots]
        width, height = max(width, layout.width), down + layout.height
    alone = [part[0] for part in parts if len(part) == 1 and part[0] not in leaving]
    width, height = _rows(boxes, alone, corners, width, height)
    return Layout(
        tuple(corners), tuple(routes[i] for i in range(len(edges))), tuple(dots), width, height
    )


def _arrange_part(boxes: Sequence[Box], edges: Sequence[Edge]) -> Layout:
    back = feedback(boxes, edges)
    forward = [edge for edge in edges if edge not in back]
    layer = layer_numbers(len(boxes), forward)
    ranks = rank(boxes, layer, forward)
    heights: dict[Item, int] = {edge.net: 0 for edge in edges}
    heights |= {box: boxes[box].height for box in range(len(boxes))}
    reorder(ranks, heights)
    tops = align(ranks, heights, boxes)
    return route(boxes, edges, back, layer, tops)


def _rows(
    boxes: Sequence[Box], alone: Sequence[int], corners: list[Point], width: float, height: float
) -> tuple[float, float]:
    """Place boxes without wires in rows underneath. Returns the new width and height."""
    if not alone:
        return width, height
    widest = max(width, 80.0)
    x, y, row = 0.0, height + PART_GAP if height else 0.0, 0
    for box in alone:
        if x and x + boxes[box].width > widest:
            x, y, row = 0.0, y + row + BOX_GAP, 0
        corners[box] = x, y
        x += boxes[box].width + BOX_GAP
        row = max(row, boxes[box].height)
        width = max(width, x - BOX_GAP)
    return width, y + row
