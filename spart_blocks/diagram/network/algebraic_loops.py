"""Finds the algebraic loops of a diagram before the run. They are refused, or nodes are added that
solve them.

A loop is cut at as few outputs as possible. A node of class AlgebraicLoop solves for the values of
these outputs; its outputs replace them, so that the remaining graph has an order of evaluation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from spart_blocks.base.errors import DiagramError, Fault, did_you_mean
from spart_blocks.block_support.ports import Port
from spart_blocks.diagram.network.clocks import key_of
from spart_blocks.diagram.network.loop_block import AlgebraicLoop, LoopCheck, Unknown
from spart_blocks.diagram.network.loop_graph import (
    components,
    ordered,
    shortest_circle,
    smallest_cut,
    within,
)
from spart_blocks.diagram.network.nodes import FlatDiagram, Node, Source
from spart_blocks.diagram.sections.run_options import RunOptions

CONSTRAINT = "algebraic_constraint"
"""The type of the block whose output is solved for."""
_JUMPING = frozenset(
    ("switch", "compare", "logic", "quantizer", "sign", "round", "multiport_switch")
)
"""Types of blocks whose output can jump when an input changes continuously."""
_LONGEST = 16
"""Largest number of blocks of a loop that a message lists in full."""


def scheduled(
    nodes: tuple[Node, ...], run: RunOptions, aliases: Mapping[str, Source], whole: bool = True
) -> tuple[tuple[Node, ...], tuple[int, ...]]:
    """The nodes and their order of evaluation, sources and states first. If run asks for it, nodes
    that solve the algebraic loops are added.

    aliases: other names of outputs. whole: whether `run` was written for exactly these nodes, so
    that all signals that it names must exist. Raises DiagramError for loops that are not to be
    solved.
    """
    edges = {node.index: node.waits_for for node in nodes}
    order = ordered(edges, ())
    if len(order) == len(nodes):
        _refuse_idle([node for node in nodes if _is_constraint(node)])
        _starts(nodes, run, (), aliases, whole)
        return nodes, tuple(order)
    found = components(within(edges, set(edges) - set(order)))
    inside = {i for part in found for i in part}
    _refuse_idle([n for n in nodes if _is_constraint(n) and n.index not in inside])
    starts = _starts(nodes, run, inside, aliases, whole)
    loops = [_loop(nodes, within(edges, part), run, starts) for part in sorted(found)]
    return _with_loops(nodes, loops)


def uncut(wiring: FlatDiagram) -> FlatDiagram:
    """The diagram with its loops closed again, and without the nodes that solve them. The schedule
    still has them cut; after changes of nodes or wires, `resolved` cuts them anew.
    """
    solving = [node for node in wiring.nodes if isinstance(node.block, AlgebraicLoop)]
    if not solving:
        return wiring
    cut = {
        (node.index, k): unknown.output
        for node in solving
        for k, unknown in enumerate(node.block.unknowns)
    }
    constraints = {
        unknown.output[0]: unknown.source
        for node in solving
        for unknown in node.block.unknowns
        if unknown.constraint is not None
    }
    nodes = []
    for node in wiring.nodes[: solving[0].index]:
        brought = constraints.get(node.index)
        sources = node.sources if brought is None else (brought,)
        nodes.append(replace(node, sources=tuple(cut.get(one, one) for one in sources)))
    order = tuple(i for i in wiring.schedule if i < len(nodes))
    return replace(wiring, nodes=tuple(nodes), schedule=order)


def resolved(wiring: FlatDiagram) -> FlatDiagram:
    """A diagram returned by `uncut`, with its loops cut and solved, and an order of evaluation."""
    if wiring.loops is None:
        return wiring
    nodes, schedule = scheduled(wiring.nodes, wiring.loops, {}, whole=False)
    return replace(wiring, nodes=nodes, schedule=schedule)


def _is_constraint(node: Node) -> bool:
    return bool(node.block.type == CONSTRAINT)


def _refuse_idle(constraints: Sequence[Node]) -> None:
    faults = [
        Fault(
            f"the input of {node.name} (ALGEBRAIC_CONSTRAINT) does not depend on its output, "
            "which cannot make it zero",
            node.place,
            "wire its output to blocks with direct feedthrough that lead to its input",
        )
        for node in constraints
    ]
    if faults:
        raise DiagramError(faults)


def _starts(
    nodes: Sequence[Node],
    run: RunOptions,
    inside: Collection[int],
    aliases: Mapping[str, Source],
    whole: bool,
) -> dict[Source, Any]:
    """The initial guesses of the iterations, by output. Raises DiagramError for unknown names."""
    if not run.loop_start:
        return {}
    known = dict(aliases)
    for node in nodes:
        if len(node.out_ports) == 1:
            known[node.name] = (node.index, 0)
        for k in range(len(node.out_ports)):
            known |= {f"{node.name}.{k}": (node.index, k), node.output_name(k): (node.index, k)}
    signals = known
    known = {name: source for name, source in signals.items() if source[0] in inside}
    unknown = [name for name in run.loop_start if name not in known]
    if unknown and whole:
        raise DiagramError(
            Fault(
                f"run.loop_start: {name!r} is no signal in an algebraic loop",
                hint=did_you_mean(name, known),
            )
            for name in unknown
        )
    found: dict[Source, Any] = {}
    for name, value in run.loop_start.items():
        if name not in known:
            continue
        if not isinstance(value, str):
            found[known[name]] = value
        elif value in signals and signals[value][0] not in inside:
            found[known[name]] = _Followed(signals[value])
        elif whole:
            raise DiagramError(
                Fault(f"run.loop_start: {name} starts at {value!r}, {_odd(value, signals)}")
            )
    return found


@dataclass(frozen=True)
class _Followed:
    """An initial guess that is the value of another output."""

    source: Source


_PAST = "take a signal of a state, such as that of a UNIT_DELAY"


def _odd(name: str, signals: Collection[str]) -> str:
    if name in signals:
        return f"which is part of an algebraic loop itself; {_PAST}"
    return "which is no signal"


@dataclass(frozen=True)
class _Loop:
    """An algebraic loop.

    cut: the outputs at which it is cut. order: its nodes in an order of evaluation. starts:
    initial guesses of the iteration. chain: the loop as text for messages. clock: that at whose
    ticks it is solved, None for continuous time.
    """

    cut: Sequence[Source]
    order: Sequence[int]
    starts: Mapping[Source, Any]
    chain: str
    clock: Any = None


def _loop(
    nodes: Sequence[Node],
    edges: Mapping[int, Sequence[Source]],
    run: RunOptions,
    starts: Mapping[Source, Any],
) -> _Loop:
    constraints = [(i, 0) for i in edges if _is_constraint(nodes[i])]
    given = [source for source in starts if source[0] in edges and source not in constraints]
    width = {
        (i, k): prod(port.shape) if port.shape is not None else 1
        for i in edges
        for k, port in enumerate(nodes[i].out_ports)
    }
    sampled = [i for i in edges if nodes[i].showing in ("output", "next")]
    at_ticks = [one for one in width if one[0] in sampled]
    cut = smallest_cut(edges, [*constraints, *given], width, at_ticks or None)
    if run.algebraic_loops != "solve" and len(cut) > len(constraints):
        _refuse(nodes, edges, constraints, width)
    chain = _circle_text(nodes, shortest_circle(edges))
    if sampled:
        _refuse_mixed(nodes, cut, at_ticks, chain)
    clock = nodes[sampled[0]].clock if sampled else None
    return _Loop(cut, ordered(edges, cut), starts, chain, clock)


def _refuse_mixed(
    nodes: Sequence[Node],
    cut: Sequence[Source],
    at_ticks: Sequence[Source],
    chain: str,
) -> None:
    """Raise DiagramError for a loop with sampled blocks, unless it can be solved at the ticks of
    one clock. at_ticks: outputs of the sampled blocks; these alone may be solved for.
    """
    clocks = {key_of(nodes[i].clock) for i, _ in at_ticks}
    if len(clocks) == 1 and set(cut) <= set(at_ticks):
        return
    first = nodes[at_ticks[0][0]]
    several = "blocks on several clocks" if len(clocks) > 1 else "a loop between its ticks too"
    raise DiagramError(
        Fault(
            f"{first.label}, which shows its output from tick to tick, "
            f"is part of an algebraic loop with {several}: {chain}",
            first.place,
            "break the loop with a UNIT_DELAY on its clock; it is solved where its sampled blocks "
            "have one clock, and every loop passes through one of them",
        )
    )


def _refuse(
    nodes: Sequence[Node],
    edges: Mapping[int, Sequence[Source]],
    constraints: Sequence[Source],
    width: Mapping[Source, int],
) -> None:
    cut = smallest_cut(edges, constraints, width)[len(constraints) :]
    names = [nodes[i].output_name(k) for i, k in cut]
    where = f"at {names[0]}" if len(names) == 1 else f"at each of {', '.join(names[:_LONGEST])}"
    circle = shortest_circle(edges, constraints)
    raise DiagramError(
        Fault(
            f"algebraic loop: {_circle_text(nodes, circle)}",
            nodes[circle[0][0]].place,
            "break it with a block that has a state, such as INTEGRATOR, UNIT_DELAY or the plant: "
            f"{where} is enough;\n  or let it be solved: run: {{algebraic_loops: solve}}",
        )
    )


def _circle_text(nodes: Sequence[Node], circle: Sequence[Source]) -> str:
    """A circle as text, by its outputs. The middle of a long one is left out."""
    names = [f"{nodes[i].output_name(k)} ({nodes[i].type})" for i, k in circle]
    names.append(names[0])
    if len(names) > _LONGEST:
        half = _LONGEST // 2
        names = [*names[:half], f"... {len(names) - _LONGEST} more ...", *names[-half:]]
    return " -> ".join(names)


def _with_loops(
    nodes: tuple[Node, ...], loops: Sequence[_Loop]
) -> tuple[tuple[Node, ...], tuple[int, ...]]:
    """The nodes with those that solve the loops, whose outputs replace the cut ones; and the order
    of evaluation.
    """
    taken = {node.name for node in nodes}
    stand_in: dict[Source, Source] = {}
    for number, loop in enumerate(loops):
        index = len(nodes) + 2 * number
        stand_in |= {one: (index, k) for k, one in enumerate(loop.cut)}
    part_of = {i: number for number, loop in enumerate(loops) for i in loop.order}
    rewired = list(nodes)
    for node in nodes:
        own = part_of.get(node.index)
        if own is None:
            continue
        cut = set(loops[own].cut)
        if _is_constraint(node):
            sources: tuple[Source, ...] = (stand_in[node.index, 0],)
        else:
            sources = tuple(stand_in[s] if s in cut else s for s in node.sources)
        rewired[node.index] = replace(node, sources=sources)
    added: list[Node] = []
    for number, loop in enumerate(loops):
        index = len(nodes) + 2 * number
        name = _free(f"algebraic_loop_{number + 1}" if number else "algebraic_loop", taken)
        added += _nodes_of(loop, name, index, nodes, rewired)
    whole = (*rewired, *added)
    edges = {node.index: node.waits_for for node in whole}
    order = ordered(edges, ())
    if len(order) < len(whole):  # the cuts leave no circle: a start depends on a solution
        late = set(range(len(whole))) - set(order)
        raise DiagramError(
            Fault(
                f"run.loop_start: {unknown.name} starts at a signal that depends on it", hint=_PAST
            )
            for node in added
            if node.index in late and isinstance(node.block, AlgebraicLoop)
            for unknown in node.block.unknowns
            if unknown.follows is not None
        )
    return whole, tuple(order)


def _nodes_of(
    loop: _Loop, name: str, index: int, nodes: Sequence[Node], rewired: Sequence[Node]
) -> Iterable[Node]:
    """The node that solves a loop, and the node that checks the solution."""
    members = [rewired[i] for i in loop.order if not _is_constraint(nodes[i])]
    unknowns = [_unknown(loop, one, nodes, index, k) for k, one in enumerate(loop.cut)]
    jumping = [m.label for m in members if m.block.type in _JUMPING]
    block = AlgebraicLoop(name, index, members, unknowns, loop.chain, jumping)
    place = nodes[loop.cut[0][0]].place
    inward = tuple(
        Port(rewired[i].output_name(k) if i < len(rewired) else f"{i}.{k}")
        for i, k in block.outside
    )
    outward = (*(Port(f"z{k}") for k in range(len(unknowns))), Port("error"))
    yield Node(index, name, block, "function", block.outside, inward, outward, place, loop.clock)
    check = LoopCheck(block)
    error = ((index, len(unknowns)),)
    yield Node(index + 1, check.name, check, "sink", error, (Port("error"),), (), place)


def _unknown(loop: _Loop, one: Source, nodes: Sequence[Node], index: int, place: int) -> Unknown:
    i, k = one
    node, name, start = nodes[i], nodes[i].output_name(k), loop.starts.get(one)
    follows = start.source if isinstance(start, _Followed) else None
    start = None if follows is not None else start
    if not _is_constraint(node):
        return Unknown(name, one, one, None, start, follows, node.out_ports[k].shape)
    source = node.sources[0]
    if source in loop.cut:  # what another unknown is
        source = (index, loop.cut.index(source))
    return Unknown(name, one, source, node, start, follows)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
