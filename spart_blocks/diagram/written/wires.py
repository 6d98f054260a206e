"""Wires: their syntax, inputs without wires, and the zeros of optional inputs.

SOURCE -> END, END, ...        SOURCE is block, block.port, block.port[slice],
                               block.* or block.{port, port}
                               END is block or block.port
A port's name may have dots: an audit's port is block.audit.port.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.block_support.ports import Port, input_ports, output_ports
from spart_blocks.diagram.build.companions import AUDIT, make_companion, wants_audit

Selection = int | tuple[int | None, int | None, int | None]

_PART = r"(?:[^\s.\[\]{}*][^\s.\[\]{}]*|\*[^\s.\[\]{}]+)"  # of a port's name: no star alone
_PORT = rf"{_PART}(?:\.{_PART})*"
_END = re.compile(
    rf"(?P<block>[^\s.\[\]{{}}]+)(?:\.(?P<port>{_PORT}))?"
    r"(?P<names>\.\*|\.\{[^{}]*\})?(?P<rest>\[.*\])?"
)
_NAME = re.compile(rf"\s*({_PORT})\s*")
_SLICE = re.compile(r"(-?\d{1,9})?:(-?\d{1,9})?(?::(-?\d{1,9})?)?")
_INDEX = re.compile(r"-?\d{1,9}")


class WireSyntaxError(Exception):
    """A wire that cannot be read: the fault, and its position in the text."""

    def __init__(self, message: str, offset: int, hint: str | None = None) -> None:
        self.message, self.offset, self.hint = message, offset, hint
        super().__init__(message)


@dataclass(frozen=True)
class Name:
    """A signal named in braces, and its position in the wire's text."""

    text: str
    offset: int


@dataclass(frozen=True)
class End:
    """One end of a wire as written, and the positions of its parts in the wire's text. names: of
    a source of several signals, those in braces, or none for all; None for one signal.
    """

    block: str
    port: str | None
    selection: Selection | None
    offset: int
    port_offset: int
    selection_offset: int
    names: tuple[Name, ...] | None = None


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
    if "{" in text[start:]:
        hint = "write plant.{qm, um} -> law; it goes to the inputs of the same names"
        raise WireSyntaxError("braces belong to a source", text.index("{", start), hint)
    for part in text[start:].split(","):
        end = parse_end(part, start)
        if end.names is not None:
            hint = f"write {end.block}: its inputs of the same names are wired"
            raise WireSyntaxError(
                "a star belongs to a source", start + len(part.rstrip()) - 1, hint
            )
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
        hint = "write block, block.port, block.port[0:2], block.* or block.{port, port}"
        raise WireSyntaxError(f"cannot read {bare!r}", offset, hint)
    names = (
        None if match["names"] is None else _names(match["names"], offset + match.start("names"))
    )
    if names is not None and match["rest"] is not None:
        raise WireSyntaxError("only one signal can be sliced", offset + match.start("rest"))
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
        names,
    )


def _names(text: str, offset: int) -> tuple[Name, ...]:
    """The names in `.{qm, um}`, which begins at an offset; none for `.*`."""
    if text == ".*":
        return ()
    names: list[Name] = []
    start = 2
    for part in text[2:-1].split(","):
        match = _NAME.fullmatch(part)
        if match is None:
            hint = "write the ports' names between the braces: plant.{qm, um}"
            raise WireSyntaxError(f"cannot read {text!r}", offset + start, hint)
        names.append(Name(match[1], offset + start + match.start(1)))
        start += len(part) + 1
    return tuple(names)


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


def complete(bd: Any, *, companions: Mapping[Any, Any] | None = None) -> list[Any]:
    """Give each optional input that no wire reaches a CONSTANT of zeros, and each plant
    with `audit: true` its AUDIT.

    For any bdsim BlockDiagram, its subsystems included; a second call adds nothing.
    companions: blocks of bd that are to take a plant's wires, and the plant of each.
    Returns the blocks added: `plant.audit`, and zeros such as `plant.tau0=0`.
    """
    from bdsim.components import SubsystemBlock

    added: list[Any] = []
    for block in list(bd.blocklist):
        if isinstance(block, SubsystemBlock):
            added += complete(block.subsystem)
    plants = dict(companions or {})
    for block in list(bd.blocklist):
        if wants_audit(block) and f"{block.name}{AUDIT}" not in bd.blocknames:
            audit = make_companion(block, AUDIT, bd)
            plants[audit] = block
            added.append(audit)
    added += _fill(bd, leave=plants)  # a companion shares the zeros of its plant
    if plants:
        sources = sources_of(bd)
        for companion, plant in plants.items():
            _follow(bd, plant, companion, sources)
        added += _fill(bd)
    return added


def _follow(
    bd: Any, plant: Any, companion: Any, sources: Mapping[tuple[Any, int], tuple[Any, int]]
) -> None:
    """Wire a companion's inputs to the plant's inputs and outputs of the same names."""
    gets = {port.name: k for k, port in enumerate(input_ports(plant))}
    gives = {port.name: k for k, port in enumerate(output_ports(plant))}
    for index, port in enumerate(input_ports(companion)):
        if (companion, index) in sources:
            continue
        source = sources.get((plant, gets[port.name])) if port.name in gets else None
        if port.name in gives and port.name not in gets:
            source = (plant, gives[port.name])
        if source is not None:
            connect(bd, source, (companion, index))


def _fill(bd: Any, leave: Collection[Any] = ()) -> list[Any]:
    """Zeros on the optional inputs without a wire, but not on the blocks to leave."""
    from bdsim.blocks import Constant

    added: list[Any] = []
    for block, index, port in list(unconnected(bd)):
        if port.optional and block not in leave:
            # A port of any shape takes a scalar, which broadcasts.
            value = 0.0 if port.shape is None else np.zeros(port.shape)
            zeros = Constant(value, bd=bd, name=f"{block.name}.{port.name}=0")
            connect(bd, (zeros, 0), (block, index))
            added.append(zeros)
    return added
