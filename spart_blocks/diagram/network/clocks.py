"""Exact time: clock ticks and sample times as rational numbers.

Two clocks are due together when their ticks are equal rational numbers, never within a
tolerance. A period of 0.01 means exactly one hundredth, as written, and one of 1/30 a thirtieth.
Ticks are at offset + k T, k = 0, 1, 2, ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import DiagramError

Floats = NDArray[np.float64]


def exact(value: float) -> Fraction:
    """The exact number as written: 0.1 is one tenth."""
    return Fraction(repr(float(value)))


MOST_PARTS = 1_000_000
"""Largest denominator of a fraction that a float in a file is taken to mean."""


def meant(value: float) -> Fraction:
    """The exact number that a float in a file means: a simple fraction whose nearest float it is,
    such as 1/300; otherwise the decimal number as written.
    """
    written = exact(value)
    simple = written.limit_denominator(MOST_PARTS)
    return simple if float(simple) == float(value) else written


@dataclass(frozen=True)
class Clock:
    """A clock: period and offset [s], the number k of its first tick, and the names of the
    discrete states on it: the sampled blocks, and the outputs that are held."""

    name: str
    period: Fraction
    offset: Fraction
    first: int
    blocks: tuple[str, ...]

    def time(self, k: int) -> Fraction:
        """The time of tick k."""
        return self.offset + k * self.period

    def first_tick_from(self, start: Fraction) -> int:
        """The number of the first tick at or after start."""
        return max(self.first, ceil((start - self.offset) / self.period))


def grid(offset: Fraction, step: Fraction, first: int, end: Fraction) -> Floats:
    """The times offset + k step [s] for k = first, first + 1, ... up to end, each rounded once."""
    count = max(0, floor((end - offset) / step) - first + 1)
    common = lcm(offset.denominator, step.denominator)
    start, stride = int(offset * common), int(step * common)
    if abs(start) + stride * (first + count) < 2**53 and common < 2**53:
        k = np.arange(first, first + count, dtype=np.int64)
        return (start + k * stride) / float(common)
    return np.array([float(offset + k * step) for k in range(first, first + count)])


def key_of(clock: Any) -> tuple[Fraction, Fraction]:
    """The exact period and offset [s] of bdsim's clock. Clocks with the same key are treated as
    one.
    """
    return meant(clock.T), meant(clock.offset)


def clocks_of(nodes: Sequence[Any], first_tick: str) -> tuple[Clock, ...]:
    """The clocks of the sampled nodes. Clocks of one period and offset are one clock
    (bdsim copies a subsystem with its clocks).

    first_tick 'bdsim' starts at k = 1, as bdsim 1.4 does.
    """
    members: dict[tuple[Fraction, Fraction], list[str]] = {}
    for node in nodes:
        clock = node.block._clock
        period, offset = key_of(clock)
        if period <= 0 or offset < 0:
            raise DiagramError(
                f"clock of block '{node.name}' has period {clock.T} s and offset "
                f"{clock.offset} s; the period must be positive, the offset not negative"
            )
        members.setdefault((period, offset), []).append(node.name)
    first = 1 if first_tick == "bdsim" else 0
    return tuple(
        Clock(f"{float(period)!r}+{float(offset)!r}", period, offset, first, tuple(group))
        for (period, offset), group in members.items()
    )
