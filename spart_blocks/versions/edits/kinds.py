"""Makes subsystems, and gives them the conditions on which they run, or copies for each entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spart_blocks.base.document import mapping_at
from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.diagram.written.conditions import CONDITIONS
from spart_blocks.diagram.written.sheets import SUBSYSTEM, File, Sheet
from spart_blocks.versions.edits.operations import (
    AddBlock,
    Put,
    check_name,
    check_new_subsystem,
    home_of,
    sheet_of,
)
from spart_blocks.versions.edits.ports import RemovePort, only_port_named
from spart_blocks.versions.edits.renaming import NewNames, Rename
from spart_blocks.versions.edits.steps import (
    InsertItem,
    Operation,
    RemoveValue,
    SetValue,
    Step,
    ordered,
    wires_of,
)

_INPUTS = {"enabled": "enable", "triggered": "trigger", "reset": "reset"}
"""The name that a new input gets which is the condition."""


@dataclass(frozen=True)
class AddSubsystem(Operation):
    """Add a subsystem to the file that passes its input `u` on as `y`, and a block of it with the
    same name. within: the subsystem that the block is added to.
    """

    name: str
    within: str = ""

    def steps(self, file: File) -> list[Step]:
        block = AddBlock(self.name, self.name, within=self.within).steps(file)
        check_new_subsystem(file, self.name)
        section = {"inputs": ["u"], "outputs": ["y"], "wires": ["in.u -> out.y"]}
        return ordered([*Put((SUBSYSTEM, self.name), section).steps(file), *block])


@dataclass(frozen=True)
class RenameSubsystem(Operation):
    """Rename a subsystem, also where it is the type of a block. Names of blocks stay."""

    name: str
    new: str

    def steps(self, file: File) -> list[Step]:
        keys = sheet_of(file, self.name).keys
        if not keys:
            raise InputError("name the subsystem")
        check_name(self.new)
        check_new_subsystem(file, self.new)
        return Rename(NewNames(sheets={keys: (SUBSYSTEM, self.new)})).steps(file)


@dataclass(frozen=True)
class AddCondition(Operation):
    """Make a subsystem run on a condition. kind: enabled, triggered or reset. within: the
    subsystem, "" for the file itself. by: the input that is the condition, which is added unless it
    is there; by default enable, trigger or reset.
    """

    kind: str
    within: str
    by: str = ""

    def steps(self, file: File) -> list[Step]:
        sheet = _conditioned(file, self.within, self.kind)
        if self.kind in sheet.section:
            raise InputError(f"{_of(sheet)} is {self.kind} already")
        if not sheet.has_gates:
            raise InputError("a diagram without ports has no conditions: its file is not used")
        by = self.by or _INPUTS[self.kind]
        steps: list[Step] = [SetValue((*sheet.keys, self.kind), {"by": by})]
        if by not in sheet.inputs:
            check_name(by)
            path = (*sheet.keys, "inputs")
            listed = isinstance(sheet.section.get("inputs"), list)
            steps.append(InsertItem(path, by) if listed else SetValue(path, [by]))
            steps += only_port_named(file, sheet, "inputs")
        return ordered(steps)


@dataclass(frozen=True)
class RemoveCondition(Operation):
    """Make a subsystem run without a condition. Its input goes too, with its wires, unless blocks
    in the subsystem read it or another condition names it. Arguments as for AddCondition.
    """

    kind: str
    within: str

    def steps(self, file: File) -> list[Step]:
        sheet = _conditioned(file, self.within, self.kind)
        if self.kind not in sheet.section:
            raise InputError(f"{_of(sheet)} is not {self.kind}")
        by = mapping_at(sheet.section, self.kind).get("by")
        gone = RemoveValue((*sheet.keys, self.kind))
        kinds = (kind for kind in CONDITIONS if kind != self.kind)
        others = [mapping_at(sheet.section, kind).get("by") for kind in kinds]
        read = any(
            wire.source.block == "in" and wire.source.port in (by, None)
            for wire in wires_of(sheet).values()
        )
        if read or by in others or by not in sheet.inputs:
            return [gone]
        return ordered([gone, *RemovePort(str(by), "inputs", self.within).steps(file)])


def _conditioned(file: File, within: str, kind: str) -> Sheet:
    if kind not in CONDITIONS:
        hint = did_you_mean(kind, CONDITIONS) or f"write {', '.join(CONDITIONS)}"
        raise InputError(Fault(f"there is no condition {kind[:40]!r}", hint=hint))
    return sheet_of(file, within)


def _of(sheet: Sheet) -> str:
    return sheet.name or "the file"


@dataclass(frozen=True)
class ForEach(Operation):
    """Give a block a copy of its subsystem for each entry of some inputs and parameters. over:
    their names; by default all inputs of a subsystem of the file that are no condition.
    """

    name: str
    over: tuple[str, ...] = ()
    within: str = ""

    def steps(self, file: File) -> list[Step]:
        sheet = sheet_of(file, self.within)
        home = home_of(file, sheet, self.name)
        block = sheet.blocks.get(self.name)
        inner = file.subsystem_of(block) if block is not None else None
        if block is None or (inner is None and not block.uses):
            raise InputError(f"{self.name} is no subsystem, of which there could be copies")
        over = self.over or tuple(_entries(inner))
        if not over:
            hint = "name those of which each copy gets an entry"
            raise InputError(Fault(f"{self.name} has no inputs", hint=hint))
        if "for_each" in block.section:
            return [SetValue((*home, "for_each", "over"), list(over))]
        return [SetValue((*home, "for_each"), {"over": list(over)})]


def _entries(inner: Sheet | None) -> Iterator[str]:
    """The inputs of a subsystem of which each copy gets an entry."""
    if inner is not None:
        conditions = {mapping_at(inner.section, kind).get("by") for kind in CONDITIONS}
        yield from (name for name in inner.inputs if name not in conditions)
