"""Moves blocks of a version to the sheets that another version has them on, for a merge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.document import Keys, mapping_at, value_at
from spart_blocks.diagram.written.sheets import SUBSYSTEM, TOP, File, Name, block_path
from spart_blocks.versions.edits.operations import Put
from spart_blocks.versions.edits.references import signals_renamed
from spart_blocks.versions.edits.steps import Operation, RemoveValue, SetValue, Step, ordered


def moving(versions: Sequence[File], moves: Sequence[Mapping[Name, Name]]) -> list[list[Operation]]:
    """For each version the operations that move blocks to where another one has them. versions:
    base, ours and theirs by their new names. A subsystem that a version does not have is made as
    the other one has it."""
    every = {a: b for each in moves for a, b in each.items()}
    if not every:
        return [[] for _ in versions]
    sections: dict[str, Mapping[str, Any]] = {}
    for sheet, _ in every.values():
        if sheet[:1] == (SUBSYSTEM,):
            name = str(sheet[-1])
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
        before, after = uses.get(kept, {}), uses.get(other, {})
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
            name = str(b[0][-1]) if b[0] else ""
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
        sheet: Keys = SUBSYSTEM, name
        blocks = {}
        for block, value in mapping_at(section, "blocks").items():
            if (sheet, block) not in self.targets or (sheet, block) in moved:
                blocks[block] = moved.get((sheet, block), value)
        blocks |= {block: value for (_, block), value in moved.items() if block not in blocks}
        return {**section, "blocks": blocks}
