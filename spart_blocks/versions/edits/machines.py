"""Edits of state machines: states are renamed, removed and moved, and values renamed, with all that
refers to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.document import Keys, value_at
from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.diagram.written.paths import editable_path_in
from spart_blocks.diagram.written.sheets import File, Sheet
from spart_blocks.formulas.reader import CONSTANTS, FUNCTIONS, MEANINGS
from spart_blocks.state_machines.chart import ACTIVE, ELAPSED
from spart_blocks.state_machines.layout import STATE
from spart_blocks.state_machines.reading import LONGEST_NAME
from spart_blocks.state_machines.written import (
    MACHINES,
    WrittenMachine,
    WrittenState,
    WrittenTransition,
    asks,
)
from spart_blocks.versions.edits.renaming import signals_renamed
from spart_blocks.versions.edits.steps import (
    MoveEntry,
    Operation,
    RemoveValue,
    RenameKey,
    SetValue,
    Step,
    ordered,
    wire_steps,
)

_OF_SUBSTATES = ("states", "initial", "parallel", "history")
"""The entries of a state that only one with substates may have."""
RESERVED = frozenset({*CONSTANTS, *FUNCTIONS, *MEANINGS})
"""Names that every formula has."""


def is_state_path(path: str) -> bool:
    """Whether a path may be that of a state of a machine, such as modes.states.idle."""
    return ".states." in path


@dataclass(frozen=True)
class _Place:
    """A machine in a file. home: path of its block's section. inner: the keys of a state in it, ()
    for the machine."""

    file: File
    home: Keys
    machine: WrittenMachine
    inner: Keys

    @property
    def state(self) -> WrittenState:
        return self.machine.states[self.inner]

    @property
    def keys(self) -> Keys:
        return (*self.home, *self.inner)

    @property
    def sheet(self) -> Sheet:
        return self.file.sheet_at(self.home[:2] if self.home[0] == "subsystems" else ())

    @property
    def block(self) -> str:
        """The name of the block, or of the slot."""
        return str(self.home[1] if self.home[0] == "variants" else self.home[-1])

    def at(self, *inner: Any) -> Keys:
        return (*self.home, *inner)

    def signals(self, port: str) -> list[str]:
        """The paths of the signal of a port at each instance, as sections name it."""
        found = [prefix for prefix, one in self.file.instances() if one is self.sheet]
        return [f"{prefix}{self.block}.{port}" for prefix in found]


def _place(file: File, path: str) -> _Place:
    """The machine, or its state, at a path. Raises InputError if there is none."""
    is_block = path in file.top.blocks
    keys: Keys = ("blocks", path) if is_block else editable_path_in(path, file.data)
    size = 2 if keys[:1] == ("blocks",) else 4
    home, inner = keys[:size], keys[size:]
    section = value_at(file.data, home)
    if not isinstance(section, Mapping) or section.get("type") not in MACHINES:
        raise InputError(f"{'.'.join(map(str, home))} is no state machine")
    machine = WrittenMachine(section)
    if inner and inner not in machine.states:
        hint = did_you_mean(str(inner[-1]), machine.named)
        raise InputError(Fault(f"{home[-1]} has no state {path!r}", hint=hint))
    return _Place(file, home, machine, inner)


def _state(file: File, path: str) -> _Place:
    place = _place(file, path)
    if not place.inner:
        raise InputError(Fault(f"{path!r} is no state", hint="write BLOCK.states.NAME"))
    return place


@dataclass(frozen=True)
class RenameState(Operation):
    """Rename a state, also in transitions, where it is the first, where formulas ask whether it is
    active, and, of a parallel state's region, in the wires and sections that name its signal. path:
    such as modes.states.operate.states.point.
    """

    path: str
    new: str

    def steps(self, file: File) -> list[Step]:
        place = _state(file, self.path)
        machine, state = place.machine, place.state
        if not self.new.isidentifier() or len(self.new) > LONGEST_NAME:
            hint = "a name is letters, digits and _, and begins with a letter"
            raise InputError(Fault(f"{self.new[:60]!r} is no name of a state", hint=hint))
        if self.new in machine.named and self.new != state.name:
            raise InputError(f"there is already a state {self.new!r}")
        steps: list[Step] = [RenameKey(place.keys, self.new)]
        if machine.named[state.name].keys == state.keys:  # the first of this name
            steps += _ends_renamed(place, {state.name: self.new})
            asked = re.compile(asks(re.escape(state.name)))
            for keys, text in machine.formulas():
                if (changed := asked.sub(rf"\g<1>{self.new}\g<2>", text)) != text:
                    steps.append(SetValue(place.at(*keys), changed))
        if machine.holder(state.parent).get("initial") == state.name:
            steps.append(SetValue(place.at(*state.parent, "initial"), self.new))
        if machine.is_parallel(state.parent):
            steps += _port_renamed(place, state.name, self.new)
        return ordered(steps)


def _ends_renamed(place: _Place, names: Mapping[str, str]) -> Iterator[Step]:
    for one in place.machine.transitions:
        at = place.at("transitions", one.index)
        if one.target in names:
            yield SetValue((*at, "to"), names[one.target])
        given = one.section.get("from")
        if isinstance(given, list):
            for k, name in enumerate(given):
                if isinstance(name, str) and name in names:
                    yield SetValue((*at, "from", k), names[name])
        elif isinstance(given, str) and given in names:
            yield SetValue((*at, "from"), names[given])


def _port_renamed(place: _Place, old: str, new: str) -> Iterator[Step]:
    blocks = frozenset({place.block})
    yield from wire_steps(place.sheet, lambda wire: wire.with_port(blocks, True, old, new))
    names = {path: path.removesuffix(old) + new for path in place.signals(old)}
    yield from signals_renamed(place.file.data, names)


VALUES = ("arguments", "outputs", "variables", "params")
"""The parameters of a machine that name the values of its formulas."""


def is_value_path(path: str) -> bool:
    """Whether a path may be that of a value of a machine, such as modes.outputs.torque."""
    parts = path.split(".")
    return len(parts) > 2 and parts[-2] in VALUES


@dataclass(frozen=True)
class RenameValue(Operation):
    """Rename an argument, an output, a variable or a parameter of a machine, also in its actions
    and conditions, and, of an argument or an output, in the wires and sections that name its port.
    path: such as modes.arguments.rate.
    """

    path: str
    new: str

    def steps(self, file: File) -> list[Step]:
        owner, kind, old = self.path.rsplit(".", 2)
        place = _place(file, owner)
        if place.inner:
            raise InputError(f"{owner!r} is no state machine")
        names = value_names(place.machine)
        if old not in names.get(kind, ()):
            hint = did_you_mean(old, names.get(kind, ()))
            raise InputError(Fault(f"{place.block} has no {kind}.{old[:60]}", hint=hint))
        if self.new == old:
            return []
        self._refuse(place, {name for one in names.values() for name in one})
        steps: list[Step] = []
        if kind == "arguments":
            listed = place.machine.section.get(kind)
            if isinstance(listed, list):
                steps.append(SetValue(place.at(kind, listed.index(old)), self.new))
            else:
                steps.append(SetValue(place.at(kind), [self.new]))
        else:
            steps.append(RenameKey(place.at(kind, old), self.new))
        query = asks(r"\w+")  # of a state, which may have this name too
        reads = re.compile(rf"{query}|(?<![\w.]){re.escape(old)}(?![\w(])")
        for keys, text in place.machine.formulas():
            changed = reads.sub(lambda m: self.new if m[0] == old else m[0], text)
            if changed != text:
                steps.append(SetValue(place.at(*keys), changed))
        if kind in ("outputs", "variables"):
            steps += (
                RenameKey(place.at(*keys, old), self.new)
                for keys, actions in place.machine.actions()
                if old in actions
            )
        if kind == "outputs":
            steps += _port_renamed(place, old, self.new)
        elif kind == "arguments":
            blocks = frozenset({place.block})
            steps += wire_steps(
                place.sheet, lambda wire: wire.with_port(blocks, False, old, self.new)
            )
        elif kind == "params":
            paths = [*place.signals(old), *place.signals(f"params.{old}")]
            names_by_old = {path: path.removesuffix(old) + self.new for path in paths}
            steps += signals_renamed(place.file.data, names_by_old)
        return ordered(steps)

    def _refuse(self, place: _Place, names: set[str]) -> None:
        """Raise InputError unless the new name is free."""
        if not self.new.isidentifier() or len(self.new) > LONGEST_NAME:
            hint = "a name is letters, digits and _, and begins with a letter"
            raise InputError(Fault(f"{self.new[:60]!r} is no name of a value", hint=hint))
        regions = {place.machine.states[keys].name for keys in place.machine.regions() if keys}
        if self.new in names | regions | {STATE, ELAPSED, ACTIVE} | RESERVED:
            raise InputError(f"the name {self.new!r} is taken in {place.block}")


def value_names(machine: WrittenMachine) -> dict[str, list[str]]:
    """The names of the values of a machine by their parameter; without arguments it has `u`."""
    found = {kind: machine.section.get(kind) for kind in VALUES}
    found["arguments"] = found["arguments"] or ["u"]
    return {
        kind: [name for name in given if isinstance(name, str)]
        for kind, given in found.items()
        if isinstance(given, list | Mapping)
    }


@dataclass(frozen=True)
class RemoveState(Operation):
    """Remove a state with its substates, with the transitions from them and to them, and with the
    wires from the signal of a region. Another state becomes the first in its place. Raises
    InputError for the last state, and if formulas or sections ask for what goes.
    """

    path: str

    def steps(self, file: File) -> list[Step]:
        place = _state(file, self.path)
        machine, state = place.machine, place.state
        gone = machine.inside(state.keys)
        names = {one.name for one in gone if machine.named[one.name] is one}
        if not state.parent and len(machine.children(())) == 1:
            raise InputError(Fault(f"{place.block} has no other state", hint="a machine needs one"))
        _refuse_asked(place, names, state.keys)
        steps = [*_left(place), *_ends_removed(place, names)]
        for region in (one for one in gone if machine.is_parallel(one.parent)):
            steps += _port_removed(place, region.name)
        return ordered(steps)


def _left(place: _Place) -> Iterator[Step]:
    """The steps that take a state out of the one around it, which may have no substates then."""
    machine, parent, name = place.machine, place.state.parent, place.state.name
    others = [one for one in machine.children(parent) if one.keys != place.inner]
    if not others and parent:
        held = machine.holder(parent)
        yield from (RemoveValue(place.at(*parent, key)) for key in _OF_SUBSTATES if key in held)
        return
    yield RemoveValue(place.keys)
    if others and machine.holder(parent).get("initial") == name:
        yield SetValue(place.at(*parent, "initial"), others[0].name)


def _refuse_asked(place: _Place, names: set[str], inside: Keys) -> None:
    """Raise InputError if formulas outside ask whether states are active."""
    if not names:
        return
    asked = re.compile(asks(f"(?:{'|'.join(map(re.escape, sorted(names)))})"))
    used = [
        ".".join(map(str, keys))
        for keys, text in place.machine.formulas()
        if asked.search(text) and keys[: len(inside)] != inside and not _goes(place, names, keys)
    ]
    if used:
        problem = (
            f"{', '.join(used[:5])} of {place.block} asks whether {place.state.name} is active"
        )
        raise InputError(Fault(problem, hint="change this first"))


def _goes(place: _Place, names: set[str], keys: Keys) -> bool:
    """Whether a formula is of a transition that is removed with some states."""
    if keys[0] != "transitions" or not isinstance(keys[1], int):
        return False
    return not _left_sources(place.machine.transitions[keys[1]], names)


def _left_sources(one: WrittenTransition, names: set[str]) -> list[Any] | None:
    """What remains under `from` of a transition without some states; None if it is removed."""
    given = one.section.get("from")
    every = given if isinstance(given, list) else [given]
    kept = [name for name in every if not (isinstance(name, str) and name in names)]
    return None if one.target in names or (every and not kept) else kept


def _ends_removed(place: _Place, names: set[str]) -> Iterator[Step]:
    removed, transitions = [], place.machine.transitions
    for one in transitions:
        kept, given = _left_sources(one, names), one.section.get("from")
        at = place.at("transitions", one.index)
        if kept is None:
            removed.append(RemoveValue(at))
        elif isinstance(given, list) and len(kept) < len(given):
            yield SetValue((*at, "from"), kept if len(kept) > 1 else kept[0])
    if removed and len(removed) == len(transitions):
        yield RemoveValue(place.at("transitions"))
    else:
        yield from removed


def _port_removed(place: _Place, port: str) -> Iterator[Step]:
    yield from wire_steps(
        place.sheet,
        lambda wire: wire.without(
            lambda end: end is wire.source and end.block == place.block and end.port == port
        ),
    )
    names = {path: f"{path}\0" for path in place.signals(port)}
    used = [".".join(map(str, s.path)) for s in signals_renamed(place.file.data, names)]
    if used:
        problem = f"the signal {port} of {place.block} is named in {', '.join(used[:5])}"
        raise InputError(Fault(problem, hint="remove this first"))


@dataclass(frozen=True)
class MoveState(Operation):
    """Move a state with its substates into another state, or into the machine itself. path: of the
    state; into: of the other, or of the machine's block. before: the state there before which it
    comes; without, it becomes the last. Within one state only the order changes, and with it the
    numbers of the signal `state`.
    """

    path: str
    into: str
    before: str = ""

    def steps(self, file: File) -> list[Step]:
        place, goal = _state(file, self.path), _place(file, self.into)
        machine, state = place.machine, place.state
        if goal.home != place.home:
            raise InputError("a state moves within its machine")
        if goal.inner[: len(place.inner)] == place.inner:
            raise InputError(f"{state.name} cannot be in itself")
        there = [one.name for one in machine.children(goal.inner)]
        if self.before and self.before not in there:
            hint = did_you_mean(self.before, there)
            raise InputError(Fault(f"there is no state {self.before[:60]!r} in it", hint=hint))
        if goal.inner == state.parent:
            others = [name for name in there if name != state.name]
            index = others.index(self.before) if self.before in others else len(others)
            moves = self.before != state.name and there.index(state.name) != index
            return [MoveEntry(place.keys, index)] if moves else []
        if not state.parent and len(machine.children(())) == 1:
            raise InputError(Fault(f"{place.block} has no other state", hint="a machine needs one"))
        return ordered([*self._entered(place, goal, there), *_left(place)])

    def _entered(self, place: _Place, goal: _Place, there: list[str]) -> Iterator[Step]:
        """The steps that bring the state into its new place."""
        machine, name = place.machine, place.state.name
        value = value_at(place.file.data, place.keys)
        if not there:
            held = value_at(place.file.data, goal.keys)
            whole = {"states": {name: value}}
            if held is None:
                yield SetValue(goal.keys, whole)
            else:
                yield SetValue((*goal.keys, "states"), whole["states"])
            return
        yield SetValue((*goal.keys, "states", name), value, self.before or None)
        first = machine.initial(goal.inner)
        if len(there) == 1 and first and "initial" not in machine.holder(goal.inner):
            yield SetValue((*goal.keys, "initial"), first)


@dataclass(frozen=True)
class MoveItem(Operation):
    """Move an item of a list to another index: modes.transitions[2] to 0. Of transitions that can
    be taken at once, the first is."""

    path: str
    index: int

    def steps(self, file: File) -> list[Step]:
        keys = editable_path_in(self.path, file.data)
        items, at = value_at(file.data, keys[:-1]), keys[-1]
        if not isinstance(items, list) or not isinstance(at, int) or not 0 <= at < len(items):
            raise InputError(f"there is no item {self.path}")
        index = min(max(self.index, 0), len(items) - 1)
        return [MoveEntry(keys, index)] if index != at else []
