"""Part of a flat diagram as a diagram of its own, with placeholders for signals from outside."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from spart_blocks.diagram.network.algebraic_loops import resolved, uncut
from spart_blocks.diagram.network.flatten import FlatDiagram, Node, Source


class Inlet:
    """A placeholder block for a signal from outside. Its value is a parameter of the program."""

    type = "inlet"
    tunable: ClassVar[tuple[str, ...]] = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self.value]


def only(wiring: FlatDiagram, inside: Collection[int], inlets: Sequence[Node] = ()) -> FlatDiagram:
    """The diagram of the inlets and the nodes `inside`, renumbered. An inlet has the name of the
    signal that it replaces.
    """
    wiring = uncut(wiring)
    inside = {i for i in inside if i < len(wiring.nodes)}
    nodes = [wiring.nodes[i] for i in sorted(inside)]
    kept = [n for n in nodes if n.kind != "graphics" or all(i in inside for i, _ in n.sources)]
    number = {node.index: k for k, node in enumerate(kept, start=len(inlets))}
    by_name = {inlet.name: inlet.index for inlet in inlets}

    def moved(source: Source) -> Source:
        if source[0] in number:
            return number[source[0]], source[1]
        return by_name[wiring.nodes[source[0]].output_name(source[1])], 0

    renumbered = [
        replace(node, index=number[node.index], sources=tuple(map(moved, node.sources)))
        for node in kept
    ]
    order = [number[i] for i in wiring.schedule if i in number]
    schedule = (*range(len(inlets)), *order)
    outlets = {name: (number[i], k) for name, (i, k) in wiring.outlets.items() if i in number}
    return resolved(FlatDiagram((*inlets, *renumbered), schedule, outlets, {}, wiring.loops))
