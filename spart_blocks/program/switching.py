"""Switching of a diagram: known times of its sources, zero-crossings of its signals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from spart_blocks.diagram.gates import gate_of, own_class
from spart_blocks.errors import InputError

if TYPE_CHECKING:
    from spart_blocks.diagram.flatten import Node

MOST_SWITCHES = 50_000_000


@dataclass(frozen=True)
class Switch:
    """Times at which a block switches: first, and then every period [s]; once where the
    period is 0, never where a time is not finite."""

    block: str
    first: float
    period: float

    def times(self, start: float, end: float) -> Iterator[float]:
        """The times from start to end."""
        if not (math.isfinite(self.first) and math.isfinite(self.period)):
            return
        if self.period <= 0:
            yield self.first
            return
        k = max(0, int(np.floor((start - self.first) / self.period)))
        while (t := self.first + k * self.period) < end:
            yield t
            k += 1


def switching_times(switches: Iterable[Switch], start: float, end: float) -> set[float]:
    """The times after start up to the end at which any of some blocks switches. Raises InputError
    if there are too many."""
    times: set[float] = set()
    for switch in switches:
        if switch.period > 0 and end / switch.period > MOST_SWITCHES:
            raise InputError(
                f"block {switch.block} switches more than {MOST_SWITCHES:,} times until T = {end} s"
            )
        times.update(t for t in switch.times(start, end) if start < t <= end)
    return times


KINDS = ("event", "stop", "limit", "mode", "bend", "fault")
"""The kinds of crossings, in the order in which sb_step.h numbers them."""


@dataclass(frozen=True)
class Crossing:
    """A watched value whose sign matters.

    kind: 'stop' ends the run where the value is above zero, 'event' lets an EVENT block
    reset states, 'mode' lets a block switch its states while the value is above zero,
    'limit' puts a state on its limit, 'bend' is where a signal bends and a step shall end,
    'fault' ends the run with an error where the value is above zero.
    direction: +1 for upward, -1 for downward, 0 for both. text: of a fault, what is wrong.
    unsolved: of a fault, whether an algebraic loop has no solution there.
    """

    block: str
    kind: Literal["stop", "event", "mode", "limit", "bend", "fault"]
    direction: float
    text: str = ""
    unsolved: bool = False

    def crossed(self, before: float, after: float) -> bool:
        """Whether values before and after lie on different sides. Zero and NaN are not above
        zero."""
        if self.direction == 0:
            return (before > 0) != (after > 0)
        return before * self.direction <= 0 < after * self.direction


def crossings_of(node: Node, count: int) -> list[Crossing]:
    """The crossings of a block with this number of zero-crossing functions."""
    gate = gate_of(node.block)
    if gate is not None and gate.stepping:
        return [Crossing(node.name, "mode", 1.0)] * count
    resets = [Crossing(node.name, "mode", 1.0)] if gate is not None and gate.resets else []
    return [*_own_crossings(node, count - len(resets)), *resets]


def _own_crossings(node: Node, count: int) -> list[Crossing]:
    """Those of a block without a gate. `watched_kinds` of a block are the kinds of the first ones;
    the others are bends."""
    kind = own_class(node.block)
    if node.block.type == "stop":
        return [Crossing(node.name, "stop", 1.0)] * count
    if node.block.type == "event":
        return [Crossing(node.name, "event", float(node.block.direction))] * count
    if hasattr(node.block, "watched_kinds"):
        kinds, text = node.block.watched_kinds, _fault_text(node)
        bends = [Crossing(node.name, "bend", 0.0)] * (count - len(kinds))
        fault = Crossing(node.name, "fault", 1.0, text, getattr(node.block, "unsolved", False))
        own = [fault if one == "fault" else Crossing(node.name, one, 1.0) for one in kinds]
        return [*own, *bends]
    if hasattr(kind, "switch"):
        return [Crossing(node.name, "mode", 1.0)] * count
    if node.kind == "continuous" and not hasattr(kind, "watch"):
        return [Crossing(node.name, "limit", 1.0)] * count
    return [Crossing(node.name, "bend", 0.0)] * count


def _fault_text(node: Node) -> str:
    """What a fault of a block says."""
    text = getattr(node.block, "fault_text", "")
    return text if getattr(node.block, "unsolved", False) else f"block {node.name}: {text}"


def started(node: Node, until: float) -> list[tuple[Any, Any]]:
    """Start a block as bdsim does before a run, and take the times that it declares."""
    start = getattr(node.block, "start", None)
    if start is None or node.kind not in ("source", "function"):
        return []
    declared = _Declarations(node.name, until)
    start(declared)
    return [(t, 0.0) for t in declared.times]


class _Declarations:
    """Collects the event times that bdsim's blocks declare at start. It stands in for bdsim's
    SimulationState, of which blocks use T, tf, t and declare_event."""

    def __init__(self, name: str, end: float) -> None:
        self.name = name
        self.T = self.tf = end
        self.t = 0.0
        self.stop: Any = None
        self.options = None
        self.times: list[float] = []

    def declare_event(self, block: Any, t: float) -> None:
        self.times.append(float(t))
        if len(self.times) > MOST_SWITCHES:
            raise InputError(
                f"block {self.name} switches more than {MOST_SWITCHES:,} times until T = {self.T} s"
            )
