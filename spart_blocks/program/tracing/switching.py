"""When a diagram switches: known times of its sources, and zero-crossings of its signals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from itertools import count as count_from_zero
from math import floor
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from spart_blocks.base.errors import InputError
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.network.clocks import Floats, grid, meant
from spart_blocks.diagram.network.gates import gate_of, own_class
from spart_blocks.program.exact_values import Exact

if TYPE_CHECKING:
    from spart_blocks.diagram.network.flatten import Node

MOST_SWITCHES = 50_000_000


@dataclass(frozen=True)
class SwitchTimes:
    """The times at which a block switches: first, first + period, ... [s], as exact fractions.
    Only once if the period is 0; never if a time is not finite.
    """

    block: str
    first: Exact
    period: Exact

    def within(self, start: Fraction, end: Fraction) -> tuple[Fraction, Fraction, int, int] | None:
        """The times after start up to end, as (first, period, index of the first of them, count);
        None if there are none. Raises InputError if there are too many.
        """
        first, period = self.first, self.period
        if not (isinstance(first, Fraction) and isinstance(period, Fraction)):
            return None
        if period <= 0:
            return (first, Fraction(1), 0, 1) if start < first <= end else None
        k = max(0, floor((start - first) / period) + 1)
        count = floor((end - first) / period) - k + 1
        if count > MOST_SWITCHES:
            raise InputError(
                f"block {self.block} switches more than {MOST_SWITCHES:,} times until "
                f"T = {float(end):g} s"
            )
        return (first, period, k, count) if count > 0 else None


def switching_times(
    switches: Iterable[SwitchTimes], start: Fraction, end: Fraction
) -> list[Fraction]:
    """The times after start up to end at which any of these blocks switches, in descending order.
    Raises InputError if there are too many.
    """
    found: dict[Fraction, float] = {}
    for first, period, k, count in _series(switches, start, end):
        times = [first + n * period for n in range(k, k + count)]
        found.update(zip(times, grid(first, period, k, times[-1]).tolist(), strict=True))
    # By floats: comparing 100,000 fractions takes seconds. Two that are rounded alike are one stop
    # of a solver; their order does not matter.
    return sorted(found, key=found.__getitem__, reverse=True)


def rounded_times(switches: Iterable[SwitchTimes], start: Fraction, end: Fraction) -> Floats:
    """The same times in ascending order, each rounded once."""
    series = _series(switches, start, end)
    parts = [grid(f, period, k, f + (k + count - 1) * period) for f, period, k, count in series]
    return np.unique(np.concatenate([np.zeros(0), *parts]))


def _series(
    switches: Iterable[SwitchTimes], start: Fraction, end: Fraction
) -> list[tuple[Fraction, Fraction, int, int]]:
    found = (switch.within(start, end) for switch in switches)
    return list(dict.fromkeys(one for one in found if one is not None))


KINDS = ("event", "stop", "limit", "mode", "bend", "fault", "shown")
"""The kinds of crossings, numbered as in sb_step.h."""
BENDS = ("bend", "shown")
"""The kinds without an effect of their own."""


@dataclass(frozen=True)
class Crossing:
    """A value whose change of sign is an event.

    kind: 'stop' ends the run if the value is positive; 'event' lets an EVENT block reset states;
    'mode' lets a block switch its mode while the value is positive; 'limit' sets a state to its
    limit; 'bend' is a kink or jump of a signal, at which a step must end; 'shown' is one that no
    state depends on between ticks, so that it matters to signals alone; 'fault' ends the run with
    an error if the value is positive. direction: +1 for upward, -1 for downward, 0 for both.
    text: message of a fault. unsolved: for a fault, whether it means that an algebraic loop has no
    solution. jump: for an event of a block with several jumps of its own states, the number of the
    jump. signals: those that show a crossing of kind 'shown'.
    """

    block: str
    kind: Literal["stop", "event", "mode", "limit", "bend", "fault", "shown"]
    direction: float
    text: str = ""
    unsolved: bool = False
    jump: int | None = None
    signals: tuple[str, ...] = ()

    @property
    def event(self) -> str:
        """The name of what an event does: its block, with a number for a jump of the block."""
        return self.block if self.jump is None else f"{self.block}#{self.jump}"

    def is_seen(self, signals: Collection[str]) -> bool:
        """Whether it must be located in a run that records or measures these signals."""
        return self.kind != "shown" or any(name in signals for name in self.signals)

    def crossed(self, before: float, after: float) -> bool:
        """Whether two values are on different sides. Zero and NaN count as not positive."""
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
    """The crossings of a block without those of its gate. The block's `watched_kinds` are the
    kinds of the first ones; the others are bends.
    """
    kind = own_class(node.block)
    if node.block.type == "stop":
        return [Crossing(node.name, "stop", 1.0)] * count
    if node.block.type == "event":
        return [Crossing(node.name, "event", float(node.block.direction))] * count
    if attribute(node.block, "watched_kinds") is not None:
        kinds, text = node.block.watched_kinds, _fault_text(node)
        bends = [Crossing(node.name, "bend", 0.0)] * (count - len(kinds))
        fault = Crossing(node.name, "fault", 1.0, text, attribute(node.block, "unsolved", False))
        jumps = count_from_zero()
        own = [
            fault
            if one == "fault"
            else Crossing(node.name, one, 1.0, jump=next(jumps) if one == "event" else None)
            for one in kinds
        ]
        return [*own, *bends]
    if hasattr(kind, "switch"):
        return [Crossing(node.name, "mode", 1.0)] * count
    if node.kind == "continuous" and not hasattr(kind, "watch"):
        return [Crossing(node.name, "limit", 1.0)] * count
    return [Crossing(node.name, "bend", 0.0)] * count


def _fault_text(node: Node) -> str:
    """The message of a block's fault."""
    text = attribute(node.block, "fault_text", "")
    return text if attribute(node.block, "unsolved", False) else f"block {node.name}: {text}"


def exact_edges(
    block: Any, edges: Callable[[Any], list[tuple[Any, Any]]], tunable: Iterable[str]
) -> list[tuple[Any, Any]]:
    """The known switching times of a block, computed from its parameters as exact fractions; from
    floats if its code does not accept fractions.
    """
    twin = copy(block)
    for name in tunable:
        twin.__dict__[name] = _meant(getattr(block, name))
    try:
        return edges(twin)
    except Exception:  # whatever the code of a block raises
        return edges(block)


def _meant(value: Any) -> Any:
    """A parameter with its finite floats replaced by fractions."""
    if isinstance(value, (float, np.floating)):
        return meant(float(value)) if np.isfinite(value) else value
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and np.isfinite(value).all():
        return np.array([meant(one) for one in value.flat], dtype=object).reshape(value.shape)
    return value


def started(node: Node, until: float) -> list[tuple[Any, Any]]:
    """Call a block's `start` as bdsim does before a run, and return the event times that it
    declares.
    """
    start = attribute(node.block, "start")
    if start is None or node.kind not in ("source", "function"):
        return []
    declared = _Declarations(node.name, until)
    start(declared)
    return [(t, 0.0) for t in declared.times]


class _Declarations:
    """Collects the event times that bdsim's blocks declare. It replaces bdsim's SimulationState,
    of which blocks use T, tf, t and declare_event.
    """

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
