"""Taps (analysis points): places on the wires where a value is added to a signal, or the signal is
cut.

A tap is an additional node of the flat diagram, between a source and its consumers; the diagram
and its blocks do not change. The added value is a parameter of the traced program, so derivatives
by it are derivatives by the signal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from spart_blocks.analysis.place_names import WirePlace
from spart_blocks.block_support.ports import Port
from spart_blocks.diagram.network.algebraic_loops import resolved, uncut
from spart_blocks.diagram.network.flatten import FlatDiagram, Node, Source
from spart_blocks.run.engines.engine import Floats


class Adder:
    """The block of a tap: keep * signal + added, each of the signal's shape."""

    type = "tap"
    tunable: ClassVar[tuple[str, ...]] = ("added",)

    def __init__(self, keep: Floats) -> None:
        self.keep = keep
        self.added: Any = np.zeros(keep.shape)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self.keep * inputs[0] + self.added]


@dataclass(frozen=True)
class Tap:
    """A spot, and which entries of its signal are cut: there the added value stands alone."""

    spot: WirePlace
    cut: Floats  # 1 where cut, else 0

    @property
    def parameter(self) -> str:
        """The name of the parameter of the traced program that is added here."""
        return f"{_node_name(self.spot)}.added"


def _node_name(spot: WirePlace) -> str:
    return f"tap {'into' if spot.is_input else 'at'} {spot.label}"


def tapped(wiring: FlatDiagram, taps: Sequence[Tap]) -> FlatDiagram:
    """The flat diagram with the taps inserted. Taps at outputs come before those at inputs."""
    wiring = uncut(wiring)
    sources = [list(node.sources) for node in wiring.nodes]
    schedule = list(wiring.schedule)
    added: list[Node] = []
    for tap in sorted(taps, key=lambda tap: tap.spot.is_input):
        consumers = tap.spot.consumers
        source: Source = tap.spot.source
        if tap.spot.is_input:  # an output tap may have come between
            node, k = consumers[0]
            source = sources[node][k]
        index = len(wiring.nodes) + len(added)
        for node, k in consumers:
            sources[node][k] = (index, 0)
        block = Adder(1.0 - tap.cut)
        ports = (Port("0"),)
        added.append(Node(index, _node_name(tap.spot), block, "function", (source,), ports, ports))
        sources.append([source])
        schedule.insert(schedule.index(source[0]) + 1, index)
    nodes = (
        replace(node, sources=tuple(found))
        for node, found in zip((*wiring.nodes, *added), sources, strict=True)
    )
    return resolved(replace(wiring, nodes=tuple(nodes), schedule=tuple(schedule)))
