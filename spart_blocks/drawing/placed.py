"""Where boxes stand and wires run: where people have put them, else as the layout has them.

Lengths are in pixels of a page, of which a unit of the grid has ten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spart_blocks.drawing.boxes import look_of
from spart_blocks.drawing.layout import Box, Edge, arrange
from spart_blocks.drawing.router import Point, Router

GRID = 10
"""Pixels of a unit of the grid."""
GAP = 30.0
"""Between a new block and the others."""
_FARTHEST = 60


@dataclass(frozen=True)
class Spot:
    """The upper left corner of a block, and whether a person has put it there."""

    x: float
    y: float
    moved: bool = False


@dataclass(frozen=True)
class Size:
    """The size of a block, and how far below its upper edge its ports are."""

    width: float
    height: float
    inputs: tuple[float, ...]
    outputs: tuple[float, ...]

    @staticmethod
    def of(box: Box) -> Size:
        """The size of a box of the layout."""
        sides = (tuple(float(GRID * y) for y in side) for side in (box.inputs, box.outputs))
        return Size(GRID * box.width, GRID * box.height, *sides)

    def box(self, look: str) -> Box:
        """The block as the layout takes it."""
        inputs, outputs = (
            tuple(int(y) // GRID for y in side) for side in (self.inputs, self.outputs)
        )
        size = int(self.width) // GRID, int(self.height) // GRID
        return Box(*size, inputs, outputs, look_of(look).cut)


Spots = Mapping[str, Spot]
Port = tuple[str, str]
"""A block and the name of a port of it."""
Connection = tuple[Port, Port]
"""From an output to an input."""
Routes = Mapping[Connection, tuple[Point, ...]]


@dataclass(frozen=True)
class Drawn:
    """A sheet that is laid out. spots, sizes: of all its blocks; routes: of all its wires."""

    spots: Spots
    routes: Routes
    sizes: Mapping[str, Size]


def lay_out(
    sizes: Mapping[str, Size],
    looks: Mapping[str, str],
    ports: Mapping[str, tuple[Sequence[str], Sequence[str]]],
    connections: Sequence[Connection],
    known: Spots,
    before: Drawn | None,
) -> Drawn:
    """Lay out a sheet. sizes, looks, ports (names of inputs and outputs): of its blocks. known:
    where blocks stand; before: how it was drawn last, which stays where it can."""
    spots = {name: spot for name, spot in known.items() if name in sizes}
    new = [name for name in sizes if name not in spots]
    put = any(spot.moved for spot in spots.values())
    if new and not put and 2 * len(spots) < len(sizes):
        return _arranged(sizes, looks, ports, connections)
    spots = _settled(sizes, spots, new, connections, before)
    ways = before.routes if before is not None else {}
    return Drawn(spots, _routes(sizes, ports, connections, spots, ways), sizes)


def _arranged(
    sizes: Mapping[str, Size],
    looks: Mapping[str, str],
    ports: Mapping[str, tuple[Sequence[str], Sequence[str]]],
    connections: Sequence[Connection],
) -> Drawn:
    index = {name: k for k, name in enumerate(sizes)}
    inputs = {name: {port: k for k, port in enumerate(ports[name][0])} for name in sizes}
    outputs = {name: {port: k for k, port in enumerate(ports[name][1])} for name in sizes}
    edges = [
        Edge(index[source], outputs[source][output], index[target], inputs[target][port])
        for (source, output), (target, port) in connections
    ]
    layout = arrange([size.box(looks[name]) for name, size in sizes.items()], edges)
    spots = {
        name: Spot(x * GRID, y * GRID) for name, (x, y) in zip(sizes, layout.corners, strict=True)
    }
    routes = {
        one: tuple((x * GRID, y * GRID) for x, y in points)
        for one, points in zip(connections, layout.routes, strict=True)
    }
    return Drawn(spots, routes, sizes)


def _settled(
    sizes: Mapping[str, Size], spots: dict[str, Spot], new: Sequence[str],
    connections: Sequence[Connection], before: Drawn | None,
) -> dict[str, Spot]:  # fmt: skip
    """The spots with those of new blocks: beside what they are wired to, on nothing else. Where
    blocks have come to lie on each other, one is moved; where a person has put one onto another,
    both stay."""
    free = _Free(sizes, spots)
    for name in _covering(sizes, spots, before):
        spot = free.spots.pop(name)
        free.spots[name] = Spot(*free.near(name, spot.x, spot.y, GRID), spot.moved)
    if new:
        beside: dict[str, list[tuple[str, bool]]] = {}
        for (source, _), (target, _) in connections:
            beside.setdefault(source, []).append((target, False))
            beside.setdefault(target, []).append((source, True))
        for name in new:
            x, y = _wanted(name, sizes, free.spots, beside.get(name, ()))
            free.spots[name] = Spot(*free.near(name, x, y, GAP))
    return free.spots


def _covering(sizes: Mapping[str, Size], spots: Spots, before: Drawn | None) -> list[str]:
    """The blocks to be moved, of those that lie on another."""
    order = sorted(spots, key=lambda name: spots[name].x)
    found: dict[str, None] = {}
    for k, name in enumerate(order):
        spot, size = spots[name], sizes[name]
        for other in order[k + 1 :]:
            beside = spots[other]
            if beside.x >= spot.x + size.width:
                break
            if spot.y < beside.y + sizes[other].height and beside.y < spot.y + size.height:
                movable = _movable((other, name), sizes, spots, before)
                if movable is not None and not found.keys() & {name, other}:
                    found[movable] = None
    return list(found)


def _movable(
    pair: tuple[str, str], sizes: Mapping[str, Size], spots: Spots, before: Drawn | None
) -> str | None:
    """Which of two blocks that lie on each other is moved: a new one, else one that nobody has put
    there, else the neighbour of one that has grown. None where a person has put them so."""
    for name in pair:
        if before is not None and name not in before.sizes:
            return name
    for name in pair:
        if not spots[name].moved:
            return name
    if before is None:
        return None
    grown = {name for name in pair if sizes[name] != before.sizes[name]}
    lay_so = all(spots[name] == before.spots.get(name) for name in pair) and _overlap(pair, before)
    if not grown or lay_so:
        return None
    return next((name for name in pair if name not in grown), pair[0])


def _overlap(pair: tuple[str, str], drawn: Drawn) -> bool:
    """Whether two blocks lay on each other."""
    (left, top, right, bottom), (x0, y0, x1, y1) = boxes_of(
        drawn.sizes, {name: drawn.spots[name] for name in pair}
    )
    return bool(left < x1 and x0 < right and top < y1 and y0 < bottom)


def _wanted(
    name: str, sizes: Mapping[str, Size], spots: Spots, beside: Sequence[tuple[str, bool]]
) -> Point:
    """Where a new block belongs: right of what it reads, left of what reads it, else below all."""
    for other, reads in beside:
        if other in spots and other != name:
            spot = spots[other]
            if reads:
                return spot.x + sizes[other].width + 2 * GAP, spot.y
            return spot.x - sizes[name].width - 2 * GAP, spot.y
    low = max((spot.y + sizes[one].height for one, spot in spots.items()), default=-GAP)
    return min((spot.x for spot in spots.values()), default=0.0), low + GAP


@dataclass
class _Free:
    """Finds places on which no block stands."""

    sizes: Mapping[str, Size]
    spots: dict[str, Spot]

    def near(self, name: str, x: float, y: float, gap: float) -> Point:
        """The free place nearest to one."""
        boxes, size = boxes_of(self.sizes, self.spots), self.sizes[name]
        if not len(boxes):
            return x, y
        for ring in range(_FARTHEST):
            step = 2 * GRID * ring
            for dx, dy in ((0, step), (0, -step), (step, 0), (-step, 0), (step, step),
                           (-step, -step), (step, -step), (-step, step)):  # fmt: skip
                left, top = x + dx, y + dy
                hit = (
                    (left < boxes[:, 2] + gap)
                    & (left + size.width > boxes[:, 0] - gap)
                    & (top < boxes[:, 3] + gap)
                    & (top + size.height > boxes[:, 1] - gap)
                )
                if not hit.any():
                    return left, top
        return x, float(boxes[:, 3].max()) + gap


def boxes_of(sizes: Mapping[str, Size], spots: Spots) -> NDArray[np.float64]:
    """The left, top, right and bottom of each block (n, 4)."""
    return np.array(
        [(s.x, s.y, s.x + sizes[name].width, s.y + sizes[name].height)
         for name, s in spots.items()]
    ).reshape(-1, 4)  # fmt: skip


def _routes(
    sizes: Mapping[str, Size],
    ports: Mapping[str, tuple[Sequence[str], Sequence[str]]],
    connections: Sequence[Connection],
    spots: Spots,
    before: Routes,
) -> dict[Connection, tuple[Point, ...]]:
    """The wires: those that can stay as they were, and new ways for the others."""
    router = Router(boxes_of(sizes, spots))
    inputs = {name: dict(zip(ports[name][0], size.inputs, strict=True))
              for name, size in sizes.items()}  # fmt: skip
    outputs = {name: dict(zip(ports[name][1], size.outputs, strict=True))
               for name, size in sizes.items()}  # fmt: skip
    routes: dict[Connection, tuple[Point, ...]] = {}
    open_ends: list[tuple[Connection, Point, Point]] = []
    for one in connections:
        (source, output), (target, port) = one
        start = (spots[source].x + sizes[source].width, spots[source].y + outputs[source][output])
        end = spots[target].x, spots[target].y + inputs[target][port]
        points = before.get(one, ())
        if points and points[0] == start and points[-1] == end and router.is_free(points):
            routes[one] = points
            router.keep(one[0], points)
        else:
            routes[one] = ()
            open_ends.append((one, start, end))
    for one, start, end in open_ends:
        routes[one] = router.route(one[0], start, end)
    return routes
