"""Wires resolved to connections between ports. Wires with mistakes are resolved as far as
possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count

from spart_blocks.diagram.written.connections import (
    IN_ORDER,
    Connection,
    connections_of,
    meant,
    port_named,
)
from spart_blocks.diagram.written.sheets import GATES
from spart_blocks.studio.files.bundles import Place, bundled
from spart_blocks.studio.files.ports import Side, is_counted, sides_of, with_named, with_spare
from spart_blocks.studio.files.scopes import Scope

Sides = tuple[Side, Side]
Port = tuple[str, str]
"""A port: the block and the name of its port."""


def ends_of(one: Connection) -> tuple[Port, Port]:
    """The output and the input of a connection."""
    return (one.source, one.output or ""), (one.target, one.input or "")


@dataclass
class Web:
    """The ports of each block of a diagram, and the connections between them."""

    sides: dict[str, Sides]
    connections: list[Connection] = field(default_factory=list)
    # The inputs and the outputs that are buses, and for each connection the signals of its bus.
    buses: tuple[set[Place], set[Place]] = field(default_factory=lambda: (set(), set()))
    carried: list[tuple[str, ...]] = field(default_factory=list)

    def wired(self) -> tuple[set[Port], set[Port]]:
        """The connected inputs and the connected outputs."""
        ends = [ends_of(one) for one in self.connections]
        return {end for _, end in ends}, {start for start, _ in ends}


def web_of(scope: Scope) -> Web:
    """The ports and connections of a diagram as it is drawn: one for each bus."""
    web = signals_of(scope)
    found = bundled(scope, web.sides, web.connections)
    return Web(found.sides, found.connections, found.buses, found.carried)


def signals_of(scope: Scope) -> Web:
    """The ports and connections of a diagram, each of one signal. Blocks and ports that do not
    exist but are named by a wire are included, so that each connection has two ends."""
    sides = {name: sides_of(scope, name) for name in scope.blocks}
    if scope.sheet.has_gates:
        for name in GATES:
            sides.setdefault(name, sides_of(scope, name))
    found = _connections(scope, sides)
    inputs: dict[str, dict[str, None]] = {}
    outputs: dict[str, dict[str, None]] = {}
    for one in found:
        outputs.setdefault(one.source, {})[one.output or ""] = None
        inputs.setdefault(one.target, {})[one.input or ""] = None
    for name in dict.fromkeys((*outputs, *inputs)):
        left, right = sides.get(name, _UNKNOWN)
        sides[name] = (
            with_named(left, inputs.get(name, ())),
            with_named(right, outputs.get(name, ())),
        )
    for name, section in scope.blocks.items():
        if is_counted(section) or _has_room(scope, name, found, sides):
            left, right = sides[name]
            sides[name] = with_spare(left), right
    return Web(sides, found)


def _has_room(
    scope: Scope, name: str, wires: Sequence[Connection], sides: Mapping[str, Sides]
) -> bool:
    """Whether a scope has labels or styles for more lines than its wires are known to bring."""
    section = scope.blocks[name]
    given = [section.get(key) for key in ("labels", "styles")]
    most = max((len(one) for one in given if isinstance(one, list)), default=0)
    if section.get("type") != "SCOPE" or most < 2 or "nin" in section or "vector" in section:
        return False
    return sum(_width(scope, one, sides) for one in wires if one.target == name) < most


def _width(scope: Scope, one: Connection, sides: Mapping[str, Sides]) -> int:
    """How many lines of a scope a wire brings, as far as the block says it; else 1."""
    side = sides.get(one.source, _UNKNOWN)[1]
    shapes = [port.shape for port in side.ports if port.name == one.output]
    is_whole = scope.sheet.wires[one.wire].source.selection is None
    return next((shape[0] for shape in shapes if shape and len(shape) == 1 and is_whole), 1)


_UNKNOWN = Side((), False), Side((), False)


def _connections(scope: Scope, sides: Mapping[str, Sides]) -> list[Connection]:
    """The connections of a diagram, each with the names of its ports. A port that is not known is
    "" or, of several signals, `*`."""

    def names(block: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        left, right = sides.get(block, _UNKNOWN)
        return left.names, right.names

    found = connections_of(scope.sheet, scope.written)
    taken: dict[str, set[str]] = {}
    for wire in scope.sheet.wires.values():
        for end in wire.ends:
            taken.setdefault(end.block, set()).update([end.port] if end.port else ())
    made = []
    for one in meant(found, found, names, buses=True):
        inputs, outputs = names(one.target)[0], names(one.source)[1]
        output, target = one.output, one.input
        if one.several:
            output = (output or "").removesuffix(".*")
        elif output is None:
            output = outputs[0] if len(outputs) == 1 else "*" if outputs else ""
        if target == IN_ORDER:
            target = _next(inputs, taken[one.target])
        else:
            target = port_named(target, inputs) or (inputs[0] if len(inputs) == 1 else "")
        made.append(one.between(output, target))
    return made


def _next(names: Sequence[str], taken: set[str]) -> str:
    """The next free input of a block whose inputs are filled in order; it is taken then."""
    numbers = map(str, count(len(names)))
    free = next(name for name in chain(names, numbers) if name not in taken)
    taken.add(free)
    return free
