"""The zero-crossing functions that have an effect when states are integrated at a fixed rate.

They belong to STOP blocks, to blocks that switch modes, such as RELAY, and to mechanisms whose
loops can lose rank. A mode changes at the start of a step, after its ticks. This is up to one step
later than in a simulation, where it changes at the crossing. The time at which loops lose rank is
located within the step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spart_blocks.program.c.writer import entries_named, firsts
from spart_blocks.program.program import Program
from spart_blocks.program.tracing.switching import Crossing

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


def faults_of(program: Program) -> tuple[str, ...]:
    """The faults that the blocks of a program may report, in the order of their crossings."""
    return tuple(c.text for c in program.crossings if c.kind == "fault")


def acting_of(program: Program) -> Acting:
    """The zero-crossing functions of a program that have an effect."""
    ending = {c.block for c in program.crossings if c.kind == "fault"}
    rows = [
        k
        for k, c in enumerate(program.crossings)
        if c.kind in ("stop", "mode", "fault") or (c.kind == "limit" and c.block in ending)
    ]
    of = tuple(program.crossings[k] for k in rows)
    first = tuple(firsts((c.block, c.kind) for c in of))
    states = {
        k: entries_named(program.states, [c.block])
        for k, c in enumerate(of)
        if c.kind == "mode" and first[k] == k
    }
    jumps = any(c.kind == "bend" for c in program.crossings)
    return Acting(tuple(rows), of, first, states, jumps)
