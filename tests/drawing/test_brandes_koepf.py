"""Positions by medians: order and gaps are kept, and wires that pass are straight."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from spart_blocks.drawing.layout.brandes_koepf import Layered, positions

BOX_GAP, WIRE_GAP = 5, 2


@st.composite
def graphs(draw) -> Layered:
    """Boxes and wires that pass, in up to seven layers, linked at random."""
    sizes = draw(st.lists(st.integers(1, 7), min_size=1, max_size=7))
    layers, count = [], 0
    for size in sizes:
        layers.append(list(range(count, count + size)))
        count += size
    passing = [draw(st.booleans()) for _ in range(count)]
    heights = [0 if is_wire else draw(st.integers(2, 20)) for is_wire in passing]
    links: list[list[tuple[int, int, int, int]]] = [[]]
    for lefts, rights in pairwise(layers):
        found = []
        for right in rights:
            most = 1 if passing[right] else 3
            for left in draw(st.lists(st.sampled_from(lefts), max_size=most, unique=True)):
                at, to = (draw(st.integers(0, heights[item])) for item in (left, right))
                found.append((left, at, right, to))
        links.append(draw(st.permutations(found)))
    return Layered(layers, links, heights, passing, BOX_GAP, WIRE_GAP)


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_items_keep_their_order_and_their_gaps(graph):
    tops = positions(graph)
    assert min(tops) == 0
    for items in graph.layers:
        for upper, lower in pairwise(items):
            wires = graph.passing[upper] or graph.passing[lower]
            gap = WIRE_GAP if wires else BOX_GAP
            assert tops[upper] + graph.heights[upper] + gap <= tops[lower]


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_wires_that_pass_are_straight_unless_they_cross_or_share_one(graph):
    tops = positions(graph)
    for links in graph.links:
        inner = [link for link in links if graph.passing[link[0]] and graph.passing[link[2]]]
        met = {
            link
            for a, b in combinations(inner, 2)
            if a[0] == b[0] or (a[0] < b[0]) != (a[2] < b[2])
            for link in (a, b)
        }
        for left, at, right, to in set(inner) - met:
            assert tops[left] + at == tops[right] + to


def test_a_chain_beside_another_is_straight():
    layers = [[0, 1], [2, 3], [4, 5]]
    links = [[], [(0, 3, 2, 1), (1, 2, 3, 2)], [(2, 1, 4, 4), (3, 2, 5, 0)]]
    tops = positions(Layered(layers, links, [6] * 6, [False] * 6, BOX_GAP, WIRE_GAP))
    assert all(tops[a] + at == tops[b] + to for some in links for a, at, b, to in some)
