"""Draws a diagram: blocks as boxes, wires as right-angled lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spart_blocks.block_support.ports import Port, attribute, input_ports, output_ports
from spart_blocks.diagram.build.companions import is_audit
from spart_blocks.diagram.written.conditions import CONDITIONS, conditions_of
from spart_blocks.drawing.boxes import NamedBox, named_box, sheet
from spart_blocks.drawing.layout import Edge, arrange
from spart_blocks.drawing.picture import Picture

CLASSES = {"graphics": "sink", "transfer": "continuous", "clocked": "sampled"}
"""For classes of blocks without a style of their own, the class whose style they use."""


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
    inputs = _port_texts(input_ports(block), attribute(block, "signs"))
    inputs = _with_conditions(block, inputs)
    outputs = _port_texts(output_ports(block))
    look = CLASSES.get(block.blockclass, block.blockclass)
    return named_box(block.name, str(block.type).upper(), look, inputs, outputs)


def _port_texts(ports: Sequence[Port], signs: object = None) -> tuple[str, ...]:
    """The labels of ports: names, or a sum's signs; empty for ports that only have numbers."""
    if isinstance(signs, str) and len(signs) == len(ports):
        return tuple(sign.replace("-", "−") for sign in signs)
    return tuple("" if port.name.isdigit() else port.name for port in ports)


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
