"""The zero-crossing functions that act where states move at a fixed rate.

Those of STOP blocks, of blocks that switch modes, such as RELAY, and of mechanisms whose loops
lose rank. A mode changes at the start of a step, after its ticks, so up to a step later than in
a simulation, where it does at the crossing itself. The pose in which loops lose rank is located.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spart_blocks.program.program import Program
from spart_blocks.program.switching import Crossing

MOST_SWITCHES = 100
"""So often at one step; what does not fit by then goes on at the next."""


@dataclass(frozen=True)
class Acting:
    """What acts. rows: its places among the watched values. of: the crossings. first: of each the
    first of the same block, by its place in rows. states: for the first crossing of a block that
    switches modes the entries of x that are its own."""

    rows: tuple[int, ...]
    of: tuple[Crossing, ...]
    first: tuple[int, ...]
    states: Mapping[int, range]

    @property
    def switches(self) -> int:
        """How many are of blocks that switch modes."""
        return sum(crossing.kind == "mode" for crossing in self.of)

    def kinds(self, *kinds: str) -> list[int]:
        """The places in rows of these kinds."""
        return [k for k, crossing in enumerate(self.of) if crossing.kind in kinds]


def acting_of(program: Program) -> Acting:
    """What acts in a program."""
    ending = {c.block for c in program.crossings if c.kind == "fault"}
    rows = [
        k
        for k, c in enumerate(program.crossings)
        if c.kind in ("stop", "mode", "fault") or (c.kind == "limit" and c.block in ending)
    ]
    places = {slot.name: slot.part for slot in program.states}
    of = tuple(program.crossings[k] for k in rows)
    first: dict[tuple[str, str], int] = {}
    firsts = tuple(first.setdefault((c.block, c.kind), k) for k, c in enumerate(of))
    states = {
        k: range(places[c.block].start, places[c.block].stop)
        for k, c in enumerate(of)
        if c.kind == "mode" and firsts[k] == k
    }
    return Acting(tuple(rows), of, firsts, states)
