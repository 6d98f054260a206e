"""Draws a state machine: states as nested boxes, and a line for each transition.

States are stacked vertically, substates inside their state. A transition starts at the right edge
of its state, in a row of its own, with its condition above the line and its actions below. It
joins the vertical line that leads to its target; there is one such line for each target. A dot
with an arrow marks the initial state; an H instead means that the last active state is entered
again (history). The regions of a parallel state have dashed borders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.network.flatten import flatten
from spart_blocks.drawing.picture import (
    INK,
    MARGIN,
    MUTED,
    Dot,
    Frame,
    Line,
    Picture,
    Shape,
    Text,
    arrow_head,
    text_width,
    title,
    title_width,
)
from spart_blocks.state_machines.chart import Action, Chart, State, Transition

NAME_SIZE, TEXT_SIZE = 9.0, 7.0
HEAD, LINE, ROW, GAP = 2.6, 1.5, 3.4, 1.4
"""Heights of a name, a line of text and a transition, and the space between boxes [grid]."""
LEFT, RIGHT = 3.2, 1.0
"""Space between a box and its substates; the left one has room for the initial marker [grid]."""
PITCH = 1.6
"""Distance of the vertical lines that lead to states [grid]."""
LONGEST = 70
FILLS = ("#EAF1FB", "#FFFFFF")
EDGE = "#4472B0"
REGION = (3.7, 1.6)
"""The dash pattern of the borders of a parallel state's regions."""
LINES = ("#3B4252", "#B4471B", "#4B8B5C", "#8159B3", "#A26A00", "#2A7F9E")


@dataclass
class _Place:
    """The position of a state: its box, the height of its middle line, the heights at which its
    transitions start, and its texts.
    """

    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    head: float = 0.0
    rows: list[float] = field(default_factory=list)

    @property
    def right(self) -> float:
        return self.x + self.width


def draw_machine(diagram: Any, block: str) -> Picture:
    """The picture of the chart of a STATE_MACHINE of a diagram. block: its name. Raises InputError
    where the diagram has no such machine.
    """
    nodes = flatten(diagram.bd, diagram.places, diagram.run).nodes
    machines = {n.name: n.block.chart for n in nodes if attribute(n.block, "chart")}
    if block not in machines:
        names = [node.name for node in nodes]
        what = "is no state machine" if block in names else "is not in the diagram"
        hint = did_you_mean(block, machines) or "the diagram has no STATE_MACHINE"
        raise InputError(Fault(f"block {block!r} {what}", hint=hint))
    return draw_chart(machines[block], block)


def draw_chart(chart: Chart, name: str) -> Picture:
    """The picture of a chart. name: its title."""
    leaving = {i: _from(chart, i) for i in range(len(chart.states))}
    places = _places(chart, leaving)
    edge = max(place.right for place in places)
    texts = [text for transition in chart.transitions for text in _label(chart, transition)]
    words = 1.1 * max((text_width(text, TEXT_SIZE) for text in texts), default=0.0)
    targets = _lanes(chart, places, leaving)
    wide = edge + (words + 2.0 + PITCH * (len(targets) + 0.5) if targets else 0.0)
    tall = max(place.y + place.height for place in places)
    shapes: list[Shape] = [title(name, -2.0)]
    for index in sorted(range(len(places)), key=lambda index: chart.states[index].depth):
        shapes += _state(chart, index, places[index])
    for number, target in enumerate(targets):
        lane = edge + words + 1.2 + PITCH * (number + 1), LINES[number % len(LINES)]
        shapes += _lane(chart, places, leaving, target, *lane)
    for index, transitions in leaving.items():
        for row, transition in zip(places[index].rows, transitions, strict=True):
            when, do = _label(chart, transition)
            shapes.append(Text(edge + 0.9, row - 0.75, when, TEXT_SIZE, INK, align="left"))
            shapes.append(Text(edge + 0.9, row + 0.8, do, TEXT_SIZE, MUTED, align="left"))
    return Picture(max(wide, title_width(name)), tall, shapes, MARGIN + 2)


def _from(chart: Chart, index: int) -> list[Transition]:
    return [transition for transition in chart.transitions if transition.source == index]


def _label(chart: Chart, transition: Transition) -> tuple[str, str]:
    """The texts above and below the line of a transition: condition, and actions."""
    beside = _from(chart, transition.source)
    number = f"{beside.index(transition) + 1}: " if len(beside) > 1 else ""
    when = _short(number + (transition.condition or "at once"))
    return when, _short(f"/ {_actions_text(transition.do)}") if transition.do else ""


def _actions_text(actions: Sequence[Action]) -> str:
    return "; ".join(f"{action.variable} = {action.text}" for action in actions)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


# Places


def _places(chart: Chart, leaving: dict[int, list[Transition]]) -> list[_Place]:
    """The positions of all states, with the top-level ones stacked vertically."""
    places = [_Place(0.0, 0.0) for _ in chart.states]
    top = 0.0
    outer = [i for i, state in enumerate(chart.states) if state.parent is None]
    for index in outer:
        _put(chart, leaving, places, index, LEFT, top)
        top = places[index].y + places[index].height + GAP
    _widen(chart, places, outer, max(places[index].right for index in outer))
    return places


def _put(
    chart: Chart,
    leaving: dict[int, list[Transition]],
    places: list[_Place],
    index: int,
    x: float,
    y: float,
) -> None:
    """Place a state with its substates; x, y is the upper left corner."""
    state, place = chart.states[index], places[index]
    place.x, place.y, place.head = x, y, y + HEAD / 2
    lines = _lines(state)
    texts = [*(text_width(line, TEXT_SIZE) for line in lines)]
    texts.append(text_width(state.name, NAME_SIZE) * 1.1 + 3)
    bottom = y + HEAD + LINE * len(lines)
    for _ in leaving[index]:
        place.rows.append(bottom + ROW / 2)
        bottom += ROW
    right = x + 1.1 * max(texts) + 2.0
    for child in state.children:
        _put(chart, leaving, places, child, x + LEFT, bottom + GAP / 2)
        bottom = places[child].y + places[child].height + GAP / 2
        right = max(right, places[child].right + RIGHT)
    place.width, place.height = right - x, bottom + 0.7 - y


def _widen(chart: Chart, places: list[_Place], indices: Sequence[int], right: float) -> None:
    """Extend states to the same right edge, and their substates accordingly."""
    for index in indices:
        places[index].width = right - places[index].x
        _widen(chart, places, chart.states[index].children, right - RIGHT)


def _lines(state: State) -> list[str]:
    """The actions of a state, a line for each."""
    found = []
    for when in ("entry", "during", "exit"):
        actions: tuple[Action, ...] = getattr(state, when)
        found += [_short(f"{when}: {_actions_text([action])}") for action in actions]
    return found


def _lanes(
    chart: Chart, places: Sequence[_Place], leaving: dict[int, list[Transition]]
) -> list[int]:
    """The states that are targets of transitions, in the order of the lengths of their vertical
    lines.
    """

    def length(target: int) -> float:
        rows = _rows_to(places, leaving, target)
        return max(rows) - min(rows)

    targets = dict.fromkeys(transition.target for transition in chart.transitions)
    return sorted(targets, key=length)


def _rows_to(
    places: Sequence[_Place], leaving: dict[int, list[Transition]], target: int
) -> list[float]:
    """The heights at which the vertical line to a state has ends or branches: its arrow, and its
    transitions.
    """
    rows = [
        row
        for index, transitions in leaving.items()
        for row, transition in zip(places[index].rows, transitions, strict=True)
        if transition.target == target
    ]
    return [places[target].head, *rows]


# Shapes


def _state(chart: Chart, index: int, place: _Place) -> Iterator[Shape]:
    """The shapes of a state with its texts, and its marker if it is an initial state."""
    state, region = chart.states[index], chart.is_parallel(chart.states[index].parent)
    fill, dashes = FILLS[state.depth % 2], REGION if region else ()
    yield Frame(
        place.x, place.y, place.width, place.height, fill, EDGE, dashes=dashes, radius=1.0,
        name=f"state {state.name}",
    )  # fmt: skip
    yield Text(place.x + 1.0, place.head, state.name, NAME_SIZE, bold=True, align="left")
    if state.is_leaf:
        number = str(state.first)
        yield Text(place.right - 0.8, place.head, number, TEXT_SIZE, MUTED, align="right")
    for k, line in enumerate(_lines(state)):
        y = place.y + HEAD + LINE * (k + 0.4)
        yield Text(place.x + 1.0, y, line, TEXT_SIZE, "black", align="left")
    first = chart.initial if state.parent is None else chart.states[state.parent].initial
    if index in first and not region:
        remembers = state.parent is not None and chart.states[state.parent].history
        yield from _marker(place, remembers)


def _marker(place: _Place, remembers: bool) -> Iterator[Shape]:
    """The marker of an initial state. remembers: whether it is a history (H)."""
    x, y = place.x - 2.2, place.head
    yield from _arrow(x, place.x, y, INK, "initial")
    yield Dot(x, y, 0.76 if remembers else 0.35, "white" if remembers else INK, line=1.0)
    if remembers:
        yield Text(x, y, "H", 6.5, INK)


def _lane(
    chart: Chart,
    places: Sequence[_Place],
    leaving: dict[int, list[Transition]],
    target: int,
    x: float,
    colour: str,
) -> Iterator[Shape]:
    """The vertical line to a state, with the transitions that join it."""
    rows = _rows_to(places, leaving, target)
    yield Line([(x, min(rows)), (x, max(rows))], colour)
    yield from _arrow(x, places[target].right, places[target].head, colour)
    for index, transitions in leaving.items():
        for row, transition in zip(places[index].rows, transitions, strict=True):
            if transition.target == target:
                name = f"transition {chart.states[index].name} -> {chart.states[target].name}"
                yield Line([(places[index].right, row), (x, row)], colour, name=name)
                yield Dot(x, row, 0.25, colour)


def _arrow(start: float, end: float, y: float, colour: str, name: str = "") -> Iterator[Shape]:
    """A horizontal line to a box, with an arrow head at the end."""
    way = 1.0 if end > start else -1.0
    yield Line([(start, y), (end - 0.6 * way, y)], colour, name=name)
    yield arrow_head((end, y), way, colour=colour)
