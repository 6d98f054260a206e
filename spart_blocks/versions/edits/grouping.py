"""Groups blocks into a subsystem: sorts wires into those inside it and those that cross its
border.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.diagram.written.sheets import Sheet
from spart_blocks.diagram.written.wires import End, WrittenWire
from spart_blocks.versions.edits.steps import RemoveValue, SetValue, Step, wires_of


@dataclass(frozen=True)
class Part:
    """A subsystem made of blocks.

    section: its text in `subsystems:` as data. steps: changes of the wires around it. outer: new
    wires around it.
    """

    section: dict[str, Any]
    steps: list[Step]
    outer: list[str]


def grouped(
    name: str,
    blocks: Mapping[str, Any],
    sheet: Sheet,
    inputs: Mapping[str, str] = MappingProxyType({}),
    outputs: Mapping[str, str] = MappingProxyType({}),
) -> Part:
    """Make a subsystem of some blocks of a sheet. name: of the block that replaces them. inputs,
    outputs: names that ports shall get, by the ends and the sources of their wires within, as they
    are written. Raises InputError for a wire `a.* -> b` across its border.
    """
    ports = _Ports(name, inputs, outputs)
    inner: list[str] = []
    steps: list[Step] = []
    for number, wire in wires_of(sheet).items():
        path = (*sheet.keys, "wires", number)
        inside, outside, changed = _parted(wire, set(blocks), ports)
        inner += inside
        if not changed:
            continue
        if outside:
            steps.append(SetValue(path, outside))
        else:
            steps.append(RemoveValue(path))
    section: dict[str, Any] = {}
    if ports.inputs:
        section["inputs"] = list(ports.inputs.values())
    if ports.outputs:
        section["outputs"] = list(ports.outputs.values())
    section |= {"blocks": dict(blocks), "wires": inner}
    return Part(section, steps, ports.outer)


class _Ports:
    """The ports of the new subsystem, named after the signals that cross its border, unless a name
    is given for them."""

    def __init__(self, name: str, inputs: Mapping[str, str], outputs: Mapping[str, str]) -> None:
        self.name = name
        self.inputs: dict[str, str] = {}
        self.outputs: dict[str, str] = {}
        self.given = inputs, outputs
        self.outer: list[str] = []

    def input(self, source: str, end: End, within: Sequence[str]) -> str:
        """The port for a signal from outside. end: the source in the wire, after which the port is
        named if the name is free. within: the ends of the wire within.
        """
        if source not in self.inputs:
            taken = self.inputs.values()
            given = (self.given[0].get(one) for one in within)
            name = next((one for one in given if one is not None and one not in taken), None)
            self.inputs[source] = name or _free(end, {*taken, *self.given[0].values()})
        return self.inputs[source]

    def output(self, source: str, end: End) -> str:
        """The port for a signal to the outside."""
        if source not in self.outputs:
            taken = {*self.outputs.values(), *self.given[1].values()}
            self.outputs[source] = self.given[1].get(source) or _free(end, taken)
        return self.outputs[source]


def _free(end: End, taken: Collection[str]) -> str:
    """A free name, after the port or the block of an end."""
    wanted = (end.port or end.block).rpartition(".")[2]
    wanted = end.block if wanted.isdecimal() else wanted
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}{number}", number + 1
    return name


def _parted(wire: WrittenWire, blocks: set[str], ports: _Ports) -> tuple[list[str], str, bool]:
    """Split a wire: the wires inside the subsystem, the text of the wire that remains outside, and
    whether that has changed.
    """
    text, source = wire.text, wire.written(wire.source)
    ins = [wire.written(end) for end in wire.ends if end.block in blocks]
    outs = [wire.written(end) for end in wire.ends if end.block not in blocks]
    within = wire.source.block in blocks
    if not ins and not within:
        return [], text, False
    if within and not outs:
        return [text], "", True
    if wire.source.names is not None:
        hint = "write its signals out: a.x -> b.x"
        raise InputError(Fault(f"wire {text.strip()!r} crosses the border", hint=hint))
    if within:
        new = source not in ports.outputs
        port = ports.output(source, wire.source)
        inside = [*([f"out.{port}"] if new else []), *ins]
        found = [f"{source} -> {', '.join(inside)}"] if inside else []
        return found, f"{ports.name}.{port} -> {', '.join(outs)}", True
    new = source not in ports.inputs
    port = ports.input(source, wire.source, ins)
    led = [*outs, *([f"{ports.name}.{port}"] if new else [])]
    return (
        [f"in.{port} -> {', '.join(ins)}"],
        f"{source} -> {', '.join(led)}" if led else "",
        True,
    )
