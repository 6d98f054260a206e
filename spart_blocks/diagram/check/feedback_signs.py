"""Loops that a SUM closes with a plus: what the SUM gives comes back to it with the same sign.

Such a loop is legal, and is what is left of a feedback whose minus was forgotten; a run that grows
without bound names those that it grew in. Signs are known of blocks whose gain has one sign.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.network.loop_graph import components

if TYPE_CHECKING:
    from spart_blocks.diagram.network.nodes import FlatDiagram, Node

MOST_VISITED = 100_000
"""Largest number of nodes visited in the search for the loops of all SUM blocks."""

_MIXING = ("mux", "demux", "stack", "concatenate")
"""Types of blocks that hand on each input as it is."""
_PASSING = (
    "index", "item", "selector", "zoh", "unit_delay", "transport_delay", "clip", "saturation",
    "rate_limiter", "rate_limiter_s", "quantizer", "deadzone", "backlash", "backlash_s",
    "moving_average", "low_pass", "low_pass_s", "deriv", "deriv_s", "second_order_integrator",
    "effort_limit",
)  # fmt: skip
"""Types of blocks whose outputs follow their first inputs with the same sign."""
_GAINS = {"gain": "K", "pt1": "gain", "pt1_s": "gain", "pt2": "gain", "pt2_s": "gain",
          "integrator": "gain", "integrator_s": "gain"}  # fmt: skip
"""The parameter with the sign of a block's gain."""
_RATIONAL = ("transfer_function", "transfer_function_s")
_JOINT_CONTROL = ("joint_pd", "joint_pid", "joint_pid_s")


@dataclass(frozen=True)
class PositiveLoop:
    """A loop with positive feedback.

    summing: the SUM block that closes it. sign: number of the sign of its input. blocks: names of
    the loop's blocks, from the SUM on. place: of the SUM in its file, "" if unknown.
    """

    summing: str
    sign: int
    blocks: tuple[str, ...]
    place: str

    def __str__(self) -> str:
        loop = " -> ".join([*self.blocks, f"{self.summing}.{self.sign}"])
        return f"{loop} feeds back with a plus" + (f" ({self.place})" if self.place else "")


def positive_loops(wiring: FlatDiagram) -> tuple[PositiveLoop, ...]:
    """For each input of each SUM the shortest loop through it, if its feedback is positive; a loop
    through several of them once.
    """
    sums = {node.index for node in wiring.nodes if node.block.type == "sum"}
    found: list[PositiveLoop] = []
    visited = 0
    for part in components({node.index: node.sources for node in wiring.nodes}) if sums else ():
        summing = sorted(sums.intersection(part))
        visited += len(summing) * len(part)
        if visited > MOST_VISITED:
            break
        wires = _wires_among(set(part), wiring)
        for index in summing:
            found += _closed_by(wiring.nodes[index], wires, wiring)
    once = {frozenset(loop.blocks): loop for loop in reversed(found)}  # of a loop with several SUMs
    return tuple(loop for loop in found if once[frozenset(loop.blocks)] is loop)


class _Wire(NamedTuple):
    """A wire from an output of a node to an input of another."""

    source: int
    output: int
    target: int
    port: int


def _wires_among(members: set[int], wiring: FlatDiagram) -> dict[int, list[_Wire]]:
    """The wires among some nodes, by the node that each comes from."""
    wires: dict[int, list[_Wire]] = {index: [] for index in members}
    for index in sorted(members):
        for port, (source, output) in enumerate(wiring.nodes[index].sources):
            if source in members:
                wires[source].append(_Wire(source, output, index, port))
    return wires


def _closed_by(
    summing: Node, wires: dict[int, list[_Wire]], wiring: FlatDiagram
) -> Iterator[PositiveLoop]:
    """The loops with positive feedback through the inputs of a SUM."""
    came: dict[int, _Wire] = {}
    pending = deque([summing.index])
    while pending:
        for wire in wires[pending.popleft()]:
            if wire.target == summing.index:
                if (loop := _signed(wire, came, summing, wiring)) is not None:
                    yield loop
            elif wire.target not in came:
                came[wire.target] = wire
                pending.append(wire.target)


def _signed(
    last: _Wire, came: dict[int, _Wire], summing: Node, wiring: FlatDiagram
) -> PositiveLoop | None:
    """The loop that a wire to a SUM closes, if its feedback is positive. came: the wire by which
    the shortest way from the SUM reaches each node.
    """
    sign, names, wire = _sign_of(summing, last.port, 0), [], last
    while wire.source != summing.index:
        node, before = wiring.nodes[wire.source], came[wire.source]
        sign *= _sign_of(node, before.port, wire.output)
        names.append(node.name)
        wire = before
    if sign <= 0:
        return None
    blocks = (summing.name, *reversed(names))
    return PositiveLoop(summing.name, last.port, blocks, str(summing.place or ""))


def _sign_of(node: Node, port: int, output: int) -> int:
    """The sign with which an output follows an input: 1, -1, or 0 where it is unknown."""
    block, kind = node.block, node.block.type
    if kind == "sum":
        return {"+": 1, "-": -1}.get(block.signs[port : port + 1], 0)
    if kind in _MIXING:
        return 1
    if kind in _JOINT_CONTROL:
        return _common(block.kp) * (1 if node.in_ports[port].name in ("qd", "ud") else -1)
    if kind == "multibody":
        into, out = node.in_ports[port].name, node.out_ports[output].name
        return int(into == "taum" and out in ("qm", "um"))
    if port > 0:
        return 0
    if kind in _RATIONAL:
        ends = np.ravel(block.num)[[0, -1]] * np.ravel(block.den)[[0, -1]]
        return _common(ends)
    if kind in _GAINS:
        return _common(attribute(block, _GAINS[kind], 1.0))
    return int(kind in _PASSING)


def _common(gain: Any) -> int:
    """The sign that all entries of a gain other than zero have; 0 if they differ."""
    if type(gain) is float:
        return (gain > 0) - (gain < 0)
    try:
        signs = set(np.sign(np.ravel(np.asarray(gain, dtype=float))).tolist()) - {0.0}
    except (TypeError, ValueError):
        return 0
    return int(signs.pop()) if len(signs) == 1 else 0
