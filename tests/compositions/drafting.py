"""A diagram as it is drawn: its blocks, its wires, and the signals that there are so far.

Every block maps inputs within [-1, 1] to outputs within [-1, 1], so that no loop can grow, and
loops contract, so that small differences stay small. Blocks whose output does not depend on their
input at that moment come first and get their inputs last; all others read what is there already.
So each diagram is well posed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

BASES = (0.1, 0.1, 0.05, 0.3, 0.07, 0.033, 0.0333)
"""Units of time [s]: periods, offsets, edges and ends are multiples of one of them, as decimals."""


@dataclass(frozen=True)
class Signal:
    """A scalar signal. jumps: whether it jumps where continuous states cross something, without
    hysteresis; fed back into continuous states it could chatter. ticks: whether it changes at
    ticks and edges alone."""

    name: str
    jumps: bool = False
    ticks: bool = False


@dataclass
class Draft:
    """What is drawn so far. late: inputs still without a wire, with what they may read."""

    draw: random.Random
    base: float
    clocks: dict[str, dict[str, float]]
    content: dict[str, Any] = field(default_factory=dict)
    signals: list[Signal] = field(default_factory=list)
    late: list[tuple[str, str]] = field(default_factory=list)
    count: int = 0
    pure: bool = False
    """Whether only what the reference knows is drawn."""

    @property
    def blocks(self) -> dict[str, Any]:
        return self.content["blocks"]

    @property
    def wires(self) -> list[str]:
        return self.content["wires"]

    def time(self, least: int, most: int) -> float:
        """A multiple of the base, as the decimal that one would write."""
        return decimal(self.draw.randint(least, most) * self.base)

    def number(self, size: float = 1.0) -> float:
        """A decimal of four digits: no sum of others meets it."""
        return round(self.draw.uniform(-size, size), 4) or 0.1234

    def coarse(self) -> float:
        """A value that doubles hold exactly."""
        return self.draw.choice([-1.0, -0.75, -0.5, 0.25, 0.5, 0.75, 1.0])

    def clock(self) -> str:
        return self.draw.choice(list(self.clocks))

    def pick(self, *, calm: bool = False, ticks: bool = False) -> Signal:
        """A signal, rather a late one; calm: one that does not jump; ticks: one of ticks."""
        fit = [s for s in self.signals if not (calm and s.jumps) and (s.ticks or not ticks)]
        if not fit:
            return self.signals[0]
        return fit[max(self.draw.randrange(len(fit)), self.draw.randrange(len(fit)))]

    def add(self, kind: str, *inputs: Signal | str, **parameters: Any) -> str:
        """A block with wires from its inputs; its name."""
        self.count += 1
        name = f"b{self.count}"
        self.blocks[name] = {"type": kind, **parameters}
        for k, source in enumerate(inputs):
            port = source.name if isinstance(source, Signal) else source
            self.wires.append(f"{port} -> {name}.{k}")
        return name

    def give(self, name: str, inputs: tuple[Signal, ...] = (), **known: Any) -> Signal:
        """A new signal: of a function of these inputs, if nothing else is known."""
        if inputs:
            known.setdefault("jumps", any(s.jumps for s in inputs))
            known.setdefault("ticks", all(s.ticks for s in inputs))
        self.signals.append(Signal(name, **known))
        return self.signals[-1]


def decimal(value: float) -> float:
    """Without the noise of binary arithmetic: 0.3, not 0.30000000000000004."""
    return round(value, 10)


def new_draft(seed: int, pure: bool) -> Draft:
    """An empty diagram: its unit of time and its clocks."""
    draw = random.Random(f"compositions {seed}")
    base = draw.choice(BASES)
    draft = Draft(draw, decimal(base), {}, pure=pure)
    for k in range(draw.choice([1, 2, 2, 3])):
        clock = {"T": draft.time(1, 4)}
        if draw.random() < 0.35:
            clock["offset"] = draft.time(1, 3)
        draft.clocks[f"c{k}"] = clock
    if not pure and draw.random() < 0.15:
        draft.clocks["odd"] = {"rate": draw.choice([30, 7, 12.5])}
    draft.content = {"clocks": draft.clocks, "blocks": {}, "wires": []}
    return draft
