"""Converts the edit operations of a request to operations of `versions.edits`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.base.document import mapping_at, parse_value
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.written.sheets import File
from spart_blocks.drawing.placed import Spot
from spart_blocks.state_machines.written import MACHINES, first_machine
from spart_blocks.studio.files.ports import kind_of
from spart_blocks.studio.requests import number_of, text_of
from spart_blocks.versions.edits import (
    AddBlock,
    AddChoice,
    AddCondition,
    AddSubsystem,
    AddWire,
    Append,
    Draw,
    Fix,
    ForEach,
    Group,
    LineChange,
    MoveItem,
    MoveState,
    Operation,
    Put,
    RemoveBlock,
    RemoveChoice,
    RemoveCondition,
    RemovePort,
    RemoveState,
    RemoveWire,
    RenameBlock,
    RenameChoice,
    RenameEntry,
    RenameParameter,
    RenamePort,
    RenameSignal,
    RenameState,
    RenameSubsystem,
    RenameValue,
    ReplaceLines,
    Retype,
    Set,
    Unset,
    Vary,
    Wrap,
)

MOST_OPERATIONS = 10_000
LARGEST_PLACE = 1e7
"""Largest allowed coordinate of a block [px]."""
USED_FILES = (".yaml", ".yml")


@dataclass(frozen=True)
class Asked:
    """The operations of a request. label: their name in the undo history. renamed: new names, and
    placed: positions, by (subsystem, block). grouped: the blocks of each new subsystem. sheets: new
    names of subsystems."""

    operations: tuple[Operation, ...]
    label: str
    renamed: Mapping[tuple[str, str], str] = field(default_factory=dict)
    placed: Mapping[tuple[str, str], Spot] = field(default_factory=dict)
    grouped: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    sheets: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_text(self) -> bool:
        """Whether it replaces lines of the text."""
        return any(isinstance(one, ReplaceLines) for one in self.operations)


def asked_of(given: Any) -> Asked:
    """Read the operations of a request. Raises InputError for invalid ones."""
    if not isinstance(given, list) or len(given) > MOST_OPERATIONS:
        raise InputError("the request needs a list of operations")
    operations: list[Operation] = []
    labels: list[str] = []
    renamed: dict[tuple[str, str], str] = {}
    placed: dict[tuple[str, str], Spot] = {}
    grouped: dict[tuple[str, str], tuple[str, ...]] = {}
    sheets: dict[str, str] = {}
    for one in given:
        if not isinstance(one, dict):
            raise InputError("an operation is a mapping")
        found, label = _operation(one)
        operations += found
        labels.append(label)
        kind, within = one["op"], one.get("within") or ""
        if kind == "rename":
            renamed[within, one["name"]] = one["to"]
        if kind in ("add", "subsystem") and one.get("place") is not None:
            placed[within, one["name"]] = spot_of(one["place"])
        if kind == "rename-subsystem":
            sheets[one["name"]] = one["to"]
        if kind == "group":
            grouped[within, one["name"]] = tuple(one["names"])
    label = labels[0] if labels else "nothing"
    if len(labels) > 1:
        label = f"{label} and {len(labels) - 1} more"
    return Asked(tuple(operations), label, renamed, placed, grouped, sheets)


def _operation(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    """The edits for one operation, and its label."""
    kind = text_of(given, "op")
    make = _KINDS.get(kind)
    if make is None:
        raise InputError(f"there is no operation {kind[:40]!r}")
    return make(given)


def _set(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    path, text = text_of(given, "path"), text_of(given, "text")
    value = parse_value(text, path)
    return [Set(path, value)], f"set {_short(path)}"


def _unset(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    path = text_of(given, "path")
    return [Unset(path)], f"unset {_short(path)}"


def _append(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    path, text = text_of(given, "path"), text_of(given, "text")
    return [Append(path, parse_value(text, path))], f"add to {_short(path)}"


def _short(path: str) -> str:
    return path.removeprefix("blocks.")


def _add(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    name, kind, within = text_of(given, "name"), text_of(given, "type"), _within(given)
    written = given.get("parameters") or {}
    if not isinstance(written, dict):
        raise InputError("parameters are a mapping of texts")
    values = {key: parse_value(text_of(written, key), f"{name}.{key}") for key in written}
    if kind in MACHINES and "states" not in values:
        values = {**first_machine(), **values}
    operation: Operation = _Add(name, kind, values, within)
    if not kind.endswith(USED_FILES):
        return [operation], f"add {name}"
    scope = ("subsystems", within) if within else ()
    section = Put((*scope, "blocks", name), {"use": kind, **values})
    return [_Checked(operation, section)], f"add {name}"


@dataclass(frozen=True)
class _Add(AddBlock):
    """Adds a block, with the robot and the clock that it needs where the file has only one."""

    def steps(self, file: File) -> list[Any]:
        kind = kind_of(self.type)
        needed = (
            () if kind is None else (one.name for one in kind.parameters.values() if one.required)
        )
        known = {key: list(mapping_at(file.data, f"{key}s")) for key in ("robot", "clock")}
        only = {key: known[key][0] for key in needed if len(known.get(key, ())) == 1}
        return AddBlock(self.name, self.type, {**only, **self.parameters}, self.within).steps(file)


@dataclass(frozen=True)
class _Checked(Operation):
    """Does one operation after checking that another one is allowed. check: the one that is only
    checked; done: the one that is done."""

    check: Operation
    done: Operation

    def steps(self, file: File) -> list[Any]:
        self.check.steps(file)
        return self.done.steps(file)


def _remove(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    names, within = _names(given), _within(given)
    return [RemoveBlock(name, within) for name in names], f"remove {', '.join(names[:3])}"


def _rename(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    name, to = text_of(given, "name"), text_of(given, "to")
    return [RenameBlock(name, to, _within(given))], f"rename {name}"


def _rename_parameter(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    name, to = text_of(given, "name"), text_of(given, "to")
    return [RenameParameter(name, to)], f"rename {name}"


def _rename_entry(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    name, to, section = text_of(given, "name"), text_of(given, "to"), text_of(given, "section")
    if section not in ("clocks", "robots"):
        raise InputError(f"there are no entries to rename in {section[:40]!r}")
    return [RenameEntry(section, name, to)], f"rename {name}"


def _rename_port(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    name, to, side = text_of(given, "name"), text_of(given, "to"), text_of(given, "side")
    return [RenamePort(name, to, side, _within(given))], f"rename port {name}"


def _remove_port(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    name, side = text_of(given, "name"), text_of(given, "side")
    return [RemovePort(name, side, _within(given))], f"remove port {name}"


def _rename_state(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    path, to = text_of(given, "path"), text_of(given, "to")
    return [RenameState(path, to)], f"rename state {_last(path)}"


def _rename_value(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    path, to = text_of(given, "path"), text_of(given, "to")
    return [RenameValue(path, to)], f"rename {_last(path)}"


def _remove_state(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    path = text_of(given, "path")
    return [RemoveState(path)], f"remove state {_last(path)}"


def _move_state(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    path, into = text_of(given, "path"), text_of(given, "into")
    return [MoveState(path, into, text_of(given, "before", ""))], f"move state {_last(path)}"


def _move_item(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    path, index = text_of(given, "path"), int(number_of(given, "index"))
    return [MoveItem(path, index)], f"move {_short(path)}"


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _retype(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    name = text_of(given, "name")
    return [_Retyped(name, text_of(given, "type"), _within(given))], f"retype {name}"


@dataclass(frozen=True)
class _Retyped(Operation):
    """Changes the type of a block, and removes the parameters that the new type does not have."""

    name: str
    type: str
    within: str

    def steps(self, file: File) -> list[Any]:
        known = _parameters(file, self.type)
        scope = ("subsystems", self.within) if self.within else ()
        section = mapping_at(file.data, *scope, "blocks", self.name)
        gone = () if known is None else (set(section) - {"type", "use", *known})
        without = tuple(key for key in section if key in gone)
        return Retype(self.name, self.type, without=without, within=self.within).steps(file)


def _parameters(file: File, kind: str) -> Collection[str] | None:
    """The parameter names of a block type, or of a subsystem of the file; None if there is
    neither."""
    if kind in file.subsystems:
        return {"for_each", *file.subsystems[kind].params}
    found = kind_of(kind)
    return None if found is None else found.parameters


def _wire(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    text = f"{text_of(given, 'source')} -> {text_of(given, 'target')}"
    return [AddWire(text, _within(given))], f"wire {text}"


def _unwire(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    text = f"{text_of(given, 'source')} -> {text_of(given, 'target')}"
    return [RemoveWire(text, _within(given))], f"unwire {text}"


def _group(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    name = text_of(given, "name")
    return [Group(name, tuple(_names(given)), _within(given))], f"group {name}"


def _subsystem(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    name = text_of(given, "name")
    return [AddSubsystem(name, _within(given))], f"add {name}"


def _rename_subsystem(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    name, to = text_of(given, "name"), text_of(given, "to")
    return [RenameSubsystem(name, to)], f"rename {name}"


def _rename_signal(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    block, name, to = (text_of(given, key) for key in ("block", "name", "to"))
    return [RenameSignal(block, name, to, _within(given))], f"rename {block}.{name}"


def _condition(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    kind, within = text_of(given, "kind"), _within(given)
    return [AddCondition(kind, within, text_of(given, "by", ""))], f"{within or 'file'} {kind}"


def _uncondition(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    kind, within = text_of(given, "kind"), _within(given)
    return [RemoveCondition(kind, within)], f"{within or 'file'} not {kind}"


def _for_each(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    name = text_of(given, "name")
    return [ForEach(name, within=_within(given))], f"for each of {name}"


def _draw(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    path, text = text_of(given, "path"), given.get("text")
    value = None if text is None else parse_value(text_of(given, "text"), path)
    part, _, name = path.partition(".")
    part = part.partition("[")[0].removesuffix("s")
    label = f"look of {name.partition('.')[0]}" if part == "look" else part
    done = "change" if name or "[" in path else "add"
    if text is None and part != "look":
        done = "remove"
    return [Draw(path, value, _within(given))], f"{done} {label}"


def _wrap(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    slot, choice, wires = text_of(given, "slot"), text_of(given, "choice"), given.get("wires")
    if not isinstance(wires, list) or not all(isinstance(text, str) for text in wires):
        raise InputError("the operation needs a list of wires")
    return [Wrap(slot, choice, tuple(wires))], f"wrap {slot}.{choice}"


def _text(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    changes = given.get("changes")
    if not isinstance(changes, list) or len(changes) > MOST_OPERATIONS:
        raise InputError("the operation needs a list of changes")
    return [ReplaceLines(tuple(map(_line_change, changes)))], "edit the text"


def _line_change(given: Any) -> LineChange:
    right = isinstance(given, list) and len(given) == 3 and isinstance(given[2], list)
    if not right or not all(type(number) is int for number in given[:2]):
        raise InputError("a change is [first, last, lines]")
    first, last, lines = given
    if not all(isinstance(line, str) for line in lines):
        raise InputError("a line is a text")
    return LineChange(first, last, tuple(lines))


def _vary(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    name = text_of(given, "name")
    return [Vary(name, text_of(given, "choice"))], f"make variants of {name}"


def _fix(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    slot, choice = text_of(given, "slot"), text_of(given, "choice")
    return [Fix(slot, choice)], f"make {slot} a block, {choice}"


def _add_choice(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    slot, choice = text_of(given, "slot"), text_of(given, "choice")
    kind, like = text_of(given, "type", ""), text_of(given, "like", "")
    if bool(kind) == bool(like):
        raise InputError("the operation needs a type, or the choice that the new one is like")
    return [AddChoice(slot, choice, kind, like=like)], f"add {slot}.{choice}"


def _rename_choice(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    slot, choice = text_of(given, "slot"), text_of(given, "choice")
    return [RenameChoice(slot, choice, text_of(given, "to"))], f"rename {slot}.{choice}"


def _remove_choice(given: Mapping[str, Any]) -> tuple[Sequence[Operation], str]:
    slot, choice = text_of(given, "slot"), text_of(given, "choice")
    return [RemoveChoice(slot, choice)], f"remove {slot}.{choice}"


_KINDS = {
    "set": _set,
    "unset": _unset,
    "append": _append,
    "add": _add,
    "remove": _remove,
    "rename": _rename,
    "rename-parameter": _rename_parameter,
    "rename-entry": _rename_entry,
    "rename-port": _rename_port,
    "remove-port": _remove_port,
    "rename-state": _rename_state,
    "rename-value": _rename_value,
    "remove-state": _remove_state,
    "move-state": _move_state,
    "move-item": _move_item,
    "retype": _retype,
    "wire": _wire,
    "unwire": _unwire,
    "group": _group,
    "draw": _draw,
    "wrap": _wrap,
    "text": _text,
    "subsystem": _subsystem,
    "rename-subsystem": _rename_subsystem,
    "rename-signal": _rename_signal,
    "condition": _condition,
    "uncondition": _uncondition,
    "for-each": _for_each,
    "vary": _vary,
    "fix": _fix,
    "add-choice": _add_choice,
    "rename-choice": _rename_choice,
    "remove-choice": _remove_choice,
}


def _within(given: Mapping[str, Any]) -> str:
    if given.get("within", "") is None:
        raise InputError("this sheet is of another file: open that to change it")
    return text_of(given, "within", "")


def _names(given: Mapping[str, Any]) -> list[str]:
    names = given.get("names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not names:
        raise InputError("the operation needs the names of blocks")
    return names


def renamed_by(before: File, after: File) -> dict[tuple[str, str], str]:
    """New names by (subsystem, block), of sheets in which one block has got another name in the
    text."""
    found: dict[tuple[str, str], str] = {}
    known = {sheet.keys: sheet for sheet in before.sheets}
    for sheet in after.sheets:
        was = known.get(sheet.keys)
        gone = [] if was is None else [name for name in was.blocks if name not in sheet.blocks]
        new = [] if was is None else [name for name in sheet.blocks if name not in was.blocks]
        if len(gone) == len(new) == 1:
            found[sheet.name, gone[0]] = new[0]
    return found


def spot_of(given: Any) -> Spot:
    """A block's position from [x, y] of a request. Raises InputError if it is invalid."""
    right = isinstance(given, list | tuple) and len(given) == 2
    for value in given if right else ():
        right = right and isinstance(value, int | float) and not isinstance(value, bool)
        right = right and abs(value) <= LARGEST_PLACE
    if not right:
        raise InputError("a place is [x, y] in pixels")
    return Spot(float(given[0]), float(given[1]), True)
