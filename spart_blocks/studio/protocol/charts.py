"""The chart of a state machine, laid out. Lengths are in pixels at zoom 1."""

from __future__ import annotations

from typing import Literal, TypedDict

from spart_blocks.studio.protocol.problems import Problem
from spart_blocks.studio.protocol.types import Field


class Chart(TypedDict):
    """The chart of a state machine, in place of blocks and wires."""

    # What edits name: blocks.modes.
    path: str
    name: str
    type: str
    width: float
    height: float
    # From the first on, so that states come before those in them.
    states: list[ChartState]
    transitions: list[ChartTransition]
    # Its full name in runs, with `*` for the numbers of copies.
    block: str
    regions: list[ChartRegion]
    # Whether the outermost states are all active together.
    parallel: bool
    # The paths of its arguments, outputs, variables and params, as edits name them.
    values: list[str]
    # What else the machine has: arguments, outputs, variables, params, initial.
    fields: list[Field]
    # What is wrong with it, and of no state or transition.
    problems: list[Problem]


class ChartRegion(TypedDict):
    """States of which one is active at a time."""

    # The path of its outermost state, or of the machine.
    path: str
    # The output with the number of the active one.
    port: str


class ChartState(TypedDict):
    # What edits name: blocks.modes.states.operate.
    path: str
    # Of the state around it, or of the machine.
    parent: str
    name: str
    x: float
    y: float
    width: float
    height: float
    # The height of the middle of its name.
    head: float
    # Its number in the signal of its region; null with substates.
    number: int | None
    # The path of its region.
    region: str
    # How it is entered with the state around it: first, where that was left, always, or not.
    entered: Literal["first", "history", "together", ""]
    # Whether it has substates, and whether these are all active together.
    open: bool
    parallel: bool
    history: bool
    lines: list[ChartText]
    fields: list[Field]
    problems: list[Problem]


class ChartText(TypedDict):
    """A text at a height."""

    text: str
    y: float
    # The field of the state that it is of.
    field: str


class ChartTransition(TypedDict):
    # What edits name: blocks.modes.transitions[2].
    path: str
    index: int
    # Names of states.
    sources: list[str]
    target: str
    when: str
    do: str
    # A line for each state that it leaves; none where a state is not there.
    lines: list[ChartLine]
    fields: list[Field]
    problems: list[Problem]


class ChartLine(TypedDict):
    """From the right edge of a state along a row to the vertical line that leads to the target."""

    # The path of the state that it leaves.
    source: str
    # The text over it, with its number among those that leave the state.
    when: str
    row: float
    start: float
    text: float
    lane: float
    # The tip of the arrow at the target, and its height.
    end: float
    head: float
    # The number of the colour, the same for all that lead to one state.
    colour: int
