"""A diff as a picture: both diagrams in one layout, with what was added, removed and changed.

Colours are told apart by shape too: a sign in the corner of a block, dashes of what is removed,
thick lines of what is added.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from spart_blocks.diagram.diagram_drawing import CLASSES
from spart_blocks.drawing.boxes import (
    DOT,
    LOOKS,
    NAME_SIZE,
    NamedBox,
    Outline,
    box_shapes,
    framed,
    named_box,
    wire,
)
from spart_blocks.drawing.layout import Edge, Layout, arrange
from spart_blocks.drawing.picture import INK, MARGIN, Dot, Line, Picture, Point, Shape, Text, title
from spart_blocks.versions.differences.matched_versions import SLOT
from spart_blocks.versions.differences.union import State, Union, UnionBlock, UnionWire
from spart_blocks.versions.differences.units import look_of


@dataclass(frozen=True)
class StateLook(Outline):
    """How a state is drawn: its outline, its sign, and its word in the legend."""

    sign: str = ""
    word: str = ""


STATES: Mapping[State, StateLook] = {
    "common": StateLook("#F7F8F9", "#9AA1AC", 0.9, (), "", "in both"),
    "added": StateLook("#DDF3E3", "#1B7F3B", 2.0, (), "+", "added"),
    "removed": StateLook("#FBE3E1", "#B3261E", 1.5, (4, 2.5), "−", "removed"),
    "changed": StateLook("#FFF0D6", "#A15C00", 2.0, (7, 1.5, 1.5, 1.5), "~", "changed"),
}
_GAP = 5
_LEGEND = 16


@dataclass(frozen=True)
class _Panel:
    union: Union
    boxes: tuple[NamedBox, ...]
    edges: tuple[Edge, ...]
    layout: Layout


def draw_unions(unions: Sequence[Union], name: str) -> Picture:
    """The picture of these sheets, one below the other, with a legend. name: its title."""
    panels = [_panel(one) for one in unions]
    width = max([panel.layout.width for panel in panels] + [_LEGEND * len(STATES)])
    shapes: list[Shape] = [title(name, -MARGIN - 0.5)]
    signs: list[Shape] = []
    y = 0.0
    for panel in panels:
        heading = _heading(panel.union)
        if heading:
            shapes.append(title(heading, y + 0.8))
            y += 3
        shapes += _wires(panel, y, signs)
        shapes += _blocks(panel, y, signs)
        y += panel.layout.height + _GAP
    shapes += _legend(y - 1)
    return Picture(width, y, [*shapes, *signs], MARGIN + 2)


def _heading(union: Union) -> str:
    hidden = f"{union.hidden} blocks that are the same are not drawn" if union.hidden else ""
    return ": ".join(text for text in (union.title, hidden) if text)


def _panel(union: Union) -> _Panel:
    boxes = tuple(_box(block) for block in union.blocks)
    edges = tuple(Edge(one.source, one.output, one.target, one.input) for one in union.wires)
    return _Panel(union, boxes, edges, arrange([one.box for one in boxes], list(edges)))


def _box(block: UnionBlock) -> NamedBox:
    look = "subsystem"
    if not block.piece.uses and block.piece.kind != SLOT:
        look = look_of(block.piece.kind)
    look = CLASSES.get(look, look)
    signs = block.piece.parameters.get("signs")
    inputs = block.inputs
    if isinstance(signs, str) and len(signs) == len(inputs):
        inputs = tuple(sign.replace("-", "−") for sign in signs)
    kind = block.kind.upper() if "." not in block.kind else block.kind
    look = look if look in LOOKS else "function"
    return named_box(block.name, kind, look, inputs, block.outputs)


def _wires(panel: _Panel, below: float, signs: list[Shape]) -> Iterator[Shape]:
    """The wires of a sheet and their branches; the signs of wires are added to signs, which lie
    above all."""
    order = {"common": 0, "removed": 1, "changed": 2, "added": 3}
    drawn = zip(panel.union.wires, panel.edges, panel.layout.routes, strict=True)
    for one, edge, points in sorted(drawn, key=lambda each: order[each[0].state]):
        way = [(x, y + below) for x, y in points]
        yield from _wire(panel, one, edge, way)
        look = STATES[one.state]
        if look.sign:
            end = way[-1][0] - 1.9, way[-1][1]
            signs += _sign(look, *(_middle(way) if one.state == "removed" else end), 0.55)
    dotted = _dotted(panel)
    for x, y in panel.layout.dots:
        yield Dot(x, y + below, DOT, dotted.get((x, y), INK))


def _wire(panel: _Panel, one: UnionWire, edge: Edge, way: Sequence[Point]) -> Iterator[Shape]:
    look = STATES[one.state]
    if one.state == "common":
        return wire(edge, way, panel.boxes)
    return wire(edge, way, panel.boxes, look.edge, look.line, look.dashes)


def _blocks(panel: _Panel, below: float, signs: list[Shape]) -> Iterator[Shape]:
    """The blocks of a sheet; their signs are added to signs."""
    corners = panel.layout.corners
    for block, box, (x, y) in zip(panel.union.blocks, panel.boxes, corners, strict=True):
        look = STATES[block.state]
        yield from box_shapes(box, x, y + below, look)
        signs += _sign(look, x, y + below) if look.sign else ()


def _dotted(panel: _Panel) -> dict[Point, str]:
    """The colours of the branches where all wires are of one state."""
    states: dict[Point, set[State]] = {}
    for one, points in zip(panel.union.wires, panel.layout.routes, strict=True):
        for point in points:
            states.setdefault(point, set()).add(one.state)
    alone = {point: next(iter(found)) for point, found in states.items() if len(found) == 1}
    return {point: STATES[state].edge for point, state in alone.items() if state != "common"}


def _middle(points: Sequence[Point]) -> Point:
    """The middle of the longest part of a wire: at its end it may lie under an added one."""
    a, b = max(pairwise(points), key=lambda ends: math.dist(*ends))
    return (a[0] + b[0]) / 2, (a[1] + b[1]) / 2


def _sign(look: StateLook, x: float, y: float, radius: float = 0.8) -> Iterator[Shape]:
    """The sign of a state in a circle."""
    lower = 0.12 if look.sign == "~" else 0.0  # it stands high in its line
    yield Dot(x, y, radius, look.edge, "white", 0.8)
    yield Text(x, y + lower, look.sign, 6.5 * radius / 0.7, "white", bold=True)


def _legend(y: float) -> Iterator[Shape]:
    """A box and a wire of each state."""
    for k, (state, look) in enumerate(STATES.items()):
        x = k * _LEGEND
        yield framed(look, x, y - 0.9, 2.8, 1.8, radius=0.5)
        if look.sign:
            yield from _sign(look, x, y - 0.9)
        if state != "changed":  # no wire is
            colour = INK if state == "common" else look.edge
            yield Line([(x + 3.2, y), (x + 6, y)], colour, look.line, look.dashes)
        yield Text(x + 6.6, y, look.word, NAME_SIZE - 1, INK, align="left")
