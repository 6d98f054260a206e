"""Wires: how one is written, which inputs have none, and the zeros of optional inputs.

SOURCE -> END, END, ...        SOURCE is block, block.port or block.port[slice]
                               END is block or block.port
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.blocks._ports import Port, input_ports, output_ports

Selection = int | tuple[int | None, int | None, int | None]

_END = re.compile(r"(?P<block>[^\s.\[\]]+)(?:\.(?P<port>[^\s.\[\]]+))?(?P<rest>\[.*\])?")
_SLICE = re.compile(r"(-?\d{1,9})?:(-?\d{1,9})?(?::(-?\d{1,9})?)?")
_INDEX = re.compile(r"-?\d{1,9}")


class WireSyntaxError(Exception):
    """A wire that cannot be read: what is wrong, and at which character of its text."""

    def __init__(self, message: str, offset: int, hint: str | None = None) -> None:
        self.message, self.offset, self.hint = message, offset, hint
        super().__init__(message)


@dataclass(frozen=True)
class End:
    """One end of a wire as written, and where its parts begin in the wire's text."""

    block: str
    port: str | None
    selection: Selection | None
    offset: int
    port_offset: int
    selection_offset: int


@dataclass(frozen=True)
class WireText:
    """A wire as written: its source and the inputs it leads to."""

    source: End
    ends: tuple[End, ...]


def parse_wire(text: str) -> WireText:
    """Read one wire; raises WireSyntaxError."""
    arrow = text.find("->")
    if arrow < 0:
        raise WireSyntaxError(
            "a wire is written SOURCE -> INPUT",
            0,
            "no arrow ->; inside [ ], quote a wire with commas",
        )
    second = text.find("->", arrow + 2)
    if second >= 0:
        hint = "write a line for each wire; one source may lead to several inputs: a -> b, c"
        raise WireSyntaxError("a wire has one arrow", second, hint)
    source = parse_end(text[:arrow], 0)
    ends: list[End] = []
    start = arrow + 2
    for part in text[start:].split(","):
        end = parse_end(part, start)
        if end.selection is not None:
            hint = f"an input is named by a dot, as {end.block}.0"
            raise WireSyntaxError("only a source can be sliced", end.selection_offset, hint)
        ends.append(end)
        start += len(part) + 1
    return WireText(source, tuple(ends))


def parse_end(text: str, start: int = 0) -> End:
    """Read `block.port[slice]`, which begins at character start of its wire."""
    bare = text.strip()
    offset = start + len(text) - len(text.lstrip())
    if not bare:
        raise WireSyntaxError("a block's name is missing", max(offset - 1, 0))
    match = _END.fullmatch(bare)
    if match is None:
        hint = "write block, block.port or block.port[0:2]"
        raise WireSyntaxError(f"cannot read {bare!r}", offset, hint)
    selection = None
    if match["rest"] is not None:
        selection = _selection(match["rest"][1:-1].replace(" ", ""), offset + match.start("rest"))
    port_offset = offset + max(match.start("port"), 0)
    return End(
        match["block"],
        match["port"],
        selection,
        offset,
        port_offset,
        offset + max(match.start("rest"), 0),
    )


def _selection(text: str, offset: int) -> Selection:
    if _INDEX.fullmatch(text):
        return int(text)
    match = _SLICE.fullmatch(text)
    if match is None:
        hint = "write one index, [2], or a slice, [0:2]"
        raise WireSyntaxError(f"cannot read [{text}]", offset, hint)
    start, stop, step = (int(part) if part else None for part in match.groups())
    if step == 0:
        raise WireSyntaxError("a slice cannot step by 0", offset)
    return (start, stop, step)


def selection_text(selection: Selection) -> str:
    """A selection as it is written, in its shortest form: [2], [0:2], [::2]."""
    if isinstance(selection, int):
        return f"[{selection}]"
    start, stop, step = ("" if part is None else str(part) for part in selection)
    return f"[{start}:{stop}:{step}]" if step else f"[{start}:{stop}]"


def signal_name(block: Any, index: int) -> str:
    """The name of an output: the block's alone when it has one unnamed output."""
    ports = output_ports(block)
    name = ports[index].name
    return str(block.name) if len(ports) == 1 and name == "0" else f"{block.name}.{name}"


def wire_name(wire: Any) -> str:
    """`ctrl.tau -> plant.taum`: the ends of a bdsim wire, as Diagram.places names it."""
    source = output_ports(wire.start.block)[wire.start.port].name
    end = input_ports(wire.end.block)[wire.end.port].name
    return f"{wire.start.block.name}.{source} -> {wire.end.block.name}.{end}"


def connect(bd: Any, source: tuple[Any, int], end: tuple[Any, int], callsite: Any = None) -> Any:
    """Wire output (block, index) to input (block, index) and return bdsim's wire.

    callsite (file, line) is what bdsim names when it finds the wire wrong.
    """
    from bdsim.connect import EndPlug, StartPlug, Wire

    wire = Wire(StartPlug(*source), EndPlug(*end))
    bd.add_wire(wire)
    if callsite is not None:
        wire.callsite = callsite
    return wire


def sources_of(bd: Any) -> dict[tuple[Any, int], tuple[Any, int]]:
    """For each wired input (block, index) the output (block, index) that feeds it."""
    return {
        (wire.end.block, wire.end.port): (wire.start.block, wire.start.port) for wire in bd.wirelist
    }


def unconnected(bd: Any) -> Iterator[tuple[Any, int, Port]]:
    """Each input that no wire reaches: block, index, port. Subsystems are not entered."""
    wired = sources_of(bd)
    for block in list(bd.blocklist):
        missing = [index for index in range(block.nin) if (block, index) not in wired]
        if missing:
            ports = input_ports(block)
            yield from ((block, index, ports[index]) for index in missing)


def complete(bd: Any, *, leave: Collection[Any] = ()) -> list[Any]:
    """Give each optional input that no wire reaches a CONSTANT of zeros.

    For any bdsim BlockDiagram, its subsystems included; a second call adds nothing.
    leave: blocks of bd that are not to be touched.
    Returns the blocks added, named after the input, such as `plant.tau0=0`.
    """
    from bdsim.blocks import Constant
    from bdsim.components import SubsystemBlock

    added: list[Any] = []
    for block in list(bd.blocklist):
        if isinstance(block, SubsystemBlock):
            added += complete(block.subsystem)
    for block, index, port in list(unconnected(bd)):
        if port.optional and block not in leave:
            # A port of any shape takes a scalar, which broadcasts.
            value = 0.0 if port.shape is None else np.zeros(port.shape)
            zeros = Constant(value, bd=bd, name=f"{block.name}.{port.name}=0")
            connect(bd, (zeros, 0), (block, index))
            added.append(zeros)
    return added
