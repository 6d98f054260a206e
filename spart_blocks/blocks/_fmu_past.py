"""What an FMU has been given: its hidden state is what these inputs make of its start.

A state vector names a branch and a number of steps, and the FMU can be brought there by
giving it the branch's inputs again. A run that goes on from a state in the middle of a
branch begins a branch of its own there.
"""

from __future__ import annotations

import secrets
from array import array
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spart_blocks.errors import SpartError

Floats = NDArray[np.float64]

MOST_KEPT = 20_000_000
"""Numbers kept of all branches together; beyond it the oldest are forgotten."""


@dataclass
class Branch:
    """The inputs of steps that follow each other.

    number: what a state vector calls it. of: the FMU with its start values, and its clock.
    first: the tick at which the FMU starts. width: inputs of a step. parent: the branch
    that it left after `taken` steps.
    """

    number: int
    of: Hashable
    first: int
    width: int
    parent: Branch | None = None
    taken: int = 0
    rows: array[float] = field(default_factory=lambda: array("d"))
    steps: int = 0

    @property
    def end(self) -> int:
        """How many steps from the start of the FMU to the end of the branch."""
        return self.taken + self.steps

    def add(self, u: Floats) -> None:
        self.rows.frombytes(u.tobytes())
        self.steps += 1

    def inputs(self, count: int) -> Iterator[Floats]:
        """The inputs of the first `count` steps from the start of the FMU."""
        parts: list[tuple[Branch, int]] = []
        branch: Branch | None = self
        while branch is not None:
            parts.append((branch, max(count - branch.taken, 0)))
            count = min(count, branch.taken)
            branch = branch.parent
        for part, steps in reversed(parts):
            yield from np.array(part.rows).reshape(part.steps, self.width)[:steps]


_BRANCHES: OrderedDict[int, Branch] = OrderedDict()


def begun(of: Hashable, first: int, width: int) -> Branch:
    """A branch of no steps yet, from the start of the FMU."""
    return _kept(Branch(_number(), of, first, width))


def forked(branch: Branch, count: int) -> Branch:
    """The branch to write the step after `count` steps into: this one at its end, else a
    new one."""
    if count == branch.end:
        return branch
    return _kept(Branch(_number(), branch.of, branch.first, branch.width, branch, count))


def found(number: int, count: int, of: Hashable) -> Branch:
    """The branch that a state vector names. SpartError where this process has none such."""
    branch = _BRANCHES.get(number)
    if branch is None or not 0 < count <= branch.end:
        raise SpartError(
            "the state is not one that the FMU has had here: its inner state is kept only "
            "while the program runs\n"
            "  continue a run in the Python program that made it, or run it from the start"
        )
    if branch.of != of:
        raise SpartError(
            "the state is that of another FMU, or of other start values or another clock\n"
            "  continue a run with the diagram that it was of"
        )
    return branch


def _number() -> int:
    """A number that no other process has used, exact as a float."""
    return secrets.randbelow(2**53 - 1) + 1


def _kept(branch: Branch) -> Branch:
    _BRANCHES[branch.number] = branch
    total = sum(len(b.rows) for b in _BRANCHES.values())
    while total > MOST_KEPT and len(_BRANCHES) > 1:
        _, oldest = _BRANCHES.popitem(last=False)
        total -= len(oldest.rows)
    return branch
