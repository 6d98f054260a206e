"""A chart of hierarchical states, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

from spart_blocks.base.errors import Fault
from spart_blocks.base.spatial import Array

ELAPSED = "elapsed"
"""In a formula: the time [s] since its state was entered."""
Known = Mapping[str, Any]
"""Values by name: inputs, parameters, variables, t, elapsed, and those of active(...)."""
ACTIVE = "active"
"""In a formula: whether a state is active, as 1 or 0: active(done)."""


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
    """A state. depth: 0 for those of the chart. parent, children: indices of states. initial: the
    substates that are entered first: one, or all if they are parallel. region: the number of its
    region. first, last: the numbers of its leaves in that region, from 1 on; both its own if it is
    a leaf. history: it is entered where it was left.
    """

    name: str
    depth: int
    parent: int | None
    children: tuple[int, ...]
    initial: tuple[int, ...]
    parallel: bool
    history: bool
    region: int
    first: int
    last: int
    entry: tuple[Action, ...]
    during: tuple[Action, ...]
    exit: tuple[Action, ...]

    @property
    def is_leaf(self) -> bool:
        """Whether it has no substates in its own region."""
        return self.parallel or not self.children


@dataclass(frozen=True)
class Region:
    """States of which one leaf is active at a time: those of the chart, or a substate of a parallel
    state with what is in it. root: index of that substate, None for the chart. holder: index of the
    parallel state, None for the chart. around: the numbers of the regions around it, and its own.
    states: their indices. leaves: the names of its leaves; number k is the entry k - 1. first_slot,
    levels: the place of its levels among those of all regions, and how many they are.
    """

    root: int | None
    holder: int | None
    around: tuple[int, ...]
    states: tuple[int, ...]
    leaves: tuple[str, ...]
    first_slot: int
    levels: int


@dataclass(frozen=True)
class Transition:
    """A transition. source, target: indices of states. left: the outermost state that it leaves.
    entered: the states that it enters on the way to its target, outer ones first. value: a function
    of the values by name, above zero where the guard holds; None for no guard. after: the time [s]
    since the source was entered, likewise.
    """

    source: int
    target: int
    left: int
    entered: tuple[int, ...]
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
    initial values of outputs and local variables. initial: indices of the states that are entered
    first: one, or all if parallel. asked: the states of which formulas ask whether they are active.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    variables: Mapping[str, float | Array]
    states: tuple[State, ...]
    transitions: tuple[Transition, ...]
    initial: tuple[int, ...]
    parallel: bool
    asked: tuple[int, ...]

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The regions, outer ones before those in them, in the order written."""
        found: list[Region] = []
        for number in range(1 + max(state.region for state in self.states)):
            inside = tuple(i for i, state in enumerate(self.states) if state.region == number)
            root = inside[0] if self.is_parallel(self.states[inside[0]].parent) else None
            holder = None if root is None else self.states[root].parent
            outer = () if holder is None else found[self.states[holder].region].around
            leaves = tuple(self.states[i].name for i in inside if self.states[i].is_leaf)
            depths = [self.states[i].depth for i in inside]
            slot = found[-1].first_slot + found[-1].levels if found else 0
            levels = 1 + max(depths) - min(depths)
            around = (*outer, number)
            found.append(Region(root, holder, around, inside, leaves, slot, levels))
        return tuple(found)

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """For each state the place of its level among the levels of all regions."""
        tops = [self.states[region.states[0]].depth for region in self.regions]
        return tuple(
            self.regions[state.region].first_slot + state.depth - tops[state.region]
            for state in self.states
        )

    @cached_property
    def levels(self) -> int:
        """The number of levels of all regions."""
        return sum(region.levels for region in self.regions)

    @cached_property
    def remembering(self) -> tuple[int, ...]:
        """The states with history."""
        return tuple(i for i, state in enumerate(self.states) if state.history)

    @cached_property
    def first_leaves(self) -> tuple[int, ...]:
        """For each region the number of the leaf that is active at first; 0 if none is."""
        found = [0] * len(self.regions)
        for state in (self.states[index] for index in self.entered_first()):
            if state.is_leaf:
                found[state.region] = state.first
        return tuple(found)

    def is_parallel(self, index: int | None) -> bool:
        """Whether the substates of a state, or the states of the chart, are active together."""
        return self.parallel if index is None else self.states[index].parallel

    def entered_first(self) -> Iterator[int]:
        """The states entered at the start, outer ones first."""
        for index in self.initial:
            yield from self.inward(index)

    def inward(self, index: int) -> Iterator[int]:
        """A state and the initial substates in it, outer ones first."""
        yield index
        for child in self.states[index].initial:
            yield from self.inward(child)

    def path(self, index: int | None) -> tuple[int, ...]:
        """A state and those around it, outer ones first; () for the chart."""
        found: list[int] = []
        while index is not None:
            found.append(index)
            index = self.states[index].parent
        return tuple(reversed(found))


# --- formulas that define a variable --------------------------------------------------------------
# Formulas under `during` of states that are active together: each variable has one at most, where
# they hold at all times.


def definition_faults(chart: Chart) -> list[Fault]:
    """Faults of variables that two states define, and of formulas that read what one further below
    defines, so that its value would be an old one."""
    acting = [index for index, state in enumerate(chart.states) if state.during]
    return [
        fault
        for one, other in combinations(acting, 2)
        if _together(chart, one, other)
        for action in chart.states[one].during
        for fault in _faults_of(chart, one, other, action)
    ]


def _together(chart: Chart, one: int, other: int) -> bool:
    """Whether two states are in different regions of one state."""
    paths = chart.path(one), chart.path(other)
    around = None
    for a, b in zip(*paths, strict=False):
        if a != b:
            return chart.is_parallel(around)
        around = a
    return False


def _faults_of(chart: Chart, one: int, other: int, action: Action) -> Iterator[Fault]:
    first, second = chart.states[one].name, chart.states[other].name
    later = {also.variable for also in chart.states[other].during}
    if action.variable in later:
        yield Fault(
            f"{_path(chart, other)}.during.{action.variable}: {first} defines {action.variable} "
            f"too, and both may be active together",
            hint="a formula under `during` holds at all times: define it in one of them",
        )
    for name in sorted(action.reads & later):
        yield Fault(
            f"{_path(chart, one)}.during.{action.variable} reads {name}, which {second} defines "
            "further below and may be active together with it",
            hint="write the region that defines it first",
        )


def _path(chart: Chart, index: int) -> str:
    """The path of a state's entry, such as states.work.states.fast."""
    return ".".join(f"states.{chart.states[i].name}" for i in chart.path(index))


# --- what can never be ----------------------------------------------------------------------------


def entered(chart: Chart) -> frozenset[int]:
    """The states that are entered if every condition may hold: those at the start, and from them
    along the transitions. History leads only to states that were entered before."""
    found: set[int] = set()
    more = set(chart.entered_first())
    while more - found:
        found |= more
        targets = {one.target for one in chart.transitions if one.source in found}
        more = {i for to in targets for i in _entered_with(chart, to)}
    return frozenset(found)


def _entered_with(chart: Chart, target: int) -> Iterator[int]:
    """The states that may be entered with a state: those around it, their other regions, and the
    initial substates."""
    path = chart.path(target)
    yield from (*path, *chart.inward(target))
    for index, within in pairwise(path):
        if chart.is_parallel(index):
            for child in chart.states[index].children:
                yield from chart.inward(child) if child != within else ()


def doubts(chart: Chart) -> tuple[str, ...]:
    """What to tell the user of states that are never entered: one text, or none."""
    found = entered(chart)
    never = [i for i in range(len(chart.states)) if i not in found]
    if not never:
        return ()
    names = [chart.states[i].name for i in never]
    text = f"never enters {', '.join(names)}: no transition leads there"
    idle = [one for one in chart.transitions if one.source not in found]
    ends = [f"{chart.states[one.source].name} -> {chart.states[one.target].name}" for one in idle]
    return (f"{text}, so that none of {', '.join(ends)} is taken" if ends else text,)
