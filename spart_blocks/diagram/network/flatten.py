"""Flattens bdsim's blocks and wires to a list of nodes in the order of evaluation.

Subsystems are expanded without changing the diagram (the compile method of bdsim 1.4 changes it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from spart_blocks.base.errors import DiagramError, Fault, Place
from spart_blocks.block_support.ports import input_ports, output_ports
from spart_blocks.diagram.network.algebraic_loops import scheduled
from spart_blocks.diagram.network.conditional import ConditionalRegion, conditioned, outlet_node
from spart_blocks.diagram.network.levels import (
    Level,
    Net,
    Origin,
    is_route,
    origin_of,
    outlet_of,
    place_of,
)
from spart_blocks.diagram.network.nodes import FlatDiagram as FlatDiagram
from spart_blocks.diagram.network.nodes import Node as Node
from spart_blocks.diagram.network.nodes import Source as Source
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.diagram.written.conditions import CONDITIONS, conditions_of, merges


def flatten(
    bd: Any, places: Mapping[str, Place] | None = None, run: RunOptions | None = None
) -> FlatDiagram:
    """Flatten a bdsim BlockDiagram.

    run: says whether algebraic loops are solved. Raises DiagramError with all faults: inputs with
    no or two wires, duplicate names of blocks, and algebraic loops block by block.
    """
    run = run or RunOptions()
    faults: list[Fault] = []
    net = Net.of(bd, places or {}, faults)
    top = net.levels[0]
    leaves = _leaves(net, places or {}, faults)
    index = {(id(level), id(block)): i for i, (level, block, _) in enumerate(leaves)}
    conditional = [shell for shell in _shells(top) if conditions_of(shell[1])]
    size = len(leaves)
    for level, block in conditional:  # each of its outputs has a node behind the leaves
        index[id(level), id(block)] = size
        size += block.nout
    nodes = tuple(
        _node(i, level, block, name, index, places or {}, faults, run.first_tick == "bdsim")
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
        regions = [_region(level, block, index) for level, block in conditional]
        nodes = conditioned(nodes, regions, places or {}, run)
    outlets, inlets = dict(_outlets(top, index)), dict(_inlets(top, index))
    whole, schedule = scheduled(nodes, run, outlets)
    loops = run if len(whole) > len(nodes) else None
    return FlatDiagram(whole, schedule, outlets, inlets, loops)


def _shells(level: Level) -> Iterator[tuple[Level, Any]]:
    """Every subsystem block with its level, outer ones first."""
    for block in level.bd.blocklist:
        if id(block) in level.inner:
            yield level, block
            yield from _shells(level.inner[id(block)])


def _source(index: Mapping[tuple[int, int], int], found: Origin) -> Source | None:
    """The output of a node that belongs to an output of a block or of a conditional subsystem."""
    level, block, port = found
    first = index.get((id(level), id(block)))
    if first is None:
        return None
    return (first + port, 0) if id(block) in level.inner else (first, port)


def _outlet_nodes(
    level: Level,
    block: Any,
    index: Mapping[tuple[int, int], int],
    places: Mapping[str, Place],
    faults: list[Fault],
) -> Iterator[Node]:
    """The nodes that stand for the outputs of a conditional subsystem."""
    inner, name = level.inner[id(block)], f"{level.name(block)}"
    for k, port in enumerate(output_ports(block)):
        found = origin_of(inner, block.outport, k)
        source = _source(index, found) if found else None
        if source is None:
            text = f"output '{port.name}' of {name} is not connected"
            faults.append(Fault(text, place_of(places, name)))
            continue
        first = index[id(level), id(block)]
        yield outlet_node(first + k, f"{name}/out.{port.name}", source, place_of(places, name))


def _region(level: Level, block: Any, index: Mapping[tuple[int, int], int]) -> ConditionalRegion:
    conditions, ports = conditions_of(block), [port.name for port in input_ports(block)]
    sources = {}
    for kind in CONDITIONS:
        section = getattr(conditions, kind)
        found = origin_of(level, block, ports.index(section.by)) if section else None
        source = _source(index, found) if found else None
        if section and source is None:
            name = f"{level.name(block)}"
            raise DiagramError(f"input '{section.by}' of {name} is not connected")
        if source is not None:
            sources[kind] = source
    first = index[id(level), id(block)]
    outlets = {port.name: first + k for k, port in enumerate(output_ports(block))}
    return ConditionalRegion(f"{level.name(block)}", conditions, sources, outlets)


def _outlets(level: Level, index: Mapping[tuple[int, int], int]) -> Iterator[tuple[str, Source]]:
    """The outputs of subsystems and routing blocks by name, with the nodes' outputs that they pass
    on.
    """
    for block in level.bd.blocklist:
        inner = level.inner.get(id(block))
        if inner is not None:
            yield from _outlets(inner, index)
        elif not is_route(block):
            continue
        for k, port in enumerate(output_ports(block)):
            found = outlet_of(level, block, k)
            source = _source(index, found) if found else None
            if source:
                yield f"{level.name(block)}.{port.name}", source
                if block.nout == 1:
                    yield level.name(block), source


def _clocked_outlets(
    level: Level, index: Mapping[tuple[int, int], int]
) -> Iterator[tuple[int, Any]]:
    """The nodes that give the outputs of subsystems whose sampled blocks share a clock, with this
    clock; bdsim makes a PID_S of sampled and other blocks.
    """
    for block in level.bd.blocklist:
        inner = level.inner.get(id(block))
        if inner is None:
            continue
        yield from _clocked_outlets(inner, index)
        clocks = [b._clock for b in inner.bd.blocklist if b.blockclass == "sampled"]
        found = outlet_of(level, block, 0) if block.type == "pid_s" else None
        source = _source(index, found) if found else None
        if source and clocks:
            yield source[0], clocks[0]


def _inlets(
    level: Level, index: Mapping[tuple[int, int], int]
) -> Iterator[tuple[str, dict[str, Source]]]:
    for block in level.bd.blocklist:
        inner = level.inner.get(id(block))
        if inner is None:
            continue
        yield from _inlets(inner, index)
        found = {port.name: origin_of(level, block, k) for k, port in enumerate(input_ports(block))}
        yield (
            f"{level.name(block)}",
            {name: source for name, f in found.items() if f and (source := _source(index, f))},
        )


def _leaves(
    net: Net, places: Mapping[str, Place], faults: list[Fault]
) -> list[tuple[Level, Any, str]]:
    """Every block that computes something, with its full name. Subsystems, their boundaries and
    routing blocks are left out.
    """
    leaves: list[tuple[Level, Any, str]] = []
    names: set[str] = set()
    for level in net.levels:
        for block in level.bd.blocklist:
            if id(block) in level.inner or level.is_gate(block):
                continue
            name = level.name(block)
            if name in names:
                faults.append(Fault(f"two blocks are called '{name}'", place_of(places, name)))
            names.add(name)
            if not is_route(block):
                leaves.append((level, block, name))
    return leaves


def _node(
    i: int,
    level: Level,
    block: Any,
    name: str,
    index: Mapping[tuple[int, int], int],
    places: Mapping[str, Place],
    faults: list[Fault],
    as_bdsim: bool,
) -> Node:
    in_ports, out_ports = input_ports(block), output_ports(block)
    sources: list[Source] = []
    wires: list[Place | None] = []
    for number in range(block.nin):
        found = origin_of(level, block, number)
        source = _source(index, found) if found else None
        if source is None:
            port, owner = in_ports[number].name, level.owner(block)
            kind = level.composed.kind if level.composed else block.type.upper()
            message = f"input '{port}' of {owner} ({kind}) is not connected"
            hint = f"wire a signal to {owner}.{port}"
            if (id(block), number) in level.drivers:
                hint = "the wires that lead to it have no source: they end, or go in a circle"
            faults.append(Fault(message, place_of(places, owner), hint))
        else:
            sources.append(source)
            start, out = level.drivers[id(block), number]
            wire = f"{start.name}.{output_ports(start)[out].name} -> {block.name}"
            wires.append(places.get(f"wires.{level.prefix}{wire}.{in_ports[number].name}"))
    kind, place = block.blockclass, place_of(places, level.owner(block))
    clock = block._clock if kind == "sampled" else None
    ends = tuple(sources), in_ports, out_ports
    node = Node(i, name, block, kind, *ends, place, clock, tuple(wires), as_bdsim)
    if level.composed is None:
        return node
    return replace(node, part=level.composed.part(block.name, level.former_name(block)))
