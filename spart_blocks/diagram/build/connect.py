"""Makes, names and finds bdsim's wires; finds unconnected inputs and wires optional
ones to zeros.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from spart_blocks.block_support.ports import Port, input_ports, output_ports
from spart_blocks.diagram.build.companions import AUDIT, make_companion, wants_audit


def signal_name(block: Any, index: int) -> str:
    """The name of an output: `block.port`, or `block` if its only output has no name."""
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

    callsite (file, line): the location that bdsim reports if the wire is wrong.
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
    """Each input without a wire: block, index, port. Blocks inside subsystems are not included."""
    wired = sources_of(bd)
    for block in list(bd.blocklist):
        missing = [index for index in range(block.nin) if (block, index) not in wired]
        if missing:
            ports = input_ports(block)
            yield from ((block, index, ports[index]) for index in missing)


def complete(bd: Any, *, companions: Mapping[Any, Any] | None = None) -> list[Any]:
    """Connect each optional input without a wire to a CONSTANT of zeros, and make the AUDIT of
    each plant with `audit: true`.

    For any bdsim BlockDiagram, including its subsystems; a second call adds nothing. companions:
    for blocks of bd that copy the wires of a plant, this plant. Returns the added blocks:
    `plant.audit`, and zeros such as `plant.tau0=0`.
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
    """Wire the inputs of a companion: to the sources of the plant's inputs, and to the plant's
    outputs, of the same names.
    """
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
    """Make zeros for the optional inputs without a wire. leave: blocks to skip."""
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
