"""A diagram as a picture: blocks as boxes, wires as right-angled lines, SVG, PNG or PDF."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.base import html
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.block_support.ports import Port, attribute, input_ports, output_ports
from spart_blocks.diagram.build.companions import is_audit
from spart_blocks.diagram.written.conditions import CONDITIONS, conditions_of
from spart_blocks.drawing.layout import Box, Edge, Layout, arrange
from spart_blocks.results import show_windows
from spart_blocks.results.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "png", "pdf")
GRID = 0.1
"""Inches in a grid unit."""
MARGIN = 3
PITCH = 2
NAME_SIZE, TYPE_SIZE, PORT_SIZE = 9.0, 6.5, 6.5
WIRE, MUTED = "#3B4252", "#6B7280"
LOOKS = {
    "source": ("#E9F5EC", "#4B8B5C"),
    "sink": ("#F1F2F4", "#7B828E"),
    "function": ("#EAF1FB", "#4472B0"),
    "continuous": ("#FFF3E0", "#C27C1A"),
    "sampled": ("#F3ECFA", "#8159B3"),
    "subsystem": ("#FFFFFF", "#333B47"),
}
"""Fill and edge of a block by its class."""
CLASSES = {"graphics": "sink", "transfer": "continuous", "clocked": "sampled"}
CUT = {"continuous": 1.0, "sampled": 2.0}
_MOST_PIXELS = 8_000


@dataclass(frozen=True)
class Figment:
    """A block as drawn: its texts, the texts at its ports, and the size of its box. centre: of the
    name, from the left edge [grid].
    """

    name: str
    kind: str
    look: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    box: Box
    centre: float


def draw(diagram: Any, path: str | Path | None = None, fmt: str | None = None) -> Figure:
    """Draw a Diagram or a bdsim BlockDiagram, and write it to path if one is given.

    fmt: svg, png or pdf, by default as path's suffix says. Constants that only fill an unwired
    input ('plant.tau0=0'), and audits without wires, are not drawn. Returns the Matplotlib figure.
    """
    chosen = picture_format(path, fmt)
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
    figments = [_figment(block) for block in blocks]
    layout = arrange([figment.box for figment in figments], edges)
    title = str(getattr(diagram, "name", "") or "")
    figure = _paint(figments, edges, layout, "" if title == "main" else title)
    if path is not None:
        write_picture(figure, path, chosen)
    return figure


def show(
    diagram: Any, path: str | Path | None = None, make: Callable[..., Figure] = draw
) -> Path | None:
    """See Diagram.show. make: draws the diagram, and writes the picture to a path."""
    if path is not None:
        make(diagram, path)
        return Path(path).expanduser()
    display = html.notebook()
    if display is not None:
        display({"image/svg+xml": rendered(make(diagram), "svg").decode()}, raw=True)
    elif not show_windows([make(diagram)]):
        hint = "name a file instead: diagram.show('diagram.svg')"
        raise InputError(Fault("no window can be opened here", hint=hint))
    return None


def write_picture(figure: Figure, path: str | Path, fmt: str) -> None:
    """Write a figure atomically, with the same bytes each time."""
    write_bytes(Path(path).expanduser(), rendered(figure, fmt))


def picture_format(path: str | Path | None, fmt: str | None = None) -> str:
    """svg, png or pdf: the given one, or that of the path's suffix, svg without any. InputError
    for others."""
    suffix = Path(path).suffix if path is not None else ""
    chosen = (fmt or suffix.removeprefix(".") or "svg").lower()
    if chosen not in FORMATS:
        hint = "choose one of " + ", ".join(FORMATS)
        raise InputError(Fault(f"cannot draw a diagram as {chosen!r}", hint=hint))
    return chosen


def _ports(wire: Any) -> list[tuple[int, int]]:
    """The pairs of output and input that a wire of bdsim joins."""
    return list(zip(wire.start.portlist, wire.end.portlist, strict=True))


# Blocks


def _figment(block: Any) -> Figment:
    """The size of a block for its texts."""
    inputs = _port_texts(input_ports(block), attribute(block, "signs"))
    inputs = _with_conditions(block, inputs)
    outputs = _port_texts(output_ports(block))
    look = CLASSES.get(block.blockclass, block.blockclass)
    return figment_of(block.name, str(block.type).upper(), look, inputs, outputs)


def figment_of(
    name: str, kind: str, look: str, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> Figment:
    """A block of these texts, in a box of the size that they need. look: a key of LOOKS."""
    left, right = (_widest(texts, PORT_SIZE) for texts in (inputs, outputs))
    middle = max(text_inches(name, NAME_SIZE, "bold"), text_inches(kind, TYPE_SIZE))
    pads = [0.08 + width + 0.1 if width else 0.14 for width in (left, right)]
    width = max(ceil((pads[0] + middle + pads[1]) / GRID), 8)
    spare = width * GRID - pads[0] - middle - pads[1]
    height = max(6, PITCH * max(len(inputs), len(outputs)) + 2)
    box = Box(
        width,
        height,
        _offsets(len(inputs), height),
        _offsets(len(outputs), height),
        CUT.get(look, 3.0),
    )
    centre = (pads[0] + spare / 2 + middle / 2) / GRID
    return Figment(name, kind, look, inputs, outputs, box, centre)


def _port_texts(ports: Sequence[Port], signs: object = None) -> tuple[str, ...]:
    """The texts at the ports: names, a sum's signs, nothing for ports with numbers only."""
    if isinstance(signs, str) and len(signs) == len(ports):
        return tuple(sign.replace("-", "−") for sign in signs)
    return tuple("" if port.name.isdigit() else port.name for port in ports)


def _with_conditions(block: Any, texts: tuple[str, ...]) -> tuple[str, ...]:
    """The texts at the inputs, with what they do to a subsystem that runs on conditions."""
    names, said = [port.name for port in input_ports(block)], list(texts)
    for kind in CONDITIONS:
        section = getattr(conditions_of(block), kind)
        if section is not None:
            k = names.index(section.by)
            said[k] = f"{said[k]} ({kind})".strip()
    return tuple(said)


def _offsets(count: int, height: int) -> tuple[int, ...]:
    """How far below the top of a block its ports lie, evenly about the middle."""
    return tuple(height // 2 + PITCH * i - (count - 1) for i in range(count))


def _widest(texts: Sequence[str], size: float) -> float:
    return max((text_inches(text, size) for text in texts), default=0.0)


@lru_cache(maxsize=4096)
def text_inches(text: str, size: float, weight: str = "normal") -> float:
    """The width of a text of a size in points [in]."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight=weight)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72


# Painting


def _paint(
    figments: Sequence[Figment], edges: Sequence[Edge], layout: Layout, title: str
) -> Figure:
    top = MARGIN + (2 if title else 0)
    wide = max(layout.width, text_inches(title, 10.0, "bold") / GRID, 4.0)
    figure, axis = canvas(wide, layout.height, top)
    if title:
        paint_title(axis, title, -top + 1.5)
    for edge, points in zip(edges, layout.routes, strict=True):
        paint_wire(axis, edge, points, figments)
    for number, (x, y) in enumerate(layout.dots):
        axis.plot([x], [y], "o", color=WIRE, markersize=3.2, gid=f"dot-{number}", zorder=3)
    for figment, (x, y) in zip(figments, layout.corners, strict=True):
        paint_block(axis, figment, x, y)
    return figure


def canvas(width: float, height: float, top: float = MARGIN) -> tuple[Figure, Axes]:
    """A figure and its axes, in grid units from the top left corner, with a margin around. top:
    the margin above."""
    from matplotlib.figure import Figure

    size = (width + 2 * MARGIN) * GRID, (height + top + MARGIN) * GRID
    figure = Figure(figsize=size, dpi=150, facecolor="white")
    axis = figure.add_axes((0, 0, 1, 1))
    axis.set_xlim(-MARGIN, width + MARGIN)
    axis.set_ylim(height + MARGIN, -top)
    axis.axis("off")
    return figure, axis


def paint_title(axis: Axes, title: str, y: float) -> None:
    """A title at the left."""
    axis.text(0, y, title, size=10, weight="bold", color=WIRE, va="center", parse_math=False)


def paint_wire(
    axis: Axes,
    edge: Edge,
    points: Sequence[tuple[float, float]],
    figments: Sequence[Figment],
    colour: str = WIRE,
    **look: Any,
) -> None:
    """A wire through these points, with an arrow at its end. look: of its line."""
    source, target = figments[edge.source].name, figments[edge.target].name
    gid = f"wire {source}[{edge.output}] -> {target}[{edge.input}]"
    x, y = points[-1]
    xs, ys = zip(*points[:-1], (x - 0.6, y), strict=True)
    style = {"linewidth": 0.9, "zorder": 2, "solid_joinstyle": "round", "solid_capstyle": "butt"}
    axis.plot(xs, ys, color=colour, gid=gid, **{**style, **look})
    axis.fill([x, x - 0.95, x - 0.95], [y, y - 0.38, y + 0.38], color=colour, linewidth=0, zorder=2)


def paint_block(
    axis: Axes, figment: Figment, x: float, y: float, outline: Mapping[str, Any] | None = None
) -> None:
    """A block with its left upper corner at x, y. outline: of its box, in place of that of its
    class."""
    from matplotlib.patches import FancyBboxPatch

    box = figment.box
    fill, edge = LOOKS.get(figment.look, LOOKS["function"])
    insets = (0.0, 0.4) if figment.look == "subsystem" else (0.0,)
    for inset in insets:
        look: dict[str, Any] = {"facecolor": fill, "edgecolor": edge}
        look["linewidth"] = 1.1 if not inset else 0.6
        patch = FancyBboxPatch(
            (x + inset, y + inset),
            box.width - 2 * inset,
            box.height - 2 * inset,
            boxstyle=f"round,pad=0,rounding_size={0.9 - inset}",
            zorder=4,
            **{**look, **(outline or {} if not inset else {})},
        )
        patch.set_gid(f"block {figment.name}" if not inset else None)
        axis.add_patch(patch)
    middle, centre = y + box.height / 2, x + figment.centre
    style: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 5, "parse_math": False}
    axis.text(
        centre, middle - 0.75, figment.name, size=NAME_SIZE, weight="bold", color="#1F2530", **style
    )
    axis.text(centre, middle + 1.05, figment.kind, size=TYPE_SIZE, color=MUTED, **style)
    sides = (
        (figment.inputs, box.inputs, x + 0.8, "left"),
        (figment.outputs, box.outputs, x + box.width - 0.8, "right"),
    )
    for texts, offsets, at, side in sides:
        for text, offset in zip(texts, offsets, strict=True):
            if text:
                axis.text(at, y + offset, text, size=PORT_SIZE, color=edge, **{**style, "ha": side})


# Files


def rendered(figure: Figure, fmt: str) -> bytes:
    """The picture as bytes, the same each time; SVG keeps its text as text."""
    import matplotlib

    dpi = min(150.0, _MOST_PIXELS / max(figure.get_size_inches()))
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(fmt)
    faster: dict[str, Any] = {"pil_kwargs": {"compress_level": 4}} if fmt == "png" else {}
    image = BytesIO()
    options = {"svg.fonttype": "none", "svg.hashsalt": "spart"}
    with matplotlib.rc_context(options), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(image, format=fmt, dpi=dpi, metadata=metadata, **faster)
    return image.getvalue()
