"""Graph algorithms for algebraic loops: strongly connected components, and sets of outputs that
cut all circles. Nodes are numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

Output = tuple[int, int]  # a node and the number of its output
Node = TypeVar("Node", bound=Hashable)
Edges = Mapping[int, Sequence[Output]]  # the outputs that each node waits for

_WORK = 2_000_000
"""Largest number of node visits in the search for a smallest cut; after that a small one is
accepted.
"""
_LARGEST = 3
"""Number of outputs in a cut up to which all combinations are tried."""


def components(edges: Edges) -> list[list[int]]:
    """The sets of nodes that reach each other, each in ascending order. Source: R. Tarjan,
    "Depth-first search and linear graph algorithms", SIAM J. Computing 1 (1972)."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    open_: set[int] = set()
    found: list[list[int]] = []
    for root in edges:
        if root in number:
            continue
        pending = [(root, iter(edges[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        open_.add(root)
        while pending:
            node, ahead = pending[-1]
            for follower, _ in ahead:
                if follower not in number and follower in edges:
                    number[follower] = low[follower] = len(number)
                    stack.append(follower)
                    open_.add(follower)
                    pending.append((follower, iter(edges[follower])))
                    break
                if follower in open_:
                    low[node] = min(low[node], number[follower])
            else:
                pending.pop()
                if pending:
                    low[pending[-1][0]] = min(low[pending[-1][0]], low[node])
                if low[node] == number[node]:
                    part = [stack.pop()]
                    while part[-1] != node:
                        part.append(stack.pop())
                    open_.difference_update(part)
                    if len(part) > 1 or any(i == node for i, _ in edges[node]):
                        found.append(sorted(part))
    return found


def within(edges: Edges, nodes: Collection[int]) -> dict[int, list[Output]]:
    """The edges among these nodes."""
    inside = set(nodes)
    return {i: [one for one in edges[i] if one[0] in inside] for i in nodes}


def ordered(
    edges: Mapping[Node, Sequence[tuple[Node, int]]], cut: Collection[tuple[Node, int]] = ()
) -> list[Node]:
    """The nodes in an order of evaluation if the outputs in `cut` are known. Nodes that depend on
    a circle are left out.
    """
    followers: dict[Node, list[Node]] = {i: [] for i in edges}
    waiting = dict.fromkeys(edges, 0)
    for i, sources in edges.items():
        for one in sources:
            if one not in cut:
                followers[one[0]].append(i)
                waiting[i] += 1
    ready = deque(i for i, count in waiting.items() if count == 0)
    order = []
    while ready:
        i = ready.popleft()
        order.append(i)
        for follower in followers[i]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                ready.append(follower)
    return order


def smallest_cut(
    edges: Edges,
    given: Iterable[Output],
    width: Mapping[Output, int],
    among: Collection[Output] | None = None,
) -> tuple[Output, ...]:
    """A smallest set of outputs that cuts all circles and contains `given`; among equally small
    sets the one with the fewest entries of signals. In large graphs it may be larger than
    necessary.

    width: number of entries of each output. among: outputs to choose from, if they can cut every
    circle.
    """
    cut = list(given)
    left = _circling(edges, cut)
    if not left:
        return tuple(cut)
    rest = within(edges, left)
    choices = sorted({one for i in rest for one in rest[i] if one not in cut},
                     key=lambda one: (width.get(one, 1), one))  # fmt: skip
    if among is not None and not _circling(edges, [*cut, *among]):
        choices = [one for one in choices if one in set(among)]
    on_circle = set(shortest_circle(rest, cut))
    work = 0
    for size in range(1, _LARGEST + 1):
        for some in combinations(choices, size):
            if not on_circle.intersection(some):  # it leaves that circle
                continue
            work += len(rest)
            if work > _WORK:
                return (*cut, *_greedy(rest, cut, choices))
            if not _circling(rest, [*cut, *some]):
                return (*cut, *some)
    return (*cut, *_greedy(rest, cut, choices))


def _greedy(edges: Edges, cut: list[Output], choices: Sequence[Output]) -> list[Output]:
    """A cut found greedily, by the outputs with the most readers, without redundant ones."""
    readers = {one: sum(one in sources for sources in edges.values()) for one in choices}
    taken: list[Output] = []
    while True:
        left = _circling(edges, [*cut, *taken])
        if not left:
            break
        circle = shortest_circle(within(edges, left), [*cut, *taken])
        open_to = [one for one in circle if one in choices] or circle
        taken.append(max(open_to, key=lambda one: readers.get(one, 0)))
    for one in list(taken):
        others = [other for other in taken if other != one]
        if not _circling(edges, [*cut, *others]):
            taken = others
    return taken


def _circling(edges: Edges, cut: Collection[Output]) -> list[int]:
    """The nodes that are in a circle, or depend on one, when the outputs in `cut` are known."""
    known = set(cut)
    done = set(ordered(edges, known))
    return [i for i in edges if i not in done]


def shortest_circle(edges: Edges, cut: Collection[Output] = ()) -> list[Output]:
    """The outputs along a shortest circle through the first node that is in a circle, without
    outputs in `cut`. Each output is read by the node of the next one, the last by the node of the
    first. There must be a circle.
    """
    known = set(cut)
    parts = components({i: [one for one in edges[i] if one not in known] for i in edges})
    inside = set(parts[0])
    first = parts[0][0]
    came: dict[int, Output] = {}
    readers: dict[int, list[tuple[int, Output]]] = {i: [] for i in inside}
    for i in inside:
        for one in edges[i]:
            if one[0] in inside and one not in known:
                readers[one[0]].append((i, one))
    pending = deque([first])
    while first not in came:
        i = pending.popleft()
        for reader, one in readers[i]:
            if reader not in came:
                came[reader] = one
                pending.append(reader)
    circle: list[Output] = []
    at = first
    while not circle or at != first:
        circle.append(came[at])
        at = came[at][0]
    return circle[::-1]
