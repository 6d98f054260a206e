"""The steps of a subdiagram at a fixed rate: its clocks, and the integration of its states.

At step k, t = k / rate, the clocks that are due tick and read the values before the tick. Then the
outputs are computed. Then the states are integrated to the next step with the inputs held. The
integration is divided into segments at the known times at which sources switch. Limits and unit
quaternions are restored at the end of each segment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd, lcm
from typing import Any

from spart_blocks.base.errors import DiagramError, Fault, InputError
from spart_blocks.base.tableaus import (
    EXPLICIT_STEP,
    FIXED_STEP,
    RECOMMENDED,
    FixedStepMethod,
    Implicit,
    Tableau,
    tableau,
)
from spart_blocks.diagram.network.clocks import Clock, meant
from spart_blocks.program.c.writer import MOST_CONTACTS, entries_named, firsts_of
from spart_blocks.program.linearised import can_linearise
from spart_blocks.program.program import Program
from spart_blocks.program.subdiagram import Subdiagram
from spart_blocks.program.tracing.switching import Crossing

# --- Zero-crossing functions that act -------------------------------------------------------------
# The zero-crossing functions that have an effect when states are integrated at a fixed rate.
#
# If there are EVENTs, or states slide along surfaces, or steps are linearly implicit and rates
# bend, all of them act where they are, within a step, as in a simulation. Otherwise they belong to
# STOP blocks, to blocks that switch modes, such as RELAY, and to mechanisms whose loops can lose
# rank. A mode then changes at the start of a step, after its ticks. This is up to one step later
# than in a simulation, where it changes at the crossing. The time at which loops lose rank is
# located within the step.


MOST_EVENTS = 1000
"""Most crossings that act in one step."""
MOST_SWITCHES = 100
"""Most rounds of mode switches at one step. Switching continues at the next step."""


@dataclass(frozen=True)
class Acting:
    """The zero-crossing functions that have an effect.

    rows: their indices among all of the program. of: the crossings. first: for each the first
    crossing of the same block, as an index into rows. states: for the first crossing of a block
    that switches modes, the block's entries of x. jumps: whether rates can jump or have a kink.
    """

    rows: tuple[int, ...]
    of: tuple[Crossing, ...]
    first: tuple[int, ...]
    states: Mapping[int, Sequence[int]]
    jumps: bool

    @property
    def switches(self) -> int:
        """Number of crossings of blocks that switch modes."""
        return sum(crossing.kind == "mode" for crossing in self.of)

    def kinds(self, *kinds: str) -> list[int]:
        """The indices into rows of crossings of these kinds."""
        return [k for k, crossing in enumerate(self.of) if crossing.kind in kinds]


def slides(program: Program) -> bool:
    """Whether states may slide along surfaces, and signals may rest at zero."""
    asked = program.run.sliding == "filippov"
    return asked and bool(len(program.x0)) and bool(program.crossings)


def eventful(program: Program, method: str) -> bool:
    """Whether crossings act where they are, within a step: there are EVENTs, states slide, or steps
    are linearly implicit and rates bend. The force behind a contact that closes within such a step
    would act as in an explicit one, since the derivatives at its start do not know of it.
    """
    acting = {"event"} if _implicit(method) is None or not len(program.x0) else {"event", "bend"}
    return slides(program) or any(c.kind in acting for c in program.crossings)


def _implicit(method: str) -> Implicit | None:
    steps = tableau(method)
    return None if steps is None else steps.implicit


def crossing_blocks(program: Program) -> list[str]:
    """The blocks with zero-crossing functions."""
    return list(dict.fromkeys(crossing.block for crossing in program.crossings))


def faults_of(program: Program, method: str) -> tuple[str, ...]:
    """The faults that steps of a program by a method may report: those of its blocks, in the order
    of their crossings; and of an eventful one that of a block with too many crossings in a step,
    that of an EVENT whose resets accumulate, and those of sliding modes, as sb_eventful.h counts
    them.
    """
    own = tuple(c.text for c in program.crossings if c.kind == "fault")
    if not eventful(program, method):
        return own
    crowded = [
        f"block {block}: it crosses zero or switches without end, more than {MOST_EVENTS} times in "
        "one step"
        for block in crossing_blocks(program)
    ]
    resting = [
        f"block {c.block}: its resets accumulate (Zeno), or leave its signal at zero: it would go "
        "on through zero, where run: {sliding: filippov} holds it"
        for c in program.crossings
        if c.kind == "event"
    ]
    sliding = [
        "more than two surfaces meet, and motions along two at most are known",
        f"more than {MOST_CONTACTS} signals would rest at zero",
    ]
    return (*own, *crowded, *resting, *(sliding if slides(program) else []))


def acting_of(program: Program, method: str) -> Acting:
    """The zero-crossing functions of a program that have an effect on steps by a method."""
    ending = {c.block for c in program.crossings if c.kind == "fault"}
    rows = [
        k
        for k, c in enumerate(program.crossings)
        if eventful(program, method)
        or c.kind in ("stop", "mode", "fault")
        or (c.kind == "limit" and c.block in ending)
    ]
    of = tuple(program.crossings[k] for k in rows)
    first = tuple(firsts_of(of))
    states = {
        k: entries_named(program.states, [c.block])
        for k, c in enumerate(of)
        if c.kind == "mode" and first[k] == k
    }
    jumps = any(c.kind == "bend" for c in program.crossings)
    return Acting(tuple(rows), of, first, states, jumps)


USUAL_RATE = Fraction(1000)  # Hz
HIGHEST_RATE = 1e6  # Hz
LARGEST = 10**9
"""Largest numerator and denominator of a step, so that its multiples fit into 64 bits for years."""
MOST_STEPS = 64
"""Most segments of one step, and most steps of one segment. The last one covers the rest."""
NEARLY = 1e-9
"""Fraction of a step: a switching time this near to an end of a segment coincides with that end."""


@dataclass(frozen=True)
class Ticking:
    """A clock in steps: it ticks at steps offset + k * period, k = first, first + 1, ...
    states: indices of the discrete states that it updates."""

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
    """Held outputs that are renewed at the ticks of a clock before any state is updated. states:
    their indices in xd. renewed: the Function (t, x, xd, p) -> xd with renewed outputs."""

    ticking: Ticking
    states: tuple[int, ...]
    renewed: Any


@dataclass(frozen=True)
class Schedule:
    """The steps of a subdiagram. step: their period [s]. method: integration method of the
    continuous states. handovers: applied before the ticks, in this order.
    """

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
    """The schedule of a subdiagram at a rate [Hz].

    The default is the lowest rate that has a step at each tick of its clocks, or of the clocks
    around it if it has none; with continuous states, the lowest such rate of at least 1000 Hz;
    without clocks, 1000 Hz.
    Raises InputError for an unknown method and for a rate at which a tick is between two steps,
    DiagramError naming a block that cannot run at a fixed step.
    """
    method = checked_method(method)
    refuse_untraced_events(part.program, "become code")
    refuse_implicit(part.program, method)
    clocks = part.program.clocks
    step = _step(clocks or part.around, rate, bool(part.program.states))
    _refuse_between(clocks, step)
    slots = part.program.discrete
    ticking = {
        clock.name: Ticking(
            clock,
            int(clock.offset / step),
            int(clock.period / step),
            tuple(entries_named(slots, clock.blocks)),
        )
        for clock in clocks
    }
    handovers = tuple(
        Handing(ticking[one.clock], tuple(entries_named(slots, one.slots)), one.renewed)
        for one in part.program.handovers
    )
    return Schedule(step, method, tuple(ticking.values()), handovers)


def rate_reason(part: Subdiagram, schedule: Schedule, asked: bool) -> str:
    """The reason for the rate of a subdiagram's steps, as text."""
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
    """The rate, if it is valid [Hz]. Raises InputError otherwise."""
    if not 0 < rate <= HIGHEST_RATE:
        raise InputError(f"the rate must be above 0 and up to {HIGHEST_RATE:g} Hz, not {rate:g}")
    return rate


def checked_method(method: str) -> FixedStepMethod:
    """The name of a fixed-step method, if there is one. Raises InputError otherwise."""
    if method not in FIXED_STEP:
        hint = f"there are {', '.join(FIXED_STEP)}"
        raise InputError(Fault(f"no fixed-step method {method!r}", hint=hint))
    return method


def refuse_implicit(program: Program, method: str) -> None:
    """Raise DiagramError if code cannot integrate a program by a linearly implicit method."""
    if _implicit(method) is None or not len(program.x0):
        return
    why = None
    if slides(program):
        why = "with run: {sliding: filippov} it has no derivatives along surfaces"
    elif program.damped:
        why = f"{program.damped[0]} has singular: damp, where derivatives are far too large"
    elif not can_linearise(program):
        why = "its derivatives are too long to be compiled"
    if why is not None:
        raise DiagramError(
            Fault(
                f"method {method} cannot integrate {program.name} in code: {why}",
                hint=f"give another method: {', '.join(EXPLICIT_STEP)}",
            )
        )


def _step(clocks: Sequence[Clock], rate: float | None, moves: bool) -> Fraction:
    """The step [s]. moves: whether there are continuous states."""
    if rate is not None:
        step = 1 / meant(checked_rate(rate))
    else:
        times = _times(clocks)
        step = longest = _common(times) if times else 1 / USUAL_RATE
        if moves:  # continuous states need steps as short as the usual ones
            step = longest / max(1, ceil(longest * USUAL_RATE))
    if 1 / step > HIGHEST_RATE:
        text = f"the ticks of the clocks need steps at {float(1 / step):g} Hz"
        hint = "give them periods and offsets that are multiples of 1 ms or 1 us"
        raise InputError(Fault(text, hint=hint))
    if step.numerator > LARGEST or step.denominator > LARGEST:
        hint = "give a rate or a period that is a simpler number, such as 1000 or 0.004"
        raise InputError(Fault(f"a step of {float(step)!r} s cannot be counted exactly", hint=hint))
    return step


def _times(clocks: Sequence[Clock]) -> list[Fraction]:
    """The periods and offsets of clocks."""
    return [time for clock in clocks for time in (clock.period, clock.offset) if time]


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


def refuse_untraced_events(program: Program, what: str) -> None:
    """Raise DiagramError naming EVENT blocks whose functions could not be traced. what: what they
    cannot do."""
    events = {c.event: c.block for c in program.crossings if c.kind == "event"}
    blocks = dict.fromkeys(block for name, block in events.items() if name not in program.resets)
    if blocks:
        raise DiagramError(
            Fault(
                f"block {block} (EVENT) cannot {what}: its function cannot be traced",
                hint="write it in NumPy without branches on values, or leave the block out",
            )
            for block in sorted(blocks)
        )
