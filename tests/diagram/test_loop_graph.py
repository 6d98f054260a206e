"""Circles in graphs, and the outputs that cut them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from spart_blocks.diagram.network.loop_graph import (
    components,
    ordered,
    shortest_circle,
    smallest_cut,
    within,
)


def random_graph(seed):
    """Nodes that read outputs of others, up to two of each."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    return {
        i: [(int(j), int(rng.integers(2))) for j in rng.integers(0, n, rng.integers(1, 4))]
        for i in range(n)
    }


def reaches(edges):
    """Whether node i is computed from node j, by powers of the adjacency matrix."""
    A = np.zeros((len(edges),) * 2, dtype=int)
    for i, sources in edges.items():
        A[i, [j for j, _ in sources]] = 1
    whole = A.copy()
    for _ in edges:
        whole = np.minimum(whole + whole @ A, 1)
    return whole.astype(bool)


@pytest.mark.parametrize("seed", range(40))
def test_components_are_the_nodes_that_reach_each_other(seed):
    edges = random_graph(seed)
    back = reaches(edges)
    circling = [i for i in edges if back[i, i]]
    want = {frozenset(j for j in circling if back[i, j] and back[j, i]) for i in circling}
    assert {frozenset(part) for part in components(edges)} == want


@pytest.mark.parametrize("seed", range(40))
def test_no_smaller_set_of_outputs_cuts_a_graph(seed):
    edges = random_graph(seed)
    for part in components(edges):
        inner = within(edges, part)
        cut = smallest_cut(inner, [], {})
        assert len(ordered(inner, cut)) == len(part)
        outputs = {one for sources in inner.values() for one in sources}
        if len(cut) <= 3:
            for fewer in combinations(outputs, len(cut) - 1):
                assert len(ordered(inner, fewer)) < len(part)


@pytest.mark.parametrize("seed", range(40))
def test_the_told_circle_is_one(seed):
    edges = random_graph(seed)
    for part in components(edges):
        circle = shortest_circle(within(edges, part))
        readers = [one[0] for one in (*circle[1:], circle[0])]
        for one, reader in zip(circle, readers, strict=True):
            assert one in edges[reader]


def test_of_equal_cuts_the_narrowest_is_taken():
    circle = {0: [(2, 0)], 1: [(0, 0)], 2: [(1, 0)]}
    assert smallest_cut(circle, [], {(0, 0): 6, (1, 0): 2, (2, 0): 3}) == ((1, 0),)
    assert smallest_cut(circle, [(2, 0)], {}) == ((2, 0),)


def test_a_large_graph_is_cut_in_bounded_time():
    n = 300
    edges = {i: [((i - k) % n, 0) for k in range(1, 6)] for i in range(n)}
    cut = smallest_cut(edges, [], {})
    assert len(ordered(edges, cut)) == n
    assert len(cut) < 20
