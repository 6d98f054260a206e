"""A state machine as a picture: states as nested boxes, and a line for each transition.

States are beneath each other, substates within their state. A transition leaves its state on the
right, in a row of its own with its condition above the line and its actions below, and joins the
line that leads to the state that it enters. A dot with an arrow marks the state that is entered
first, an H one that is entered where it was left. The regions of a parallel state have dashed
borders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.diagram_drawing import (
    GRID,
    MARGIN,
    MUTED,
    WIRE,
    picture_format,
    text_inches,
    write_picture,
)
from spart_blocks.diagram.network.flatten import flatten
from spart_blocks.state_machines.chart import Action, Chart, State, Transition

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME_SIZE, TEXT_SIZE = 9.0, 7.0
HEAD, LINE, ROW, GAP = 2.6, 1.5, 3.4, 1.4
"""Heights of a name, a line of text and a transition, and the space between boxes [grid]."""
LEFT, RIGHT = 3.2, 1.0
"""Space within a box beside its substates; the marker of the first one is on the left [grid]."""
PITCH = 1.6
"""Between the lines that lead to states [grid]."""
LONGEST = 70
FILLS = ("#EAF1FB", "#FFFFFF")
EDGE = "#4472B0"
LINES = ("#3B4252", "#B4471B", "#4B8B5C", "#8159B3", "#A26A00", "#2A7F9E")


@dataclass
class _Place:
    """Where a state is drawn: its box, the height of its middle line, where its transitions leave,
    and its texts."""

    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    head: float = 0.0
    rows: list[float] = field(default_factory=list)

    @property
    def right(self) -> float:
        return self.x + self.width


def draw_machine(
    diagram: Any, block: str, path: str | Path | None = None, fmt: str | None = None
) -> Figure:
    """Draw the chart of a STATE_MACHINE of a diagram, and write it to path if one is given. block:
    its name. Returns the Matplotlib figure. Raises InputError where the diagram has no such
    machine.
    """
    nodes = flatten(getattr(diagram, "bd", diagram)).nodes
    machines = {n.name: n.block.chart for n in nodes if attribute(n.block, "chart")}
    if block not in machines:
        names = [node.name for node in nodes]
        what = "is no state machine" if block in names else "is not in the diagram"
        hint = did_you_mean(block, machines) or "the diagram has no STATE_MACHINE"
        raise InputError(Fault(f"block {block!r} {what}", hint=hint))
    return draw_chart(machines[block], block, path, fmt)


def draw_chart(
    chart: Chart, title: str, path: str | Path | None = None, fmt: str | None = None
) -> Figure:
    """Draw a chart, and write it to path if one is given. Returns the Matplotlib figure."""
    from matplotlib.figure import Figure

    chosen = picture_format(path, fmt)
    leaving = {i: _from(chart, i) for i in range(len(chart.states))}
    places = _places(chart, leaving)
    edge = max(place.right for place in places)
    texts = [text for transition in chart.transitions for text in _label(chart, transition)]
    words = 1.1 * max((_width(text, TEXT_SIZE) for text in texts), default=0.0)
    targets = _lanes(chart, places, leaving)
    wide = edge + (words + 2.0 + PITCH * (len(targets) + 0.5) if targets else 0.0)
    tall = max(place.y + place.height for place in places)
    wide = max(wide, _width(title, 10.0))
    size = wide + 2 * MARGIN, tall + 2 * MARGIN + 2
    figure = Figure(figsize=(size[0] * GRID, size[1] * GRID), dpi=150, facecolor="white")
    axis = figure.add_axes((0, 0, 1, 1))
    axis.set_xlim(-MARGIN, wide + MARGIN)
    axis.set_ylim(tall + MARGIN, -MARGIN - 2)
    axis.axis("off")
    _write(axis, 0, -2.0, title, size=10.0, weight="bold", color=WIRE)
    for index, place in enumerate(places):
        _paint_state(axis, chart, index, place)
    lanes = {target: edge + words + 1.2 + PITCH * (k + 1) for k, target in enumerate(targets)}
    for number, (target, x) in enumerate(lanes.items()):
        colour = LINES[number % len(LINES)]
        _paint_lane(axis, chart, places, leaving, (target, x, colour))
    for index, transitions in leaving.items():
        for row, transition in zip(places[index].rows, transitions, strict=True):
            when, do = _label(chart, transition)
            _write(axis, edge + 0.9, row - 0.75, when, size=TEXT_SIZE, color=WIRE)
            _write(axis, edge + 0.9, row + 0.8, do, size=TEXT_SIZE, color=MUTED)
    if path is not None:
        write_picture(figure, path, chosen)
    return figure


def _from(chart: Chart, index: int) -> list[Transition]:
    return [transition for transition in chart.transitions if transition.source == index]


def _label(chart: Chart, transition: Transition) -> tuple[str, str]:
    """What is written above the line of a transition and below it."""
    beside = _from(chart, transition.source)
    number = f"{beside.index(transition) + 1}: " if len(beside) > 1 else ""
    when = _short(number + (transition.condition or "at once"))
    return when, _short(f"/ {_told(transition.do)}") if transition.do else ""


def _told(actions: Sequence[Action]) -> str:
    return "; ".join(f"{action.variable} = {action.text}" for action in actions)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _width(text: str, size: float) -> float:
    return text_inches(text, size) / GRID


# Places


def _places(chart: Chart, leaving: dict[int, list[Transition]]) -> list[_Place]:
    """The places of all states, those of the chart beneath each other."""
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
    """Place a state with its substates, its left upper corner at x, y."""
    state, place = chart.states[index], places[index]
    place.x, place.y, place.head = x, y, y + HEAD / 2
    lines = _lines(state)
    texts = [*(_width(line, TEXT_SIZE) for line in lines), _width(state.name, NAME_SIZE) * 1.1 + 3]
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
    """Let the states beside each other end at the same line."""
    for index in indices:
        places[index].width = right - places[index].x
        _widen(chart, places, chart.states[index].children, right - RIGHT)


def _lines(state: State) -> list[str]:
    """The actions of a state, a line for each."""
    found = []
    for when in ("entry", "during", "exit"):
        actions: tuple[Action, ...] = getattr(state, when)
        found += [_short(f"{when}: {_told([action])}") for action in actions]
    return found


def _lanes(
    chart: Chart, places: Sequence[_Place], leaving: dict[int, list[Transition]]
) -> list[int]:
    """The states that transitions enter, that with the shortest line first."""

    def length(target: int) -> float:
        rows = _rows_to(places, leaving, target)
        return max(rows) - min(rows)

    targets = dict.fromkeys(transition.target for transition in chart.transitions)
    return sorted(targets, key=length)


def _rows_to(
    places: Sequence[_Place], leaving: dict[int, list[Transition]], target: int
) -> list[float]:
    """The heights that the line to a state joins: of its transitions, and of its arrow."""
    rows = [
        row
        for index, transitions in leaving.items()
        for row, transition in zip(places[index].rows, transitions, strict=True)
        if transition.target == target
    ]
    return [places[target].head, *rows]


# Painting


def _write(axis: Axes, x: float, y: float, text: str, **style: Any) -> None:
    if text:
        axis.text(x, y, text, **{"va": "center", "zorder": 6, "parse_math": False, **style})


def _paint_state(axis: Axes, chart: Chart, index: int, place: _Place) -> None:
    from matplotlib.patches import FancyBboxPatch

    state, region = chart.states[index], chart.is_parallel(chart.states[index].parent)
    box = FancyBboxPatch(
        (place.x, place.y),
        place.width,
        place.height,
        boxstyle="round,pad=0,rounding_size=1.0",
        facecolor=FILLS[state.depth % 2],
        edgecolor=EDGE,
        linewidth=1.1,
        linestyle="--" if region else "-",
        zorder=1 + state.depth * 0.01,
    )
    box.set_gid(f"state {state.name}")
    axis.add_patch(box)
    name = {"size": NAME_SIZE, "weight": "bold", "color": "#1F2530"}
    _write(axis, place.x + 1.0, place.head, state.name, **name)
    if state.is_leaf:
        number = {"size": TEXT_SIZE, "color": MUTED, "ha": "right"}
        _write(axis, place.right - 0.8, place.head, str(state.first), **number)
    for k, line in enumerate(_lines(state)):
        _write(axis, place.x + 1.0, place.y + HEAD + LINE * (k + 0.4), line, size=TEXT_SIZE)
    first = chart.initial if state.parent is None else chart.states[state.parent].initial
    if index in first and not region:
        remembers = state.parent is not None and chart.states[state.parent].history
        _paint_marker(axis, place, remembers)


def _paint_marker(axis: Axes, place: _Place, remembers: bool) -> None:
    """The mark of the state that is entered first."""
    x, y = place.x - 2.2, place.head
    _paint_arrow(axis, [x, place.x], [y, y], WIRE, "initial")
    face = "white" if remembers else WIRE
    size = 11.0 if remembers else 5.0
    axis.plot([x], [y], "o", markersize=size, color=WIRE, markerfacecolor=face, zorder=5)
    if remembers:
        _write(axis, x, y, "H", size=6.5, ha="center", color=WIRE)


def _paint_lane(
    axis: Axes,
    chart: Chart,
    places: Sequence[_Place],
    leaving: dict[int, list[Transition]],
    lane: tuple[int, float, str],
) -> None:
    """The line to a state, with the transitions that join it."""
    target, x, colour = lane
    rows = _rows_to(places, leaving, target)
    axis.plot([x, x], [min(rows), max(rows)], color=colour, linewidth=0.9, zorder=3)
    head = places[target].head
    _paint_arrow(axis, [x, places[target].right], [head, head], colour, None)
    for index, transitions in leaving.items():
        for row, transition in zip(places[index].rows, transitions, strict=True):
            if transition.target == target:
                gid = f"transition {chart.states[index].name} -> {chart.states[target].name}"
                start = places[index].right
                axis.plot([start, x], [row, row], color=colour, linewidth=0.9, zorder=3, gid=gid)
                axis.plot([x], [row], "o", color=colour, markersize=2.6, zorder=4)


def _paint_arrow(
    axis: Axes, xs: Sequence[float], ys: Sequence[float], colour: str, gid: str | None
) -> None:
    """A line to a box, with its head at the end."""
    (start, end), y = xs, ys[1]
    way = 1.0 if end > start else -1.0
    axis.plot([start, end - 0.6 * way], ys, color=colour, linewidth=0.9, zorder=3, gid=gid)
    back = end - 0.95 * way
    axis.fill([end, back, back], [y, y - 0.38, y + 0.38], color=colour, linewidth=0, zorder=4)
