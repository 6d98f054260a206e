"""A state machine as its section of a file has it, read as far as it can be: what is wrong is left
out, so that machines with mistakes are drawn and edited too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from spart_blocks.base.document import Keys
from spart_blocks.state_machines.chart import ACTIVE
from spart_blocks.state_machines.reading import DEEPEST, MOST_STATES, MOST_TRANSITIONS

MACHINES = ("STATE_MACHINE", "STATE_MACHINE_S")
WHEN = ("entry", "during", "exit")
"""The entries of a state that have actions."""


@dataclass(frozen=True)
class WrittenState:
    """A state. keys: its path in the section of the machine. parent: the keys of the state around
    it, () for the machine."""

    name: str
    keys: Keys
    parent: Keys
    section: Mapping[str, Any]

    @property
    def depth(self) -> int:
        return len(self.keys) // 2 - 1


@dataclass(frozen=True)
class WrittenTransition:
    """A transition. index: in the list. sources, target: names, as far as they are texts."""

    index: int
    sources: tuple[str, ...]
    target: str
    section: Mapping[str, Any]


@dataclass(frozen=True)
class WrittenMachine:
    """A machine. section: that of its block."""

    section: Mapping[str, Any]

    @cached_property
    def states(self) -> dict[Keys, WrittenState]:
        """The states by their keys, parents before their substates."""
        return {state.keys: state for state in _states(self.section)}

    @cached_property
    def named(self) -> dict[str, WrittenState]:
        """The states by their names; of those with one name the first."""
        found: dict[str, WrittenState] = {}
        for state in self.states.values():
            found.setdefault(state.name, state)
        return found

    @cached_property
    def transitions(self) -> list[WrittenTransition]:
        written = self.section.get("transitions")
        if not isinstance(written, list):
            return []
        return [
            _transition(index, one if isinstance(one, Mapping) else {})
            for index, one in enumerate(written[:MOST_TRANSITIONS])
        ]

    def holder(self, keys: Keys) -> Mapping[str, Any]:
        """The section of a state, or of the machine for ()."""
        return self.states[keys].section if keys else self.section

    def children(self, keys: Keys) -> list[WrittenState]:
        """The states directly in a state, or in the machine for ()."""
        return [state for state in self.states.values() if state.parent == keys]

    def inside(self, keys: Keys) -> list[WrittenState]:
        """A state with all states in it."""
        return [s for s in self.states.values() if s.keys[: len(keys)] == keys]

    def is_parallel(self, keys: Keys) -> bool:
        """Whether the states in a state, or in the machine for (), are active together."""
        return self.holder(keys).get("parallel") is True

    def initial(self, keys: Keys) -> str | None:
        """The state in a state that is entered first; None if none is, or all are."""
        children = [state.name for state in self.children(keys)]
        given = self.holder(keys).get("initial")
        if self.is_parallel(keys):
            return None
        if given is None and len(children) == 1:
            return children[0]
        return given if given in children else None

    def numbers(self) -> dict[Keys, int]:
        """The number of each state without substates of its region, from 1 on."""
        counts: dict[Keys, int] = {}
        found: dict[Keys, int] = {}
        for keys, state in self.states.items():
            if not isinstance(state.section.get("states"), Mapping) or self.is_parallel(keys):
                region = self.region(keys)
                found[keys] = counts[region] = counts.get(region, 0) + 1
        return found

    def region(self, keys: Keys) -> Keys:
        """The outermost state of the region of a state; () for that of the machine."""
        while keys:
            parent = self.states[keys].parent
            if self.is_parallel(parent):
                return keys
            keys = parent
        return ()

    def regions(self) -> list[Keys]:
        """The outermost state of each region; () for that of the machine."""
        own = [] if self.is_parallel(()) else [()]
        return [*own, *(k for k, s in self.states.items() if self.is_parallel(s.parent))]

    def actions(self) -> Iterator[tuple[Keys, Mapping[str, Any]]]:
        """The actions of each state and transition, with their path in the section."""
        for state in self.states.values():
            for when in WHEN:
                if isinstance(actions := state.section.get(when), Mapping):
                    yield (*state.keys, when), actions
        for one in self.transitions:
            if isinstance(actions := one.section.get("do"), Mapping):
                yield ("transitions", one.index, "do"), actions

    def formulas(self) -> Iterator[tuple[Keys, str]]:
        """Each text of a condition or an action, with its path in the section."""
        for state in self.states.values():
            for when in WHEN:
                yield from _texts(state.section.get(when), (*state.keys, when))
        for one in self.transitions:
            for when in ("when", "after", "do"):
                yield from _texts(one.section.get(when), ("transitions", one.index, when))


def first_machine() -> dict[str, Any]:
    """The parameters with which a new machine begins: a switch between two states."""
    return {
        "outputs": {"y": 0},
        "initial": "off",
        "states": {"off": {"entry": {"y": 0}}, "on": {"entry": {"y": 1}}},
        "transitions": [
            {"from": "off", "to": "on", "when": "u > 1"},
            {"from": "on", "to": "off", "when": "u < 0"},
        ],
    }


def asks(name: str) -> str:
    """A regular expression for a formula's query whether a state is active."""
    return rf"(\b{ACTIVE}\(\s*){name}(\s*\))"


def actions_text(actions: Any) -> list[str]:
    """Actions as a drawing shows them, one text for each: y = 2*u."""
    if not isinstance(actions, Mapping):
        return []
    return [f"{name} = {value_text(value)}" for name, value in actions.items()]


def value_text(value: Any) -> str:
    """A number, a formula, or a list of them as a drawing shows it."""
    if isinstance(value, list):
        return f"[{', '.join(map(value_text, value))}]"
    if isinstance(value, bool | int | float):
        return f"{value:g}" if isinstance(value, float) else str(value).lower()
    return " ".join(str(value).split())


def condition_text(section: Mapping[str, Any]) -> str:
    """When a transition is taken, as a drawing shows it."""
    when, after = section.get("when"), section.get("after")
    parts = [] if after is None else [f"after {value_text(after)} s"]
    return " ".join([*parts, *([] if when is None else [f"[{value_text(when)}]"])]) or "at once"


def _states(section: Mapping[str, Any]) -> Iterator[WrittenState]:
    def those(holder: Mapping[str, Any], parent: Keys) -> Iterator[WrittenState]:
        states = holder.get("states")
        if not isinstance(states, Mapping) or len(parent) // 2 >= DEEPEST:
            return
        for name, body in states.items():
            inner = body if isinstance(body, Mapping) else {}
            keys = (*parent, "states", name)
            yield WrittenState(str(name), keys, parent, inner)
            yield from those(inner, keys)

    return islice(those(section, ()), MOST_STATES)


def _transition(index: int, section: Mapping[str, Any]) -> WrittenTransition:
    given = section.get("from")
    every = given if isinstance(given, list) else [given]
    sources = tuple(one for one in every if isinstance(one, str))
    target = section.get("to")
    return WrittenTransition(index, sources, target if isinstance(target, str) else "", section)


def _texts(value: Any, path: Keys) -> Iterator[tuple[Keys, str]]:
    if isinstance(value, str):
        yield path, value
    items = value.items() if isinstance(value, Mapping) else ()
    for key, item in enumerate(value) if isinstance(value, list) else items:
        yield from _texts(item, (*path, key))
