"""The input and output of the layout, and the choice of feedback wires.

A layout in layers needs a graph without loops. So in each group of boxes on common loops, several
sets of wires that cut all loops are tried: from depth-first walks, and by adding wires one by one.
The set that is easiest to read as feedback is used: wires that leave integrators, or that go back
in the order of the boxes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

Point = tuple[float, float]
Net = tuple[int, int]
"""A source box and its output, which stand for all wires of one signal."""


_MOST_STARTS = 40
_MOST_PUT_IN = 2000


@dataclass(frozen=True)
class Box:
    """A block. width, height, and the distance of each port from its top [grid].

    facing: the side to which its outputs lead, see `faced`; the layout takes it to be the right.
    cut: how badly a diagram reads if a wire from this box is drawn as feedback; small for
    integrators, as loops are read from controller to plant.
    """

    width: int
    height: int
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    cut: float = 3.0
    facing: str = "right"


@dataclass(frozen=True, order=True)
class Edge:
    """A wire from an output of one box to an input of another, all by index."""

    source: int
    output: int
    target: int
    input: int

    @property
    def net(self) -> Net:
        return self.source, self.output


@dataclass(frozen=True)
class Layout:
    """The top left corner of each box, the corners of each wire, and where a wire
    branches. All within 0..width, 0..height [grid], y down."""

    corners: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]
    dots: tuple[Point, ...]
    width: float
    height: float


def groups(count: int, edges: Iterable[Edge], strong: bool = False) -> list[list[int]]:
    """Boxes that wires connect; if strong, only those on common loops."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = np.array([(e.source, e.target) for e in edges], dtype=np.int32).reshape(-1, 2)
    matrix = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    kind = "strong" if strong else "weak"
    total, labels = connected_components(matrix.tocsr(), directed=True, connection=kind)
    members: list[list[int]] = [[] for _ in range(total)]
    for box, label in enumerate(labels):
        members[label].append(box)
    return members


def feedback(boxes: Sequence[Box], edges: Sequence[Edge]) -> frozenset[Edge]:
    """The wires to draw as feedback, so that the others have no loop. Of several possible sets in
    each group of loops, the one that is easiest to read.
    """
    cut: set[Edge] = set()
    knots = groups(len(boxes), edges, strong=True)
    knot_of = {box: k for k, knot in enumerate(knots) for box in knot}
    inner_of: dict[int, list[Edge]] = {}
    for edge in edges:
        if knot_of[edge.source] == knot_of[edge.target]:
            inner_of.setdefault(knot_of[edge.source], []).append(edge)
    for k, knot in enumerate(knots):
        inner = inner_of.get(k)
        if inner:
            inside = set(knot)
            entered = {e.target for e in edges if e.target in inside and e.source not in inside}
            tried = _candidates(boxes, knot, inner, entered)
            cut |= min(tried, key=lambda candidate: candidate[0])[1]
    return frozenset(cut)


def _candidates(
    boxes: Sequence[Box], knot: Sequence[int], inner: Sequence[Edge], entered: Collection[int]
) -> Iterator[tuple[float, set[Edge]]]:
    """Sets of wires that cut all loops of a group of boxes, each with a penalty for readability.

    One kind of set comes from depth-first walks from several boxes, first those with inputs from
    outside: wires back to a box on the present path are cut. The other comes from adding wires one
    by one, those from integrators last: wires that would close a loop are cut.
    """
    for start in sorted(knot, key=lambda box: (box not in entered, box))[:_MOST_STARTS]:
        found = _returning(start, inner)
        yield _annoyance(boxes, found) + (1.5 if start not in entered else 0.0), found
    states = sorted(knot, key=lambda box: (boxes[box].cut, box))
    for first in states[: _MOST_PUT_IN // len(inner)][:_MOST_STARTS]:
        order = sorted(inner, key=lambda e: (-boxes[e.source].cut, e.source != first, e))
        found = _closing(order)
        yield _annoyance(boxes, found), found


def _annoyance(boxes: Sequence[Box], cut: Iterable[Edge]) -> float:
    """The penalty for drawing these wires as feedback. Boxes are usually listed along the signal
    path, so a wire that goes back in the list is a natural feedback.
    """
    total = 0.0
    nets: dict[Net, float] = {}
    for edge in cut:
        expected = 0.3 if edge.source >= edge.target else 1.5
        nets[edge.net] = max(nets.get(edge.net, 0.0), expected * boxes[edge.source].cut)
        total += 0.1
    return total + sum(nets.values())


def _returning(start: int, edges: Sequence[Edge]) -> set[Edge]:
    """The edges that meet a box on the path of a depth-first walk from start."""
    leaving: dict[int, list[Edge]] = {}
    for edge in edges:
        leaving.setdefault(edge.source, []).append(edge)
    found: set[Edge] = set()
    on_path, seen = {start}, {start}
    path: list[tuple[int, Iterator[Edge]]] = [(start, iter(leaving.get(start, ())))]
    while path:
        box, rest = path[-1]
        step = next(rest, None)
        if step is None:
            on_path.discard(box)
            path.pop()
        elif step.target in on_path:
            found.add(step)
        elif step.target not in seen:
            seen.add(step.target)
            on_path.add(step.target)
            path.append((step.target, iter(leaving.get(step.target, ()))))
    return found


def _closing(edges: Iterable[Edge]) -> set[Edge]:
    """The edges that close a loop when the edges are put in one by one."""
    fed: dict[int, set[int]] = {}
    found: set[Edge] = set()
    for edge in edges:
        reached, waiting = {edge.target}, [edge.target]
        while waiting and edge.source not in reached:
            new = fed.get(waiting.pop(), set()) - reached
            reached |= new
            waiting += new
        if edge.source in reached:
            found.add(edge)
        else:
            fed.setdefault(edge.source, set()).add(edge.target)
    return found
