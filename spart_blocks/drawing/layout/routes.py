"""Routes of wires: horizontal along the layers, vertical in lanes between them.

Channel k is left of layer k; the last one is right of the last layer. In a channel, each net has
at most one vertical run (trunk), and overlapping trunks are in different lanes. Feedback nets get
a horizontal level below all boxes between their ends. When the lanes are assigned, x follows from
the widths of layers and channels, and each wire is traced from its output to its input.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from spart_blocks.drawing.layout.graph import Box, Edge, Layout, Net, Point
from spart_blocks.drawing.layout.lanes import Trunk, assign_lanes
from spart_blocks.drawing.layout.layers import Item

LANE, MARGIN, CHANNEL = 1.5, 3.0, 6.0
"""Distance of lanes, margin beside the outer lanes, and smallest width of a channel [grid]."""
BELOW = 2.0


@dataclass
class _Wiring:
    """The inputs and the intermediate results of the routing of one connected part."""

    boxes: Sequence[Box]
    layer: Sequence[int]
    tops: Mapping[tuple[int, Item], int]
    forward: dict[Net, list[Edge]] = field(default_factory=dict)
    back: dict[Net, list[Edge]] = field(default_factory=dict)
    beneath: dict[Net, float] = field(default_factory=dict)
    trunks: dict[tuple[int, Net], list[Trunk]] = field(default_factory=dict)
    levels: dict[int, set[float]] = field(default_factory=dict)

    def out_y(self, net: Net) -> float:
        source, output = net
        return self.tops[(self.layer[source], source)] + self.boxes[source].outputs[output]

    def in_y(self, edge: Edge) -> float:
        target = edge.target
        return self.tops[(self.layer[target], target)] + self.boxes[target].inputs[edge.input]

    def level(self, net: Net, number: int) -> float:
        """The height at which a net leaves layer `number` towards the right."""
        return self.out_y(net) if self.layer[net[0]] == number else self.tops[(number, net)]


def route(
    boxes: Sequence[Box],
    edges: Sequence[Edge],
    back: Collection[Edge],
    layer: Sequence[int],
    tops: Mapping[tuple[int, Item], int],
) -> Layout:
    """The layout of one connected part whose boxes have layers and heights. back:
    feedback wires.
    """
    wiring = _Wiring(boxes, layer, tops)
    for edge in edges:
        nets = wiring.back if edge in back else wiring.forward
        nets.setdefault(edge.net, []).append(edge)
    depth = max(layer) + 1
    _dig(wiring, depth)
    _lay_trunks(wiring)
    lanes = [
        assign_lanes(
            [wiring.trunks[key] for key in wiring.trunks if key[0] == channel],
            wiring.levels.get(channel, set()),
        )
        for channel in range(depth + 1)
    ]
    lefts, starts, width = _columns(wiring, lanes)
    xs = {
        id(trunk): starts[channel] + LANE * trunk.lane
        for (channel, _), pieces in wiring.trunks.items()
        for trunk in pieces
    }
    corners = [(lefts[box], float(tops[(layer[box], box)])) for box in range(len(boxes))]
    routes = [_trace(wiring, edge, edge in back, lefts, xs) for edge in edges]
    bottoms = [y + box.height for (_, y), box in zip(corners, boxes, strict=True)]
    height = max([*bottoms, *(y for points in routes for _, y in points)])
    dots = junctions(edges, routes)
    return Layout(tuple(corners), tuple(routes), tuple(dots), width, height)


def _dig(wiring: _Wiring, depth: int) -> None:
    """Set a level for each feedback net, below all items between its ends."""
    bottom = [0.0] * depth
    for (number, item), top in wiring.tops.items():
        height = wiring.boxes[item].height if isinstance(item, int) else 0
        bottom[number] = max(bottom[number], top + height)

    def span(net: Net) -> tuple[int, int]:
        first = min(wiring.layer[edge.target] for edge in wiring.back[net])
        return first, wiring.layer[net[0]]

    dug: list[tuple[int, int, float]] = []
    nets = sorted(wiring.back, key=lambda net: (span(net)[1] - span(net)[0], -wiring.out_y(net)))
    for net in nets:
        first, last = span(net)
        around = bottom[max(first - 1, 0) : last + 2]
        taken = [y for a, b, y in dug if a <= last + 1 and first <= b + 1]
        level = max([max(around) + BELOW, *(y + BELOW for y in taken)])
        dug.append((first, last, level))
        wiring.beneath[net] = level


def _lay_trunks(wiring: _Wiring) -> None:
    """Make a trunk wherever a net turns, with the heights at which it enters and leaves the
    channel.
    """
    for net in {**wiring.forward, **wiring.back}:
        edges = wiring.forward.get(net, [])
        start = wiring.layer[net[0]]
        last = max((wiring.layer[edge.target] for edge in edges), default=start)
        for channel in range(start + 1, max(last, start + (net in wiring.back)) + 1):
            rights = {wiring.in_y(e) for e in edges if wiring.layer[e.target] == channel}
            if channel < last:
                rights.add(wiring.tops[(channel, net)])
            lefts = {wiring.level(net, channel - 1)}
            if channel == start + 1 and net in wiring.back:
                lefts.add(wiring.beneath[net])
            _lay(wiring, channel, net, lefts, rights)
        targets: dict[int, set[float]] = {}
        for edge in wiring.back.get(net, []):
            targets.setdefault(wiring.layer[edge.target], set()).add(wiring.in_y(edge))
        for channel, rights in targets.items():
            on = {wiring.beneath[net]} if channel > min(targets) else set()
            _lay(wiring, channel, net, on, {*rights, wiring.beneath[net]})


def _lay(wiring: _Wiring, channel: int, net: Net, lefts: set[float], rights: set[float]) -> None:
    wiring.levels.setdefault(channel, set()).update(lefts, rights)
    if len(lefts | rights) > 1:
        wiring.trunks[(channel, net)] = [Trunk(net, tuple(sorted(lefts)), tuple(sorted(rights)))]


def _columns(wiring: _Wiring, lanes: Sequence[int]) -> tuple[list[float], list[float], float]:
    """The left edge of each box, the x of each channel's first lane, the whole width."""
    depth = len(lanes) - 1
    widths = [0] * depth
    for box, number in enumerate(wiring.layer):
        widths[number] = max(widths[number], wiring.boxes[box].width)
    starts, columns, x = [], [], 0.0
    for channel, count in enumerate(lanes):
        outer = channel in (0, depth)
        room = 2 * MARGIN + LANE * (count - 1) if count else 0.0
        space = room if outer else max(room, CHANNEL)
        starts.append(x + (space - LANE * (count - 1)) / 2)
        x += space
        columns.append(x)
        if channel < depth:
            x += widths[channel]
    lefts = [
        columns[number] + (widths[number] - wiring.boxes[box].width) / 2
        for box, number in enumerate(wiring.layer)
    ]
    return lefts, starts, x


def _trace(
    wiring: _Wiring, edge: Edge, back: bool, lefts: Sequence[float], xs: Mapping[int, float]
) -> tuple[Point, ...]:
    """The corners of one wire, from its output to its input."""
    net, end = edge.net, wiring.in_y(edge)
    start, stop = wiring.layer[edge.source], wiring.layer[edge.target]
    y = wiring.out_y(net)
    points = [(lefts[edge.source] + wiring.boxes[edge.source].width, y)]
    steps = [(start + 1, wiring.beneath[net]), (stop, end)] if back else []
    if not back:
        steps = [
            (c, wiring.tops[(c, net)] if c < stop else end) for c in range(start + 1, stop + 1)
        ]
    for channel, leave in steps:
        points += _turn(wiring.trunks.get((channel, net), []), y, leave, xs)
        y = leave
    points.append((lefts[edge.target], end))
    return simplified(points)


def _turn(trunks: Sequence[Trunk], y: float, leave: float, xs: Mapping[int, float]) -> list[Point]:
    """The corners of a wire in one channel, which it enters at height y and leaves at height
    `leave`.
    """
    points = []
    for trunk in trunks:
        last = trunk is trunks[-1] or leave in trunk.lefts
        down = leave if last else trunk.rights[-1]
        points += [(xs[id(trunk)], y), (xs[id(trunk)], down)]
        y = down
        if last:
            break
    return points


def simplified(points: Iterable[Point]) -> tuple[Point, ...]:
    """The points without duplicates, points on straight lines, and detours there and back."""
    kept: list[Point] = []
    for point in points:
        while len(kept) > 1 and any(kept[-2][i] == kept[-1][i] == point[i] for i in (0, 1)):
            kept.pop()
        if not kept or point != kept[-1]:
            kept.append(point)
    return tuple(kept)


def junctions(edges: Sequence[Edge], routes: Sequence[Sequence[Point]]) -> list[Point]:
    """The points where wires of a net branch, from which it continues in three directions."""
    nets: dict[Net, list[Sequence[Point]]] = {}
    for edge, points in zip(edges, routes, strict=True):
        nets.setdefault(edge.net, []).append(points)
    dots = []
    for paths in nets.values():
        if len(paths) < 2:
            continue
        runs = {tuple(sorted(run)) for p in paths for run in pairwise(p)}
        for x, y in sorted({point for points in paths for point in points[1:-1]}):
            ways = set()
            for (x0, y0), (x1, y1) in runs:
                if y0 == y1 == y and x0 <= x <= x1:
                    ways |= {"left"} if x0 < x else set()
                    ways |= {"right"} if x < x1 else set()
                if x0 == x1 == x and y0 <= y <= y1:
                    ways |= {"up"} if y0 < y else set()
                    ways |= {"down"} if y < y1 else set()
            if len(ways) > 2:
                dots.append((x, y))
    return dots
