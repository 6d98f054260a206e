"""The operation that changes the drawing of a sheet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spart_blocks.base.document import Keys
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.paths import keys_of
from spart_blocks.diagram.written.sheets import File, Sheet
from spart_blocks.versions.edits.drawings import entry_steps
from spart_blocks.versions.edits.operations import sheet_of
from spart_blocks.versions.edits.steps import InsertItem, Operation, RemoveValue, Step

PARTS = ("notes", "areas", "looks")


@dataclass(frozen=True)
class Draw(Operation):
    """Change an entry of a sheet's drawing. path: `looks.ctrl.facing`, `notes[0].at`; `notes` and
    `areas` alone append an entry. value: the new one; None removes the entry, and mappings and
    lists that are empty then. within: the subsystem, "" for the file itself.
    """

    path: str
    value: Any
    within: str = ""

    def steps(self, file: File) -> list[Step]:
        sheet = sheet_of(file, self.within)
        keys = keys_of(self.path)
        if not keys or keys[0] not in PARTS or (len(keys) < 2 and self.value is None):
            hint = "write notes, areas, notes[0].text, looks.BLOCK.facing or the like"
            raise InputError(Fault(f"a drawing has no {self.path[:60]!r}", hint=hint))
        home = (*sheet.keys, "drawing")
        if self.value is None:
            return _removal(sheet, keys, self.path)
        if len(keys) == 1:
            if isinstance(sheet.drawing.get(keys[0]), list):
                return [InsertItem((*home, *keys), self.value)]
            value = self.value if keys[0] == "looks" else [self.value]
            return entry_steps(sheet, keys, value)
        return entry_steps(sheet, keys, self.value)


def _removal(sheet: Sheet, keys: Keys, path: str) -> list[Step]:
    """The step that removes an entry, with what would be empty without it."""
    holders: list[Any] = [sheet.drawing]
    for key in keys:
        holder = holders[-1]
        there = isinstance(holder, dict) and key in holder
        if isinstance(holder, list) and isinstance(key, int):
            there = 0 <= key < len(holder)
        if not there:
            raise InputError(f"the drawing has no {path[:60]}")
        holders.append(holder[key])
    depth = len(keys)
    while depth > 1 and len(holders[depth - 1]) == 1:
        depth -= 1
    if depth == 1 and len(sheet.drawing) == 1:
        return [RemoveValue((*sheet.keys, "drawing"))]
    return [RemoveValue((*sheet.keys, "drawing", *keys[:depth]))]
