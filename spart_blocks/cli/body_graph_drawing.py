"""The graph of a robot's bodies and joints as a picture: its tree by levels, and its chords.

Bodies are boxes, a column for each level, the ground first. A joint is a line with an arrow in the
user's direction, in another colour if that is against the tree. A virtual body has a dashed
outline, and a dashed line, its chord, to the body that it represents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.diagram.diagram_drawing import (
    GRID,
    MARGIN,
    MUTED,
    WIRE,
    canvas,
    paint_title,
    picture_format,
    text_inches,
    write_picture,
)
from spart_blocks.robot.graph import BodiesGraph, GraphBody, GraphJoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME_SIZE, JOINT_SIZE = 9.0, 7.0
HEIGHT, PITCH = 3.0, 5.0  # of a box, and from one row to the next [grid]
LEGEND = 30.0  # what the lines below the title take [grid]
STUB = 2.0  # from a box to where its joints part
FLIPPED, CHORD = "#B4471B", "#8159B3"
LOOKS = {
    "ground": ("#F1F2F4", "#7B828E"),
    "body": ("#EAF1FB", "#4472B0"),
    "virtual": ("#FFFFFF", CHORD),
}
"""Fill and edge of a box."""


@dataclass(frozen=True)
class BoxPlace:
    """The position of a body's box: left edge, width, and middle [grid]."""

    x: float
    width: float
    y: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.width


def draw_graph(graph: BodiesGraph, title: str, path: str | Path | None = None) -> Figure:
    """Draw bodies and joints, and write the picture to path if one is given: .svg, .png or
    .pdf. Returns the Matplotlib figure."""
    chosen = picture_format(path)
    places = _places(graph)
    width = max(place.right for place in places.values()) + STUB
    height = max(place.y for place in places.values()) + HEIGHT
    width = max(width, text_inches(title, 10.0, "bold") / GRID, LEGEND)
    top = MARGIN + 4
    figure, axis = canvas(width, height, top)
    paint_title(axis, title, -top + 1.5)
    _paint_legend(axis, graph, -top + 3.5)
    for chord in graph.chords:
        _paint_chord(axis, chord.joint, places[chord.parent], places[chord.child])
    for joint in graph.joints:
        _paint_joint(axis, joint, places[joint.near], places[joint.far])
    for body in graph.bodies:
        _paint_body(axis, body, places[body.name])
    if path is not None:
        write_picture(figure, path, chosen)
    return figure


# --- where things are ----------------------------------------------------------------------------


def _places(graph: BodiesGraph) -> dict[str, BoxPlace]:
    """A place for each body: its level's column, and the middle of its children's rows."""
    children: dict[str, list[str]] = {body.name: [] for body in graph.bodies}
    for joint in graph.joints:
        children[joint.near].append(joint.far)
    rows = _rows(graph, children)
    widths: dict[int, float] = {}
    gaps: dict[int, float] = {}
    labels = {joint.far: _label(joint) for joint in graph.joints}
    for body in graph.bodies:
        name = text_inches(_text(body), NAME_SIZE, "bold") / GRID + 2
        widths[body.level] = max(widths.get(body.level, 5.0), name)
        label = text_inches(labels.get(body.name, ""), JOINT_SIZE) / GRID
        gaps[body.level] = max(gaps.get(body.level, 0.0), label + STUB + 3)
    left: dict[int, float] = {}
    x = 0.0
    for level in sorted(widths):
        x += gaps[level] if level else 0.0
        left[level] = x
        x += widths[level]
    return {b.name: BoxPlace(left[b.level], widths[b.level], rows[b.name]) for b in graph.bodies}


def _rows(graph: BodiesGraph, children: Mapping[str, list[str]]) -> dict[str, float]:
    """The middle of each body's box [grid]: leaves below each other, others between theirs."""
    leaves: list[str] = []
    waiting = [graph.bodies[0].name]
    while waiting:
        name = waiting.pop()
        if not children[name]:
            leaves.append(name)
        waiting += reversed(children[name])
    rows = {name: HEIGHT / 2 + PITCH * i for i, name in enumerate(leaves)}
    for body in reversed(graph.bodies):  # by level, so that a body's children come before it
        below = [rows[name] for name in children[body.name]]
        if below:
            rows[body.name] = (min(below) + max(below)) / 2
    return rows


def _text(body: GraphBody) -> str:
    return body.name if body.of is None else f"{body.name} = {body.of}"


def _label(joint: GraphJoint) -> str:
    return f"{joint.name}  {joint.kind}"


# --- painting ------------------------------------------------------------------------------------


def _paint_legend(axis: Axes, graph: BodiesGraph, y: float) -> None:
    told = [(FLIPPED, "against the tree")] * any(joint.flipped for joint in graph.joints)
    told += [(CHORD, "cut: a virtual body is where its body is")] * bool(graph.chords)
    x = 0.0
    for colour, text in told:
        axis.text(x, y, text, size=JOINT_SIZE, color=colour, va="center", parse_math=False)
        x += text_inches(text, JOINT_SIZE) / GRID + 2


def _paint_joint(axis: Axes, joint: GraphJoint, near: BoxPlace, far: BoxPlace) -> None:
    colour = FLIPPED if joint.flipped else WIRE
    bend = near.right + STUB
    gid = f"joint {joint.name}" + (" flipped" if joint.flipped else "")
    axis.plot(
        [near.right, bend, bend, far.x], [near.y, near.y, far.y, far.y],
        color=WIRE, linewidth=0.9, gid=gid, zorder=2, solid_joinstyle="round",
    )  # fmt: skip
    if joint.flipped:
        _arrow(axis, bend + 0.2, far.y, -1, colour)
        axis.plot([bend, far.x], [far.y, far.y], color=colour, linewidth=0.9, zorder=2.5)
    else:
        _arrow(axis, far.x, far.y, 1, colour)
    style: dict[str, Any] = {"size": JOINT_SIZE, "ha": "center", "va": "bottom", "zorder": 5}
    middle = (bend + far.x) / 2
    axis.text(middle, far.y - 0.35, _label(joint), color=colour, parse_math=False, **style)


def _arrow(axis: Axes, x: float, y: float, way: int, colour: str) -> None:
    """A head with its tip at x, y that points right (1) or left (-1)."""
    back = x - 0.95 * way
    axis.fill([x, back, back], [y, y - 0.4, y + 0.4], color=colour, linewidth=0, zorder=3)


def _paint_chord(axis: Axes, joint: str, virtual: BoxPlace, body: BoxPlace) -> None:
    """A dashed line: round the right edges within a column, else behind the boxes."""
    style: dict[str, Any] = {"color": CHORD, "linewidth": 1.0, "linestyle": (0, (4, 2))}
    if virtual.x == body.x:
        bend = body.right + STUB / 2
        xs, ys = [virtual.right, bend, bend, body.right], [virtual.y, virtual.y, body.y, body.y]
    else:
        xs, ys = [virtual.x + 1, body.right - 1], [virtual.y, body.y]
    axis.plot(xs, ys, gid=f"chord {joint}", zorder=1, **style)


def _paint_body(axis: Axes, body: GraphBody, place: BoxPlace) -> None:
    from matplotlib.patches import FancyBboxPatch

    look = "virtual" if body.of else "ground" if body.index < 0 else "body"
    fill, edge = LOOKS[look]
    outline = FancyBboxPatch(
        (place.x, place.y - HEIGHT / 2), place.width, HEIGHT,
        boxstyle="round,pad=0,rounding_size=0.8", facecolor=fill, edgecolor=edge, linewidth=1.1,
        linestyle="--" if body.of else "-", zorder=4,
    )  # fmt: skip
    outline.set_gid(f"{look} {body.name}")
    axis.add_patch(outline)
    colour = MUTED if body.of else "#1F2530"
    axis.text(
        place.x + place.width / 2, place.y, _text(body), size=NAME_SIZE, weight="bold",
        color=colour, ha="center", va="center", zorder=5, parse_math=False,
    )  # fmt: skip
