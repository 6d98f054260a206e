"""Which bends of signals can be seen between ticks: those that states depend on, and those of
recorded or measured signals.

A bend whose signal only sampled blocks read, at their ticks, is not seen: the signal at a tick
follows from the states then, whether a step ended at the bend or not. The other crossings act, so
that they are always located.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from spart_blocks.diagram.network.display import acts_at_samples
from spart_blocks.diagram.network.gates import gate_of
from spart_blocks.diagram.network.loop_block import AlgebraicLoop
from spart_blocks.program.tracing.holds import HeldOutput, shown_as_held
from spart_blocks.program.tracing.switching import Crossing

if TYPE_CHECKING:
    from spart_blocks.diagram.network.flatten import FlatDiagram, Node, Source


def with_signals(
    crossings: Sequence[Crossing], wiring: FlatDiagram, holds: Iterable[HeldOutput]
) -> tuple[Crossing, ...]:
    """The crossings of a diagram; bends that no state depends on between ticks are of the kind
    'shown', with the names of the signals that show them.
    """
    bends = {one.block for one in crossings if one.kind == "bend"}
    if not bends:
        return tuple(crossings)
    acting = {one.block for one in crossings if one.kind != "bend"}
    read = {source for node in wiring.nodes for source, _ in _read(node, acting)}
    read |= {node.index for node in wiring.of_kind("continuous")}
    followers = _followers(wiring, shown_as_held(holds))
    signals: dict[str, tuple[str, ...]] = {}
    for node in wiring.nodes:
        if node.name in bends and not read & (shows := _closure(node.index, followers)):
            signals[node.name] = tuple(_outputs(wiring.nodes[k] for k in sorted(shows)))
    return tuple(
        replace(one, kind="shown", signals=signals[one.block])
        if one.kind == "bend" and one.block in signals
        else one
        for one in crossings
    )


def _read(node: Node, acting: Collection[str]) -> Sequence[Source]:
    """The inputs whose course between ticks a node's state, crossings or actions depend on. A
    block that steps at a trigger reads its own inputs only then, where a step ends anyway.
    """
    gate = gate_of(node.block)
    if gate is not None and gate.stepping:
        return node.sources[len(node.sources) - gate.count :]
    if node.kind == "continuous" or node.name in acting or acts_at_samples(node):
        return node.sources
    return ()


def _followers(wiring: FlatDiagram, held: Collection[int]) -> dict[int, list[int]]:
    """For each node the nodes whose outputs depend directly on its outputs between ticks. The
    solution of an algebraic loop depends on all blocks of the loop.
    """
    found: dict[int, list[int]] = {}
    for node in wiring.nodes:
        if node.index in held:
            continue
        on = [source for source, _ in node.waits_for]
        if isinstance(node.block, AlgebraicLoop):
            on += [member.index for member in node.block.members]
        for index in on:
            found.setdefault(index, []).append(node.index)
    return found


def _closure(start: int, followers: Mapping[int, Sequence[int]]) -> set[int]:
    """A node, and all that depend on it directly or indirectly."""
    found, pending = {start}, [start]
    while pending:
        for index in followers.get(pending.pop(), ()):
            if index not in found:
                found.add(index)
                pending.append(index)
    return found


def _outputs(nodes: Iterable[Node]) -> Iterator[str]:
    return (node.output_name(port) for node in nodes for port in range(len(node.out_ports)))
