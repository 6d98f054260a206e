"""Positions of boxes and routes of wires on a sheet, some of which a user has placed.

Lengths are in pixels of a page, of which a unit of the grid has ten; those of boxes are in units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from spart_blocks.drawing.faced import WAYS, for_layout, port_of
from spart_blocks.drawing.layout import Box, Edge, Layout, arrange, junctions
from spart_blocks.drawing.router import Point, Router, hits, runs_of

GRID = 10
"""Pixels of a unit of the grid."""
GAP = 30.0
"""Distance between a new block and the others."""
_FARTHEST = 60
_FAR = 600.0
"""How far from its ends a new route avoids the runs of others."""


@dataclass(frozen=True)
class Spot:
    """The upper left corner of a block, and whether the user has moved it there."""

    x: float
    y: float
    moved: bool = False


Spots = Mapping[str, Spot]
Port = tuple[str, str]
"""A block and the name of a port of it."""
Connection = tuple[Port, Port]
"""From an output to an input."""
Ports = Mapping[str, tuple[Sequence[str], Sequence[str]]]
"""The names of the inputs and outputs of blocks."""
Boxes = Mapping[str, Box]
Routes = Mapping[Connection, tuple[Point, ...]]


@dataclass(frozen=True)
class Drawn:
    """A sheet that is laid out. spots, boxes: of all its blocks; routes: of all its wires."""

    spots: Spots
    routes: Routes
    boxes: Boxes


def lay_out(
    boxes: Boxes,
    ports: Ports,
    connections: Sequence[Connection],
    known: Spots,
    before: Drawn | None,
) -> Drawn:
    """Lay out a sheet. boxes, ports: of its blocks. known: positions of blocks; before: the
    previous drawing, which is kept where possible."""
    spots = {name: spot for name, spot in known.items() if name in boxes}
    new = [name for name in boxes if name not in spots]
    put = any(spot.moved for spot in spots.values())
    if new and not put and 2 * len(spots) < len(boxes):
        return _arranged(boxes, ports, connections)
    spots = _settled(boxes, spots, new, connections, before)
    return Drawn(spots, _routes(boxes, ports, connections, spots, before), boxes)


def _arranged(boxes: Boxes, ports: Ports, connections: Sequence[Connection]) -> Drawn:
    index = {name: k for k, name in enumerate(boxes)}
    inputs, outputs = (
        {name: {port: k for k, port in enumerate(ports[name][side])} for name in boxes}
        for side in (0, 1)
    )
    edges = [
        Edge(index[source], outputs[source][output], index[target], inputs[target][port])
        for (source, output), (target, port) in connections
    ]
    layout = arrange([for_layout(box) for box in boxes.values()], edges)
    spots = {
        name: Spot(x * GRID, y * GRID) for name, (x, y) in zip(boxes, layout.corners, strict=True)
    }
    routes = {
        one: tuple((x * GRID, y * GRID) for x, y in points)
        for one, points in zip(connections, layout.routes, strict=True)
    }
    if any(box.facing != "right" for box in boxes.values()):
        usual = {name: for_layout(box) for name, box in boxes.items()}
        routes = _routes(boxes, ports, connections, spots, Drawn(spots, routes, usual))
    return Drawn(spots, routes, boxes)


def arrange_faced(boxes: Sequence[Box], edges: Sequence[Edge]) -> Layout:
    """As `arrange`, for boxes of which some face other sides than the right."""
    layout = arrange([for_layout(box) for box in boxes], edges)
    if all(box.facing == "right" for box in boxes):
        return layout
    named = {str(k): box for k, box in enumerate(boxes)}
    ports = {
        name: ([str(k) for k in range(len(box.inputs))], [str(k) for k in range(len(box.outputs))])
        for name, box in named.items()
    }
    wires = [((str(e.source), str(e.output)), (str(e.target), str(e.input))) for e in edges]
    spots = {
        name: Spot(x * GRID, y * GRID) for name, (x, y) in zip(named, layout.corners, strict=True)
    }
    before = {
        one: tuple((x * GRID, y * GRID) for x, y in points)
        for one, points in zip(wires, layout.routes, strict=True)
    }
    usual = {name: for_layout(box) for name, box in named.items()}
    found = _routes(named, ports, wires, spots, Drawn(spots, before, usual))
    routes = [tuple((x / GRID, y / GRID) for x, y in found[one]) for one in wires]
    corners = [*layout.corners, *(point for points in routes for point in points)]
    left, top = (min(0.0, *(point[k] for point in corners)) for k in (0, 1))
    width = max([layout.width, *(x for x, _ in corners)]) - left
    height = max([layout.height, *(y for _, y in corners)]) - top

    def moved(points: Sequence[Point]) -> tuple[Point, ...]:
        return tuple((x - left, y - top) for x, y in points)

    ways = tuple(moved(points) for points in routes)
    return Layout(moved(layout.corners), ways, tuple(junctions(edges, ways)), width, height)


def _settled(
    boxes: Boxes, spots: dict[str, Spot], new: Sequence[str],
    connections: Sequence[Connection], before: Drawn | None,
) -> dict[str, Spot]:  # fmt: skip
    """The positions including those of new blocks, which are placed beside the blocks that they are
    wired to. If two blocks overlap, one is moved, unless the user has placed them so."""
    free = _Free(boxes, spots)
    for name in _covering(boxes, spots, before):
        spot = free.spots.pop(name)
        free.spots[name] = Spot(*free.near(name, spot.x, spot.y, GRID), spot.moved)
    if new:
        beside: dict[str, list[tuple[str, bool]]] = {}
        for (source, _), (target, _) in connections:
            beside.setdefault(source, []).append((target, False))
            beside.setdefault(target, []).append((source, True))
        for name in new:
            x, y = _wanted(name, boxes, free.spots, beside.get(name, ()))
            free.spots[name] = Spot(*free.near(name, x, y, GAP))
    return free.spots


def _covering(boxes: Boxes, spots: Spots, before: Drawn | None) -> list[str]:
    """The blocks that must be moved because they overlap with others."""
    changed = _changed(boxes, spots, before)
    if not changed:
        return []
    order = sorted(spots, key=lambda name: spots[name].x)
    edges = edges_of(boxes, {name: spots[name] for name in order})
    pairs = set()
    for k, name in enumerate(order):
        if name in changed:
            for j in np.flatnonzero(hits(edges, edges[k : k + 1], 0.0)[:, 0]).tolist():
                pairs.add((min(j, k), max(j, k)))
    found: dict[str, None] = {}
    for k, j in sorted(pairs):
        name, other = order[k], order[j]
        movable = _movable((other, name), boxes, spots, before) if j != k else None
        if movable is not None and not found.keys() & {name, other}:
            found[movable] = None
    return list(found)


def _changed(boxes: Boxes, spots: Spots, before: Drawn | None) -> set[str]:
    """The blocks that are new, or elsewhere or of another size than before."""
    if before is None:
        return set(spots)
    same, known = boxes is before.boxes, before.spots
    return {
        name
        for name, spot in spots.items()
        if not (spot is known.get(name) or spot == known.get(name))
        or not (same or boxes[name] == before.boxes.get(name))
    }


def _movable(pair: tuple[str, str], boxes: Boxes, spots: Spots, before: Drawn | None) -> str | None:
    """Which of two overlapping blocks is moved: a new one, otherwise one that the user has not
    moved, otherwise the neighbour of one that has grown. None if the user has placed them so."""
    for name in pair:
        if before is not None and name not in before.boxes:
            return name
    for name in pair:
        if not spots[name].moved:
            return name
    if before is None:
        return None
    grown = {name for name in pair if boxes[name] != before.boxes[name]}
    lay_so = all(spots[name] == before.spots.get(name) for name in pair) and _overlap(pair, before)
    if not grown or lay_so:
        return None
    return next((name for name in pair if name not in grown), pair[0])


def _overlap(pair: tuple[str, str], drawn: Drawn) -> bool:
    """Whether two blocks overlap in a drawing."""
    (left, top, right, bottom), (x0, y0, x1, y1) = edges_of(
        drawn.boxes, {name: drawn.spots[name] for name in pair}
    )
    return bool(left < x1 and x0 < right and top < y1 and y0 < bottom)


def _wanted(name: str, boxes: Boxes, spots: Spots, beside: Sequence[tuple[str, bool]]) -> Point:
    """The position of a new block: right of a block that it reads, left of one that reads it,
    otherwise below all."""
    for other, reads in beside:
        if other in spots and other != name:
            spot = spots[other]
            if reads:
                return spot.x + GRID * boxes[other].width + 2 * GAP, spot.y
            return spot.x - GRID * boxes[name].width - 2 * GAP, spot.y
    low = max((spot.y + GRID * boxes[one].height for one, spot in spots.items()), default=-GAP)
    return min((spot.x for spot in spots.values()), default=0.0), low + GAP


@dataclass
class _Free:
    """Finds positions that are not covered by blocks."""

    boxes: Boxes
    spots: dict[str, Spot]

    def near(self, name: str, x: float, y: float, gap: float) -> Point:
        """The free position nearest to (x, y). gap: distance from other blocks."""
        edges, box = edges_of(self.boxes, self.spots), self.boxes[name]
        if not len(edges):
            return x, y
        for ring in range(_FARTHEST):
            step = 2 * GRID * ring
            for dx, dy in ((0, step), (0, -step), (step, 0), (-step, 0), (step, step),
                           (-step, -step), (step, -step), (-step, step)):  # fmt: skip
                left, top = x + dx, y + dy
                hit = (
                    (left < edges[:, 2] + gap)
                    & (left + GRID * box.width > edges[:, 0] - gap)
                    & (top < edges[:, 3] + gap)
                    & (top + GRID * box.height > edges[:, 1] - gap)
                )
                if not hit.any():
                    return left, top
        return x, float(edges[:, 3].max()) + gap


def edges_of(boxes: Boxes, spots: Spots) -> NDArray[np.float64]:
    """The left, top, right and bottom of each block (n, 4)."""
    return np.array(
        [(s.x, s.y, s.x + GRID * boxes[name].width, s.y + GRID * boxes[name].height)
         for name, s in spots.items()]
    ).reshape(-1, 4)  # fmt: skip


def _routes(
    boxes: Boxes,
    ports: Ports,
    connections: Sequence[Connection],
    spots: Spots,
    before: Drawn | None,
) -> dict[Connection, tuple[Point, ...]]:
    """The routes of all wires: the previous ones where possible, otherwise new ones. A previous
    route stays if its ends are where they were, and no block has come onto it."""
    known = before.routes if before is not None else {}
    ways = [known.get(one, ()) for one in connections]
    changed = _changed(boxes, spots, before)
    same = before is not None and boxes is before.boxes
    asked = [
        k
        for k, (one, way) in enumerate(zip(connections, ways, strict=True))
        if not (same and way and one[0][0] not in changed and one[1][0] not in changed)
    ]
    ends = dict(
        zip(asked, _ends(boxes, ports, [connections[k] for k in asked], spots), strict=True)
    )
    left = {k for k, two in ends.items() if not ways[k] or (ways[k][0], ways[k][-1]) != two}
    edges, moved = edges_of(boxes, spots), [name in changed for name in spots]
    runs, owners = runs_of(ways)
    for box in edges[moved]:
        left.update(owners[hits(runs, box[None], -1.0)[:, 0]].tolist())
    crossed = sorted(left - ends.keys())
    more = _ends(boxes, ports, [connections[k] for k in crossed], spots)
    ends |= zip(crossed, more, strict=True)
    router = Router(edges)
    if left:
        near = _around([point for k in left for point in ends[k]])
        for k in np.unique(owners[hits(runs, near, 0.0)[:, 0]]).tolist():
            if k not in left:
                router.keep(connections[k][0], ways[k])
    routes = dict(zip(connections, ways, strict=True))
    for k in sorted(left):
        (source, _), (target, _) = connections[k]
        ways_of = WAYS[boxes[source].facing], WAYS[boxes[target].facing]
        routes[connections[k]] = router.route(connections[k][0], *ends[k], ways_of)
    return routes


def _ends(
    boxes: Boxes, ports: Ports, connections: Sequence[Connection], spots: Spots
) -> list[tuple[Point, Point]]:
    """Where each wire begins and ends."""

    @cache
    def offsets(name: str, side: int) -> dict[str, int]:
        box = boxes[name]
        return dict(zip(ports[name][side], (box.inputs, box.outputs)[side], strict=True))

    found = []
    for (source, output), (target, port) in connections:
        start = _at(spots[source], boxes[source], True, offsets(source, 1)[output])
        end = _at(spots[target], boxes[target], False, offsets(target, 0)[port])
        found.append((start, end))
    return found


def _at(spot: Spot, box: Box, output: bool, offset: float) -> Point:
    """The place of a port on the sheet."""
    x, y = port_of(box, output, offset)
    return spot.x + GRID * x, spot.y + GRID * y


def _around(points: Sequence[Point]) -> NDArray[np.float64]:
    """The box (1, 4) in which other wires matter to new routes between points."""
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    return np.array([[*low - _FAR, *high + _FAR]])
