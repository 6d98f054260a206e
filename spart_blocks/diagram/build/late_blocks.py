"""Blocks that are made last because their wires determine their ports, such as the number of
inputs of a scope or the signals of a bus; and the wires to these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spart_blocks.base.errors import Place
from spart_blocks.block_support.ports import Port
from spart_blocks.diagram.build.bundles import bundle_of
from spart_blocks.diagram.build.wiring import Incoming, Skip, Wiring, WrongEnd
from spart_blocks.diagram.network.loop_graph import ordered
from spart_blocks.diagram.sections.schema import BlockSection
from spart_blocks.diagram.written.wires import FILLED_IN_ORDER, End, WrittenWire

BUSES = ("BUS_CREATOR", "BUS_SELECTOR", "BUS_ASSIGNMENT")


@dataclass(frozen=True)
class Arrival:
    """The signals that a wire brings to a block.

    port: the input that the wire names, if any. signals: the ports of the sources, by name; a
    single signal has the name "". by_name: whether inputs of equal names are wired.
    """

    port: str | None
    signals: Mapping[str, Port]
    by_name: bool = False

    @property
    def one(self) -> Port | None:
        """The port of a single signal; None for several signals."""
        return self.signals.get("")


def made_last(blocks: Mapping[str, BlockSection], wires: Iterable[WrittenWire]) -> Incoming:
    """The blocks whose ports depend on their wires, each after those that feed it, with their
    wires.
    """
    wires = list(wires)
    last = {
        name
        for name, block in blocks.items()
        if block.type in (*BUSES, "SCOPE") or block.for_each is not None
    }
    for wire in wires:
        source = blocks.get(wire.source.block)
        if wire.source.names is not None or source is None or source.use or source.type in BUSES \
                or not source.type.isupper():  # fmt: skip
            last |= {e.block for e in wire.ends
                     if e.block in blocks and blocks[e.block].type in FILLED_IN_ORDER}  # fmt: skip
    incoming: dict[str, list[tuple[End, End]]] = {name: [] for name in blocks if name in last}
    for wire in wires:
        for end in wire.ends:
            if end.block in incoming:
                incoming[end.block].append((wire.source, end))
    return {name: incoming[name] for name in _in_order(incoming)}


def _in_order(incoming: Incoming) -> Iterable[str]:
    """The blocks with sources first. Blocks in a circle come last."""
    feeding = {name: [(source.block, 0) for source, _ in wires
                      if source.block in incoming and source.block != name]
               for name, wires in incoming.items()}  # fmt: skip
    return dict.fromkeys([*ordered(feeding), *incoming])


def arrivals(wiring: Wiring, name: str, place: Place) -> tuple[list[Arrival], list[str]]:
    """The signals that wires bring to a block, and the source blocks for which these are unknown.
    Faults of wires are reported when the wires are made.
    """
    found: list[Arrival] = []
    unknown: list[str] = []
    for source, end in wiring.incoming.get(name, ()):
        try:
            found.append(arrival_of(wiring, source, end, place))
        except (WrongEnd, Skip):
            unknown.append(source.block)
    return found, unknown


def arrival_of(wiring: Wiring, source: End, end: End, place: Place) -> Arrival:
    """The signals that one wire brings to a block. Raises WrongEnd or Skip if it is wrong."""
    if is_waiting(wiring, source.block) and wiring.kinds[source.block] not in BUSES:
        return Arrival(end.port, {"": Port(source.port or "0")})
    bundle = bundle_of(wiring, source, place)
    if bundle is None or (bundle.bare and wiring.kinds[end.block] in FILLED_IN_ORDER):
        return Arrival(end.port, {"": wiring.port_of(source)})
    return Arrival(end.port, bundle.ports, bundle.how != "bus")


def is_waiting(wiring: Wiring, name: str) -> bool:
    """Whether a block is not made yet. If a block that is being made needs it, the wires form a
    circle.
    """
    return name in wiring.incoming and name not in wiring.blocks and name not in wiring.broken
