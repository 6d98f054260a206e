"""Groups blocks into a subsystem: sorts wires into those inside it and those that cross its
border.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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


def grouped(name: str, blocks: Mapping[str, Any], sheet: Sheet) -> Part:
    """Make a subsystem of some blocks of a sheet. name: of the block that replaces them. Raises
    InputError for a wire `a.* -> b` across its border.
    """
    ports = _Ports(name)
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
    """The ports of the new subsystem, named after the signals that cross its border."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: dict[str, str] = {}
        self.outputs: dict[str, str] = {}
        self.outer: list[str] = []

    def of(self, source: str, end: End, side: dict[str, str]) -> tuple[str, bool]:
        """The port for a signal that crosses the border, and whether it was added. end: the source
        in the wire, after which the port is named if the name is free. side: inputs or outputs.
        """
        wanted = (end.port or end.block).rpartition(".")[2]
        new = source not in side
        if new:
            side[source] = _free(end.block if wanted.isdecimal() else wanted, side)
        return side[source], new


def _free(wanted: str, taken: Mapping[str, str]) -> str:
    name, number = wanted, 2
    while name in taken.values():
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
        port, new = ports.of(source, wire.source, ports.outputs)
        inside = [*([f"out.{port}"] if new else []), *ins]
        found = [f"{source} -> {', '.join(inside)}"] if inside else []
        return found, f"{ports.name}.{port} -> {', '.join(outs)}", True
    port, new = ports.of(source, wire.source, ports.inputs)
    led = [*outs, *([f"{ports.name}.{port}"] if new else [])]
    return (
        [f"in.{port} -> {', '.join(ins)}"],
        f"{source} -> {', '.join(led)}" if led else "",
        True,
    )
