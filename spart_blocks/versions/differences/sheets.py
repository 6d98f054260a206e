"""The blocks and wires of a diagram file by the sections that hold them, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Name = tuple[str, str]
"""A block: the sheet that it is on, and its name there."""
TOP = ""
SUBSYSTEM, VARIANT = "subsystems.", "variants."
SLOT = "(variants)"
"""The type of the block that stands for the choices of a slot."""
GATES = ("in", "out")
_OF_BLOCK = ("type", "use")
_OF_SHEET = ("blocks", "wires")


@dataclass(frozen=True)
class Piece:
    """A block as it is written. kind: its type, or the file that it uses."""

    kind: str
    uses: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sheet:
    """The blocks and wires of the diagram itself, of a subsystem, or the choices of a slot. rest:
    the other entries of a subsystem or slot, such as its ports."""

    name: str
    blocks: Mapping[str, Piece]
    wires: tuple[str, ...] = ()
    rest: Mapping[str, Any] = field(default_factory=dict)


def sheets_of(data: Mapping[str, Any]) -> dict[str, Sheet]:
    """The sheets of a file's data by name, that of the diagram first. What is written wrong is left
    out: `unread` gives it."""
    slots = mappings(data.get("variants"))
    stand_ins = {slot: Piece(SLOT) for slot in slots}
    sheets = {TOP: Sheet(TOP, {**_pieces(data.get("blocks")), **stand_ins}, _texts(data))}
    for name, section in mappings(data.get("subsystems")).items():
        rest = {key: value for key, value in section.items() if key not in _OF_SHEET}
        full = SUBSYSTEM + name
        sheets[full] = Sheet(full, _pieces(section.get("blocks")), _texts(section), rest)
    for slot, section in slots.items():
        rest = {key: value for key, value in section.items() if key != "choices"}
        full = VARIANT + slot
        sheets[full] = Sheet(full, _pieces(section.get("choices")), (), rest)
    return sheets


def unread(data: Mapping[str, Any]) -> dict[str, Any]:
    """The sections of blocks and wires that are not of their form, which are compared as values."""
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
    """The entries of a mapping that are mappings; none of anything else."""
    if not isinstance(value, dict):
        return {}
    return {name: one for name, one in value.items() if isinstance(one, dict)}


def _pieces(value: Any) -> dict[str, Piece]:
    return {name: _piece(one) for name, one in mappings(value).items()}


def _piece(written: dict[str, Any]) -> Piece:
    uses = "use" in written and "type" not in written
    kind = written.get("use" if uses else "type")
    parameters = {key: value for key, value in written.items() if key not in _OF_BLOCK}
    return Piece(kind if isinstance(kind, str) else repr(kind), uses, parameters)


def _texts(section: Mapping[str, Any]) -> tuple[str, ...]:
    wires = section.get("wires")
    return tuple(one for one in wires if isinstance(one, str)) if isinstance(wires, list) else ()


def shown(name: Name) -> str:
    """A block's name as changes call it: `p`, `servo/gain` in a subsystem, `controller=pd` for
    the choice of a slot."""
    sheet, block = name
    if sheet.startswith(SUBSYSTEM):
        return f"{sheet.removeprefix(SUBSYSTEM)}/{block}"
    if sheet.startswith(VARIANT):
        return f"{sheet.removeprefix(VARIANT)}={block}"
    return block


def called(sheet: str) -> str:
    """A sheet as changes call it."""
    return sheet.partition(".")[2] or "the diagram"


def pieces_of(sheets: Mapping[str, Sheet]) -> Iterator[tuple[Name, Piece]]:
    """Every block of every sheet."""
    for sheet in sheets.values():
        for name, piece in sheet.blocks.items():
            yield (sheet.name, name), piece
