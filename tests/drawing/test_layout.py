"""Whatever the diagram: boxes stand clear, wires reach their ports and keep apart."""

from __future__ import annotations

import random
from itertools import combinations, pairwise
from math import isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spart_blocks.drawing.layout import Box, Edge, Layout, align, arrange, lanes, simplified
from spart_blocks.drawing.layout.graph import feedback, groups


def box(inputs: int, outputs: int, width: int = 10, cut: float = 3.0) -> Box:
    height = max(6, 2 * max(inputs, outputs) + 2)
    ports = [tuple(height // 2 + 2 * i - (n - 1) for i in range(n)) for n in (inputs, outputs)]
    return Box(width, height, ports[0], ports[1], cut)


@st.composite
def diagrams(draw, most: int = 14) -> tuple[list[Box], list[Edge]]:
    """Boxes of any size; each input is wired to any output, or to none."""
    ports = st.integers(0, 5)
    boxes = [
        box(draw(ports), draw(ports), draw(st.integers(8, 30)), draw(st.sampled_from((1.0, 3.0))))
        for _ in range(draw(st.integers(0, most)))
    ]
    outputs = [(i, o) for i, b in enumerate(boxes) for o in range(len(b.outputs))]
    inputs = [(i, p) for i, b in enumerate(boxes) for p in range(len(b.inputs))]
    edges = []
    for target, port in inputs:
        source = draw(st.sampled_from([None, *outputs]))
        if source is not None:
            edges.append(Edge(*source, target, port))
    return boxes, draw(st.permutations(edges))


def assert_boxes_stand_clear(boxes: list[Box], layout: Layout) -> None:
    placed = list(zip(boxes, layout.corners, strict=True))
    for b, (x, y) in placed:
        assert x >= 0
        assert y >= 0
        assert x + b.width <= layout.width + 1e-9
        assert y + b.height <= layout.height + 1e-9
    for (a, (ax, ay)), (b, (bx, by)) in combinations(placed, 2):
        beside = ax + a.width + 3 <= bx or bx + b.width + 3 <= ax
        assert beside or ay + a.height + 3 <= by or by + b.height + 3 <= ay


def assert_wires_reach_their_ports(boxes: list[Box], edges: list[Edge], layout: Layout) -> None:
    assert len(layout.routes) == len(edges)
    for edge, points in zip(edges, layout.routes, strict=True):
        (sx, sy), (tx, ty) = layout.corners[edge.source], layout.corners[edge.target]
        source, target = boxes[edge.source], boxes[edge.target]
        assert points[0] == (sx + source.width, sy + source.outputs[edge.output])
        assert points[-1] == (tx, ty + target.inputs[edge.input])
        for (x0, y0), (x1, y1) in pairwise(points):
            assert (x0 == x1) != (y0 == y1), "each run is upright or level"
        (x0, y0), (x1, y1) = points[:2]
        (x2, y2), (x3, y3) = points[-2:]
        assert y0 == y1
        assert x1 > x0, "leaves to the right"
        assert y2 == y3
        assert x3 > x2, "arrives from the left"


def assert_wires_keep_apart(boxes: list[Box], edges: list[Edge], layout: Layout) -> None:
    """No run lies on a box, nor along a run of another signal."""
    runs = [
        (edge.net, tuple(sorted(run)))
        for edge, points in zip(edges, layout.routes, strict=True)
        for run in pairwise(points)
    ]
    for _, ((x0, y0), (x1, y1)) in runs:
        for b, (x, y) in zip(boxes, layout.corners, strict=True):
            assert x1 <= x or x0 >= x + b.width or y1 <= y or y0 >= y + b.height
    for (net_a, a), (net_b, b) in combinations(runs, 2):
        if net_a == net_b:
            continue
        for along, across in ((0, 1), (1, 0)):
            level = a[0][across] == a[1][across] == b[0][across] == b[1][across]
            apart = a[1][along] < b[0][along] or b[1][along] < a[0][along]
            assert not level or apart, (net_a, a, net_b, b)


def assert_dots_mark_where_signals_branch(edges: list[Edge], layout: Layout) -> None:
    for x, y in layout.dots:
        nets = {
            edge.net
            for edge, points in zip(edges, layout.routes, strict=True)
            for (x0, y0), (x1, y1) in pairwise(points)
            if min(x0, x1) <= x <= max(x0, x1) and min(y0, y1) <= y <= max(y0, y1)
        }
        assert len(nets) == 1, "a dot on a crossing would read as a connection"


def assert_drawable(boxes: list[Box], edges: list[Edge]) -> Layout:
    layout = arrange(boxes, edges)
    assert_boxes_stand_clear(boxes, layout)
    assert_wires_reach_their_ports(boxes, edges, layout)
    assert_wires_keep_apart(boxes, edges, layout)
    assert_dots_mark_where_signals_branch(edges, layout)
    return layout


@settings(max_examples=120, deadline=None)
@given(diagrams())
def test_any_diagram_is_drawable(diagram):
    assert_drawable(*diagram)


@settings(max_examples=80, deadline=None)
@given(diagrams())
def test_any_diagram_is_drawable_as_very_large_ones_are(diagram):
    """Aligned by medians, and with trunks that are not compared."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(align, "MOST_VARIABLES", 0)
        patch.setattr(lanes, "_MOST_COMPARED", 0)
        assert_drawable(*diagram)


@settings(max_examples=40, deadline=None)
@given(diagrams(most=6))
def test_the_same_diagram_gives_the_same_picture(diagram):
    assert arrange(*diagram) == arrange(*diagram)


@settings(max_examples=100, deadline=None)
@given(diagrams())
def test_without_the_feedback_wires_there_is_no_loop(diagram):
    boxes, edges = diagram
    back = feedback(boxes, edges)
    forward = [edge for edge in edges if edge not in back]
    assert all(len(group) == 1 for group in groups(len(boxes), forward, strong=True))
    assert not any(edge.source == edge.target for edge in forward)


def test_nothing_at_all_can_be_drawn():
    assert arrange([], []) == Layout((), (), (), 0.0, 0.0)


def test_a_chain_is_one_straight_line():
    boxes = [box(i > 0, i < 5) for i in range(6)]
    layout = assert_drawable(boxes, [Edge(i, 0, i + 1, 0) for i in range(5)])
    assert all(len(points) == 2 for points in layout.routes)
    assert [x for x, _ in layout.corners] == sorted(x for x, _ in layout.corners)
    assert not layout.dots


def test_a_control_loop_reads_from_the_reference_to_the_plant():
    reference, controller, plant, scope = range(4)
    boxes = [box(0, 1), box(3, 1), box(1, 2, cut=1.0), box(1, 0)]
    edges = [
        Edge(reference, 0, controller, 0),
        Edge(plant, 0, controller, 1),
        Edge(plant, 1, controller, 2),
        Edge(controller, 0, plant, 0),
        Edge(plant, 0, scope, 0),
    ]
    assert feedback(boxes, edges) == {edges[1], edges[2]}
    layout = assert_drawable(boxes, edges)
    xs = [x for x, _ in layout.corners]
    assert xs == sorted(xs)
    assert len(layout.dots) == 1
    bottom = layout.corners[plant][1] + boxes[plant].height
    for points in (layout.routes[1], layout.routes[2]):
        assert max(y for _, y in points) > bottom, "feedback runs underneath"


def test_swapped_wires_do_not_lie_on_one_another():
    boxes = [box(0, 2), box(2, 0)]
    assert_drawable(boxes, [Edge(0, 0, 1, 1), Edge(0, 1, 1, 0)])


def test_a_loop_at_one_block_goes_around_it():
    layout = assert_drawable([box(1, 1)], [Edge(0, 0, 0, 0)])
    assert len(layout.routes[0]) == 6


def test_fan_out_shares_a_trunk_with_a_dot():
    layout = assert_drawable(
        [box(0, 1), box(1, 0), box(1, 0), box(1, 0)], [Edge(0, 0, i, 0) for i in (1, 2, 3)]
    )
    assert 1 <= len(layout.dots) <= 2
    trunks = {x for points in layout.routes for x, _ in points[1:-1]}
    assert len(trunks) == 1


def test_a_large_diagram_is_drawable():
    count = 300
    boxes = [box(2, 1, cut=1.0 if i % 7 == 0 else 3.0) for i in range(count)]
    edges = [
        Edge((i * step + 11) % count, 0, i, port)
        for port, step in enumerate((1, 7))
        for i in range(0, count, port + 1)
    ]
    layout = arrange(boxes, edges)
    assert_wires_reach_their_ports(boxes, edges, layout)
    assert_boxes_stand_clear(boxes, layout)


def test_a_way_goes_nowhere_twice():
    there_and_back = [(0, 0), (2, 0), (2, 0), (2, 5), (0, 5), (2, 5)]
    assert simplified(there_and_back) == ((0, 0), (2, 0), (2, 5))
    assert simplified([(0, 0), (1, 0), (3, 0), (3, 1), (3, 4)]) == ((0, 0), (3, 0), (3, 4))


def test_many_parts_are_in_shelves_and_few_under_each_other():
    def chains(count: int) -> Layout:
        boxes = [box(1, 1) for _ in range(10 * count)]
        edges = [Edge(k, 0, k + 1, 0) for k in range(10 * count) if k % 10 < 9]
        layout = arrange(boxes, edges)
        assert_boxes_stand_clear(boxes, layout)
        return layout

    few, many = chains(6), chains(200)
    assert len({y for _, y in few.corners}) == 6
    assert 0.5 < many.width / many.height < 3


def test_many_boxes_without_wires_are_no_column():
    layout = arrange([box(1, 1) for _ in range(2000)], [])
    assert 1 < layout.width / layout.height < 3


def test_a_chain_is_straight_whatever_the_ports_of_its_boxes():
    boxes = [box(5, 5), box(1, 1), box(3, 3), box(5, 1)]
    edges = [Edge(0, 4, 1, 0), Edge(1, 0, 2, 2), Edge(2, 0, 3, 4)]
    layout = arrange(boxes, edges)
    assert [len(points) for points in layout.routes] == [2, 2, 2]
    assert min(y for _, y in layout.corners) == 0


# --- wild ones --------------------------------------------------------------------------------


def wired_at_random(count: int, wires: int) -> tuple[list[Box], list[Edge]]:
    rng = random.Random(count)
    sources: list[list[int]] = [[] for _ in range(count)]
    for _ in range(wires):
        sources[rng.randrange(count)].append(rng.randrange(count))
    boxes = [box(len(some), 1) for some in sources]
    edges = [
        Edge(source, 0, target, port)
        for target, some in enumerate(sources)
        for port, source in enumerate(some)
    ]
    return boxes, edges


@pytest.mark.parametrize("count", [600, 2000])
def test_blocks_wired_at_random_are_laid_out_without_a_linear_program(count, monkeypatch):
    def solve(*_: object, **__: object) -> None:
        raise AssertionError("the time that it takes grows as the square of the wires, or faster")

    monkeypatch.setattr("scipy.optimize.linprog", solve)
    monkeypatch.setattr("spart_blocks.drawing.layout.place._TALLEST", 10_000_000)
    boxes, edges = wired_at_random(count, 2 * count)
    layout = arrange(boxes, edges)
    assert_wires_reach_their_ports(boxes, edges, layout)
    assert all(isfinite(value) for points in layout.routes for point in points for value in point)
    columns: dict[float, list[tuple[float, int]]] = {}
    for one, (x, y) in zip(boxes, layout.corners, strict=True):
        columns.setdefault(x + one.width / 2, []).append((y, one.height))
    for column in columns.values():
        for (y, height), (below, _) in pairwise(sorted(column)):
            assert y + height + 2 * align.WIRE_GAP <= below


def star(count: int, *, inwards: bool) -> tuple[list[Box], list[Edge]]:
    """One box that is wired to many, from its one output or to its inputs."""
    if inwards:
        return [box(count, 0), *(box(0, 1) for _ in range(count))], [
            Edge(k + 1, 0, 0, k) for k in range(count)
        ]
    return [box(0, 1), *(box(1, 1) for _ in range(count))], [
        Edge(0, 0, k + 1, 0) for k in range(count)
    ]


def test_many_boxes_that_take_one_signal_are_no_column():
    boxes, edges = star(500, inwards=False)
    layout = arrange(boxes, edges)
    assert_boxes_stand_clear(boxes, layout)
    assert_wires_reach_their_ports(boxes, edges, layout)
    assert 1 < layout.width / layout.height < 4


def test_many_wires_into_one_box_are_not_much_higher_than_it():
    boxes, edges = star(500, inwards=True)
    layout = arrange(boxes, edges)
    assert_wires_reach_their_ports(boxes, edges, layout)
    assert layout.height < 3 * boxes[0].height


def test_many_boxes_beside_each_other_are_drawable():
    """Each with wires of its own, from one box to another."""
    count = 120
    boxes = [box(0, count), *(box(1, 1) for _ in range(count)), box(count, 0)]
    edges = [Edge(0, k, k + 1, 0) for k in range(count)]
    edges += [Edge(k + 1, 0, count + 1, count - 1 - k) for k in range(count)]
    layout = assert_drawable(boxes, edges)
    assert len({x for x, _ in layout.corners}) > 3
