"""Draws a state machine: states as nested boxes, and a line for each transition.

States are stacked vertically, substates inside their state. A transition starts at the right edge
of its state, in a row of its own, with its condition above the line and its actions below. It
joins the vertical line that leads to its target; there is one such line for each target. A dot
with an arrow marks the initial state; an H instead means that the last active state is entered
again (history). The regions of a parallel state have dashed borders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.network.flatten import flatten
from spart_blocks.drawing.charts import (
    ChartLayout,
    StateBox,
    StatePlace,
    TransitionLine,
    lay_out_chart,
    line_at,
    short,
)
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
FILLS = ("#EAF1FB", "#FFFFFF")
EDGE = "#4472B0"
REGION = (3.7, 1.6)
"""The dash pattern of the borders of a parallel state's regions."""
LINES = ("#3B4252", "#B4471B", "#4B8B5C", "#8159B3", "#A26A00", "#2A7F9E")


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
    boxes = [StateBox(one.name, one.parent, _lines(one)) for one in chart.states]
    lines = [TransitionLine(t.source, t.target, *_label(chart, t)) for t in chart.transitions]
    layout = lay_out_chart(boxes, lines, _measured)
    shapes: list[Shape] = [title(name, -2.0)]
    for index in sorted(range(len(boxes)), key=lambda index: chart.states[index].depth):
        shapes += _state(chart, index, boxes[index], layout.places[index])
    for number, target in enumerate(layout.lanes):
        shapes += _lane(boxes, lines, layout, target, LINES[number % len(LINES)])
    for line, row in sorted(zip(lines, layout.rows, strict=True), key=lambda pair: pair[0].source):
        x = layout.edge + 0.9
        shapes.append(Text(x, row - 0.75, line.when, TEXT_SIZE, INK, align="left"))
        shapes.append(Text(x, row + 0.8, line.do, TEXT_SIZE, MUTED, align="left"))
    return Picture(max(layout.width, title_width(name)), layout.height, shapes, MARGIN + 2)


def _measured(text: str, is_name: bool) -> float:
    return text_width(text, NAME_SIZE if is_name else TEXT_SIZE)


def _from(chart: Chart, index: int) -> list[Transition]:
    return [transition for transition in chart.transitions if transition.source == index]


def _label(chart: Chart, transition: Transition) -> tuple[str, str]:
    """The texts above and below the line of a transition: condition, and actions."""
    beside = _from(chart, transition.source)
    number = f"{beside.index(transition) + 1}: " if len(beside) > 1 else ""
    when = short(number + (transition.condition or "at once"))
    return when, short(f"/ {_actions_text(transition.do)}") if transition.do else ""


def _actions_text(actions: Sequence[Action]) -> str:
    return "; ".join(f"{action.variable} = {action.text}" for action in actions)


def _lines(state: State) -> tuple[str, ...]:
    """The actions of a state, a line for each."""
    return tuple(
        short(f"{when}: {_actions_text([action])}")
        for when in ("entry", "during", "exit")
        for action in getattr(state, when)
    )


# Shapes


def _state(chart: Chart, index: int, box: StateBox, place: StatePlace) -> Iterator[Shape]:
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
    for k, line in enumerate(box.lines):
        yield Text(place.x + 1.0, line_at(place, k), line, TEXT_SIZE, "black", align="left")
    first = chart.initial if state.parent is None else chart.states[state.parent].initial
    if index in first and not region:
        remembers = state.parent is not None and chart.states[state.parent].history
        yield from _marker(place, remembers)


def _marker(place: StatePlace, remembers: bool) -> Iterator[Shape]:
    """The marker of an initial state. remembers: whether it is a history (H)."""
    x, y = place.x - 2.2, place.head
    yield from _arrow(x, place.x, y, INK, "initial")
    yield Dot(x, y, 0.76 if remembers else 0.35, "white" if remembers else INK, line=1.0)
    if remembers:
        yield Text(x, y, "H", 6.5, INK)


def _lane(
    boxes: Sequence[StateBox],
    lines: Sequence[TransitionLine],
    layout: ChartLayout,
    target: int,
    colour: str,
) -> Iterator[Shape]:
    """The vertical line to a state, with the transitions that join it."""
    x, place = layout.lanes[target], layout.places[target]
    joining = [
        (line.source, row)
        for line, row in zip(lines, layout.rows, strict=True)
        if line.target == target
    ]
    heights = [place.head, *(row for _, row in joining)]
    yield Line([(x, min(heights)), (x, max(heights))], colour)
    yield from _arrow(x, place.right, place.head, colour)
    for source, row in sorted(joining):
        name = f"transition {boxes[source].name} -> {boxes[target].name}"
        yield Line([(layout.places[source].right, row), (x, row)], colour, name=name)
        yield Dot(x, row, 0.25, colour)


def _arrow(start: float, end: float, y: float, colour: str, name: str = "") -> Iterator[Shape]:
    """A horizontal line to a box, with an arrow head at the end."""
    way = 1.0 if end > start else -1.0
    yield Line([(start, y), (end - 0.6 * way, y)], colour, name=name)
    yield arrow_head((end, y), way, colour=colour)
