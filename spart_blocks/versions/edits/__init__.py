"""Edits of diagram files that keep their text: all other lines stay the same, byte for byte."""

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
from spart_blocks.versions.edits.operations import (
    AddBlock,
    AddWire,
    Append,
    Group,
    Put,
    RemoveBlock,
    RemoveWire,
    RenameBlock,
    RenameParameter,
    Retype,
    Set,
    Tune,
    Unset,
    Wrap,
)
from spart_blocks.versions.edits.patches import Patch, applied, inverse
from spart_blocks.versions.edits.ports import RemovePort, RenamePort
from spart_blocks.versions.edits.steps import Operation

__all__ = [
    "AddBlock",
    "AddWire",
    "Append",
    "Edited",
    "EditedFile",
    "Group",
    "Operation",
    "Patch",
    "Put",
    "RemoveBlock",
    "RemoveWire",
    "RemovePort",
    "RenameBlock",
    "RenameParameter",
    "RenamePort",
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
    "undo",
    "undone",
    "write",
]
