"""Lays out a chart of states: nested boxes stacked vertically, a row for each transition at the
right of the state that it leaves, and a vertical line to each state that transitions lead to.
Lengths are in units of the grid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

HEAD, LINE, ROW, GAP = 2.6, 1.5, 3.4, 1.4
"""Heights of a name, a line of text and a transition, and the space between boxes [grid]."""
LEFT, RIGHT = 3.2, 1.0
"""Space between a box and its substates; the left one has room for the initial marker [grid]."""
PITCH = 1.6
"""Distance of the vertical lines that lead to states [grid]."""
LONGEST = 70
"""Longest text of a line [characters]; longer ones are cut."""

Measure = Callable[[str, bool], float]
"""The width of a text [grid]; True for names."""


@dataclass(frozen=True)
class StateBox:
    """What a state shows. parent: its index, or None. lines: its actions."""

    name: str
    parent: int | None
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class TransitionLine:
    """What a transition shows. source, target: indices of states. when, do: the texts above and
    below its line."""

    source: int
    target: int
    when: str
    do: str = ""


@dataclass
class StatePlace:
    """The position of a state: its box, the height of its middle line, and the heights at which its
    transitions start.
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


@dataclass(frozen=True)
class ChartLayout:
    """The positions of states and transitions. rows: the height of each transition, as they were
    given. edge: the right edge of the outermost states. lanes: the position of the vertical line to
    each target.
    """

    places: list[StatePlace]
    rows: list[float]
    edge: float
    lanes: dict[int, float]
    width: float
    height: float


def short(text: str) -> str:
    """A text, cut if it is too long for a line."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def line_at(place: StatePlace, index: int) -> float:
    """The height of the middle of a line of a state."""
    return place.y + HEAD + LINE * (index + 0.4)


def lay_out_chart(
    states: Sequence[StateBox], transitions: Sequence[TransitionLine], measure: Measure
) -> ChartLayout:
    """The layout of states, parents before their substates, and of transitions in the order in
    which they are tried."""
    children: dict[int | None, list[int]] = {}
    for index, state in enumerate(states):
        children.setdefault(state.parent, []).append(index)
    leaving = [0] * len(states)
    for one in transitions:
        leaving[one.source] += 1
    places = [StatePlace(0.0, 0.0) for _ in states]
    layout = _Stack(states, children, leaving, places, measure)
    top = 0.0
    for index in children.get(None, ()):
        layout.put(index, LEFT, top)
        top = places[index].y + places[index].height + GAP
    layout.widen(None, max((place.right for place in places), default=0.0))
    next_row = [iter(place.rows) for place in places]
    rows = [next(next_row[one.source]) for one in transitions]
    edge = max((place.right for place in places), default=0.0)
    words = 1.1 * max((measure(t, False) for one in transitions for t in (one.when, one.do)),
                      default=0.0)  # fmt: skip
    targets = _targets(places, transitions, rows)
    lanes = {to: edge + words + 1.2 + PITCH * (k + 1) for k, to in enumerate(targets)}
    wide = edge + (words + 2.0 + PITCH * (len(targets) + 0.5) if targets else 0.0)
    tall = max((place.y + place.height for place in places), default=0.0)
    return ChartLayout(places, rows, edge, lanes, wide, tall)


@dataclass(frozen=True)
class _Stack:
    """Stacks states vertically, with their substates in them. leaving: how many transitions leave
    each state."""

    states: Sequence[StateBox]
    children: dict[int | None, list[int]]
    leaving: Sequence[int]
    places: list[StatePlace]
    measure: Measure

    def put(self, index: int, x: float, y: float) -> None:
        """Place a state with its substates; x, y is the upper left corner."""
        state, place = self.states[index], self.places[index]
        place.x, place.y, place.head = x, y, y + HEAD / 2
        texts = [self.measure(line, False) for line in state.lines]
        texts.append(self.measure(state.name, True) * 1.1 + 3)
        bottom = y + HEAD + LINE * len(state.lines)
        for _ in range(self.leaving[index]):
            place.rows.append(bottom + ROW / 2)
            bottom += ROW
        right = x + 1.1 * max(texts) + 2.0
        for child in self.children.get(index, ()):
            self.put(child, x + LEFT, bottom + GAP / 2)
            bottom = self.places[child].y + self.places[child].height + GAP / 2
            right = max(right, self.places[child].right + RIGHT)
        place.width, place.height = right - x, bottom + 0.7 - y

    def widen(self, parent: int | None, right: float) -> None:
        """Extend the states in one to the same right edge, and their substates accordingly."""
        for index in self.children.get(parent, ()):
            self.places[index].width = right - self.places[index].x
            self.widen(index, right - RIGHT)


def _targets(
    places: Sequence[StatePlace], transitions: Sequence[TransitionLine], rows: Sequence[float]
) -> list[int]:
    """The states that transitions lead to, in the order of the lengths of their vertical lines."""
    reach: dict[int, list[float]] = {}
    for one, row in zip(transitions, rows, strict=True):
        reach.setdefault(one.target, [places[one.target].head]).append(row)
    return sorted(reach, key=lambda target: max(reach[target]) - min(reach[target]))
