"""Buses as they are drawn: one port, and one wire, for all signals of a bus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from spart_blocks.block_support.ports import Port
from spart_blocks.diagram.build.late_blocks import BUSES
from spart_blocks.diagram.written.connections import ALL, Connection
from spart_blocks.diagram.written.sheets import GATES
from spart_blocks.diagram.written.wires import FILLED_IN_ORDER, End
from spart_blocks.studio.files.ports import Side
from spart_blocks.studio.files.scopes import Scope

CREATOR, SELECTOR, ASSIGNMENT = "BUS_CREATOR", "BUS_SELECTOR", "BUS_ASSIGNMENT"
_GIVERS = (CREATOR, ASSIGNMENT)
TAKERS = (CREATOR, *FILLED_IN_ORDER)
"""Types whose inputs take buses and single signals."""
_BUS = "bus"
"""The input of a BUS_ASSIGNMENT that takes the bus."""
Sides = tuple[Side, Side]
Place = tuple[str, str]
"""A block and its port. The port ALL stands for all signals of a block; at the input of a
BUS_CREATOR it takes new ones."""


@dataclass
class Bundles:
    """Ports and connections with one for each bus. buses: the ports that are buses, for inputs and
    for outputs. carried: for each connection that is a bus, its signals at its source; () for
    others."""

    sides: dict[str, Sides] = field(default_factory=dict)
    connections: list[Connection] = field(default_factory=list)
    buses: tuple[set[Place], set[Place]] = field(default_factory=lambda: (set(), set()))
    carried: list[tuple[str, ...]] = field(default_factory=list)


def bundled(scope: Scope, sides: Mapping[str, Sides], found: Sequence[Connection]) -> Bundles:
    """Draw each bus as one. sides, found: the ports and connections of single signals."""
    if not _has_any(scope, sides, found):
        return Bundles(dict(sides), list(found), carried=[()] * len(found))
    made = Bundles()
    covered = _draw_wires(scope, sides, found, made)
    wired: tuple[_Ports, _Ports] = {}, {}
    drawn: tuple[_Ports, _Ports] = {}, {}
    for one, carried in zip(made.connections, made.carried, strict=True):
        ends = (one.target, one.input or ""), (one.source, one.output or "")
        for side, (block, port) in enumerate(ends):
            wired[side].setdefault(block, {})[port] = None
            if carried and not (side == 0 and _kind(scope, block) in FILLED_IN_ORDER):
                drawn[side].setdefault(block, {})[port] = None
    for name, both in sides.items():
        heads = _inputs(scope, name, both[0].names), _outputs(scope, name, both[1].names)
        found_sides = [
            _drawn_side(
                both[side], heads[side], drawn[side].get(name, {}), wired[side].get(name, {}),
                covered.get(name, set()) if side == 0 else set(),
            )
            for side in (0, 1)
        ]  # fmt: skip
        for side in (0, 1):
            made.buses[side].update((name, port) for port in found_sides[side][1])
        left, right = found_sides[0][0], found_sides[1][0]
        if _kind(scope, name) == CREATOR:
            rest = tuple(port for port in left.ports if port.name != ALL)
            left = Side((*rest, Port(ALL)), False)
            made.buses[0].add((name, ALL))
        made.sides[name] = left, right
    return made


def _has_any(scope: Scope, sides: Mapping[str, Sides], found: Sequence[Connection]) -> bool:
    """Whether a sheet may have buses; most large ones have none."""
    wires = scope.sheet.wires.values()
    return (
        len(found) != sum(len(wire.ends) for wire in wires)
        or any(wire.source.names is not None for wire in wires)
        or any(_kind(scope, name) in BUSES for name in scope.blocks)
        or any("." in port.name for both in sides.values() for side in both for port in side.ports)
    )


_Ports = dict[str, dict[str, None]]
_Heads = dict[str, tuple[str, ...]]
"""Ports that are buses, with the ports that they stand for."""


def _kind(scope: Scope, name: str) -> str:
    kind = scope.blocks.get(name, {}).get("type")
    return kind if isinstance(kind, str) else ""


def _has_buses(scope: Scope, name: str) -> bool:
    """Whether ports of a block are buses if their names have dots."""
    if name not in scope.blocks:
        return name in GATES
    inside = "use" in scope.blocks[name] or scope.definition(name) is not None
    return inside or _kind(scope, name) == SELECTOR


# --- wires ------------------------------------------------------------------------------------


def _draw_wires(
    scope: Scope, sides: Mapping[str, Sides], found: Sequence[Connection], made: Bundles
) -> dict[str, set[str]]:
    """Draw the connections, and return the inputs of each block that a bus leads to."""
    covered: dict[str, set[str]] = {}
    groups: dict[tuple[int, tuple[str, str]], list[Connection]] = {}
    for one in found:
        groups.setdefault((one.wire, one.ends), []).append(one)
    for (number, (_, text)), group in groups.items():
        first, wire = group[0], scope.sheet.wires[number]
        known = sides[first.source][1].names if first.source in sides else ()
        outputs = [name for name in known if name != ALL]
        start = _start(scope, wire.source, outputs)
        end = next((end for end in wire.ends if str(end) == text), None)
        stop = _stop(scope, end, group) if start is not None and end is not None else None
        if start is None or stop is None:
            made.connections += group
            made.carried += [()] * len(group)
            continue
        covered.setdefault(first.target, set()).update(one.input or "" for one in group)
        made.connections.append(replace(first, output=start, input=stop, several=False))
        names = [one.output or "" for one in group]
        if wire.source.names is None or ALL in names:
            head = f"{start}." if start != ALL else ""
            names = [name for name in outputs if name.startswith(head)]
        made.carried.append(tuple(names))
    return covered


def _start(scope: Scope, end: End, outputs: Sequence[str]) -> str | None:
    """The port at which a wire begins that is a bus; None if it is one signal."""
    if end.names is not None:
        return end.port or ALL
    if end.port is not None:
        within = end.port not in outputs and any(o.startswith(f"{end.port}.") for o in outputs)
        return end.port if within else None
    if _kind(scope, end.block) in _GIVERS:
        return ALL
    heads = {name.partition(".")[0] for name in outputs if "." in name}
    if _has_buses(scope, end.block) and len(heads) == 1 and all("." in name for name in outputs):
        return heads.pop()
    return ALL if len(outputs) > 1 else None


def _stop(scope: Scope, end: End, group: Sequence[Connection]) -> str | None:
    """The port at which a wire ends as a bus; None if it ends at single inputs."""
    kind, first = _kind(scope, end.block), group[0].input or ""
    if end.port is not None:
        inside = all((one.input or "").startswith(f"{end.port}.") for one in group)
        return end.port if inside or kind == CREATOR or first in ("", ALL) else None
    if kind == ASSIGNMENT:
        return _BUS
    if kind in (CREATOR, SELECTOR):
        return ALL
    if kind in FILLED_IN_ORDER:
        return first
    head = first.partition(".")[0]
    inside = all((one.input or "").startswith(f"{head}.") for one in group)
    return head if inside and _has_buses(scope, end.block) else None


# --- ports ------------------------------------------------------------------------------------


def _inputs(scope: Scope, name: str, names: Sequence[str]) -> _Heads:
    """The inputs that are buses whatever is wired to them."""
    kind = _kind(scope, name)
    if kind == SELECTOR:
        return {ALL: tuple(names)}
    if kind == ASSIGNMENT:
        return {_BUS: (), **_heads(names)}
    return _heads(names) if _has_buses(scope, name) else {}


def _outputs(scope: Scope, name: str, names: Sequence[str]) -> _Heads:
    """The outputs that are buses whatever is wired to them."""
    if _kind(scope, name) in _GIVERS:
        return {ALL: tuple(names)}
    return _heads(names) if _has_buses(scope, name) else {}


def _heads(names: Sequence[str]) -> _Heads:
    heads: dict[str, list[str]] = {}
    for name in names:
        if "." in name:
            heads.setdefault(name.partition(".")[0], []).append(name)
    return {head: tuple(inside) for head, inside in heads.items()}


def _drawn_side(
    side: Side, heads: _Heads, drawn: Mapping[str, None], wired: Mapping[str, None],
    covered: set[str],
) -> tuple[Side, _Heads]:  # fmt: skip
    """A side with one port for each bus, in the place of its first signal, and these ports. heads:
    those that are there in any case; drawn: those that wires lead to. Signals of a bus that have
    wires of their own stay beside it; covered ones that have none are left out."""
    of = {one: head for head, inside in heads.items() for one in inside}
    more = {
        head: tuple(one for one in side.names if one not in of and one.startswith(f"{head}."))
        for head in drawn
        if head not in heads
    }
    of |= {one: head for head, inside in more.items() for one in inside}
    buses = {**more, **heads}
    ports = {head: Port(head) for head, inside in heads.items() if not inside}
    for port in side.ports:
        head = of.get(port.name)
        if head is not None:
            ports.setdefault(head, Port(head))
        if port.name in buses or (port.name == ALL and ALL not in wired):
            continue
        if port.name in wired or (head is None and port.name not in covered):
            ports[port.name] = port
    for head in buses:
        ports.setdefault(head, Port(head))
    return Side(tuple(ports.values()), side.known), buses
