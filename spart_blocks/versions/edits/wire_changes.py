"""Steps that change the wires of a sheet: rename, remove or redirect their ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.diagram.written.sheets import Sheet
from spart_blocks.diagram.written.wires import WireSyntaxError, WrittenWire, parse_wire
from spart_blocks.versions.edits.steps import RemoveValue, SetValue, Step


def read_wire(text: str) -> WrittenWire:
    """Parse a wire. Raises InputError for an invalid text."""
    try:
        return parse_wire(text)
    except WireSyntaxError as error:
        raise _no_wire(text, error) from None


def wires_of(sheet: Sheet) -> dict[int, WrittenWire]:
    """The wires of a sheet by their numbers. Raises InputError if one cannot be parsed."""
    for number, error in sheet.wrong_wires.items():
        text = sheet.wire_texts[number]
        if text.strip():
            raise _no_wire(text, error)
    return sheet.wires


def _no_wire(text: str, error: WireSyntaxError) -> InputError:
    return InputError(Fault(f"wire {text.strip()!r}: {error.message}", hint=error.hint))


def wire_steps(sheet: Sheet, change: Callable[[WrittenWire], str | None]) -> Iterator[Step]:
    """The steps that change wires. change: returns the new text of a wire, or None to remove it."""
    for number, wire in wires_of(sheet).items():
        path = (*sheet.keys, "wires", number)
        left = change(wire)
        if left is None:
            yield RemoveValue(path)
        elif left != wire.text:
            yield SetValue(path, left)


def connections_of(sheet: Sheet) -> set[tuple[str, str]]:
    """The connections that the wires of a sheet make, as pairs (source, destination) in normalized
    spelling.
    """
    return {pair for wire in wires_of(sheet).values() for pair in wire.connections()}
