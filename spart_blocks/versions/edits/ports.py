"""Renames and removes ports of subsystems, with all that refers to them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import Any

from spart_blocks.base.document import Keys, mapping_at
from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.diagram.written.conditions import CONDITIONS
from spart_blocks.diagram.written.sheets import GATES, File, Sheet, WrittenBlock
from spart_blocks.diagram.written.wires import WrittenWire
from spart_blocks.versions.edits.operations import check_name, sheet_of
from spart_blocks.versions.edits.renaming import signals_renamed
from spart_blocks.versions.edits.steps import (
    Operation,
    RemoveValue,
    RenameKey,
    SetValue,
    Step,
    ordered,
    wire_steps,
)

SIDES = ("inputs", "outputs")


@dataclass(frozen=True)
class _Port:
    """A port of a subsystem, or of the file itself. side: inputs or outputs; index: in the list."""

    file: File
    sheet: Sheet
    side: str
    name: str
    index: int

    @property
    def keys(self) -> Keys:
        return (*self.sheet.keys, self.side, self.index)

    @property
    def users(self) -> list[WrittenBlock]:
        """The blocks, and choices of slots, that are of this subsystem."""
        if not self.sheet.keys:
            return []
        return [b for b in self.file.blocks() if self.file.subsystem_of(b) is self.sheet]

    def ends(self) -> Iterator[tuple[Sheet, frozenset[str], bool]]:
        """For each sheet the blocks that have this port, and whether it is a source of wires."""
        is_input = self.side == "inputs"
        yield self.sheet, frozenset({GATES[not is_input]}), is_input
        for sheet in self.file.sheets:
            names = {block.name for block in sheet.blocks.values() if block in self.users}
            yield sheet, frozenset(names if sheet.keys else names | self._slots), not is_input

    @property
    def _slots(self) -> set[str]:
        """The slots with a choice of this subsystem."""
        users = self.users
        return {
            slot.name
            for slot in self.file.slots.values()
            if any(choice in users for choice in slot.choices.values())
        }

    def signals(self) -> Iterator[str]:
        """The paths of this port's signal at each instance, as sections name it."""
        users, gate = self.users, GATES[self.side == "outputs"]
        paths = set(self._slots)
        for prefix, sheet in self.file.instances():
            paths |= {prefix + one.name for one in sheet.blocks.values() if one in users}
        if not self.sheet.keys:
            yield f"{gate}.{self.name}"
        for path in sorted(paths):
            yield f"{path}.{self.name}"
            yield f"{path}/{gate}.{self.name}"


def _port(file: File, within: str, side: str, name: str) -> _Port:
    sheet = sheet_of(file, within)
    of = within or "the file"
    if side not in SIDES:
        raise InputError(Fault(f"{of} has no {side[:40]!r}", hint="write inputs or outputs"))
    names = sheet.inputs if side == "inputs" else sheet.outputs
    if name not in names:
        hint = did_you_mean(name, names)
        raise InputError(Fault(f"{of} has no {side.removesuffix('s')} {name!r}", hint=hint))
    return _Port(file, sheet, side, name, names.index(name))


def only_port_named(file: File, sheet: Sheet, side: str) -> Iterator[Step]:
    """The steps that name the only port of a side in wires, which need not name it as long as there
    is no other."""
    names = sheet.inputs if side == "inputs" else sheet.outputs
    if len(names) == 1 and "." not in names[0]:
        for other, blocks, is_source in _port(file, sheet.name, side, names[0]).ends():
            change = methodcaller("with_only_port", blocks, is_source, names[0])
            yield from wire_steps(other, change)


@dataclass(frozen=True)
class RenamePort(Operation):
    """Rename a port of a subsystem, also in wires within it and to its instances, and wherever its
    signals are named. side: inputs or outputs; within: the subsystem, "" for the file itself.
    """

    name: str
    new: str
    side: str
    within: str = ""

    def steps(self, file: File) -> list[Step]:
        port = _port(file, self.within, self.side, self.name)
        check_name(self.new)
        if self.new in (port.sheet.inputs if self.side == "inputs" else port.sheet.outputs):
            raise InputError(f"there is already an {self.side.removesuffix('s')} {self.new!r}")
        steps: list[Step] = [SetValue(port.keys, self.new)]
        for sheet, blocks, is_source in port.ends():
            change = methodcaller("with_port", blocks, is_source, self.name, self.new)
            steps += wire_steps(sheet, change)
        names = {path: path.removesuffix(self.name) + self.new for path in port.signals()}
        steps += signals_renamed(file.data, names)
        steps += self._conditions(port.sheet.keys, port.sheet.section)
        for block in port.users:
            steps += self._copies(block)
        return ordered(steps)

    def _conditions(self, keys: Keys, subsystem: Mapping[str, Any]) -> Iterator[Step]:
        """The steps in the conditions on which the subsystem runs."""
        for kind in CONDITIONS:
            section = mapping_at(subsystem, kind)
            if self.side == "inputs" and section.get("by") == self.name:
                yield SetValue((*keys, kind, "by"), self.new)
            for key in ("initial", "outputs"):
                if self.side == "outputs" and self.name in mapping_at(section, key):
                    yield RenameKey((*keys, kind, key, self.name), self.new)

    def _copies(self, block: WrittenBlock) -> Iterator[Step]:
        """The steps in what a block has one copy of the subsystem for."""
        over = mapping_at(block.section, "for_each").get("over")
        if self.side == "inputs" and isinstance(over, list):
            for k, name in enumerate(over):
                if name == self.name:
                    yield SetValue((*block.keys, "for_each", "over", k), self.new)


@dataclass(frozen=True)
class RemovePort(Operation):
    """Remove a port of a subsystem, with the wires to it, and the conditions that it decides. side:
    inputs or outputs; within: the subsystem, "" for the file itself. Raises InputError if sections
    name its signal.
    """

    name: str
    side: str
    within: str = ""

    def steps(self, file: File) -> list[Step]:
        port = _port(file, self.within, self.side, self.name)
        used = [
            ".".join(map(str, step.path))
            for step in signals_renamed(file.data, {path: path + "\0" for path in port.signals()})
        ]
        if used:
            problem = f"{self.name} of {self.within or 'the file'} is named in"
            raise InputError(Fault(f"{problem} {', '.join(used[:5])}", hint="remove this first"))
        alone = len(port.sheet.inputs if self.side == "inputs" else port.sheet.outputs) == 1
        names = {self.name, None} if alone else {self.name}
        keys = port.keys[:-1] if alone and self.within else port.keys
        steps: list[Step] = [RemoveValue(keys)]
        for sheet, blocks, is_source in port.ends():
            steps += wire_steps(sheet, partial(_without, names, blocks, is_source))
        steps += self._conditions(port.sheet)
        for block in port.users:
            steps += self._copies(block)
        return ordered(steps)

    def _conditions(self, sheet: Sheet) -> Iterator[Step]:
        """The steps in the conditions on which the subsystem runs."""
        for kind in CONDITIONS:
            section, keys = mapping_at(sheet.section, kind), (*sheet.keys, kind)
            if self.side == "inputs" and section.get("by") == self.name:
                yield RemoveValue(keys)
            for key in ("initial", "outputs"):
                values = mapping_at(section, key)
                if self.side == "outputs" and self.name in values:
                    others = values.keys() - {self.name}
                    yield RemoveValue((*keys, key, self.name) if others else (*keys, key))

    def _copies(self, block: WrittenBlock) -> Iterator[Step]:
        """The steps in what a block has one copy of the subsystem for; without entries there is one
        alone.
        """
        over = mapping_at(block.section, "for_each").get("over")
        if self.side == "inputs" and isinstance(over, list) and self.name in over:
            keys = (*block.keys, "for_each")
            alone = all(name == self.name for name in over)
            yield RemoveValue(keys if alone else (*keys, "over", over.index(self.name)))


def _without(
    ports: Collection[str | None], blocks: frozenset[str], is_source: bool, wire: WrittenWire
) -> str | None:
    """The text of a wire without its ends at a port of some blocks; None if nothing remains. ports:
    as it is written, None for no name."""
    return wire.without(
        lambda end: (end is wire.source) == is_source and end.block in blocks and end.port in ports
    )
