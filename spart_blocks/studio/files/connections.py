"""Wires resolved to connections between ports. Wires with mistakes are resolved as far as
possible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from spart_blocks.block_support.ports import Port
from spart_blocks.diagram.build.wire_ends import index_of
from spart_blocks.diagram.written.sheets import GATES
from spart_blocks.diagram.written.wires import End, selection_text
from spart_blocks.studio.files.ports import (
    Side,
    is_counted,
    is_filled,
    sides_of,
    with_named,
    with_spare,
)
from spart_blocks.studio.files.scopes import Scope

Sides = tuple[Side, Side]


@dataclass(frozen=True)
class Connection:
    """A connection from an output (start) to an input (end), each (block, port). wire: number of
    the wire in the file; source, target: its ends as written, for edits. part: selected elements of
    the signal, such as `[0:2]`."""

    wire: int
    source: str
    target: str
    start: tuple[str, str]
    end: tuple[str, str]
    part: str = ""


@dataclass
class Web:
    """The ports of each block of a diagram, and the connections between them."""

    sides: dict[str, Sides]
    connections: list[Connection] = field(default_factory=list)

    def wired(self) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
        """The connected inputs and the connected outputs, each as a set of (block, port)."""
        return {one.end for one in self.connections}, {one.start for one in self.connections}


def web_of(scope: Scope) -> Web:
    """The ports and connections of a diagram. Blocks and ports that do not exist but are named by a
    wire are included, so that each connection has two ends."""
    sides = {name: sides_of(scope, name) for name in scope.blocks}
    if scope.sheet.has_gates:
        for name in GATES:
            sides.setdefault(name, sides_of(scope, name))
    maker = _Maker(scope, sides)
    found = [one for number, wire in scope.sheet.wires.items() for end in wire.ends
             for one in maker.made(number, wire.source, end)]  # fmt: skip
    inputs: dict[str, dict[str, None]] = {}
    outputs: dict[str, dict[str, None]] = {}
    for one in found:
        outputs.setdefault(one.start[0], {})[one.start[1]] = None
        inputs.setdefault(one.end[0], {})[one.end[1]] = None
    empty = Side((), False), Side((), False)
    for name in dict.fromkeys((*outputs, *inputs)):
        left, right = sides.get(name, empty)
        sides[name] = (
            with_named(left, inputs.get(name, ())),
            with_named(right, outputs.get(name, ())),
        )
    for name, section in scope.blocks.items():
        if is_counted(section):
            left, right = sides[name]
            sides[name] = with_spare(left), right
    return Web(sides, found)


@dataclass
class _Maker:
    """Resolves wires to ports. taken: for blocks whose inputs are filled in order, the inputs that
    are already in use or named by a wire."""

    scope: Scope
    sides: dict[str, Sides]
    taken: dict[str, set[str]] = field(default_factory=dict)
    named: dict[str, set[str]] | None = None

    def made(self, number: int, source: End, end: End) -> Iterator[Connection]:
        """The connections from a source to one target of a wire."""
        texts = str(source), str(end)
        part = "" if source.selection is None else selection_text(source.selection)
        outputs = self._outputs(source)
        prefix, names = outputs
        if names is None:
            port = self._input(end)
            yield Connection(number, *texts, (source.block, prefix), (end.block, port), part)
            return
        pairs = list(self._pairs(source, end, prefix, names))
        for output, port in pairs or [(prefix.rstrip(".") or "*", self._input(end))]:
            yield Connection(number, *texts, (source.block, output), (end.block, port))

    def _outputs(self, end: End) -> tuple[str, list[str] | None]:
        """The outputs that the source of a wire means: (port, None) for one port, or (prefix,
        rests) for several, whose names are the prefix followed by each rest."""
        names = self.sides[end.block][1].names if end.block in self.sides else ()
        if end.names is None:
            port = end.port
            if port is None:
                return (
                    (names[0] if len(names) == 1 else "", None)
                    if len(names) < 2
                    else ("", [*names])
                )
            index = index_of(port, tuple(map(Port, names)))
            if index is not None:
                return names[index], None
            inside = [name[len(port) + 1 :] for name in names if name.startswith(f"{port}.")]
            return (f"{port}.", inside) if inside else (port, None)
        prefix = f"{end.port}." if end.port else ""
        inside = [name[len(prefix) :] for name in names if name.startswith(prefix)]
        if end.names:
            wanted = [name.text for name in end.names]
            inside = [
                name
                for one in wanted
                for name in ([one] if one in inside else
                             [n for n in inside if n.startswith(f"{one}.")] or [one])
            ]  # fmt: skip
        return prefix, inside

    def _pairs(
        self, source: End, end: End, prefix: str, names: list[str]
    ) -> Iterator[tuple[str, str]]:
        """Pairs (output, input) for a wire that carries several signals, matched by name."""
        if end.port is None and is_filled(self.scope.blocks.get(end.block, {})):
            for name in names:
                yield prefix + name, self._next(end.block)
            return
        known = set(self.sides[end.block][0].names) if end.block in self.sides else set()
        head = f"{end.port}." if end.port else ""
        own = self._named(end.block) if source.names == () else set()
        heads = [head]
        if not head and source.names is None:  # a bus as a whole, to the bus that is taken
            heads += sorted({name.partition(".")[0] + "." for name in known if "." in name})
        for one in heads:
            found = [name for name in names if one + name in known and one + name not in own]
            if found:
                yield from ((prefix + name, one + name) for name in found)
                return
        if source.names:
            yield from ((prefix + name, head + name) for name in names)

    def _input(self, end: End) -> str:
        section = self.scope.blocks.get(end.block, {})
        names = self.sides[end.block][0].names if end.block in self.sides else ()
        if end.port is None:
            if is_filled(section):
                return self._next(end.block)
            return names[0] if len(names) == 1 else ""
        index = index_of(end.port, tuple(map(Port, names)))
        return end.port if index is None else names[index]

    def _next(self, block: str) -> str:
        """The next free input of a block whose inputs are filled in order."""
        taken = self.taken.setdefault(block, set(self._named(block)))
        names = self.sides[block][0].names if block in self.sides else ()
        free = next((name for name in names if name not in taken), None)
        if free is None:
            number = len(names)
            while str(number) in taken:
                number += 1
            free = str(number)
        taken.add(free)
        return free

    def _named(self, block: str) -> set[str]:
        """The inputs of a block that are named by wires."""
        if self.named is None:
            self.named = {}
            for wire in self.scope.sheet.wires.values():
                for end in wire.ends:
                    if end.port is not None:
                        self.named.setdefault(end.block, set()).add(end.port)
        return self.named.get(block, set())
