"""A diff as a picture: both diagrams in one layout, with what was added, removed and changed.

Colours are told apart by shape too: a sign in the corner of a block, dashes of what is removed,
thick lines of what is added.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.diagram.diagram_drawing import (
    CLASSES,
    LOOKS,
    MARGIN,
    NAME_SIZE,
    WIRE,
    Figment,
    canvas,
    figment_of,
    paint_block,
    paint_title,
    paint_wire,
    picture_format,
    rendered,
    write_picture,
)
from spart_blocks.drawing.layout import Edge, Layout, arrange
from spart_blocks.versions.differences.sheets import SLOT
from spart_blocks.versions.differences.union import State, Union, UnionBlock, UnionWire
from spart_blocks.versions.differences.units import look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Look:
    """How a state is drawn: its colours, its sign, its word in the legend, and its lines."""

    edge: str
    fill: str
    sign: str
    word: str
    width: float
    dashes: Any = "-"


STATES: Mapping[State, Look] = {
    "common": Look("#9AA1AC", "#F7F8F9", "", "in both", 0.9),
    "added": Look("#1B7F3B", "#DDF3E3", "+", "added", 2.0),
    "removed": Look("#B3261E", "#FBE3E1", "−", "removed", 1.5, (0, (4, 2.5))),
    "changed": Look("#A15C00", "#FFF0D6", "~", "changed", 2.0, (0, (7, 1.5, 1.5, 1.5))),
}
_GAP = 5
_LEGEND = 16


@dataclass(frozen=True)
class _Panel:
    union: Union
    figments: tuple[Figment, ...]
    edges: tuple[Edge, ...]
    layout: Layout


def draw_unions(unions: Sequence[Union], title: str) -> Figure:
    """The figure of these sheets, one below the other, with a legend."""
    panels = [_panel(one) for one in unions]
    width = max([panel.layout.width for panel in panels] + [_LEGEND * len(STATES)])
    heights = [panel.layout.height + (3 if _heading(panel.union) else 0) for panel in panels]
    figure, axis = canvas(width, sum(heights) + _GAP * len(panels), MARGIN + 2)
    paint_title(axis, title, -MARGIN - 0.5)
    y = 0.0
    for panel, height in zip(panels, heights, strict=True):
        heading = _heading(panel.union)
        if heading:
            paint_title(axis, heading, y + 0.8)
        _paint(axis, panel, y + (3 if heading else 0))
        y += height + _GAP
    _legend(axis, y - 1)
    return figure


def write_unions(unions: Sequence[Union], title: str, path: str | Path) -> Path:
    """Draw into a file: .svg, .png or .pdf. Raises InputError where it cannot be written."""
    chosen = picture_format(path)
    write_picture(draw_unions(unions, title), path, chosen)
    return Path(path)


def svg_of(unions: Sequence[Union], title: str) -> bytes:
    """The picture as SVG."""
    return rendered(draw_unions(unions, title), "svg")


def _heading(union: Union) -> str:
    hidden = f"{union.hidden} blocks that are the same are not drawn" if union.hidden else ""
    return ": ".join(text for text in (union.title, hidden) if text)


def _panel(union: Union) -> _Panel:
    figments = tuple(_figment(block) for block in union.blocks)
    edges = tuple(Edge(one.source, one.output, one.target, one.input) for one in union.wires)
    return _Panel(union, figments, edges, arrange([one.box for one in figments], list(edges)))


def _figment(block: UnionBlock) -> Figment:
    look = "subsystem"
    if not block.piece.uses and block.piece.kind != SLOT:
        look = look_of(block.piece.kind)
    look = CLASSES.get(look, look)
    signs = block.piece.parameters.get("signs")
    inputs = block.inputs
    if isinstance(signs, str) and len(signs) == len(inputs):
        inputs = tuple(sign.replace("-", "−") for sign in signs)
    kind = block.kind.upper() if "." not in block.kind else block.kind
    return figment_of(
        block.name, kind, look if look in LOOKS else "function", inputs, block.outputs
    )


def _paint(axis: Axes, panel: _Panel, below: float) -> None:
    order = {"common": 0, "removed": 1, "changed": 2, "added": 3}
    drawn = zip(panel.union.wires, panel.edges, panel.layout.routes, strict=True)
    for wire, edge, points in sorted(drawn, key=lambda one: order[one[0].state]):
        _paint_wire(axis, panel, wire, edge, [(x, y + below) for x, y in points])
    dotted = _dotted(panel)
    for x, y in panel.layout.dots:
        axis.plot([x], [y + below], "o", color=dotted.get((x, y), WIRE), markersize=3.2, zorder=3)
    for block, figment, (x, y) in zip(
        panel.union.blocks, panel.figments, panel.layout.corners, strict=True
    ):
        look = STATES[block.state]
        outline = {
            "facecolor": look.fill,
            "edgecolor": look.edge,
            "linewidth": look.width,
            "linestyle": look.dashes,
        }
        paint_block(axis, figment, x, y + below, outline)
        if look.sign:
            _sign(axis, look, x, y + below)


def _dotted(panel: _Panel) -> dict[tuple[float, float], str]:
    """The colours of the branches where all wires are of one state."""
    states: dict[tuple[float, float], set[State]] = {}
    for wire, points in zip(panel.union.wires, panel.layout.routes, strict=True):
        for point in points:
            states.setdefault((float(point[0]), float(point[1])), set()).add(wire.state)
    alone = {point: next(iter(found)) for point, found in states.items() if len(found) == 1}
    return {point: STATES[state].edge for point, state in alone.items() if state != "common"}


def _paint_wire(
    axis: Axes, panel: _Panel, wire: UnionWire, edge: Edge, points: list[tuple[float, float]]
) -> None:
    look = STATES[wire.state]
    style: dict[str, Any] = {"linewidth": 0.9 if wire.state == "common" else look.width}
    if look.dashes != "-":
        style |= {"linestyle": look.dashes, "dash_capstyle": "butt"}
    if wire.state != "common":
        style["zorder"] = 2.5
    colour = WIRE if wire.state == "common" else look.edge
    paint_wire(axis, edge, points, panel.figments, colour, **style)
    if look.sign:
        x, y = _middle(points) if wire.state == "removed" else (points[-1][0] - 1.9, points[-1][1])
        _sign(axis, look, x, y, 0.55)


def _middle(points: list[tuple[float, float]]) -> tuple[float, float]:
    """The middle of the longest part of a wire: at its end it may lie under an added one."""
    a, b = max(pairwise(points), key=lambda ends: math.dist(*ends))
    return (a[0] + b[0]) / 2, (a[1] + b[1]) / 2


def _sign(axis: Axes, look: Look, x: float, y: float, radius: float = 0.8) -> None:
    """The sign of a state in a circle."""
    from matplotlib.patches import Circle

    axis.add_patch(Circle((x, y), radius, facecolor=look.edge, edgecolor="white", lw=0.8, zorder=6))
    axis.text(
        x, y, look.sign, size=6.5 * radius / 0.7, weight="bold", color="white", ha="center",
        va="center_baseline" if look.sign == "~" else "center", zorder=7, parse_math=False,
    )  # fmt: skip


def _legend(axis: Axes, y: float) -> None:
    """A box and a wire of each state."""
    from matplotlib.patches import FancyBboxPatch

    for k, (state, look) in enumerate(STATES.items()):
        x = k * _LEGEND
        axis.add_patch(
            FancyBboxPatch(
                (x, y - 0.9),
                2.8,
                1.8,
                boxstyle="round,pad=0,rounding_size=0.5",
                facecolor=look.fill,
                edgecolor=look.edge,
                linewidth=look.width,
                linestyle=look.dashes,
                zorder=4,
            )
        )
        if look.sign:
            _sign(axis, look, x, y - 0.9)
        if state != "changed":  # no wire is
            colour = WIRE if state == "common" else look.edge
            axis.plot([x + 3.2, x + 6], [y, y], color=colour, lw=look.width, linestyle=look.dashes)
        axis.text(x + 6.6, y, look.word, size=NAME_SIZE - 1, va="center", color=WIRE)
