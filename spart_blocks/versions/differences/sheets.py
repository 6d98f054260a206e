"""The blocks and wires of a diagram file, sheet by sheet, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Name = tuple[str, str]
"""A block: the name of its sheet, and its own."""
TOP = ""
"""The name of the sheet of the diagram itself."""
SUBSYSTEM, VARIANT = "subsystems.", "variants."
"""The names of the sheets of subsystems and of slots begin with these: `subsystems.servo`."""
SLOT = "(variants)"
"""The type of the block that stands for a slot of variants."""
GATES = ("in", "out")
"""The blocks of a sheet that stand for its own ports."""
_OF_BLOCK = ("type", "use")
_OF_SHEET = ("blocks", "wires")


@dataclass(frozen=True)
class BlockEntries:
    """A block as it is written. kind: its type, or the path of the file that it uses. uses: whether
    it uses a file. parameters: its other entries."""

    kind: str
    uses: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SheetEntries:
    """The blocks and wires of the diagram itself or of a subsystem, or the choices for a slot as
    blocks. rest: the other entries of a subsystem or slot, such as its ports."""

    name: str
    blocks: Mapping[str, BlockEntries]
    wires: tuple[str, ...] = ()
    rest: Mapping[str, Any] = field(default_factory=dict)


def sheets_of(data: Mapping[str, Any]) -> dict[str, SheetEntries]:
    """The sheets of a file by name, the diagram's first. Entries of the wrong form are left out;
    `unread` gives them."""
    slots = mappings(data.get("variants"))
    stand_ins = {slot: BlockEntries(SLOT) for slot in slots}
    sheets = {TOP: SheetEntries(TOP, {**_pieces(data.get("blocks")), **stand_ins}, _texts(data))}
    for name, section in mappings(data.get("subsystems")).items():
        rest = {key: value for key, value in section.items() if key not in _OF_SHEET}
        full = SUBSYSTEM + name
        sheets[full] = SheetEntries(full, _pieces(section.get("blocks")), _texts(section), rest)
    for slot, section in slots.items():
        rest = {key: value for key, value in section.items() if key != "choices"}
        full = VARIANT + slot
        sheets[full] = SheetEntries(full, _pieces(section.get("choices")), (), rest)
    return sheets


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


def _pieces(value: Any) -> dict[str, BlockEntries]:
    """The blocks of a section."""
    return {name: _piece(one) for name, one in mappings(value).items()}


def _piece(written: dict[str, Any]) -> BlockEntries:
    """A block from its entries."""
    uses = "use" in written and "type" not in written
    kind = written.get("use" if uses else "type")
    parameters = {key: value for key, value in written.items() if key not in _OF_BLOCK}
    return BlockEntries(kind if isinstance(kind, str) else repr(kind), uses, parameters)


def _texts(section: Mapping[str, Any]) -> tuple[str, ...]:
    """The wires of a section that are texts."""
    wires = section.get("wires")
    return tuple(one for one in wires if isinstance(one, str)) if isinstance(wires, list) else ()


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


def pieces_of(sheets: Mapping[str, SheetEntries]) -> Iterator[tuple[Name, BlockEntries]]:
    """The blocks of all sheets, by sheet and name."""
    for sheet in sheets.values():
        for name, piece in sheet.blocks.items():
            yield (sheet.name, name), piece
