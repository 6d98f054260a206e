"""When a diagram switches: known times of its sources, and zero-crossings of its signals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heapreplace
from itertools import count as count_from_zero
from math import floor, isfinite
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
_ZERO = Fraction(0)


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


class UpcomingSwitches:
    """The times at which sources switch, one after the other. They are computed when they are asked
    for, since a long run has millions of them.

    series: of first + k period for `count` numbers k from a first one on: (first, period, k,
    count).
    """

    def __init__(self, series: Sequence[tuple[Fraction, Fraction, int, int]] = ()) -> None:
        self.series = series
        # By floats: comparing 100,000 fractions takes seconds. Two that are rounded alike are one
        # stop of a solver; their order does not matter.
        self._next = [
            (float(first + k * period), n, k) for n, (first, period, k, _) in enumerate(self.series)
        ]
        heapify(self._next)
        self._single = np.sort(
            [float(first + k * p) for first, p, k, count in self.series if count == 1]
        )

    @staticmethod
    def of(switches: Iterable[SwitchTimes], start: Fraction, end: Fraction) -> UpcomingSwitches:
        """Those of some blocks after start up to end. Raises InputError if there are too many."""
        return UpcomingSwitches(_series(switches, start, end))

    def __bool__(self) -> bool:
        return bool(self._next)

    @property
    def first(self) -> Fraction:
        """The next time."""
        _, n, k = self._next[0]
        return self._at(n, k)

    def drop_until(self, t: Fraction) -> None:
        """Leave out the times up to t."""
        while self._next and self.first <= t:
            _, n, k = self._next[0]
            first, period, begin, count = self.series[n]
            k = max(k, floor((t - first) / period)) + 1 if count > 1 else begin + 1
            if k < begin + count:
                heapreplace(self._next, (float(self._at(n, k)), n, k))
            else:
                heappop(self._next)

    def _at(self, n: int, k: int) -> Fraction:
        first, period, _, _ = self.series[n]
        return first + k * period

    def up_to(self, end: Fraction) -> UpcomingSwitches:
        """The times up to an earlier end, from the first of all on."""
        ends = ((f, p, k, min(n, floor((end - f) / p) - k + 1)) for f, p, k, n in self.series)
        return UpcomingSwitches([one for one in ends if one[-1] > 0])

    @property
    def rate(self) -> Fraction:
        """How many of the times there are in a second, where they come again and again."""
        return sum((1 / period for _, period, _, count in self.series if count > 1), _ZERO)

    def count_after(self, t: float) -> int:
        """About how many of the times are after t."""
        ends = ((first + (k + n - 1) * p, p) for first, p, k, n in self.series if n > 1)
        repeated = sum(max(int((float(last) - t) / p) + 1, 0) for last, p in ends)
        return repeated + int((self._single > t).sum())

    def within(self, after: float, until: float) -> Floats:
        """The times above `after` up to `until`, in ascending order, each rounded once."""
        parts = [self._single]
        for first, period, k, count in self.series:
            if count > 1:
                low = max(k, floor((_exact(after, first) - first) / period) - 1)
                last = first + (k + count - 1) * period
                high = min(_exact(until, last) + period, last)
                parts.append(grid(first, period, low, high))
        times = np.unique(np.concatenate(parts))
        return times[(after < times) & (times <= until)]


def _exact(t: float, otherwise: Fraction) -> Fraction:
    """A time as a fraction; `otherwise` if it is not finite."""
    return Fraction(t) if isfinite(t) else otherwise


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
