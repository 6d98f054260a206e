"""bdsim's blocks and wires as a flat list of nodes in the order of evaluation.

Subsystems are opened without touching the diagram (bdsim 1.4's compile rewrites it).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from spart_blocks.diagram.algebraic_loops import scheduled
from spart_blocks.diagram.conditions import CONDITIONS, conditions_of, merges
from spart_blocks.diagram.nodes import FlatDiagram as FlatDiagram
from spart_blocks.diagram.nodes import Node as Node
from spart_blocks.diagram.nodes import Source as Source
from spart_blocks.diagram.run_options import RunOptions
from spart_blocks.errors import DiagramError, Fault, Place
from spart_blocks.ports import input_ports, output_ports

if TYPE_CHECKING:
    from spart_blocks.diagram.conditional import Region


class _Level:
    """One diagram of the hierarchy: the source of each input of its blocks."""

    def __init__(self, bd: Any, prefix: str, parent: _Level | None, shell: Any) -> None:
        self.bd, self.prefix, self.parent, self.shell = bd, prefix, parent, shell
        self.drivers: dict[tuple[int, int], tuple[Any, int]] = {}
        self.inner: dict[int, _Level] = {}


def flatten(
    bd: Any, places: Mapping[str, Place] | None = None, run: RunOptions | None = None
) -> FlatDiagram:
    """The wiring of a bdsim BlockDiagram.

    run: says whether algebraic loops are solved. Raises DiagramError with every fault: inputs
    without or with two wires, blocks with the same name, and algebraic loops block by block.
    """
    run = run or RunOptions()
    faults: list[Fault] = []
    top = _Level(bd, "", None, None)
    leaves = _leaves(top, places or {}, faults)
    index = {(id(level), id(block)): i for i, (level, block, _) in enumerate(leaves)}
    conditional = [shell for shell in _shells(top) if conditions_of(shell[1])]
    size = len(leaves)
    for level, block in conditional:  # each of its outputs has a node behind the leaves
        index[id(level), id(block)] = size
        size += block.nout
    nodes = tuple(
        _node(i, level, block, name, index, places or {}, faults)
        for i, (level, block, name) in enumerate(leaves)
    )
    for level, block in conditional:
        nodes += tuple(_outlet_nodes(level, block, index, places or {}, faults))
    if faults:
        raise DiagramError(faults)
    clocked = dict(_clocked_outlets(top, index))
    nodes = tuple(
        replace(node, clock=clocked[node.index]) if node.index in clocked else node
        for node in nodes
    )
    if conditional or any(merges(node.block) for node in nodes):
        from spart_blocks.diagram.conditional import conditioned

        regions = [_region(level, block, index) for level, block in conditional]
        nodes = conditioned(nodes, regions, places or {}, run)
    outlets, inlets = dict(_outlets(top, index)), dict(_inlets(top, index))
    whole, schedule = scheduled(nodes, run, outlets)
    loops = run if len(whole) > len(nodes) else None
    return FlatDiagram(whole, schedule, outlets, inlets, loops)


def _shells(level: _Level) -> Iterator[tuple[_Level, Any]]:
    """Every subsystem and its level, outer ones first."""
    for block in level.bd.blocklist:
        if id(block) in level.inner:
            yield level, block
            yield from _shells(level.inner[id(block)])


def _source(index: Mapping[tuple[int, int], int], found: tuple[_Level, Any, int]) -> Source | None:
    """The output of a node, from a leaf or a conditional subsystem and its port."""
    level, block, port = found
    first = index.get((id(level), id(block)))
    if first is None:
        return None
    return (first + port, 0) if id(block) in level.inner else (first, port)


def _outlet_nodes(
    level: _Level,
    block: Any,
    index: Mapping[tuple[int, int], int],
    places: Mapping[str, Place],
    faults: list[Fault],
) -> Iterator[Node]:
    """The nodes that stand for the outputs of a conditional subsystem."""
    from spart_blocks.diagram.conditional import outlet_node

    inner, name = level.inner[id(block)], f"{level.prefix}{block.name}"
    for k, port in enumerate(output_ports(block)):
        found = _resolve(inner, block.outport, k)
        source = _source(index, found) if found else None
        if source is None:
            text = f"output '{port.name}' of {name} is not connected"
            faults.append(Fault(text, _at(places, name)))
            continue
        first = index[id(level), id(block)]
        yield outlet_node(first + k, f"{name}/out.{port.name}", source, _at(places, name))


def _region(level: _Level, block: Any, index: Mapping[tuple[int, int], int]) -> Region:
    from spart_blocks.diagram.conditional import Region

    conditions, ports = conditions_of(block), [port.name for port in input_ports(block)]
    sources = {}
    for kind in CONDITIONS:
        section = getattr(conditions, kind)
        found = _resolve(level, block, ports.index(section.by)) if section else None
        source = _source(index, found) if found else None
        if section and source is None:
            name = f"{level.prefix}{block.name}"
            raise DiagramError(f"input '{section.by}' of {name} is not connected")
        if source is not None:
            sources[kind] = source
    first = index[id(level), id(block)]
    outlets = {port.name: first + k for k, port in enumerate(output_ports(block))}
    return Region(f"{level.prefix}{block.name}", conditions, sources, outlets)


def _outlets(level: _Level, index: Mapping[tuple[int, int], int]) -> Iterator[tuple[str, Source]]:
    for block in level.bd.blocklist:
        inner = level.inner.get(id(block))
        if inner is None:
            continue
        yield from _outlets(inner, index)
        for k, port in enumerate(output_ports(block)):
            found = _resolve(inner, block.outport, k)
            if conditions_of(block):
                found = level, block, k
            source = _source(index, found) if found else None
            if source:
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
        source = _source(index, found) if found else None
        if source and clocks:
            yield source[0], clocks[0]


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
            {name: source for name, f in found.items() if f and (source := _source(index, f))},
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
    """The output that drives an input, through the boundaries of subsystems: of a leaf, or of a
    conditional subsystem."""
    driver = level.drivers.get((id(block), port))
    while driver is not None:
        source, number = driver
        if source.blockclass == "subsystem":
            if conditions_of(source):
                return level, source, number
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
        source = _source(index, found) if found else None
        if source is None:
            port = in_ports[number].name
            message = f"input '{port}' of {name} ({block.type.upper()}) is not connected"
            faults.append(Fault(message, _at(places, name), f"wire a signal to {name}.{port}"))
        else:
            sources.append(source)
            start, out = level.drivers[id(block), number]
            wire = f"{start.name}.{output_ports(start)[out].name} -> {block.name}"
            wires.append(places.get(f"wires.{level.prefix}{wire}.{in_ports[number].name}"))
    kind, place = block.blockclass, _at(places, name)
    clock = block._clock if kind == "sampled" else None
    ends = tuple(sources), in_ports, out_ports
    return Node(i, name, block, kind, *ends, place, clock, tuple(wires))
