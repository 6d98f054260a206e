"""Vertical positions of boxes and wires in their layers.

The order within each layer is fixed. A linear program minimizes the total vertical length of all
wires, with minimal gaps between neighbours as constraints; wires that should be straight have a
larger weight. The time that it takes grows faster than the square of the number of wires and
layers that they pass, so that very large parts are aligned by `brandes_koepf.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from spart_blocks.drawing.layout.brandes_koepf import Layered, positions
from spart_blocks.drawing.layout.graph import Box
from spart_blocks.drawing.layout.layers import Item, LayerLink, Ranks

BOX_GAP, WIRE_GAP = 5, 2
"""Clear space between two boxes, and between a wire and what is next to it [grid]."""

MOST_VARIABLES = 8000
"""Items and links up to which the linear program is solved: it takes a second of them."""


def align(
    ranks: Ranks, heights: Mapping[Item, int], boxes: Sequence[Box]
) -> dict[tuple[int, Item], int]:
    """The top of each item in each layer [grid], such that wires bend least.

    This is a linear program: the smallest weighted sum of the vertical lengths of all links, with
    the order and the gaps kept. Its matrix is that of a network, so that with integer gaps and
    port offsets the vertices of the feasible set are integer.
    """
    if all(len(items) == 1 for items in ranks.items) and all(
        len(some) <= 1 for some in ranks.links
    ):
        return _in_line(ranks)
    if sum(map(len, ranks.items)) + sum(map(len, ranks.links)) > MOST_VARIABLES:
        return _by_medians(ranks, heights)
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    index = {key: i for i, key in enumerate(key for items in ranks.items for key in items)}
    rows: list[tuple[dict[int, float], float]] = []
    cost = [1e-4] * len(index)
    for number, links in enumerate(ranks.links):
        for link in links:
            left, right = index[(number - 1, link.left)], index[(number, link.right)]
            run, shift = len(cost), link.right_at - link.left_at
            cost.append(_weight(link, boxes))
            rows.append(({left: 1.0, right: -1.0, run: -1.0}, shift))
            rows.append(({left: -1.0, right: 1.0, run: -1.0}, -shift))
    for items in ranks.items:
        for upper, lower in pairwise(items):
            wires = isinstance(upper[1], tuple) or isinstance(lower[1], tuple)
            gap = WIRE_GAP if wires else BOX_GAP
            rows.append(({index[upper]: 1.0, index[lower]: -1.0}, -gap - heights[upper[1]]))
    if not rows:
        return dict.fromkeys(index, 0)
    entries = [(row, col, v) for row, (terms, _) in enumerate(rows) for col, v in terms.items()]
    at, columns, values = zip(*entries, strict=True)
    matrix = coo_array((values, (at, columns)), shape=(len(rows), len(cost))).tocsr()
    solved = linprog(cost, A_ub=matrix, b_ub=[bound for _, bound in rows], method="highs-ds")
    tops = np.rint(solved.x[: len(index)]).astype(int)
    return {key: int(tops[i]) for key, i in index.items()}


def _by_medians(ranks: Ranks, heights: Mapping[Item, int]) -> dict[tuple[int, Item], int]:
    """The tops of items by the method of Brandes and Koepf."""
    index = {key: i for i, key in enumerate(key for items in ranks.items for key in items)}
    passing = [isinstance(item, tuple) for _, item in index]
    graph = Layered(
        [[index[key] for key in items] for items in ranks.items],
        [
            [
                (index[number - 1, link.left], link.left_at,
                 index[number, link.right], link.right_at)
                for link in links
            ]
            for number, links in enumerate(ranks.links)
        ],
        [heights[item] for _, item in index],
        passing,
        BOX_GAP,
        WIRE_GAP,
    )  # fmt: skip
    return dict(zip(index, positions(graph), strict=True))


def _in_line(ranks: Ranks) -> dict[tuple[int, Item], int]:
    """The tops of items of which each layer has one, with straight links."""
    tops = [0]
    for links in ranks.links[1:]:
        tops.append(tops[-1] + sum(link.left_at - link.right_at for link in links))
    least = min(tops)
    return {items[0]: top - least for items, top in zip(ranks.items, tops, strict=True)}


def _weight(link: LayerLink, boxes: Sequence[Box]) -> float:
    """The weight of a link in the linear program. It is largest for links between long wires, then
    for links of the main path, which go from boxes with inputs to boxes with outputs, preferably
    with one input, or to integrators.
    """
    passing = isinstance(link.left, tuple) + isinstance(link.right, tuple)
    weight = (2.0, 2.0, 8.0)[passing]
    if isinstance(link.left, int) and not boxes[link.left].inputs:
        weight -= 0.5
    if isinstance(link.right, int):
        target = boxes[link.right]
        weight += 0.6 * bool(target.outputs) + 0.4 * (len(target.inputs) == 1)
        weight += 0.2 / target.cut
    return weight
