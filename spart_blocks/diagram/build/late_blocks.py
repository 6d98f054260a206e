"""The wires into blocks that are made last, because their wires say what they are like: how many
inputs a scope has, which signals a bus.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spart_blocks.base.errors import Place
from spart_blocks.block_support.ports import Port
from spart_blocks.diagram.build.bundles import bundle_of
from spart_blocks.diagram.build.wire_ends import Skip, WrongEnd
from spart_blocks.diagram.written.wires import FILLED_IN_ORDER, End, WrittenWire

if TYPE_CHECKING:
    from spart_blocks.diagram.build.wiring import Wiring
    from spart_blocks.diagram.sections.schema import BlockSection

BUSES = ("BUS_CREATOR", "BUS_SELECTOR", "BUS_ASSIGNMENT")

Incoming = Mapping[str, list[tuple[End, End]]]
"""For each block that is made last the source and the end of each of its wires."""


@dataclass(frozen=True)
class Arrival:
    """What a wire brings to a block. port: the input that it names, if any. signals: the ports that
    it comes from, by name; a signal alone has no name. by_name: whether equal names are wired."""

    port: str | None
    signals: Mapping[str, Port]
    by_name: bool = False

    @property
    def one(self) -> Port | None:
        """The port of a signal that is alone."""
        return self.signals.get("")


def made_last(
    blocks: Mapping[str, BlockSection],
    wires: Iterable[WrittenWire],
    waits: Callable[[BlockSection], bool],
) -> Incoming:
    """The blocks that are made after the others, each after those that lead to it, and their
    wires. waits: whether what a block is like depends on its wires."""
    wires = list(wires)
    last = {name for name, block in blocks.items() if block.type in BUSES or waits(block)}
    last |= {name for name, block in blocks.items() if block.type == "SCOPE"}
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
    """The blocks so that sources come first; those in a circle stay at the end."""
    waiting = dict.fromkeys(incoming, 0)
    users: dict[str, list[str]] = {name: [] for name in incoming}
    for name, wires in incoming.items():
        for source, _ in wires:
            if source.block in users and source.block != name:
                users[source.block].append(name)
                waiting[name] += 1
    ready = deque(name for name, count in waiting.items() if not count)
    done: dict[str, None] = {}
    while ready:
        name = ready.popleft()
        done[name] = None
        for user in users[name]:
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    return [*done, *(name for name in incoming if name not in done)]


def arrivals(wiring: Wiring, name: str, place: Place) -> tuple[list[Arrival], list[str]]:
    """What wires bring to a block, and the blocks of which that is not known; what is wrong with a
    wire is reported when it is made."""
    found: list[Arrival] = []
    unknown: list[str] = []
    for source, end in wiring.incoming.get(name, ()):
        try:
            found.append(arrival_of(wiring, source, end, place))
        except (WrongEnd, Skip):
            unknown.append(source.block)
    return found, unknown


def arrival_of(wiring: Wiring, source: End, end: End, place: Place) -> Arrival:
    """What one wire brings to a block. Raises WrongEnd and Skip where it is wrong."""
    if is_waiting(wiring, source.block) and wiring.kinds[source.block] not in BUSES:
        return Arrival(end.port, {"": Port(source.port or "0")})
    bundle = bundle_of(wiring, source, place)
    if bundle is None or (bundle.bare and wiring.kinds[end.block] in FILLED_IN_ORDER):
        return Arrival(end.port, {"": wiring.port_of(source)})
    return Arrival(end.port, bundle.ports, bundle.how != "bus")


def is_waiting(wiring: Wiring, name: str) -> bool:
    """Whether a block is not made yet. Where it leads to one that is, wires go in a circle."""
    return name in wiring.incoming and name not in wiring.blocks and name not in wiring.broken
