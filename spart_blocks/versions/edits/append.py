"""Appends entries to lists, ports of subsystems among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spart_blocks.base.document import value_at
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.written.paths import editable_path_in
from spart_blocks.diagram.written.sheets import SUBSYSTEM, File
from spart_blocks.versions.edits.operations import Put, check_whole
from spart_blocks.versions.edits.ports import SIDES, only_port_named
from spart_blocks.versions.edits.steps import InsertItem, Operation, Step


@dataclass(frozen=True)
class Append(Operation):
    """Append a value to the list at a path, as for Set. The list is made if it does not exist.
    Wires to a subsystem's only port name it from then on if there is another.
    """

    path: str
    value: Any

    def steps(self, file: File) -> list[Step]:
        keys = editable_path_in(self.path, file.data)
        found = value_at(file.data, keys)
        if found is None:
            check_whole(file.data, keys, [self.value])
            return Put(keys, [self.value]).steps(file)
        if not isinstance(found, list):
            raise InputError(f"{self.path} is not a list")
        steps: list[Step] = [InsertItem(keys, self.value)]
        within, side = keys[:-1], keys[-1]
        if side in SIDES and (not within or (within[0] == SUBSYSTEM and len(within) == 2)):
            steps = [*only_port_named(file, file.sheet_at(within), str(side)), *steps]
        return steps
