"""Wires as connections from port to port, as they are written and with the names of ports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from spart_blocks.diagram.written.wires import (
    FILLED_IN_ORDER,
    End,
    Selection,
    selection_text,
)
from spart_blocks.versions.differences.sheets import SheetEntries

IN_ORDER = "+"
"""The input of a block whose inputs are filled in the order of the wires."""
ALL = "*"
"""The output of a wire that takes all signals of a block."""

Ports = tuple[str, ...] | None
"""Names of ports; None where they are not known."""
PortsOf = Callable[[str], tuple[Ports, Ports]]
"""A function that gives the input and output ports of a block, from its name."""


@dataclass(frozen=True)
class PortConnection:
    """One signal to one input. output, input: ports, None where the wire names none. part: slice of
    the signal, `[0:2]` or empty. several: whether the source is all signals of a block (`.*`)."""

    source: str
    output: str | None
    part: str
    target: str
    input: str | None
    several: bool = False

    @property
    def start(self) -> str:
        """The source as a wire has it."""
        port = f".{self.output}" if self.output is not None else ""
        return f"{self.source}{port}{self.part}"

    @property
    def end(self) -> str:
        """The input as a wire has it."""
        named = self.input not in (None, IN_ORDER)
        return f"{self.target}.{self.input}" if named else self.target

    def __str__(self) -> str:
        return f"{self.start} -> {self.end}"


def connections_of(sheet: SheetEntries) -> list[PortConnection]:
    """The connections of a sheet as they are written, in the order of its wires. A source with
    braces gives one for each signal."""
    return [
        one
        for wire in sheet.wires
        for end in wire.ends
        for one in _as_written(wire.source, end, sheet)
    ]


def _as_written(source: End, end: End, sheet: SheetEntries) -> Iterator[PortConnection]:
    """The connections from a source to one input."""
    piece = sheet.blocks.get(end.block)
    in_order = end.port is None and piece is not None and piece.kind in FILLED_IN_ORDER
    part = selected(source.selection)
    if not source.names:
        several = source.names is not None
        output = f"{source.port}.{ALL}" if several and source.port else source.port
        output = ALL if several and not source.port else output
        port = IN_ORDER if in_order else end.port
        yield PortConnection(source.block, output, part, end.block, port, several)
        return
    for name in source.names:
        output = f"{source.port}.{name.text}" if source.port else name.text
        port = f"{end.port}.{name.text}" if end.port else name.text
        yield PortConnection(source.block, output, part, end.block, IN_ORDER if in_order else port)


def selected(selection: Selection | None) -> str:
    """A slice as text. One from 0 and one without a start are the same."""
    if isinstance(selection, tuple) and selection[0] == 0 and (selection[2] or 1) > 0:
        selection = (None, *selection[1:])
    return "" if selection is None else selection_text(selection)


def meant(
    found: Iterable[PortConnection], every: Iterable[PortConnection], ports: PortsOf
) -> list[PortConnection]:
    """Connections with the names of their ports, and `.*` as one for each signal, as far as the
    ports are known. every: all connections of the sheet; an input that one of them names is not
    taken by `.*`."""
    taken: set[tuple[str, str | None]] | None = None
    result: list[PortConnection] = []
    for one in found:
        if one.several:
            if taken is None:
                taken = {_input(other, ports) for other in every if not other.several}
            result += _apart(one, taken, ports)
        else:
            result.append(_named(one, ports))
    return result


def _input(one: PortConnection, ports: PortsOf) -> tuple[str, str | None]:
    """The block and the port that a connection leads to."""
    return one.target, port_named(one.input, ports(one.target)[0])


def _named(one: PortConnection, ports: PortsOf) -> PortConnection:
    """A connection with the names of its ports, where they are known."""
    return replace(
        one,
        output=port_named(one.output, ports(one.source)[1]),
        input=one.input if one.input == IN_ORDER else port_named(one.input, ports(one.target)[0]),
    )


def port_named(written: str | None, names: Ports) -> str | None:
    """The name of a port that is written as its name, as its number, or not at all. None for the
    only port of a block if it has no name."""
    if names is not None and len(names) == 1 and names[0] == "0":
        return None if written in (None, "0") else written
    if names is None or written in names:
        return written
    if written is None:
        return names[0] if len(names) == 1 else None
    number = int(written) if written.isascii() and written.isdecimal() and len(written) < 6 else -1
    return names[number] if 0 <= number < len(names) else written


def _apart(
    one: PortConnection, taken: set[tuple[str, str | None]], ports: PortsOf
) -> Iterator[PortConnection]:
    """A connection `.*` as one for each signal that an input is named after; unchanged if the ports
    are not known."""
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


def renamed(found: Iterable[PortConnection], names: Mapping[str, str]) -> list[PortConnection]:
    """Connections with new names of blocks."""
    if not names:
        return list(found)
    return [
        replace(
            one, source=names.get(one.source, one.source), target=names.get(one.target, one.target)
        )
        for one in found
    ]
