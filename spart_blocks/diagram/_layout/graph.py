"""What is laid out, and the cutting of its loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

Point = tuple[float, float]
Net = tuple[int, int]
"""A source box and its output: all wires that carry one signal."""


_MOST_STARTS = 40


@dataclass(frozen=True)
class Box:
    """A block. width, height, and how far below its top each port lies [grid].

    cut is how much a reader minds a loop being closed by a wire that leaves this box:
    little where the box integrates, as loops are read from controller to plant.
    """

    width: int
    height: int
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    cut: float = 3.0


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
    """Wires to draw backwards so that the others have no loop.

    In each knot of loops, a walk along the wires is tried from several boxes, first from
    those that the outside feeds; wires that return to a box still being walked close a
    loop. The set that is easiest to read is taken.
    """
    cut: set[Edge] = set()
    for knot in groups(len(boxes), edges, strong=True):
        inside = set(knot)
        inner = [e for e in edges if e.source in inside and e.target in inside]
        if not inner:
            continue
        entered = {e.target for e in edges if e.target in inside and e.source not in inside}
        starts = sorted(knot, key=lambda box: (box not in entered, box))[:_MOST_STARTS]
        tried = [
            (_annoyance(boxes, found) + (1.5 if start not in entered else 0.0), i, found)
            for i, start in enumerate(starts)
            for found in [_returning(start, inner)]
        ]
        cut |= min(tried)[2]
    return frozenset(cut)


def _annoyance(boxes: Sequence[Box], cut: Iterable[Edge]) -> float:
    """How hard a diagram reads with these wires backwards. Boxes are listed as people
    think of them, along the signal, so a wire back in the list is one that goes back."""
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
