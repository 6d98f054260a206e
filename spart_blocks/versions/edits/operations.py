"""What can be done to a diagram's file: each operation gives the steps of which it consists.

The steps of an operation keep this order: values, entries removed from the last to the first,
entries added, keys renamed. So their paths are those of the file before the first of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.base.document import Keys, mapping_at, value_at
from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.diagram.build.registry import name_problem
from spart_blocks.diagram.sections.schema import is_whole
from spart_blocks.versions.edits.grouping import grouped
from spart_blocks.versions.edits.paths import keys_of
from spart_blocks.versions.edits.references import (
    parameter_renamed,
    signals_renamed,
    strings,
    uses,
)
from spart_blocks.versions.edits.steps import (
    InsertItem,
    RemoveValue,
    RenameKey,
    SetValue,
    Step,
    ordered,
    stepped,
)
from spart_blocks.versions.edits.wire_changes import (
    Written,
    all_connections,
    renamed,
    wire_steps,
    wires_at,
    without,
    without_connections,
)

Data = dict[str, Any]
_MISSING: Any = object()


class Operation:
    """A change of a diagram. `steps` raises InputError where the diagram does not allow it."""

    def steps(self, data: Data) -> list[Step]:
        """The steps on the file's values."""
        raise NotImplementedError


@dataclass(frozen=True)
class Put(Operation):
    """The value at a path of keys and indices, new or not; its holder exists, or is a section."""

    path: Keys
    value: Any

    def steps(self, data: Data) -> list[Step]:
        found: Any = data
        for depth, key in enumerate(self.path[:-1]):
            inner = found.get(key) if isinstance(found, dict) else _item(found, key)
            if inner is None:  # made with what it holds
                value = self.value
                for name in reversed(self.path[depth + 1 :]):
                    value = {name: value}
                return [SetValue(self.path[: depth + 1], value)]
            found = inner
        return [SetValue(self.path, self.value)]


def _item(holder: Any, key: Any) -> Any:
    if isinstance(holder, list) and isinstance(key, int) and 0 <= key < len(holder):
        return holder[key]
    raise InputError(f"there is no entry {key!r}")


@dataclass(frozen=True)
class Set(Operation):
    """A value by its path as `--set` takes it: `params.kp`, `ctrl.kp`, or the short `kp`. A new
    parameter of a block, and a new entry of a section, is written out: `blocks.ctrl.ki`. Items of
    lists have indices: `expect.final[1].within`.
    """

    path: str
    value: Any

    def steps(self, data: Data) -> list[Step]:
        keys = keys_of(self.path, data)
        _whole(data, keys, self.value)
        return Put(keys, self.value).steps(data)


@dataclass(frozen=True)
class Append(Operation):
    """A value behind the last one of the list at a path, as for Set; a list that is not there is
    made."""

    path: str
    value: Any

    def steps(self, data: Data) -> list[Step]:
        keys = keys_of(self.path, data)
        found = value_at(data, keys)
        if found is None:
            _whole(data, keys, [self.value])
            return Put(keys, [self.value]).steps(data)
        if not isinstance(found, list):
            raise InputError(f"{self.path} is not a list")
        return [InsertItem(keys, self.value)]


@dataclass(frozen=True)
class Tune(Operation):
    """A number or nested lists of numbers for a parameter of a block, written where the file has
    it: of `kp: $kp` in `params:`. A number that filled a vector stays one if it can."""

    path: str
    value: Any

    def steps(self, data: Data) -> list[Step]:
        keys = keys_of(self.path, data)
        found = value_at(data, keys)
        reference = _REFERENCE.fullmatch(found) if isinstance(found, str) else None
        if reference:
            keys = ("params", reference[1])
            found = value_at(data, keys)
        value = _plain_number(self.value)
        while isinstance(value, list) and not isinstance(found, list) and _uniform(value):
            value = value[0]
        return Put(keys, value).steps(data)


_REFERENCE = re.compile(r"\$(\w+)")


def _plain_number(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain_number(item) for item in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return int(value) if whole else value


def _uniform(value: list[Any]) -> bool:
    return bool(value) and all(item == value[0] for item in value)


@dataclass(frozen=True)
class Unset(Operation):
    """The entry at a path, as for Set, is removed."""

    path: str

    def steps(self, data: Data) -> list[Step]:
        keys = keys_of(self.path, data)
        if value_at(data, keys, _MISSING) is _MISSING:
            raise InputError(f"there is no {self.path} in the file")
        return [RemoveValue(keys)]


@dataclass(frozen=True)
class AddBlock(Operation):
    """A new block, with the parameters that are given. within: a subsystem of the file."""

    name: str
    type: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    within: str = ""

    def steps(self, data: Data) -> list[Step]:
        scope = _scope(data, self.within)
        _free(data, scope, self.name)
        section = {"type": self.type, **self.parameters}
        return Put((*scope, "blocks", self.name), section).steps(data)


@dataclass(frozen=True)
class RemoveBlock(Operation):
    """A block less, and the wires from it and to it. InputError if claims or other sections name
    it; `run: log` forgets it."""

    name: str
    within: str = ""

    def steps(self, data: Data) -> list[Step]:
        scope = _scope(data, self.within)
        home = _home(data, scope, self.name)
        wires = _wires(data, scope)
        steps = [*wire_steps(wires, lambda text: without(text, lambda e: e.block == self.name))]
        if scope:
            return ordered([*steps, RemoveValue(home)])
        used = []
        for path in uses(data, self.name):
            if path[:2] == ("run", "log") and len(path) == 3:
                steps.append(RemoveValue(path))
            else:
                used.append(".".join(map(str, path)))
        if used:
            hint = "remove this first"
            problem = f"block {self.name} is named in {', '.join(used[:5])}"
            raise InputError(Fault(problem, hint=hint))
        return ordered([*steps, RemoveValue(home)])


@dataclass(frozen=True)
class RenameBlock(Operation):
    """Another name for a block, also in wires and wherever its signals are named."""

    name: str
    new: str
    within: str = ""

    def steps(self, data: Data) -> list[Step]:
        scope = _scope(data, self.within)
        home = _home(data, scope, self.name)
        _free(data, scope, self.new)
        steps = wire_steps(_wires(data, scope), lambda text: renamed(text, self.name, self.new))
        names = {prefix + self.name: prefix + self.new for prefix in _instances(data, self.within)}
        return ordered([*steps, *signals_renamed(data, names),
                         RenameKey(home, self.new)])  # fmt: skip


@dataclass(frozen=True)
class Retype(Operation):
    """Another type for a block. parameters: those to be set; without: those to be removed."""

    name: str
    type: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    within: str = ""

    def steps(self, data: Data) -> list[Step]:
        home = _home(data, _scope(data, self.within), self.name)
        if home[0] == "variants":
            raise InputError(f"{self.name} is a slot of variants: change one of its choices")
        steps: list[Step] = [SetValue((*home, "type"), self.type)]
        steps += [SetValue((*home, name), value) for name, value in self.parameters.items()]
        section = value_at(data, home)
        if not isinstance(section, dict):
            raise InputError(f"block {self.name} is not written as a mapping")
        gone = [*self.without, *(["use"] if "use" in section else [])]
        return ordered([*steps, *(RemoveValue((*home, name)) for name in gone)])


@dataclass(frozen=True)
class AddWire(Operation):
    """A new wire, such as `plant.qm -> ctrl.qm, scope`."""

    text: str
    within: str = ""

    def steps(self, data: Data) -> list[Step]:
        scope = _scope(data, self.within)
        there = all_connections([text for _, text in _wires(data, scope)])
        double = [pair for pair in Written.read(self.text).connections() if pair in there]
        if double:
            raise InputError(f"there is already a wire {double[0][0]} -> {double[0][1]}")
        path = (*scope, "wires")
        if isinstance(value_at(data, path), list):
            return [InsertItem(path, self.text)]
        return [SetValue(path, [self.text])]


@dataclass(frozen=True)
class RemoveWire(Operation):
    """A wire less, or some of the inputs that it leads to."""

    text: str
    within: str = ""

    def steps(self, data: Data) -> list[Step]:
        scope = _scope(data, self.within)
        gone = set(Written.read(self.text).connections())
        wires = _wires(data, scope)
        texts = [text for _, text in wires]
        missing = gone - all_connections(texts)
        if missing:
            source, end = min(missing)
            known = [f"{a} -> {b}" for a, b in all_connections(texts)]
            hint = did_you_mean(f"{source} -> {end}", known)
            raise InputError(Fault(f"there is no wire {source} -> {end}", hint=hint))
        return ordered([*wire_steps(wires, lambda text: without_connections(text, gone))])


@dataclass(frozen=True)
class RenameParameter(Operation):
    """Another name for an entry of `params:`, also where it is used."""

    name: str
    new: str

    def steps(self, data: Data) -> list[Step]:
        params = mapping_at(data, "params")
        if self.name not in params:
            hint = did_you_mean(self.name, params)
            raise InputError(Fault(f"there is no parameter {self.name!r}", hint=hint))
        if self.new in params:
            raise InputError(f"there is already a parameter {self.new!r}")
        _named(self.new)
        word = re.compile(rf"\${re.escape(self.name)}(?!\w)")
        steps: list[Step] = [
            SetValue(path, word.sub(f"${self.new}", text))
            for path, text, is_key in strings(_unshadowed(data, self.name), ())
            if not is_key and word.search(text)
        ]
        moved = parameter_renamed(data, self.name, self.new)
        return ordered([*steps, *moved, RenameKey(("params", self.name), self.new)])


@dataclass(frozen=True)
class Group(Operation):
    """Blocks become a subsystem of the file, and one block of that type and name takes their
    place. Its ports are named after the signals that cross its border."""

    name: str
    blocks: tuple[str, ...]
    within: str = ""

    def steps(self, data: Data) -> list[Step]:
        scope = _scope(data, self.within)
        _free(data, scope, self.name)
        if self.name in mapping_at(data, "subsystems"):
            raise InputError(f"there is already a subsystem {self.name!r}")
        if not self.blocks:
            raise InputError("name the blocks of the group")
        homes = [_home(data, scope, name) for name in self.blocks]
        if any(home[0] == "variants" for home in homes):
            raise InputError("a slot of variants cannot be put into a subsystem")
        sections = mapping_at(data, *scope, "blocks")
        part = grouped(
            self.name, {name: sections[name] for name in dict.fromkeys(self.blocks)},
            _wires(data, scope),
        )  # fmt: skip
        names = {
            f"{prefix}{name}": f"{prefix}{self.name}/{name}"
            for prefix in _instances(data, self.within)
            for name in self.blocks
        }
        steps = [*part.steps, *signals_renamed(data, names)]
        steps += [RemoveValue(home) for home in homes]
        steps += [InsertItem((*scope, "wires"), text) for text in part.outer]
        after = Put(("subsystems", self.name), part.section).steps(data)
        block = SetValue((*scope, "blocks", self.name), {"type": self.name})
        return ordered([*steps, *after, block])


# --- what operations share ------------------------------------------------------------------


_NEW = {
    "blocks": "add {name} TYPE{within} makes a block",
    "clocks": "give a new clock its period T or its rate",
    "robots": "give a new robot its urdf, dh, spart, links or bodies",
    "subsystems": "group makes a subsystem of blocks, and add --in SUBSYSTEM a block in it",
    "variants": "give a new slot its default and its choices at once",
    "choices": "give a new choice its type first",
}
"""How an entry of a section of named things comes to be."""


def _entries(keys: Keys) -> Iterator[Keys]:
    """The paths of the named things that a path leads through or to, the outer one first."""
    for depth, section in enumerate(keys[:-1]):
        if depth in (0, 2) and section in _NEW:
            yield keys[: depth + 2]


def _whole(data: Data, keys: Keys, value: Any) -> None:
    """Refuse a value that would make an entry of a section that is not whole, such as a block
    without a type: the entry is not there, or is replaced by the value."""
    for entry in _entries(keys):
        section, name = entry[-2:]
        known = mapping_at(data, *entry[:-1])
        if name in known and entry != keys:
            continue
        made = value
        for key in reversed(keys[len(entry) :]):
            made = {key: made}
        if section == "blocks":
            _named(str(name))
        if is_whole(entry, made):
            return
        path, kind = ".".join(map(str, entry)), str(section).removesuffix("s")
        if name in known:
            raise InputError(Fault(f"{path} holds several values", hint="name one of them"))
        near = did_you_mean(str(name), known)
        within = f" --in {entry[1]}" if entry[0] == "subsystems" else ""
        add = _NEW[str(section)].format(name=name, within=within)
        hint = near if near and near.startswith("did") else add
        where = f" in {'.'.join(map(str, entry[:-2]))}" if len(entry) > 2 else ""
        raise InputError(Fault(f"there is no {kind} {name!r}{where}", hint=hint))


def _scope(data: Data, within: str) -> Keys:
    if not within:
        return ()
    subsystems = mapping_at(data, "subsystems")
    if within not in subsystems:
        hint = did_you_mean(within, subsystems)
        raise InputError(Fault(f"there is no subsystem {within!r}", hint=hint))
    return ("subsystems", within)


def _home(data: Data, scope: Keys, name: str) -> Keys:
    """Where a block is written; InputError if there is none."""
    blocks = mapping_at(data, *scope, "blocks")
    if name in blocks:
        return (*scope, "blocks", name)
    slots = mapping_at(data, "variants") if not scope else {}
    if name in slots:
        return ("variants", name)
    hint = did_you_mean(name, [*blocks, *slots])
    raise InputError(Fault(f"there is no block {name!r}", hint=hint))


def _free(data: Data, scope: Keys, name: str) -> None:
    """Refuse a name that a block cannot have, or has."""
    _named(name)
    slots = mapping_at(data, "variants") if not scope else {}
    if name in mapping_at(data, *scope, "blocks") or name in slots:
        raise InputError(f"there is already a block {name!r}")


def _named(name: str) -> None:
    problem = name_problem(name)
    if problem:
        raise InputError(f"the name {name[:60]!r} {problem}")


def _wires(data: Data, scope: Keys) -> list[tuple[Keys, str]]:
    """The wires of a diagram with their paths."""
    path = (*scope, "wires")
    return wires_at(path, value_at(data, path))


def _instances(data: Data, within: str) -> Iterator[str]:
    """The beginnings of the paths of signals in a subsystem: `arm/` for each block of its type.
    Within itself a subsystem has none, since no diagram of it can be built."""
    if not within:
        yield ""
        return
    around: tuple[str, ...] = ()
    parts = [("", mapping_at(data, "blocks"), around)]
    subsystems = mapping_at(data, "subsystems")
    seen = 0
    while parts and seen < 10_000:
        prefix, blocks, around = parts.pop()
        for name, section in blocks.items():
            kind = value_at(section, ("type",))
            if isinstance(kind, str) and kind in subsystems and kind not in around:
                seen += 1
                path = f"{prefix}{name}/"
                if kind == within:
                    yield path
                parts.append((path, mapping_at(subsystems, kind, "blocks"), (*around, kind)))


def _unshadowed(data: Data, name: str) -> Data:
    """The data without the subsystems that have a parameter of this name of their own."""
    subsystems = mapping_at(data, "subsystems")
    kept = {
        key: value for key, value in subsystems.items() if name not in mapping_at(value, "params")
    }
    return {**data, "subsystems": kept} if subsystems else data


def data_after(data: Data, operation: Operation) -> Data:
    """The file's values after an operation."""
    for step in operation.steps(data):
        data = stepped(data, step)
    return data
