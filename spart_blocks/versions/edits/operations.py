"""The operations on a diagram's file. Each is translated into steps, which change one value each.

The steps of an operation are in this order: values set, entries removed from the last to the
first, entries inserted, keys renamed. So all their paths are valid in the file as it is before the
first step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.base.document import Keys, mapping_at, value_at
from spart_blocks.base.errors import Fault, InputError, did_you_mean, near_names
from spart_blocks.diagram.build.registry import name_problem
from spart_blocks.diagram.sections.schema import is_whole
from spart_blocks.diagram.written.paths import editable_path_in
from spart_blocks.diagram.written.references import reference_of
from spart_blocks.diagram.written.sheets import VARIANT, File, Sheet, Slot, is_slot
from spart_blocks.diagram.written.wires import WireSyntaxError, WrittenWire
from spart_blocks.diagram.written.wrapper import wrapper_of
from spart_blocks.versions.edits.drawings import drawing_of, moved_out, without_blocks
from spart_blocks.versions.edits.grouping import grouped
from spart_blocks.versions.edits.renaming import (
    OF_VARIANTS,
    NewNames,
    Rename,
    parameter_renamed,
    signals_renamed,
    strings,
    uses,
)
from spart_blocks.versions.edits.steps import (
    InsertItem,
    Operation,
    RemoveValue,
    RenameKey,
    SetValue,
    Step,
    connections_of,
    ordered,
    read_wire,
    stepped,
    wire_steps,
    wires_of,
)

Data = dict[str, Any]
_MISSING: Any = object()


@dataclass(frozen=True)
class Put(Operation):
    """Set the value at a path of keys and indices; the entry may be new. Its parent must exist or
    be a section.
    """

    path: Keys
    value: Any

    def steps(self, file: File) -> list[Step]:
        found: Any = file.data
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
    """Set a value by its path, as `--set` takes it: `params.kp`, `ctrl.kp`, or the short `kp`.

    A new parameter of a block, or a new entry of a section, needs the full path: `blocks.ctrl.ki`.
    Items of lists have indices: `expect.final[1].within`.
    """

    path: str
    value: Any

    def steps(self, file: File) -> list[Step]:
        keys = editable_path_in(self.path, file.data)
        check_whole(file.data, keys, self.value)
        return Put(keys, self.value).steps(file)


@dataclass(frozen=True)
class Tune(Operation):
    """Set a parameter of a block to a number or nested lists of numbers, where the file defines
    its value: for `kp: $kp` this is in `params:`. A scalar that fills a vector stays a scalar if
    all new elements are equal.
    """

    path: str
    value: Any

    def steps(self, file: File) -> list[Step]:
        keys = editable_path_in(self.path, file.data)
        found = value_at(file.data, keys)
        reference = reference_of(found)
        if reference is not None:
            keys = "params", reference
            found = value_at(file.data, keys)
        value = _plain_number(self.value)
        while isinstance(value, list) and not isinstance(found, list) and _uniform(value):
            value = value[0]
        return Put(keys, value).steps(file)


def _plain_number(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain_number(item) for item in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return int(value) if whole else value


def _uniform(value: list[Any]) -> bool:
    return bool(value) and all(item == value[0] for item in value)


@dataclass(frozen=True)
class Unset(Operation):
    """Remove the entry at a path, as for Set."""

    path: str

    def steps(self, file: File) -> list[Step]:
        keys = editable_path_in(self.path, file.data)
        if value_at(file.data, keys, _MISSING) is _MISSING:
            raise InputError(f"there is no {self.path} in the file")
        return [RemoveValue(keys)]


@dataclass(frozen=True)
class AddBlock(Operation):
    """Add a block with these parameters. within: the subsystem of the file that it is added to."""

    name: str
    type: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    within: str = ""

    def steps(self, file: File) -> list[Step]:
        sheet = sheet_of(file, self.within)
        _free(file, sheet, self.name)
        section = {"type": self.type, **self.parameters}
        return Put((*sheet.keys, "blocks", self.name), section).steps(file)


@dataclass(frozen=True)
class RemoveBlock(Operation):
    """Remove a block, and the wires from it and to it. It is also removed from `run: log`. Raises
    InputError if claims or other sections name it.
    """

    name: str
    within: str = ""

    def steps(self, file: File) -> list[Step]:
        sheet = sheet_of(file, self.within)
        home = home_of(file, sheet, self.name)
        steps = [*wire_steps(sheet, lambda wire: wire.without(lambda e: e.block == self.name))]
        steps += without_blocks(sheet, {self.name})
        if sheet.keys:
            return ordered([*steps, RemoveValue(home)])
        used = []
        for path in uses(file.data, self.name):
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
    """Rename a block, also in wires and wherever its signals are named."""

    name: str
    new: str
    within: str = ""

    def steps(self, file: File) -> list[Step]:
        sheet = sheet_of(file, self.within)
        home = home_of(file, sheet, self.name)
        _free(file, sheet, self.new)
        wires_of(sheet)  # raises for one that cannot be read
        if is_slot(home):
            renamed = Rename(NewNames({home: (VARIANT, self.new)})).steps(file)
            named = [
                RenameKey((section, "variants", self.name), self.new)
                for section in OF_VARIANTS
                if self.name in mapping_at(file.data, section, "variants")
            ]
            return ordered([*renamed, *named])
        return Rename(NewNames(blocks={(sheet.keys, self.name): self.new})).steps(file)


@dataclass(frozen=True)
class Retype(Operation):
    """Change the type of a block. parameters: those to set. without: those to remove."""

    name: str
    type: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    within: str = ""

    def steps(self, file: File) -> list[Step]:
        home = home_of(file, sheet_of(file, self.within), self.name)
        if home[0] == "variants":
            raise InputError(f"{self.name} is a slot of variants: change one of its choices")
        steps: list[Step] = [SetValue((*home, "type"), self.type)]
        steps += [SetValue((*home, name), value) for name, value in self.parameters.items()]
        section = value_at(file.data, home)
        if not isinstance(section, dict):
            raise InputError(f"block {self.name} is not written as a mapping")
        gone = [*self.without, *(["use"] if "use" in section else [])]
        return ordered([*steps, *(RemoveValue((*home, name)) for name in gone)])


@dataclass(frozen=True)
class AddWire(Operation):
    """Add a wire, such as `plant.qm -> ctrl.qm, scope`."""

    text: str
    within: str = ""

    def steps(self, file: File) -> list[Step]:
        sheet = sheet_of(file, self.within)
        there = connections_of(sheet)
        double = [pair for pair in read_wire(self.text).connections() if pair in there]
        if double:
            raise InputError(f"there is already a wire {double[0][0]} -> {double[0][1]}")
        path = (*sheet.keys, "wires")
        listed = list(_new_signals(sheet, read_wire(self.text)))
        if isinstance(sheet.section.get("wires"), list):
            return [*listed, InsertItem(path, self.text)]
        return [SetValue(path, [self.text]), *listed]


def _new_signals(sheet: Sheet, wire: WrittenWire) -> Iterator[InsertItem]:
    """The signals that a wire adds to the lists of those that blocks BUS_CREATOR have."""
    for end in wire.ends:
        block = sheet.blocks.get(end.block)
        if block is None or block.type != "BUS_CREATOR" or end.port is None:
            continue
        signals = block.section.get("signals")
        known = signals if isinstance(signals, list) else [end.port]
        if not any(f"{one}.".startswith(f"{end.port}.") for one in known):
            yield InsertItem((*block.keys, "signals"), end.port)


@dataclass(frozen=True)
class RemoveWire(Operation):
    """Remove a wire, or some of its destinations."""

    text: str
    within: str = ""

    def steps(self, file: File) -> list[Step]:
        sheet = sheet_of(file, self.within)
        gone = set(read_wire(self.text).connections())
        there = connections_of(sheet)
        missing = gone - there
        if missing:
            source, end = min(missing)
            known = [f"{a} -> {b}" for a, b in there]
            hint = did_you_mean(f"{source} -> {end}", known)
            raise InputError(Fault(f"there is no wire {source} -> {end}", hint=hint))
        return ordered([*wire_steps(sheet, lambda wire: wire.without_connections(gone))])


@dataclass(frozen=True)
class RenameParameter(Operation):
    """Rename an entry of `params:`, also where it is used."""

    name: str
    new: str

    def steps(self, file: File) -> list[Step]:
        params = file.top.params
        if self.name not in params:
            hint = did_you_mean(self.name, params)
            raise InputError(Fault(f"there is no parameter {self.name!r}", hint=hint))
        if self.new in params:
            raise InputError(f"there is already a parameter {self.new!r}")
        check_name(self.new)
        word = re.compile(rf"\${re.escape(self.name)}(?!\w)")
        steps: list[Step] = [
            SetValue(path, word.sub(f"${self.new}", text))
            for path, text, is_key in strings(_unshadowed(file, self.name), ())
            if not is_key and word.search(text)
        ]
        moved = parameter_renamed(file.data, self.name, self.new)
        declared = [
            RenameKey(("declare", self.name), self.new)
            for name in mapping_at(file.data, "declare")
            if name == self.name
        ]
        return ordered([*steps, *moved, *declared, RenameKey(("params", self.name), self.new)])


@dataclass(frozen=True)
class RenameEntry(Operation):
    """Rename a clock or a robot, also where it is used. section: `clocks` or `robots`."""

    section: str
    name: str
    new: str

    def steps(self, file: File) -> list[Step]:
        entries = mapping_at(file.data, self.section)
        kind = self.section.removesuffix("s")
        if self.name not in entries:
            hint = did_you_mean(self.name, entries)
            raise InputError(Fault(f"there is no {kind} {self.name!r}", hint=hint))
        if self.new in entries:
            raise InputError(f"there is already a {kind} {self.new!r}")
        check_name(self.new)
        return Rename(NewNames(sections={self.section: {self.name: self.new}})).steps(file)


@dataclass(frozen=True)
class Group(Operation):
    """Move blocks into a new subsystem of the file, and put one block of that type and name in
    their place. Its ports are named after the signals that cross its border.
    """

    name: str
    blocks: tuple[str, ...]
    within: str = ""

    def steps(self, file: File) -> list[Step]:
        sheet = sheet_of(file, self.within)
        _free(file, sheet, self.name)
        check_new_subsystem(file, self.name)
        if not self.blocks:
            raise InputError("name the blocks of the group")
        homes = [home_of(file, sheet, name) for name in self.blocks]
        if any(home[0] == "variants" for home in homes):
            raise InputError("a slot of variants cannot be put into a subsystem")
        sections = mapping_at(sheet.section, "blocks")
        blocks = {name: sections[name] for name in dict.fromkeys(self.blocks)}
        part = grouped(self.name, blocks, sheet)
        names = {
            f"{prefix}{name}": f"{prefix}{self.name}/{name}"
            for prefix in _prefixes(file, sheet)
            for name in self.blocks
        }
        steps = [*part.steps, *signals_renamed(file.data, names)]
        drawing = drawing_of(sheet.drawing, set(blocks))
        if drawing:
            part.section["drawing"] = drawing
        steps += moved_out(sheet, set(blocks), self.name)
        steps += [RemoveValue(home) for home in homes]
        steps += [InsertItem((*sheet.keys, "wires"), text) for text in part.outer]
        after = Put(("subsystems", self.name), part.section).steps(file)
        block = SetValue((*sheet.keys, "blocks", self.name), {"type": self.name})
        return ordered([*steps, *after, block])


@dataclass(frozen=True)
class Wrap(Operation):
    """Move a choice of a slot into a new subsystem, which has the ports of the slot, and choose
    that. wires: those within, such as `in.goal -> block.qd` and `block -> out.force`, where `block`
    is the choice; `in.rate` alone is an input that nothing reads.
    """

    slot: str
    choice: str
    wires: tuple[str, ...]

    def steps(self, file: File) -> list[Step]:
        if self.slot not in file.slots:
            hint = did_you_mean(self.slot, file.slots)
            raise InputError(Fault(f"there is no slot {self.slot!r}", hint=hint))
        choices = file.slots[self.slot].choices
        if self.choice not in choices:
            hint = did_you_mean(self.choice, choices)
            raise InputError(Fault(f"{self.slot} has no choice {self.choice!r}", hint=hint))
        found = choices[self.choice]
        try:
            wrapper = wrapper_of(file, self.slot, self.choice, found.section, self.wires)
        except WireSyntaxError as error:
            raise InputError(Fault(error.message, hint=error.hint)) from None
        check_name(wrapper.name)
        made = Put(("subsystems", wrapper.name), wrapper.section).steps(file)
        return ordered([*made, SetValue(found.keys, {"type": wrapper.name})])


# --- what operations share ------------------------------------------------------------------


_NEW = {
    "blocks": "add {name} TYPE{within} makes a block",
    "clocks": "give a new clock its period T or its rate",
    "robots": "give a new robot its urdf, dh, spart, links or bodies",
    "subsystems": "group makes a subsystem of blocks, and add --in SUBSYSTEM a block in it",
    "variants": "give a new slot its default and its choices at once",
    "choices": "give a new choice its type first",
}
"""For sections of named entries a hint how to add an entry."""


def _entries(keys: Keys) -> Iterator[Keys]:
    """The paths of the named entries (such as blocks) that contain a path, or equal it; the
    outermost first.
    """
    for depth, section in enumerate(keys[:-1]):
        if depth in (0, 2) and section in _NEW:
            yield keys[: depth + 2]


def check_whole(data: Data, keys: Keys, value: Any) -> None:
    """Raise InputError if setting a value would create or replace an entry of a section that is
    incomplete, such as a block without a type.
    """
    for entry in _entries(keys):
        section, name = entry[-2:]
        known = mapping_at(data, *entry[:-1])
        if name in known and entry != keys:
            continue
        made = value
        for key in reversed(keys[len(entry) :]):
            made = {key: made}
        if section == "blocks":
            check_name(str(name))
        if is_whole(entry, made):
            return
        path, kind = ".".join(map(str, entry)), str(section).removesuffix("s")
        if name in known:
            raise InputError(Fault(f"{path} holds several values", hint="name one of them"))
        near = near_names(str(name), known)
        within = f" --in {entry[1]}" if entry[0] == "subsystems" else ""
        add = _NEW[str(section)].format(name=name, within=within)
        hint = near or add
        where = f" in {'.'.join(map(str, entry[:-2]))}" if len(entry) > 2 else ""
        raise InputError(Fault(f"there is no {kind} {name!r}{where}", hint=hint))


def sheet_of(file: File, within: str) -> Sheet:
    """The sheet of a subsystem, or the top sheet if `within` is empty. Raises InputError."""
    if within and within not in file.subsystems:
        hint = did_you_mean(within, file.subsystems)
        raise InputError(Fault(f"there is no subsystem {within!r}", hint=hint))
    return file.subsystems[within] if within else file.top


def _slots(file: File, sheet: Sheet) -> dict[str, Slot]:
    """The variant slots on a sheet."""
    return {} if sheet.keys else file.slots


def home_of(file: File, sheet: Sheet, name: str) -> Keys:
    """The path at which a block is defined. Raises InputError if there is no such block."""
    slots = _slots(file, sheet)
    found = sheet.blocks.get(name) or slots.get(name)
    if found is None:
        hint = did_you_mean(name, [*sheet.blocks, *slots])
        raise InputError(Fault(f"there is no block {name!r}", hint=hint))
    return found.keys


def check_new_subsystem(file: File, name: str) -> None:
    """Raise InputError if the file has a subsystem of this name."""
    if name in file.subsystems:
        raise InputError(f"there is already a subsystem {name!r}")


def _free(file: File, sheet: Sheet, name: str) -> None:
    """Raise InputError if a name is invalid for a block, or in use."""
    check_name(name)
    if name in sheet.blocks or name in _slots(file, sheet):
        raise InputError(f"there is already a block {name!r}")


def check_name(name: str) -> None:
    """Raise InputError if a name is invalid."""
    problem = name_problem(name)
    if problem:
        raise InputError(f"the name {name[:60]!r} {problem}")


def _prefixes(file: File, sheet: Sheet) -> list[str]:
    """The prefixes of signal paths on a sheet: `arm/` for each block `arm` of this subsystem."""
    return [prefix for prefix, one in file.instances() if one is sheet]


def _unshadowed(file: File, name: str) -> Data:
    """The data without the subsystems that have their own parameter of this name."""
    written = mapping_at(file.data, "subsystems")
    kept = {key: one for key, one in written.items() if name not in file.subsystems[key].params}
    return {**file.data, "subsystems": kept} if written else file.data


def data_after(data: Data, operation: Operation) -> Data:
    """The file's data after an operation."""
    for step in operation.steps(File.of(data)):
        data = stepped(data, step)
    return data
