"""Draws a diagram: blocks as boxes, wires as right-angled lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spart_blocks.block_support.ports import attribute, input_ports, output_ports
from spart_blocks.diagram.build.companions import is_audit
from spart_blocks.diagram.written.conditions import CONDITIONS, conditions_of
from spart_blocks.drawing.boxes import NamedBox, named_box, sheet
from spart_blocks.drawing.layout import Edge, arrange
from spart_blocks.drawing.picture import Picture

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
    boxes = [_box(block) for block in blocks]
    layout = arrange([box.box for box in boxes], edges)
    title = str(getattr(diagram, "name", "") or "")
    return sheet(boxes, edges, layout, "" if title == "main" else title)


def _ports(wire: Any) -> list[tuple[int, int]]:
    """The pairs (output, input) that a wire of bdsim connects."""
    return list(zip(wire.start.portlist, wire.end.portlist, strict=True))


def _box(block: Any) -> NamedBox:
    """A block with its texts."""
    kind = str(block.type).upper()
    operators = attribute(block, OPERATORS[kind][0]) if kind in OPERATORS else None
    names = [[port.name for port in ports(block)] for ports in (input_ports, output_ports)]
    inputs = _with_conditions(block, port_labels(kind, names[0], operators))
    outputs = port_labels(kind, names[1])
    look = CLASSES.get(block.blockclass, block.blockclass)
    return named_box(block.name, kind, look, inputs, outputs)


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
