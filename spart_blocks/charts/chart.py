"""A chart of hierarchical states, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from spart_blocks.spatial import Array

ELAPSED = "elapsed"
"""In a formula: the time [s] since its state was entered."""
Known = Mapping[str, Any]
"""Values by name: inputs, parameters, variables, t and elapsed."""


@dataclass(frozen=True)
class Action:
    """An assignment: a variable becomes the value of a formula. value, crossings: functions of the
    values by name, the latter gives the formula's zero-crossing functions. reads: the names in it.
    """

    variable: str
    text: str
    value: Callable[[Known], Any]
    crossings: Callable[[Known], list[Any]]
    reads: frozenset[str]


@dataclass(frozen=True)
class State:
    """A state. depth: 0 for those of the chart. parent, children, initial: indices of states.
    first, last: the numbers of its leaves, from 1 on; both its own if it is a leaf. history: it is
    entered where it was left.
    """

    name: str
    depth: int
    parent: int | None
    children: tuple[int, ...]
    initial: int | None
    history: bool
    first: int
    last: int
    entry: tuple[Action, ...]
    during: tuple[Action, ...]
    exit: tuple[Action, ...]

    @property
    def is_leaf(self) -> bool:
        return not self.children


@dataclass(frozen=True)
class Transition:
    """A transition. source, target: indices of states. scope: the innermost state that it does not
    leave, None for the chart. value: a function of the values by name, above zero where the guard
    holds; None for no guard. after: the time [s] since the source was entered, likewise.
    """

    source: int
    target: int
    scope: int | None
    value: Callable[[Known], Any] | None
    after: Callable[[Known], Any] | None
    do: tuple[Action, ...]
    guard_text: str
    after_text: str

    @property
    def condition(self) -> str:
        """When it is taken, as a drawing shows it; '' for at once."""
        after = [f"after {self.after_text} s"] if self.after_text else []
        return " ".join([*after, *([f"[{self.guard_text}]"] if self.guard_text else [])])


@dataclass(frozen=True)
class Chart:
    """A state machine. states: parents before their substates, in the order of the leaves' numbers.
    transitions: in the order in which they are tried, those of outer states first. variables: the
    initial values of outputs and local variables. initial: index of the state entered first.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    variables: Mapping[str, float | Array]
    states: tuple[State, ...]
    transitions: tuple[Transition, ...]
    initial: int

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The names of the leaves; number k is the entry k - 1."""
        return tuple(state.name for state in self.states if state.is_leaf)

    @cached_property
    def depth(self) -> int:
        """The number of levels."""
        return 1 + max(state.depth for state in self.states)

    @cached_property
    def remembering(self) -> tuple[int, ...]:
        """The states with history."""
        return tuple(i for i, state in enumerate(self.states) if state.history)

    @cached_property
    def first_leaf(self) -> int:
        """The number of the leaf that is active at first."""
        return self.states[list(self.entered_first())[-1]].first

    def entered_first(self) -> Iterator[int]:
        """The states entered at the start, outer ones first."""
        return self.inward(self.initial)

    def inward(self, index: int) -> Iterator[int]:
        """A state and the initial substates in it, outer ones first."""
        at: int | None = index
        while at is not None:
            yield at
            at = self.states[at].initial

    def path(self, index: int | None) -> tuple[int, ...]:
        """A state and those around it, outer ones first; () for the chart."""
        found: list[int] = []
        while index is not None:
            found.append(index)
            index = self.states[index].parent
        return tuple(reversed(found))

    def actions(self) -> Iterator[Action]:
        """All actions."""
        for state in self.states:
            yield from (*state.entry, *state.during, *state.exit)
        for transition in self.transitions:
            yield from transition.do
