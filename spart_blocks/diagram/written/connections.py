"""Wires as connections from port to port, as they are written and with the names of ports.

Nothing is built: `ports` gives the names of a block's ports, as far as they are known without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from spart_blocks.diagram.written.sheets import Sheet, WrittenBlock
from spart_blocks.diagram.written.wires import (
    FILLED_IN_ORDER,
    End,
    Selection,
    selection_text,
)

IN_ORDER = "+"
"""The input of a block whose inputs are filled in the order of the wires."""
ALL = "*"
"""The output of a wire that takes all signals of a block."""

Ports = tuple[str, ...] | None
"""Names of ports; None where they are not known."""
PortsOf = Callable[[str], tuple[Ports, Ports]]
"""A function that gives the input and output ports of a block, from its name."""


@dataclass(frozen=True)
class Connection:
    """One signal to one input. output, input: ports, None where the wire names none. part: slice of
    the signal, `[0:2]` or empty. several: whether the source is all signals of a block (`.*`).
    wire: number of the wire on its sheet. ends: its source and this end of it as written."""

    source: str
    output: str | None
    part: str
    target: str
    input: str | None
    several: bool = False
    wire: int = field(default=0, compare=False)
    ends: tuple[str, str] = field(default=("", ""), compare=False)

    def between(self, output: str | None, port: str | None) -> Connection:
        """The connection between these ports."""
        return Connection(
            self.source, output, self.part, self.target, port, self.several, self.wire, self.ends
        )

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


def connections_of(sheet: Sheet, blocks: Mapping[str, WrittenBlock]) -> list[Connection]:
    """The connections of a sheet as they are written, in the order of its wires. A source with
    braces gives one for each signal. blocks: those of the sheet."""
    in_order = {name for name, block in blocks.items() if block.kind in FILLED_IN_ORDER}
    return [
        one
        for number, wire in sheet.wires.items()
        for end in wire.ends
        for one in _as_written(wire.source, end, end.block in in_order, number)
    ]


def _as_written(source: End, end: End, in_order: bool, number: int) -> Iterator[Connection]:
    """The connections from a source to one end. in_order: whether the inputs of its block are
    filled in order. number: of the wire."""
    part, ends = selected(source.selection), (str(source), str(end))
    for name in source.names or (None,):
        output, port = source.port, end.port
        if name is not None:
            output, port = (".".join(filter(None, (at, name.text))) for at in (output, port))
        elif source.names is not None:
            output = f"{output}.{ALL}" if output else ALL
        if in_order and end.port is None:
            port = IN_ORDER
        several = source.names == ()
        yield Connection(source.block, output, part, end.block, port, several, number, ends)


def selected(selection: Selection | None) -> str:
    """A slice as text. One from 0 and one without a start are the same."""
    if isinstance(selection, tuple) and selection[0] == 0 and (selection[2] or 1) > 0:
        selection = (None, *selection[1:])
    return "" if selection is None else selection_text(selection)


def meant(
    found: Iterable[Connection],
    every: Iterable[Connection],
    ports: PortsOf,
    *,
    buses: bool = False,
) -> list[Connection]:
    """Connections with the names of their ports, and `.*` as one for each signal, as far as the
    ports are known. every: all connections of the sheet; an input that one of them names is not
    taken by `.*`. buses: whether a source that is a bus is one for each signal, too."""
    taken: set[tuple[str, str | None]] | None = None
    result: list[Connection] = []
    for one in found:
        if one.several:
            if taken is None:
                taken = {_input(other, ports) for other in every if not other.several}
            result += _apart(one, (one.output or "").removesuffix(ALL), taken, ports)
        elif buses and (prefix := _bus(one.output, ports(one.source)[1] or ())) is not None:
            result += _apart(one, prefix, set(), ports)
        else:
            result.append(_named(one, ports))
    return result


def _bus(output: str | None, names: tuple[str, ...]) -> str | None:
    """The prefix of the outputs that an end without `.*` stands for, `state.`; None if it is one
    signal."""
    if output is None:
        return "" if len(names) > 1 else None
    port = port_named(output, names)
    inside = any(name.startswith(f"{output}.") for name in names)
    return f"{output}." if port not in names and inside else None


def _input(one: Connection, ports: PortsOf) -> tuple[str, str | None]:
    """The block and the port that a connection leads to."""
    return one.target, port_named(one.input, ports(one.target)[0])


def _named(one: Connection, ports: PortsOf) -> Connection:
    """A connection with the names of its ports, where they are known."""
    output, port = port_named(one.output, ports(one.source)[1]), one.input
    if port != IN_ORDER:
        port = port_named(port, ports(one.target)[0])
    return one if (output, port) == (one.output, one.input) else one.between(output, port)


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
    one: Connection, prefix: str, taken: set[tuple[str, str | None]], ports: PortsOf
) -> Iterator[Connection]:
    """A connection of several signals as one for each that an input is named after; unchanged if
    the ports are not known. prefix: of the outputs. taken: inputs that have another source."""
    outputs, inputs = ports(one.source)[1] or (), ports(one.target)[0] or ()
    names = [name[len(prefix) :] for name in outputs if name.startswith(prefix)]
    if one.input == IN_ORDER and names:
        yield from (replace(one, output=prefix + name, several=False) for name in names)
        return
    heads = [f"{one.input}." if one.input else ""]
    if heads == [""] and not one.several:  # a bus as a whole, to the bus that is taken
        heads += sorted({name.partition(".")[0] + "." for name in inputs if "." in name})
    for head in heads:
        matched = [name for name in names
                   if head + name in inputs and (one.target, head + name) not in taken]  # fmt: skip
        for name in matched:
            yield replace(one, output=prefix + name, input=head + name, several=False)
        if matched:
            return
    yield one


def renamed(found: Iterable[Connection], names: Mapping[str, str]) -> list[Connection]:
    """Connections with new names of blocks."""
    if not names:
        return list(found)
    return [
        replace(
            one, source=names.get(one.source, one.source), target=names.get(one.target, one.target)
        )
        for one in found
    ]
