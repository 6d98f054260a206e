"""The nodes of a flat diagram and the order of their evaluation, found in time linear in blocks and
wires (bdsim's is quadratic).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spart_blocks.diagram.companions import COMPANION
from spart_blocks.errors import DiagramError, Fault, Place
from spart_blocks.ports import Port

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


def schedule_of(nodes: tuple[Node, ...], places: Mapping[str, Place]) -> tuple[int, ...]:
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
                places.get(f"blocks.{loop[0].name}"),
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
