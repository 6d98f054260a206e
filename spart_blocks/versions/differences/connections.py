"""Wires as connections from port to port, as they are written and as they are meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from spart_blocks.diagram.written.wires import (
    FILLED_IN_ORDER,
    End,
    Selection,
    WireSyntaxError,
    WrittenWire,
    parse_wire,
    selection_text,
)
from spart_blocks.versions.differences.sheets import Sheet

IN_ORDER = "+"
"""The port of a block whose inputs are filled in the order of the wires."""
ALL = "*"

Ports = tuple[str, ...] | None
"""Names of ports; None where they are not known."""
PortsOf = Callable[[str], tuple[Ports, Ports]]
"""The inputs and outputs of a block by its name."""


@dataclass(frozen=True)
class Connection:
    """One signal to one input. Ports are None where a wire names none. part: of the signal, as
    `[0:2]`. several: the source is all signals (`.*`) or a bus."""

    source: str
    output: str | None
    part: str
    target: str
    input: str | None
    several: bool = False

    @property
    def start(self) -> str:
        """The source as one would write it."""
        port = f".{self.output}" if self.output is not None else ""
        return f"{self.source}{port}{self.part}"

    @property
    def end(self) -> str:
        """The input as one would write it."""
        named = self.input not in (None, IN_ORDER)
        return f"{self.target}.{self.input}" if named else self.target

    def __str__(self) -> str:
        return f"{self.start} -> {self.end}"


@lru_cache(maxsize=65536)
def _parsed(text: str) -> WrittenWire | None:
    try:
        return parse_wire(text)
    except WireSyntaxError:
        return None


def unreadable(wires: Iterable[str]) -> list[str]:
    """The wires that cannot be read, which are compared as texts."""
    return [text for text in wires if text and _parsed(text) is None]


def connections_of(sheet: Sheet) -> list[Connection]:
    """The connections as the wires of a sheet give them, in their order; signals in braces are
    taken apart."""
    found: list[Connection] = []
    for text in sheet.wires:
        wire = _parsed(text)
        if wire is not None:
            for end in wire.ends:
                found += _as_written(wire.source, end, sheet)
    return found


def _as_written(source: End, end: End, sheet: Sheet) -> Iterator[Connection]:
    piece = sheet.blocks.get(end.block)
    in_order = end.port is None and piece is not None and piece.kind in FILLED_IN_ORDER
    part = _part(source.selection)
    if not source.names:
        several = source.names is not None
        output = f"{source.port}.{ALL}" if several and source.port else source.port
        output = ALL if several and not source.port else output
        port = IN_ORDER if in_order else end.port
        yield Connection(source.block, output, part, end.block, port, several)
        return
    for name in source.names:
        output = f"{source.port}.{name.text}" if source.port else name.text
        port = f"{end.port}.{name.text}" if end.port else name.text
        yield Connection(source.block, output, part, end.block, IN_ORDER if in_order else port)


def _part(selection: Selection | None) -> str:
    """A selection as text; a slice from 0 and one without a start are the same."""
    if isinstance(selection, tuple) and selection[0] == 0 and (selection[2] or 1) > 0:
        selection = (None, *selection[1:])
    return "" if selection is None else selection_text(selection)


def meant(
    found: Iterable[Connection], every: Iterable[Connection], ports: PortsOf
) -> list[Connection]:
    """Connections with the names of their ports, and `.*` taken apart, as far as the ports are
    known. every: all connections of the sheet, whose inputs `.*` leaves alone."""
    taken: set[tuple[str, str | None]] | None = None
    result: list[Connection] = []
    for one in found:
        if one.several:
            if taken is None:
                taken = {_input(other, ports) for other in every if not other.several}
            result += _apart(one, taken, ports)
        else:
            result.append(_named(one, ports))
    return result


def _input(one: Connection, ports: PortsOf) -> tuple[str, str | None]:
    return one.target, _port(one.input, ports(one.target)[0])


def _named(one: Connection, ports: PortsOf) -> Connection:
    return replace(
        one,
        output=_port(one.output, ports(one.source)[1]),
        input=one.input if one.input == IN_ORDER else _port(one.input, ports(one.target)[0]),
    )


def _port(written: str | None, names: Ports) -> str | None:
    """The name of a port written by its name, its number, or not at all; None for the only port of
    a block, if it has no name."""
    if names is not None and len(names) == 1 and names[0] == "0":
        return None if written in (None, "0") else written
    if names is None or written in names:
        return written
    if written is None:
        return names[0] if len(names) == 1 else None
    number = int(written) if written.isascii() and written.isdecimal() and len(written) < 6 else -1
    return names[number] if 0 <= number < len(names) else written


def _apart(
    one: Connection, taken: set[tuple[str, str | None]], ports: PortsOf
) -> Iterator[Connection]:
    """The signals of `.*` that an input is named after; itself where the ports are not known."""
    outputs, inputs = ports(one.source)[1], ports(one.target)[0]
    prefix = (one.output or "").removesuffix(ALL)
    names = [name[len(prefix) :] for name in outputs or () if name.startswith(prefix)]
    if one.input == IN_ORDER and outputs is not None:
        yield from (replace(one, output=prefix + name, several=False) for name in names)
        return
    head = f"{one.input}." if one.input else ""
    matched = [
        name
        for name in names
        if head + name in (inputs or ()) and (one.target, head + name) not in taken
    ]
    if not matched:
        yield one
    for name in matched:
        yield replace(one, output=prefix + name, input=head + name, several=False)


def renamed(found: Iterable[Connection], names: Mapping[str, str]) -> list[Connection]:
    """Connections between the blocks' new names."""
    if not names:
        return list(found)
    return [
        replace(
            one, source=names.get(one.source, one.source), target=names.get(one.target, one.target)
        )
        for one in found
    ]
