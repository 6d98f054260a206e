"""The graph of a robot's bodies and joints as a picture: its tree by levels, and its chords.

Bodies are boxes, a column for each level, the ground first. A joint is a line with an arrow in the
user's direction, in another colour if that is against the tree. A virtual body has a dashed
outline, and a dashed line, its chord, to the body that it represents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spart_blocks.drawing.boxes import Outline, framed
from spart_blocks.drawing.picture import (
    DARK,
    INK,
    MARGIN,
    MUTED,
    Line,
    Picture,
    Shape,
    Text,
    arrow_head,
    row_of_texts,
    text_width,
    title,
    title_width,
)
from spart_blocks.robot.graph import BodiesGraph, GraphBody, GraphJoint

NAME_SIZE, JOINT_SIZE = 9.0, 7.0
HEIGHT, PITCH = 3.0, 5.0  # of a box, and from one row to the next [grid]
LEGEND = 30.0  # what the lines below the title take [grid]
STUB = 2.0  # from a box to where its joints part
FLIPPED, CHORD = "#B4471B", "#8159B3"
DASHES = (3.7, 1.6)
LOOKS = {
    "ground": Outline("#F1F2F4", "#7B828E"),
    "body": Outline("#EAF1FB", "#4472B0"),
    "virtual": Outline("#FFFFFF", CHORD, dashes=DASHES),
}


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


def draw_graph(graph: BodiesGraph, name: str) -> Picture:
    """The picture of bodies and joints. name: its title."""
    places = _places(graph)
    width = max(place.right for place in places.values()) + STUB
    height = max(place.y for place in places.values()) + HEIGHT
    top = MARGIN + 4
    notes = [(FLIPPED, "against the tree")] * any(joint.flipped for joint in graph.joints)
    notes += [(CHORD, "cut: a virtual body is where its body is")] * bool(graph.chords)
    shapes: list[Shape] = [title(name, -top + 1.5)]
    shapes += row_of_texts(notes, -top + 3.5, JOINT_SIZE)
    for chord in graph.chords:
        shapes.append(_chord(chord.joint, places[chord.parent], places[chord.child]))
    for joint in graph.joints:
        shapes += _joint(joint, places[joint.near], places[joint.far])
    for body in graph.bodies:
        shapes += _body(body, places[body.name])
    for joint in graph.joints:
        shapes.append(_joint_text(joint, places[joint.near], places[joint.far]))
    return Picture(max(width, title_width(name), LEGEND), height, shapes, top)


# --- where things are ----------------------------------------------------------------------------


def _places(graph: BodiesGraph) -> dict[str, BoxPlace]:
    """The position of each body: in the column of its level, at the height given by `_rows`."""
    children: dict[str, list[str]] = {body.name: [] for body in graph.bodies}
    for joint in graph.joints:
        children[joint.near].append(joint.far)
    rows = _rows(graph, children)
    widths: dict[int, float] = {}
    gaps: dict[int, float] = {}
    labels = {joint.far: _label(joint) for joint in graph.joints}
    for body in graph.bodies:
        name = text_width(_text(body), NAME_SIZE, bold=True) + 2
        widths[body.level] = max(widths.get(body.level, 5.0), name)
        label = text_width(labels.get(body.name, ""), JOINT_SIZE)
        gaps[body.level] = max(gaps.get(body.level, 0.0), label + STUB + 3)
    left: dict[int, float] = {}
    x = 0.0
    for level in sorted(widths):
        x += gaps[level] if level else 0.0
        left[level] = x
        x += widths[level]
    return {b.name: BoxPlace(left[b.level], widths[b.level], rows[b.name]) for b in graph.bodies}


def _rows(graph: BodiesGraph, children: Mapping[str, list[str]]) -> dict[str, float]:
    """The height of each body's box [grid]: leaves are one below another, other bodies centred on
    their children."""
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


# --- shapes --------------------------------------------------------------------------------------


def _joint(joint: GraphJoint, near: BoxPlace, far: BoxPlace) -> Iterator[Shape]:
    bend, flipped = near.right + STUB, joint.flipped
    name = f"joint {joint.name}" + (" flipped" if flipped else "")
    way = [(near.right, near.y), (bend, near.y), (bend, far.y), (far.x, far.y)]
    yield Line(way, name=name)
    if flipped:
        yield Line([(bend, far.y), (far.x, far.y)], FLIPPED)
        yield arrow_head((bend + 0.2, far.y), -1, 0.4, FLIPPED)
    else:
        yield arrow_head((far.x, far.y), 1, 0.4)


def _joint_text(joint: GraphJoint, near: BoxPlace, far: BoxPlace) -> Text:
    """The name and kind of a joint, above its line."""
    middle, colour = (near.right + STUB + far.x) / 2, FLIPPED if joint.flipped else INK
    return Text(middle, far.y - 0.82, _label(joint), JOINT_SIZE, colour)


def _chord(joint: str, virtual: BoxPlace, body: BoxPlace) -> Line:
    """The dashed line of a chord: along the right edges within a column, otherwise behind the
    boxes."""
    way = [(virtual.x + 1, virtual.y), (body.right - 1, body.y)]
    if virtual.x == body.x:
        bend = body.right + STUB / 2
        ends = (virtual.right, virtual.y), (body.right, body.y)
        way = [ends[0], (bend, virtual.y), (bend, body.y), ends[1]]
    return Line(way, CHORD, 1.0, (4, 2), f"chord {joint}")


def _body(body: GraphBody, place: BoxPlace) -> Iterator[Shape]:
    look = "virtual" if body.of else "ground" if body.index < 0 else "body"
    size = place.x, place.y - HEIGHT / 2, place.width, HEIGHT
    yield framed(LOOKS[look], *size, radius=0.8, name=f"{look} {body.name}")
    colour = MUTED if body.of else DARK
    yield Text(place.x + place.width / 2, place.y, _text(body), NAME_SIZE, colour, bold=True)
