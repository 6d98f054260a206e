"""The blocks and wires of a diagram file, sheet by sheet, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.diagram.written.sheets import File, Sheet, WrittenBlock
from spart_blocks.diagram.written.wires import WrittenWire

Name = tuple[str, str]
"""A block: the name of its sheet, and its own."""
TOP = ""
"""The name of the sheet of the diagram itself."""
SUBSYSTEM, VARIANT = "subsystems.", "variants."
"""The names of the sheets of subsystems and of slots begin with these: `subsystems.servo`."""
SLOT = "(variants)"
"""The type of the block that stands for a slot of variants."""
_OF_SHEET = ("blocks", "wires")


@dataclass(frozen=True)
class SheetEntries:
    """The blocks and wires of the diagram itself or of a subsystem, or the choices for a slot as
    blocks. wrong: the texts of wires that cannot be read. rest: the other entries of a subsystem or
    slot, such as its ports."""

    name: str
    blocks: Mapping[str, WrittenBlock]
    wires: tuple[WrittenWire, ...] = ()
    wrong: tuple[str, ...] = ()
    rest: Mapping[str, Any] = field(default_factory=dict)


def sheets_of(data: dict[str, Any]) -> dict[str, SheetEntries]:
    """The sheets of a file by name, the diagram's first. Entries of the wrong form are left out;
    `unread` gives them."""
    file = File.of(data)
    slots = {name: file.slots[name] for name in mappings(data.get("variants"))}
    blocks = _mappings_of(file.top)
    blocks |= {name: WrittenBlock(name, slot.keys, {"type": SLOT}) for name, slot in slots.items()}
    sheets = {TOP: _entries(TOP, file.top, blocks, {})}
    for name in mappings(data.get("subsystems")):
        full, sheet = SUBSYSTEM + name, file.subsystems[name]
        rest = {key: value for key, value in sheet.section.items() if key not in _OF_SHEET}
        sheets[full] = _entries(full, sheet, _mappings_of(sheet), rest)
    for name, slot in slots.items():
        rest = {key: value for key, value in slot.section.items() if key != "choices"}
        sheets[VARIANT + name] = SheetEntries(VARIANT + name, slot.choices, rest=rest)
    return sheets


def _mappings_of(sheet: Sheet) -> dict[str, WrittenBlock]:
    """The blocks of a sheet that are mappings."""
    return {name: one for name, one in sheet.blocks.items() if isinstance(one.written, dict)}


def _entries(
    name: str, sheet: Sheet, blocks: Mapping[str, WrittenBlock], rest: Mapping[str, Any]
) -> SheetEntries:
    wrong = tuple(sheet.wire_texts[number] for number in sheet.wrong_wires)
    return SheetEntries(name, blocks, tuple(sheet.wires.values()), wrong, rest)


def unread(data: Mapping[str, Any]) -> dict[str, Any]:
    """Sections of blocks and wires, and entries of them, that have the wrong form. They are
    compared as values."""
    found = {}
    for name in ("blocks", "variants", "subsystems"):
        value = data.get(name)
        if value is not None and not isinstance(value, dict):
            found[name] = value
        elif value:
            wrong = {key: one for key, one in value.items() if not isinstance(one, dict)}
            found |= {f"{name}.{key}": one for key, one in wrong.items()}
    wires = data.get("wires")
    if wires is not None and not isinstance(wires, list):
        found["wires"] = wires
    return found


def mappings(value: Any) -> dict[str, dict[str, Any]]:
    """The entries of a mapping that are mappings themselves; none of any other value."""
    if not isinstance(value, dict):
        return {}
    return {name: one for name, one in value.items() if isinstance(one, dict)}


def shown(name: Name) -> str:
    """A block's name in changes: `p`, `servo/gain` in a subsystem, `controller=pd` for a choice of
    a slot."""
    sheet, block = name
    if sheet.startswith(SUBSYSTEM):
        return f"{sheet.removeprefix(SUBSYSTEM)}/{block}"
    if sheet.startswith(VARIANT):
        return f"{sheet.removeprefix(VARIANT)}={block}"
    return block


def called(sheet: str) -> str:
    """A sheet's name in changes: that of its subsystem or slot, or `the diagram`."""
    return sheet.partition(".")[2] or "the diagram"


def pieces_of(sheets: Mapping[str, SheetEntries]) -> Iterator[tuple[Name, WrittenBlock]]:
    """The blocks of all sheets, by sheet and name."""
    for sheet in sheets.values():
        for name, piece in sheet.blocks.items():
            yield (sheet.name, name), piece
