"""The steps of a part at a fixed rate: when its clocks tick, and how its states move.

At step k, t = k / rate: the clocks due tick, reading what was before; the outputs are
computed; then the states are integrated to the next step with the inputs held. Within a
step the integration is cut at the known times at which sources switch. Limits and unit
quaternions are put right at the end of each segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd, lcm
from typing import Any

from spart_blocks.diagram.clocks import Clock, exact
from spart_blocks.errors import DiagramError, Fault, InputError
from spart_blocks.program.subdiagram import Subdiagram
from spart_blocks.tableaus import FIXED_STEP, RECOMMENDED, FixedStepMethod, Tableau, tableau

USUAL_RATE = Fraction(1000)  # Hz
HIGHEST_RATE = 1e6  # Hz
LARGEST = 10**9
"""Numerator and denominator of a step: so that its multiples fit into 64 bits for years."""
MOST_STEPS = 64
"""Segments of one step between switching times, and steps of one segment; beyond, what is left
is one."""
NEARLY = 1e-9
"""Of a step: a switching time as near as this to an end of a segment is that end."""


@dataclass(frozen=True)
class Ticking:
    """A clock in steps: it ticks at steps offset + k * period, k = first, first + 1, ...
    states: which discrete states move."""

    clock: Clock
    offset: int
    period: int
    states: tuple[int, ...]

    @property
    def start(self) -> int:
        """The step of the first tick."""
        return self.offset + self.clock.first * self.period

    def due(self, k: int) -> bool:
        return k >= self.start and (k - self.offset) % self.period == 0


@dataclass(frozen=True)
class Handing:
    """Held outputs that are renewed at the ticks of a clock before any state moves. states:
    their places in xd. renewed: the Function (t, x, xd, p) -> xd with them renewed."""

    ticking: Ticking
    states: tuple[int, ...]
    renewed: Any


@dataclass(frozen=True)
class Schedule:
    """step: the period of the steps [s]. method: how continuous states are integrated.
    handovers: what comes before the ticks, in this order."""

    step: Fraction
    method: FixedStepMethod
    clocks: tuple[Ticking, ...]
    handovers: tuple[Handing, ...] = ()

    @property
    def rate(self) -> Fraction:
        """Steps per second [Hz]."""
        return 1 / self.step

    @property
    def tableau(self) -> Tableau:
        found = tableau(self.method)
        assert found is not None
        return found

    def time(self, k: int) -> float:
        """The time of step k [s], rounded as in C."""
        return float(k * self.step.numerator) / float(self.step.denominator)


def schedule_of(part: Subdiagram, rate: float | None = None, method: str = RECOMMENDED) -> Schedule:
    """The schedule of a part at a rate [Hz].

    By default the lowest rate that has a step at all ticks of its clocks, or of those around it
    where it has none; with continuous states the lowest such rate from 1000 Hz on. Without
    clocks 1000 Hz.
    Raises InputError for a rate at which a tick falls between two steps and for an unknown
    method; DiagramError naming the block that a fixed step cannot run.
    """
    if method not in FIXED_STEP:
        hint = f"there are {', '.join(FIXED_STEP)}"
        raise InputError(Fault(f"no fixed-step method {method!r}", hint=hint))
    refuse_sliding(part)
    _refuse_events(part)
    clocks = part.program.clocks
    step = _step(clocks or part.around, rate, bool(part.program.states))
    _refuse_between(clocks, step)
    parts = {slot.name: slot.part for slot in part.program.discrete}
    ticking = [
        Ticking(
            clock,
            int(_simple(clock.offset) / step),
            int(_simple(clock.period) / step),
            tuple(i for b in clock.blocks for i in range(parts[b].start, parts[b].stop)),
        )
        for clock in clocks
    ]
    by_name = {one.clock.name: one for one in ticking}
    handovers = tuple(
        Handing(
            by_name[one.clock],
            tuple(i for name in one.slots for i in range(parts[name].start, parts[name].stop)),
            one.renewed,
        )
        for one in part.program.handovers
    )
    return Schedule(step, method, tuple(ticking), handovers)


def rate_reason(part: Subdiagram, schedule: Schedule, asked: bool) -> str:
    """Why the steps of a part have their rate."""
    clocks = part.program.clocks or part.around
    if asked:
        return "as asked for"
    if not clocks:
        return "as usual without clocks"
    whose = "its clocks tick" if part.program.clocks else "the clocks around it tick"
    rate = float(1 / _common(_times(clocks)))
    if schedule.rate == 1 / _common(_times(clocks)):
        return f"at which {whose}"
    return f"for states that move between ticks; {whose} at {rate:g} Hz"


def checked_rate(rate: float) -> float:
    """A rate that can be [Hz]; InputError for any other."""
    if not 0 < rate <= HIGHEST_RATE:
        raise InputError(f"the rate must be above 0 and up to {HIGHEST_RATE:g} Hz, not {rate:g}")
    return rate


def _simple(time: Fraction) -> Fraction:
    """1/300 where a time is the number nearest to that."""
    near = time.limit_denominator(1_000_000)
    return near if float(near) == float(time) else time


def _step(clocks: Sequence[Clock], rate: float | None, moves: bool) -> Fraction:
    """moves: whether continuous states do."""
    if rate is not None:
        step = _simple(1 / exact(checked_rate(rate)))
    else:
        times = _times(clocks)
        step = longest = _common(times) if times else 1 / USUAL_RATE
        if moves:  # what moves in between needs steps as short as usual
            step = longest / max(1, ceil(longest * USUAL_RATE))
    if 1 / step > HIGHEST_RATE:
        text = f"the clocks tick at times that only {float(1 / step):g} Hz has steps at"
        hint = "give them periods and offsets that are multiples of 1 ms or 1 us"
        raise InputError(Fault(text, hint=hint))
    if step.numerator > LARGEST or step.denominator > LARGEST:
        hint = "give a rate or a period that is a simpler number, such as 1000 or 0.004"
        raise InputError(Fault(f"a step of {float(step)!r} s cannot be counted exactly", hint=hint))
    return step


def _times(clocks: Sequence[Clock]) -> list[Fraction]:
    """The periods and offsets of clocks."""
    return [_simple(time) for clock in clocks for time in (clock.period, clock.offset) if time]


def _common(times: Sequence[Fraction]) -> Fraction:
    """The longest step of which all times are multiples."""
    denominator = lcm(*(time.denominator for time in times))
    return Fraction(gcd(*(int(time * denominator) for time in times)), denominator)


def _refuse_between(clocks: Sequence[Clock], step: Fraction) -> None:
    for clock in clocks:
        if any((time / step) % 1 for time in _times([clock])):
            raise InputError(
                Fault(
                    f"at {float(1 / step):g} Hz ticks of the clock of "
                    f"{', '.join(clock.blocks[:3])} fall between two steps: it has period "
                    f"{float(clock.period):g} s and offset {float(clock.offset):g} s",
                    hint=f"the rate must be {float(1 / _common(_times(clocks))):g} Hz "
                    "or a multiple of it",
                )
            )


def refuse_sliding(part: Subdiagram) -> None:
    """DiagramError where the diagram slides along surfaces: equal steps do not."""
    if part.program.run.sliding != "error":
        raise DiagramError(
            Fault(
                f"run: {{sliding: {part.program.run.sliding}}} cannot run at a fixed step: it acts "
                "at the very time of a crossing, which lies between two steps",
                hint="export an FMU; or leave sliding out, and give what switches hysteresis, as "
                "a RELAY has it",
            )
        )


def _refuse_events(part: Subdiagram) -> None:
    blocks = dict.fromkeys(c.block for c in part.program.crossings if c.kind == "event")
    if blocks:
        raise DiagramError(
            Fault(
                f"block {name} (EVENT) cannot run at a fixed step: it acts at the very time of a "
                "crossing, which lies between two steps",
                hint="leave it out of the part, or export an FMU for model exchange",
            )
            for name in blocks
        )
