"""Finds steps of a function that recur, so that they are written once, as the body of a loop.

Copies of a subsystem, by `for_each` or by several blocks of one type, leave the same operations
with other operands, one copy after the other: the steps of a function are in the order in which
its results need them. A sequence of L steps that follows itself is a repeat if each step has the
operation of the step L before, and each of its operands is either the value L after the operand
of that step or comes from before its own round. The order of operations is kept, so that the
values are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from spart_blocks.program.c.dialects import MASKS
from spart_blocks.program.c.values import Step, Value

LEAST_SAVED = 200
"""Least number of steps that a repeat must save: short functions are as they were, and fast."""
_LEAST_MORE = 24
"""Least number of steps that each further repeat saves, such as that of states that are copied."""
_MANY = 8
"""Least number of rounds of a repeat whose rounds are shorter than LEAST_SAVED: the joints of an
arm are few, and its dynamics faster as they were.
"""
_GRAM = 6
"""Number of steps that are compared to find the lengths of rounds to try."""
_TRIED = 24
"""Largest number of such lengths."""

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Repeat:
    """Steps that recur. rounds: the steps of each round, of equal operations."""

    rounds: tuple[tuple[Step, ...], ...]

    @property
    def body(self) -> tuple[Step, ...]:
        """The steps of the first round."""
        return self.rounds[0]

    def values(self) -> Iterator[tuple[Value, ...]]:
        """For each value of the body those of all rounds."""
        flat = (chain.from_iterable(steps) for steps in self.rounds)
        return zip(*flat, strict=True)

    def made(self) -> Iterator[Value]:
        """The values of all rounds."""
        return chain.from_iterable(chain.from_iterable(self.rounds))


Item = Step | Repeat


Kind = Callable[[Value], Hashable]


def with_repeats(steps: Sequence[Step], read: Kind, written: Kind) -> list[Item]:
    """The steps, with those that recur as repeats.

    read, written: what operands that are no steps, and what results of values, must have in common
    to be read or written by one statement with an index.
    """
    if len(steps) < 2 * LEAST_SAVED:
        return list(steps)
    found: list[tuple[int, int, int]] = []
    sequence = _Sequence.of(steps, read, written)
    while True:
        best = sequence.best(LEAST_SAVED) or (sequence.best(_LEAST_MORE) if found else None)
        if best is None:
            break
        found += best
        for start, length, count in best:
            sequence.taken(start, start + length * count)
    items: list[Item] = []
    at = 0
    for start, length, count in sorted(found):
        items += steps[at:start]
        at = start + length * count
        rounds = [tuple(steps[k : k + length]) for k in range(start, at, length)]
        items.append(Repeat(tuple(rounds)))
    return [*items, *steps[at:]]


@dataclass(frozen=True)
class _Sequence:
    """Steps as numbers. tokens (n,): equal for steps of equal operations. operands (m,): for each
    operand the step that made it, -1 for inputs and constants. first (n+1,): the index of the
    first operand of each step.
    """

    tokens: Ints
    operands: Ints
    first: Ints

    @staticmethod
    def of(steps: Sequence[Step], read: Kind, written: Kind) -> _Sequence:
        number: dict[Value, tuple[int, int]] = {}
        known: dict[Hashable, int] = {}
        tokens, operands, first = [], [], [0]
        for k, step in enumerate(steps):
            number |= {value: (k, j) for j, value in enumerate(step)}
            parts: list[Hashable] = []
            for value in step:
                parts += [value.operation, value.called, value.place[0], written(value)]
                for operand in value.of:
                    made, which = number.get(operand, (-1, 0))
                    operands.append(made)
                    parts.append(read(operand) if made < 0 else (which, operand.operation in MASKS))
            first.append(len(operands))
            tokens.append(known.setdefault(tuple(parts), len(known)))
        return _Sequence(np.array(tokens), np.array(operands, dtype=np.int64), np.array(first))

    def taken(self, start: int, stop: int) -> None:
        """Exclude steps from what is found later."""
        self.tokens[start:stop] = -1 - np.arange(start, stop)

    def best(self, least: int) -> list[tuple[int, int, int]] | None:
        """The repeats (start, length, number of rounds) of one length that save most, each at least
        so many steps; None if there are none.
        """
        chosen, most = None, 0
        for length, equal in self._lengths():
            if equal <= max(most, least - 1):
                continue
            fewest = max(2 if length >= LEAST_SAVED else _MANY, least // length + 1)
            repeats = [one for one in self._of_length(length) if one[2] >= fewest]
            saved = sum(length * (count - 1) for _, _, count in repeats)
            if saved > most:
                chosen, most = repeats, saved
        return chosen

    def _lengths(self) -> list[tuple[int, int]]:
        """Lengths to try, with the number of steps that have an equal one at this distance."""
        n = len(self.tokens)
        if n <= _GRAM:
            return []
        mixed = np.zeros(n - _GRAM, dtype=np.uint64)
        for k in range(_GRAM):
            mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + self.tokens[k : n - _GRAM + k].astype(
                np.uint64
            )
        order = np.argsort(mixed, kind="stable")
        same = mixed[order][1:] == mixed[order][:-1]
        lengths, counts = np.unique(np.diff(order)[same], return_counts=True)
        likely = np.argsort(-counts, kind="stable")[:_TRIED]
        found = []
        for length in lengths[likely].tolist():
            found.append((length, int(np.sum(self.tokens[length:] == self.tokens[:-length]))))
        return sorted(found, key=lambda one: (-one[1], one[0]))

    def _of_length(self, length: int) -> Iterator[tuple[int, int, int]]:
        """The repeats of rounds of this length."""
        equal = self.tokens[length:] == self.tokens[:-length]
        ends = np.flatnonzero(np.diff(np.concatenate([[False], equal, [False]])))
        free = 0
        for start, stop in ends.reshape(-1, 2).tolist():
            begin = max(start, free)
            if stop - begin >= length:
                for one in self._in_run(begin, stop, length):
                    yield one
                    free = one[0] + one[1] * one[2]

    def _in_run(self, start: int, stop: int, length: int) -> Iterator[tuple[int, int, int]]:
        """The repeats within steps start to stop, each equal to the one `length` later."""
        a = slice(self.first[start], self.first[stop])
        b = slice(self.first[start + length], self.first[stop + length])
        made, later = self.operands[a], self.operands[b]
        step = np.repeat(np.arange(start, stop), np.diff(self.first[start : stop + 1]))
        fixed = (made >= 0) & (later - made != length)
        step = step[fixed]
        # Such an operand must come from before its round: `room` steps before this step at least.
        room = np.minimum(step - made[fixed], step + length - later[fixed])
        step, room = step[room < length], room[room < length]
        phase = _phase(step - start, room, length)
        rounds = (stop - start - phase) // length + 1
        broken = np.zeros(max(rounds, 1), dtype=bool)
        inside = step - start - phase
        of_round, offset = inside // length, inside % length
        wrong = of_round[(offset >= room) & (inside >= 0)]
        broken[wrong[wrong < len(broken)]] = True
        broken[-1:] = True  # the last round has no later one
        begin = 0
        for end in np.flatnonzero(broken).tolist():
            if end > begin:
                yield start + phase + begin * length, length, end - begin + 1
            begin = end + 1


def _phase(step: Ints, room: Ints, length: int) -> int:
    """The start of rounds, 0 to length-1, at which most operands come from before their round: for
    a step the start must be among the `room` steps up to it.
    """
    if not len(step):
        return 0
    change = np.zeros(2 * length + 1, dtype=np.int64)
    low = (step - length + 1) % length
    np.add.at(change, low, 1)
    np.add.at(change, low + length - room, -1)
    wrong = np.cumsum(change)[: 2 * length]
    return int(np.argmin(wrong[:length] + wrong[length:]))


# --- where values are kept ----------------------------------------------------------------


class Room:
    """Places in an array for values that pass between the rounds of repeats and other steps."""

    def __init__(self, items: Sequence[Item], indexed: Callable[[Value], bool]) -> None:
        """indexed: whether a value that is no step can be read by an index where it is."""
        self.slots: dict[Value, int] = {}
        self._made(items)
        for item in items:
            if isinstance(item, Repeat):
                for operands in operands_of(item).values():
                    first = operands[0]
                    if any(v is not first for v in operands) and not indexed(first):
                        self._keep(operands)

    @property
    def size(self) -> int:
        return len(self.slots)

    def _made(self, items: Sequence[Item]) -> None:
        """Places for the values of rounds that other steps read."""
        made: dict[Value, tuple[int, int]] = {}
        groups: dict[int, list[tuple[Value, ...]]] = {}
        for number, item in enumerate(items):
            if isinstance(item, Repeat):
                groups[number] = list(item.values())
                made |= {
                    v: (number, k) for same in groups[number] for k, v in enumerate(same)
                }  # fmt: skip
        read: set[Value] = set()
        for number, item in enumerate(items):
            rounds = item.rounds if isinstance(item, Repeat) else ((item,),)
            for k, steps in enumerate(rounds):
                used = (v for step in steps for value in step for v in value.of)
                read.update(v for v in used if made.get(v, (number, k)) != (number, k))
        for values in groups.values():
            for same in values:
                if any(v in read for v in same):
                    self._keep(same)

    def _keep(self, values: Sequence[Value]) -> None:
        for value in values:
            self.slots.setdefault(value, len(self.slots))


def operands_of(repeat: Repeat) -> dict[tuple[int, int, int], tuple[Value, ...]]:
    """The operands of a repeat from outside its rounds: for each that of every round. The keys are
    (step, value, operand) of the body.
    """
    own = {value for step in repeat.body for value in step}
    found: dict[tuple[int, int, int], tuple[Value, ...]] = {}
    for k, steps in enumerate(zip(*repeat.rounds, strict=True)):
        for j, values in enumerate(zip(*steps, strict=True)):
            for o, operands in enumerate(zip(*(v.of for v in values), strict=True)):
                if operands[0] not in own:
                    found[k, j, o] = operands
    return found
