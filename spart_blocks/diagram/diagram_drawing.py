"""Draws a diagram: blocks as boxes, wires as right-angled lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from spart_blocks.block_support.ports import attribute, input_ports, output_ports
from spart_blocks.diagram.build.companions import is_audit
from spart_blocks.diagram.sections.drawing_section import (
    NO_DRAWING,
    PLAIN,
    DrawingSection,
    LookSection,
)
from spart_blocks.diagram.written.conditions import CONDITIONS, conditions_of
from spart_blocks.drawing.annotations import Area, Note, Rectangle, around, depth_of, with_room
from spart_blocks.drawing.boxes import NamedBox, named_box, sheet
from spart_blocks.drawing.layout import Edge
from spart_blocks.drawing.picture import Picture
from spart_blocks.drawing.placed import GRID as PIXELS
from spart_blocks.drawing.placed import arrange_faced

CLASSES = {"graphics": "sink", "transfer": "continuous", "clocked": "sampled"}
"""For classes of blocks without a style of their own, the class whose style they use."""

OPERATORS = {
    "SUM": ("signs", "++", {"-": "−"}),
    "PROD": ("ops", "**", {"*": "×", "/": "÷"}),
}
"""For types whose inputs are operands: the parameter with an operator for each input, its default,
and how an operator is drawn."""
_NAMES = {
    "PID": ("x", "x*"),
    "PID_S": ("x", "x*"),
    "SCOPEXY": ("x", "y"),
    "TRANSFORM_VECTOR": ("T", "p"),
    "INVERSE": ("inv", "cond"),
}
"""Labels of two ports that have numbers in bdsim 1.4, and a meaning each."""


def draw(diagram: Any) -> Picture:
    """The picture of a Diagram or a bdsim BlockDiagram. Constants that only fill an unwired input
    ('plant.tau0=0'), and audits without wires, are not drawn.
    """
    bd = getattr(diagram, "bd", diagram)
    read = {id(wire.start.block) for wire in bd.wirelist}
    blocks = [
        block
        for block in bd.blocklist
        if "=0" not in block.name and (id(block) in read or not is_audit(block))
    ]
    index = {id(block): i for i, block in enumerate(blocks)}
    edges = [
        Edge(index[id(wire.start.block)], output, index[id(wire.end.block)], port)
        for wire in bd.wirelist
        if id(wire.start.block) in index and id(wire.end.block) in index
        for output, port in _ports(wire)
    ]
    drawing: DrawingSection = getattr(diagram, "drawing", NO_DRAWING)
    boxes = [_box(block, drawing.looks.get(block.name, PLAIN)) for block in blocks]
    layout = arrange_faced([box.box for box in boxes], edges)
    title = str(getattr(diagram, "name", "") or "")
    rectangles = {
        str(block.name): (x, y, x + box.box.width, y + box.box.height)
        for block, box, (x, y) in zip(blocks, boxes, layout.corners, strict=True)
    }
    areas, notes = _areas(drawing, rectangles), _notes(drawing, rectangles)
    layout, (dx, dy) = with_room(
        layout, [*(one.bounds for one in areas), *(one.bounds for one in notes)]
    )
    behind = [shape for area in areas for shape in area.at(dx, dy).shapes()]
    picture = sheet(boxes, edges, layout, "" if title == "main" else title, behind)
    over = [shape for note in notes for shape in note.at(dx, dy).shapes()]
    return replace(picture, shapes=[*picture.shapes, *over]) if over else picture


def _areas(drawing: DrawingSection, boxes: Mapping[str, Rectangle]) -> list[Area]:
    """The areas around the boxes that are drawn, those that others lie in first."""
    members = [frozenset(area.blocks) & boxes.keys() for area in drawing.areas]
    found = []
    for area, names in zip(drawing.areas, members, strict=True):
        if names:
            depth = depth_of(names, members)
            bounds = around([boxes[name] for name in names], area.title, depth)
            found.append((depth, Area(area.title, area.colour, bounds)))
    return [area for _, area in sorted(found, key=lambda each: -each[0])]


def _notes(drawing: DrawingSection, boxes: Mapping[str, Rectangle]) -> list[Note]:
    found = []
    for note in drawing.notes:
        left, top, *_ = boxes.get(note.by or "", (0.0, 0.0))
        found.append(Note(note.text, left + note.at[0] / PIXELS, top + note.at[1] / PIXELS))
    return found


def _ports(wire: Any) -> list[tuple[int, int]]:
    """The pairs (output, input) that a wire of bdsim connects."""
    return list(zip(wire.start.portlist, wire.end.portlist, strict=True))


def _box(block: Any, drawn: LookSection = PLAIN) -> NamedBox:
    """A block with its texts."""
    kind = str(block.type).upper()
    operators = attribute(block, OPERATORS[kind][0]) if kind in OPERATORS else None
    names = [[port.name for port in ports(block)] for ports in (input_ports, output_ports)]
    inputs = _with_conditions(block, port_labels(kind, names[0], operators))
    outputs = port_labels(kind, names[1])
    look = CLASSES.get(block.blockclass, block.blockclass)
    tint = drawn.colour or ""
    return named_box(block.name, kind, look, inputs, outputs, drawn.facing, tint, named=drawn.name)


def port_labels(kind: str, names: Sequence[str], operators: object = None) -> tuple[str, ...]:
    """The texts at the ports of one side of a block: the operators of a sum or product; names;
    empty for ports that only have numbers. kind: the type of the block; operators: the value of its
    parameter of OPERATORS."""
    if kind in OPERATORS and len(names) > 1:
        _, default, shown = OPERATORS[kind]
        signs = default if operators is None else operators
        if isinstance(signs, str) and len(signs) == len(names):
            return tuple(shown.get(sign, sign) for sign in signs)
    if tuple(names) == ("0", "1") and kind in _NAMES:
        return _NAMES[kind]
    return tuple("" if name.isdigit() else name for name in names)


def _with_conditions(block: Any, texts: tuple[str, ...]) -> tuple[str, ...]:
    """The labels of inputs; an input that controls a conditional subsystem also shows the kind of
    condition.
    """
    names, said = [port.name for port in input_ports(block)], list(texts)
    for kind in CONDITIONS:
        section = getattr(conditions_of(block), kind)
        if section is not None:
            k = names.index(section.by)
            said[k] = f"{said[k]} ({kind})".strip()
    return tuple(said)
