"""Boxes with texts and ports, and the wires between them: their sizes, and their shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import Any

from spart_blocks.drawing.annotations import TINTS
from spart_blocks.drawing.faced import WAYS, is_upright, port_of
from spart_blocks.drawing.layout import Box, Edge, Layout
from spart_blocks.drawing.picture import (
    INK,
    MARGIN,
    MUTED,
    Dot,
    Frame,
    Line,
    Picture,
    Point,
    Shape,
    Text,
    arrow_to,
    text_width,
    title,
    title_width,
    widest,
)

PORT_PITCH = 2
NAME_SIZE, KIND_SIZE, PORT_SIZE = 9.0, 6.5, 6.5
LEAST_WIDTH, LEAST_HEIGHT = 8, 6
LABEL_ROW = 1
"""Height of the texts at ports above or below a box."""
BARE = 1.4
"""Space between the texts in the middle of a box and a side without texts at its ports."""
DOT = 0.29


@dataclass(frozen=True)
class Outline:
    """The colours of a box, and the line around it."""

    fill: str
    edge: str
    line: float = 1.1
    dashes: tuple[float, ...] = ()


@dataclass(frozen=True)
class Look(Outline):
    """How boxes of a kind are drawn. cut: the cost of drawing a wire from such a box as feedback,
    see `layout.Box`."""

    cut: float = 3.0


LOOKS = {
    "source": Look("#E9F5EC", "#4B8B5C"),
    "sink": Look("#F1F2F4", "#7B828E"),
    "function": Look("#EAF1FB", "#4472B0"),
    "continuous": Look("#FFF3E0", "#C27C1A", cut=1.0),
    "sampled": Look("#F3ECFA", "#8159B3", cut=2.0),
    "subsystem": Look("#FFFFFF", "#333B47"),
}


def look_of(name: str) -> Look:
    """The look of this name; by default that of a function."""
    return LOOKS.get(name, LOOKS["function"])


@dataclass(frozen=True)
class NamedBox:
    """A box with its texts: its name, under it its kind, and those at its ports. look: a key of
    LOOKS. centre: of the name, from the left edge. tint: a key of TINTS in place of the colours of
    its look; empty for none. named: whether its name is drawn."""

    name: str
    kind: str
    look: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    box: Box
    centre: float
    tint: str = ""
    named: bool = True


def named_box(
    name: str,
    kind: str,
    look: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    facing: str = "right",
    tint: str = "",
    named: bool = True,
) -> NamedBox:
    """A box of the size that these texts need."""
    width = text_width(name, NAME_SIZE, bold=True) if named else 0.0
    middle = max(width, text_width(kind, KIND_SIZE))
    sides = widest(inputs, PORT_SIZE), widest(outputs, PORT_SIZE)
    ports, cut = (len(inputs), len(outputs)), look_of(look).cut
    if is_upright(facing):
        box = upright_box(middle, sides, ports, cut=cut, facing=facing)
        return NamedBox(name, kind, look, inputs, outputs, box, box.width / 2, tint, named)
    left, right = (width + 1.8 if width else BARE for width in sides)
    box = replace(sized_box(left + middle + right, ports, cut=cut), facing=facing)
    if facing == "left":
        left, right = right, left
    centre = left + (box.width - left - right) / 2
    return NamedBox(name, kind, look, inputs, outputs, box, centre, tint, named)


@lru_cache(maxsize=4096)
def sized_box(
    width: float, ports: tuple[int, int], least_height: int = LEAST_HEIGHT, cut: float = 3.0
) -> Box:
    """A box that is at least so wide. ports: how many inputs and outputs it has."""
    height = max(least_height, PORT_PITCH * max(ports) + 2)
    inputs, outputs = (
        tuple(height // 2 + PORT_PITCH * i - (count - 1) for i in range(count)) for count in ports
    )
    return Box(max(ceil(width), LEAST_WIDTH), height, inputs, outputs, cut)


def upright_box(
    middle: float,
    labels: tuple[float, float],
    ports: tuple[int, int],
    least_height: int = LEAST_HEIGHT,
    cut: float = 3.0,
    facing: str = "down",
) -> Box:
    """A box with its ports above and below it. middle: the width of the texts between them. labels:
    the widths of the widest texts at inputs and at outputs, 0 without any."""
    pitches = [max(PORT_PITCH, 2 * ceil((width + 1) / 2)) for width in labels]
    across = max(pitch * count for pitch, count in zip(pitches, ports, strict=True))
    width = max(ceil(middle + 2 * BARE), across, LEAST_WIDTH)
    inputs, outputs = (
        tuple(width // 2 + pitch * k - pitch * (count - 1) // 2 for k in range(count))
        for pitch, count in zip(pitches, ports, strict=True)
    )
    height = least_height + sum(LABEL_ROW for label in labels if label)
    return Box(width, height, inputs, outputs, cut, facing)


def sheet(
    boxes: Sequence[NamedBox],
    edges: Sequence[Edge],
    layout: Layout,
    name: str,
    behind: Iterable[Shape] = (),
) -> Picture:
    """The picture of boxes and wires that are laid out. name: its title, none if empty. behind: the
    shapes behind them."""
    top = MARGIN + (2 if name else 0)
    shapes: list[Shape] = [title(name, -top + 1.5)] if name else []
    shapes += behind
    for edge, points in zip(edges, layout.routes, strict=True):
        shapes += wire(edge, points, boxes)
    for number, (x, y) in enumerate(layout.dots):
        shapes.append(Dot(x, y, DOT, name=f"dot-{number}"))
    for box, (x, y) in zip(boxes, layout.corners, strict=True):
        shapes += box_shapes(box, x, y)
    return Picture(max(layout.width, title_width(name), 4.0), layout.height, shapes, top)


def wire(
    edge: Edge,
    points: Sequence[Point],
    boxes: Sequence[NamedBox],
    colour: str = INK,
    width: float = 0.9,
    dashes: tuple[float, ...] = (),
) -> Iterator[Shape]:
    """A wire through these points, with an arrow at its end."""
    source, target = boxes[edge.source].name, boxes[edge.target].name
    name = f"wire {source}[{edge.output}] -> {target}[{edge.input}]"
    (x, y), way = points[-1], WAYS[boxes[edge.target].box.facing]
    yield Line([*points[:-1], (x - 0.6 * way[0], y - 0.6 * way[1])], colour, width, dashes, name)
    yield arrow_to((x, y), way, colour=colour)


def box_shapes(
    box: NamedBox, x: float, y: float, outline: Outline | None = None
) -> Iterator[Shape]:
    """A box with its left upper corner at x, y. outline: in place of that of its look."""
    look, size = look_of(box.look), box.box
    if box.tint:
        look = replace(look, fill=TINTS[box.tint][0], edge=TINTS[box.tint][1])
    yield framed(outline or look, x, y, size.width, size.height, name=f"block {box.name}")
    if box.look == "subsystem":
        inner = size.width - 0.8, size.height - 0.8
        yield Frame(x + 0.4, y + 0.4, *inner, look.fill, look.edge, 0.6, radius=0.5)
    middle, centre = y + size.height / 2, x + box.centre
    if box.named:
        yield Text(centre, middle - 0.75, box.name, NAME_SIZE, bold=True)
    yield Text(centre, middle + (1.05 if box.named else 0), box.kind, KIND_SIZE, MUTED)
    sides = (False, box.inputs, size.inputs), (True, box.outputs, size.outputs)
    for output, texts, offsets in sides:
        for text, offset in zip(texts, offsets, strict=True):
            if text:
                yield _port_text(text, size, output, offset, (x, y), look.edge)


def framed(outline: Outline, x: float, y: float, width: float, height: float, **more: Any) -> Frame:
    """A frame with this outline."""
    return Frame(
        x, y, width, height, outline.fill, outline.edge, outline.line, outline.dashes, **more
    )


def _port_text(text: str, box: Box, output: bool, offset: int, corner: Point, colour: str) -> Text:
    """The text at a port, within the box."""
    x, y = port_of(box, output, offset)
    (right, down), inwards = WAYS[box.facing], -1 if output else 1
    at = corner[0] + x + 0.8 * right * inwards, corner[1] + y + 0.9 * down * inwards
    align = "center" if down else "left" if right * inwards > 0 else "right"
    return Text(*at, text, PORT_SIZE, colour, align=align)
