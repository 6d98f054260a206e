"""bdsim's blocks and wires as a flat list of nodes in the order of evaluation.

Subsystems are opened without touching the diagram (bdsim 1.4's compile rewrites it),
and the order is found in time linear in blocks and wires (bdsim's is quadratic).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from spart_blocks.diagram.companions import COMPANION
from spart_blocks.errors import DiagramError, Fault, Place
from spart_blocks.ports import Port, input_ports, output_ports

Source = tuple[int, int]  # index of a node, number of its output port


@dataclass(frozen=True)
class Node:
    """A block with its inputs' sources. kind is bdsim's block class: source, sink, function,
    continuous, sampled or graphics. place: where the block is written, if in a file; wires: where
    the wires into its inputs are. clock: bdsim's clock of a sampled block, and of the block with
    the output of a PID_S, whose clock is that of the PID_S."""

    index: int
    name: str
    block: Any
    kind: str
    sources: tuple[Source, ...]
    in_ports: tuple[Port, ...]
    out_ports: tuple[Port, ...]
    place: Place | None = None
    clock: Any = None
    wires: tuple[Place | None, ...] = ()

    @property
    def feedthrough(self) -> bool:
        """Whether it has direct feedthrough."""
        if self.kind in ("continuous", "sampled"):
            return bool(self.block._feedthrough)
        return self.kind != "source"

    def output_name(self, port: int) -> str:
        """'block.port'; the block alone where its one output has no name."""
        name = self.out_ports[port].name
        alone = len(self.out_ports) == 1 and name == "0"
        # A plant's accelerations are named after the plant; the companion is internal.
        return self.name if alone else f"{self.name.removesuffix(COMPANION)}.{name}"

    def input_name(self, port: int) -> str:
        return f"{self.name}.{self.in_ports[port].name}"

    def wire_place(self, port: int) -> Place | None:
        """Where the wire into an input is written, or the block where that is not known."""
        return (self.wires[port] if self.wires else None) or self.place


@dataclass(frozen=True)
class FlatDiagram:
    """Nodes, and their indices in the order of evaluation.

    outlets: the outputs of subsystems by name, and the nodes' outputs they pass on.
    inlets: for each subsystem by name, the nodes' outputs that its inputs get.
    """

    nodes: tuple[Node, ...]
    schedule: tuple[int, ...]
    outlets: Mapping[str, Source]
    inlets: Mapping[str, Mapping[str, Source]]

    def of_kind(self, kind: str) -> Iterator[Node]:
        return (node for node in self.nodes if node.kind == kind)


class _Level:
    """One diagram of the hierarchy: the source of each input of its blocks."""

    def __init__(self, bd: Any, prefix: str, parent: _Level | None, shell: Any) -> None:
        self.bd, self.prefix, self.parent, self.shell = bd, prefix, parent, shell
        self.drivers: dict[tuple[int, int], tuple[Any, int]] = {}
        self.inner: dict[int, _Level] = {}


def flatten(bd: Any, places: Mapping[str, Place] | None = None) -> FlatDiagram:
    """The wiring of a bdsim BlockDiagram.

    Raises DiagramError with every fault: inputs without or with two wires, blocks with
    the same name, and algebraic loops block by block.
    """
    faults: list[Fault] = []
    top = _Level(bd, "", None, None)
    leaves = _leaves(top, places or {}, faults)
    index = {(id(level), id(block)): i for i, (level, block, _) in enumerate(leaves)}
    nodes = tuple(
        _node(i, level, block, name, index, places or {}, faults)
        for i, (level, block, name) in enumerate(leaves)
    )
    if faults:
        raise DiagramError(faults)
    clocked = dict(_clocked_outlets(top, index))
    nodes = tuple(
        replace(node, clock=clocked[node.index]) if node.index in clocked else node
        for node in nodes
    )
    outlets, inlets = dict(_outlets(top, index)), dict(_inlets(top, index))
    return FlatDiagram(nodes, _schedule(nodes, places or {}), outlets, inlets)


def _outlets(level: _Level, index: Mapping[tuple[int, int], int]) -> Iterator[tuple[str, Source]]:
    for block in level.bd.blocklist:
        inner = level.inner.get(id(block))
        if inner is None:
            continue
        yield from _outlets(inner, index)
        for k, port in enumerate(output_ports(block)):
            found = _resolve(inner, block.outport, k)
            if found:
                source = (index[id(found[0]), id(found[1])], found[2])
                yield f"{level.prefix}{block.name}.{port.name}", source
                if block.nout == 1:
                    yield f"{level.prefix}{block.name}", source


def _clocked_outlets(
    level: _Level, index: Mapping[tuple[int, int], int]
) -> Iterator[tuple[int, Any]]:
    """The blocks that give the outputs of subsystems which are sampled as a whole, and the
    clocks of these: bdsim makes a PID_S of sampled blocks and others."""
    for block in level.bd.blocklist:
        inner = level.inner.get(id(block))
        if inner is None:
            continue
        yield from _clocked_outlets(inner, index)
        clocks = [b._clock for b in inner.bd.blocklist if b.blockclass == "sampled"]
        found = _resolve(inner, block.outport, 0) if block.type == "pid_s" else None
        if found and clocks:
            yield index[id(found[0]), id(found[1])], clocks[0]


def _inlets(
    level: _Level, index: Mapping[tuple[int, int], int]
) -> Iterator[tuple[str, dict[str, Source]]]:
    for block in level.bd.blocklist:
        inner = level.inner.get(id(block))
        if inner is None:
            continue
        yield from _inlets(inner, index)
        found = {port.name: _resolve(level, block, k) for k, port in enumerate(input_ports(block))}
        yield (
            f"{level.prefix}{block.name}",
            {name: (index[id(f[0]), id(f[1])], f[2]) for name, f in found.items() if f},
        )


def _leaves(
    top: _Level, places: Mapping[str, Place], faults: list[Fault]
) -> list[tuple[_Level, Any, str]]:
    """Every block that is not a subsystem nor a boundary of one, with its full name."""
    leaves: list[tuple[_Level, Any, str]] = []
    names: set[str] = set()
    pending = deque([top])
    while pending:
        level = pending.popleft()
        _read_wires(level, places, faults)
        for block in level.bd.blocklist:
            name = level.prefix + str(block.name)
            if block.blockclass == "subsystem":
                inner = _Level(block.subsystem, name + "/", level, block)
                level.inner[id(block)] = inner
                pending.append(inner)
            elif level.shell is None or block not in (level.shell.inport, level.shell.outport):
                if name in names:
                    faults.append(Fault(f"two blocks are called '{name}'", _at(places, name)))
                names.add(name)
                leaves.append((level, block, name))
    return leaves


def _at(places: Mapping[str, Place], name: str) -> Place | None:
    return places.get(f"blocks.{name}")


def _read_wires(level: _Level, places: Mapping[str, Place], faults: list[Fault]) -> None:
    own = {id(block) for block in level.bd.blocklist}
    for wire in level.bd.wirelist:
        start, end = wire.start, wire.end
        for block in (start.block, end.block):
            if id(block) not in own:
                faults.append(Fault(f"a wire ends at block '{block.name}' of another diagram"))
        texts = [f"{b.name}[{p!r}]" for b, p in ((start.block, start.port), (end.block, end.port))
                 if not isinstance(p, int)]  # fmt: skip
        if texts:  # bdsim 1.4 takes any key for a port, and loses the wire
            hint = "give a port's number, or its name as an attribute: block.qd"
            faults += [Fault(f"a wire names a port as {text}", hint=hint) for text in texts]
            continue
        key = (id(end.block), end.port)
        if key in level.drivers:
            port = input_ports(end.block)[end.port].name
            name = level.prefix + str(end.block.name)
            faults.append(Fault(f"two wires lead into {name}.{port}", _at(places, name)))
        level.drivers[key] = (start.block, start.port)


def _resolve(level: _Level, block: Any, port: int) -> tuple[_Level, Any, int] | None:
    """The leaf output that drives an input, through the boundaries of subsystems."""
    driver = level.drivers.get((id(block), port))
    while driver is not None:
        source, number = driver
        if source.blockclass == "subsystem":
            level = level.inner[id(source)]
            driver = level.drivers.get((id(source.outport), number))
        elif level.shell is not None and source is level.shell.inport:
            shell, parent = level.shell, level.parent
            assert parent is not None
            level = parent
            driver = level.drivers.get((id(shell), number))
        else:
            return level, source, number
    return None


def _node(
    i: int,
    level: _Level,
    block: Any,
    name: str,
    index: Mapping[tuple[int, int], int],
    places: Mapping[str, Place],
    faults: list[Fault],
) -> Node:
    in_ports, out_ports = input_ports(block), output_ports(block)
    sources: list[Source] = []
    wires: list[Place | None] = []
    for number in range(block.nin):
        found = _resolve(level, block, number)
        source = index.get((id(found[0]), id(found[1]))) if found else None
        if found is None or source is None:
            port = in_ports[number].name
            message = f"input '{port}' of {name} ({block.type.upper()}) is not connected"
            faults.append(Fault(message, _at(places, name), f"wire a signal to {name}.{port}"))
        else:
            sources.append((source, found[2]))
            start, out = level.drivers[id(block), number]
            wire = f"{start.name}.{output_ports(start)[out].name} -> {block.name}"
            wires.append(places.get(f"wires.{level.prefix}{wire}.{in_ports[number].name}"))
    kind, place = block.blockclass, _at(places, name)
    clock = block._clock if kind == "sampled" else None
    ends = tuple(sources), in_ports, out_ports
    return Node(i, name, block, kind, *ends, place, clock, tuple(wires))


def _schedule(nodes: tuple[Node, ...], places: Mapping[str, Place]) -> tuple[int, ...]:
    """Kahn's order: sources and states first, then whatever has all its inputs."""
    waiting = [0] * len(nodes)
    followers: list[list[int]] = [[] for _ in nodes]
    for node in nodes:
        if node.feedthrough:
            for source, _ in node.sources:
                followers[source].append(node.index)
                waiting[node.index] += 1
    ready = deque(i for i, count in enumerate(waiting) if count == 0)
    order: list[int] = []
    while ready:
        i = ready.popleft()
        order.append(i)
        for follower in followers[i]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                ready.append(follower)
    if len(order) < len(nodes):
        loop = _find_loop(nodes, waiting)
        names = " -> ".join(_shortened([f"{n.name} ({n.block.type.upper()})" for n in loop]))
        raise DiagramError(
            Fault(
                f"algebraic loop: {names}",
                _at(places, loop[0].name),
                "break it with a block that has a state, such as INTEGRATOR, ZOH or the plant",
            )
        )
    return tuple(order)


def _shortened(names: list[str]) -> list[str]:
    """A long loop by its first and last blocks."""
    if len(names) <= 16:
        return names
    return [*names[:8], f"... {len(names) - 16} more ...", *names[-8:]]


def _find_loop(nodes: tuple[Node, ...], waiting: list[int]) -> list[Node]:
    """One loop among the nodes that never became ready, its first node repeated."""
    i = next(i for i, count in enumerate(waiting) if count > 0)
    path: list[int] = []
    seen: dict[int, int] = {}
    while i not in seen:
        seen[i] = len(path)
        path.append(i)
        i = next(source for source, _ in nodes[i].sources if waiting[source] > 0)
    loop = path[seen[i] :][::-1]
    return [nodes[k] for k in (*loop, loop[0])]
