"""Ways of wires between blocks that people have put somewhere."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from spart_blocks.drawing.layout import Box
from spart_blocks.drawing.placed import Spot, edges_of, lay_out
from spart_blocks.drawing.router import Router


def across(way):
    """The heights at which a way runs across, with from where to where."""
    return [(y0, *sorted((x0, x1))) for (x0, y0), (x1, y1) in pairwise(way) if y0 == y1]


@pytest.mark.parametrize("lower", [410, 411, 413])
def test_wires_back_to_one_block_run_apart(lower):
    boxes = np.array([[400.0, 320, 515, 410], [560, 288, 700, lower]])
    router = Router(boxes)
    one = router.route(("plant", "qm"), (700.0, 340.0), (400.0, 376.0))
    two = router.route(("plant", "um"), (700.0, 375.0), (400.0, 393.0))
    for y0, left, right in across(one):
        for y1, start, end in across(two):
            assert abs(y0 - y1) >= 5 or right <= start or end <= left


def test_wires_of_one_output_may_run_together():
    router = Router(np.zeros((0, 4)))
    one = router.route(("plant", "qm"), (0.0, 0.0), (200.0, 50.0))
    two = router.route(("plant", "qm"), (0.0, 0.0), (200.0, 100.0))
    assert one[1] == two[1]


@pytest.fixture(params=range(3))
def scattered(request):
    """Blocks that someone has put close to each other, and wires between them."""
    draw = np.random.default_rng(request.param)
    boxes = []
    while len(boxes) < 25:
        x, y = draw.uniform(0, 900, 2).round(-1)
        one = x, y, x + 10 * draw.integers(8, 20), y + 10 * draw.integers(6, 14)
        if all(one[2] + 20 <= x0 or x1 + 20 <= x or one[3] + 20 <= y0 or y1 + 20 <= y
               for x0, y0, x1, y1 in boxes):  # fmt: skip
            boxes.append(one)
    return np.array(boxes), draw.integers(25, size=(30, 2))


def test_no_wire_runs_behind_a_block(scattered):
    boxes, wires = scattered
    router = Router(boxes)
    for source, target in wires:
        start = boxes[source, 2], boxes[source, 1] + 30
        end = boxes[target, 0], boxes[target, 1] + 20
        way = router.route((str(source), "0"), start, end)
        assert (way[0], way[-1]) == (start, end)
        assert all((x0 == x1) != (y0 == y1) for (x0, y0), (x1, y1) in pairwise(way))
        assert router.is_free(way)


def test_a_wire_is_routed_anew_when_a_block_grows_into_it():
    boxes = {"a": Box(8, 6, (), (3,)), "b": Box(8, 6, (3,)), "c": Box(8, 6)}
    ports = {"a": ((), ("0",)), "b": (("0",), ()), "c": ((), ())}
    wires = [(("a", "0"), ("b", "0"))]
    spots = {"a": Spot(0, 0, True), "b": Spot(400, 0, True), "c": Spot(200, 40, True)}
    before = lay_out(boxes, ports, wires, spots, None)
    grown = {**boxes, "c": Box(12, 20)}
    spots["c"] = Spot(200, -60, True)
    after = lay_out(grown, ports, wires, spots, before)
    assert after.spots["c"] == spots["c"]
    assert Router(edges_of(grown, after.spots)).is_free(after.routes[wires[0]])
