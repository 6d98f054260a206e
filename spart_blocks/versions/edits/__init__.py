"""Edits of diagram files that keep their text: all other lines stay the same, byte for byte."""

from spart_blocks.versions.edits.draw import Draw
from spart_blocks.versions.edits.files import (
    Edited,
    EditedFile,
    changed,
    edit,
    edited,
    edited_file,
    undo,
    undone,
    write,
)
from spart_blocks.versions.edits.kinds import (
    AddCondition,
    AddSubsystem,
    ForEach,
    RemoveCondition,
    RenameSubsystem,
)
from spart_blocks.versions.edits.machines import (
    MoveItem,
    MoveState,
    RemoveState,
    RenameState,
    is_state_path,
)
from spart_blocks.versions.edits.operations import (
    AddBlock,
    AddWire,
    Append,
    Group,
    Put,
    RemoveBlock,
    RemoveWire,
    RenameBlock,
    RenameEntry,
    RenameParameter,
    Retype,
    Set,
    Tune,
    Unset,
    Wrap,
)
from spart_blocks.versions.edits.patches import Patch, applied, inverse
from spart_blocks.versions.edits.ports import RemovePort, RenamePort
from spart_blocks.versions.edits.signals import RenameSignal
from spart_blocks.versions.edits.steps import Operation
from spart_blocks.versions.edits.texts import LineChange, ReplaceLines

__all__ = [
    "AddBlock",
    "AddCondition",
    "AddSubsystem",
    "AddWire",
    "Append",
    "Draw",
    "Edited",
    "EditedFile",
    "ForEach",
    "Group",
    "LineChange",
    "MoveItem",
    "MoveState",
    "Operation",
    "Patch",
    "Put",
    "RemoveBlock",
    "RemoveCondition",
    "RemoveWire",
    "RemovePort",
    "RemoveState",
    "RenameBlock",
    "RenameEntry",
    "RenameParameter",
    "RenamePort",
    "RenameState",
    "RenameSignal",
    "RenameSubsystem",
    "ReplaceLines",
    "Retype",
    "Set",
    "Tune",
    "Unset",
    "Wrap",
    "applied",
    "changed",
    "edit",
    "edited",
    "edited_file",
    "inverse",
    "is_state_path",
    "undo",
    "undone",
    "write",
]
