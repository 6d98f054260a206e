"""A version of a diagram file by the names of a merge: blocks, subsystems, clocks and so on get the
names and places that another version gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.document import Keys, mapping_at, value_at
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.written.sheets import File
from spart_blocks.versions.differences.sheets import SUBSYSTEM, TOP, VARIANT, Name
from spart_blocks.versions.edits.operations import Operation, Put, RenameParameter
from spart_blocks.versions.edits.references import signals_renamed
from spart_blocks.versions.edits.steps import RemoveValue, RenameKey, SetValue, Step, ordered
from spart_blocks.versions.merge.names import NewNames


def renaming(names: NewNames) -> list[Operation]:
    """The operations that give a version its new names."""
    params = names.sections.get("params", {})
    found: list[Operation] = [RenameParameter(old, new) for old, new in params.items()]
    if names.sheets or names.blocks or any(names.sections.values()):
        found.append(Rename(names))
    return found


@dataclass(frozen=True)
class Rename(Operation):
    """Blocks, sheets, clocks and robots get new names at once, also where they are named. Raises
    InputError where two swap their names."""

    names: NewNames

    def steps(self, file: File) -> list[Step]:
        steps: list[Step] = []
        by_sheet = self._by_sheet()
        for sheet in file.sheets:
            names = by_sheet.get(sheet.keys, {})
            for number, wire in sheet.wires.items() if names else ():
                text = wire.renamed(names)
                if text != wire.text:
                    steps.append(SetValue((*sheet.keys, "wires", number), text))
        steps += self._references(file)
        steps += signals_renamed(file.data, self._signals(file))
        for path, keys in self._keys():
            steps += [RenameKey((*path, old), new) for old, new in _free_first(keys)]
        return ordered(steps)

    def _by_sheet(self) -> dict[Keys, dict[str, str]]:
        """The new names of blocks by where their sheet is written; slots are on the file's own."""
        found: dict[Keys, dict[str, str]] = {(): self._sheets(VARIANT)}
        for (sheet, name), new in self.names.blocks.items():
            found.setdefault(sheet_path(sheet), {})[name] = new
        return found

    def _sheets(self, kind: str) -> dict[str, str]:
        """The new names of subsystems, or of slots."""
        sheets = self.names.sheets.items()
        return {a.removeprefix(kind): b.removeprefix(kind) for a, b in sheets if a.startswith(kind)}

    def _references(self, file: File) -> Iterator[Step]:
        """The types, clocks and robots of blocks, and the defaults of slots."""
        names = {"type": self._sheets(SUBSYSTEM)} | {
            key: self.names.sections.get(f"{key}s", {}) for key in ("clock", "robot")
        }
        for block in file.blocks():
            for key, new in names.items():
                if isinstance(text := block.section.get(key), str) and text in new:
                    yield SetValue((*block.keys, key), new[text])
        for slot in file.slots.values():
            name = VARIANT + slot.name, slot.default or ""
            if name in self.names.blocks:
                yield SetValue((*slot.keys, "default"), self.names.blocks[name])

    def _signals(self, file: File) -> dict[str, str]:
        """New paths of signals and of overrides by the old ones, of what has a name of its own."""
        found: dict[str, str] = {}
        by_sheet = self._by_sheet()
        within = {"": ("", by_sheet[()])}
        for prefix, sheet in file.instances():
            if prefix:
                around, slash, name = prefix[:-1].rpartition("/")
                outer, names = within[around + slash]
                inner = by_sheet.get(sheet.keys, {})
                within[prefix] = f"{outer}{names.get(name, name)}/", inner
            begun, names = within[prefix]
            found |= {prefix + old: begun + new for old, new in names.items()}
        for section in ("clocks", "robots"):
            for name, other in self.names.sections.get(section, {}).items():
                found[f"{section}.{name}"] = f"{section}.{other}"
                if name not in file.top.blocks:
                    found.setdefault(name, other)
        return found

    def _keys(self) -> Iterator[tuple[Keys, Mapping[str, str]]]:
        """The mappings in which keys are renamed, with the new ones by the old."""
        blocks: dict[Keys, dict[str, str]] = {}
        for (sheet, name), new in self.names.blocks.items():
            blocks.setdefault(blocks_path(sheet), {})[name] = new
        yield from blocks.items()
        yield ("variants",), self._sheets(VARIANT)
        yield ("subsystems",), self._sheets(SUBSYSTEM)
        for section in ("clocks", "robots"):
            yield (section,), self.names.sections.get(section, {})


def sheet_path(sheet: str) -> Keys:
    """The place of a sheet in its file: () for the diagram's own, else as `subsystems.law`."""
    kind, _, name = sheet.partition(".")
    return (kind, name) if kind else ()


def blocks_path(sheet: str) -> Keys:
    """The place of a sheet's blocks, or of a slot's choices."""
    return (*sheet_path(sheet), "choices" if sheet.startswith(VARIANT) else "blocks")


def block_path(name: Name) -> Keys:
    """The place of a block."""
    return (*blocks_path(name[0]), name[1])


def _free_first(names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The names in an order in which each new one is free. Raises InputError if
    blocks swap names."""
    waiting = dict(names)
    while waiting:
        free = [old for old, new in waiting.items() if new not in waiting]
        if not free:
            raise InputError(f"{', '.join(waiting)} have each other's names")
        for old in free:
            yield old, waiting.pop(old)


# --- moves ----------------------------------------------------------------------------------


def moving(versions: Sequence[File], moves: Sequence[Mapping[Name, Name]]) -> list[list[Operation]]:
    """For each version the operations that move blocks to where another one has them. versions:
    base, ours and theirs by their new names. A subsystem that a version does not have is made as
    the other one has it."""
    every = {a: b for each in moves for a, b in each.items()}
    if not every:
        return [[] for _ in versions]
    sections: dict[str, Mapping[str, Any]] = {}
    for sheet, _ in every.values():
        if sheet.startswith(SUBSYSTEM):
            name = sheet.removeprefix(SUBSYSTEM)
            there = (one.subsystems[name] for one in versions if name in one.subsystems)
            sections[name] = next((one.section for one in there), {})
    signals = dict(_moved_signals(versions, every))
    targets = frozenset(every.values())
    return [
        [Move(tuple(each.items()), sections, targets, signals)] if each else [] for each in moves
    ]


def _moved_signals(
    versions: Sequence[File], moves: Mapping[Name, Name]
) -> Iterator[tuple[str, str]]:
    """The path of a moved block's signals, and its new one, if there is one of each."""
    uses: dict[Keys, dict[str, None]] = {}
    for file in versions:
        for prefix, sheet in file.instances():
            uses.setdefault(sheet.keys, {})[prefix] = None
    for (kept, name), (other, new) in moves.items():
        before, after = uses.get(sheet_path(kept), {}), uses.get(sheet_path(other), {})
        if len(before) == len(after) == 1:
            yield f"{next(iter(before))}{name}", f"{next(iter(after))}{new}"


@dataclass(frozen=True)
class Move(Operation):
    """Blocks go to other sheets; their wires stay as they are. sections: subsystems that are made
    where there is none, of which the blocks of targets are left out."""

    moves: tuple[tuple[Name, Name], ...]
    sections: Mapping[str, Mapping[str, Any]]
    targets: frozenset[Name]
    signals: Mapping[str, str]

    def steps(self, file: File) -> list[Step]:
        steps = signals_renamed(file.data, dict(self.signals))
        made: dict[str, dict[Name, Any]] = {}
        for a, b in self.moves:
            block = value_at(file.data, block_path(a))
            steps.append(RemoveValue(block_path(a)))
            name = b[0].removeprefix(SUBSYSTEM)
            if b[0] == TOP or name in file.subsystems:
                steps += Put(block_path(b), block).steps(file)
            else:
                made.setdefault(name, {})[b] = block
        new = {name: self._section(name, blocks) for name, blocks in made.items()}
        if new and "subsystems" not in file.data:
            steps.append(SetValue(("subsystems",), new))
        else:
            steps += [SetValue(("subsystems", name), section) for name, section in new.items()]
        return ordered(steps)

    def _section(self, name: str, moved: Mapping[Name, Any]) -> dict[str, Any]:
        """A subsystem with its moved blocks as this version has them."""
        section = self.sections[name]
        sheet = SUBSYSTEM + name
        blocks = {}
        for block, value in mapping_at(section, "blocks").items():
            if (sheet, block) not in self.targets or (sheet, block) in moved:
                blocks[block] = moved.get((sheet, block), value)
        blocks |= {block: value for (_, block), value in moved.items() if block not in blocks}
        return {**section, "blocks": blocks}
