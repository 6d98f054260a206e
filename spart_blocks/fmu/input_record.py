"""Record of the inputs of an FMU, which determine its hidden state. A state vector names a branch
and a number of steps; replaying the branch's inputs brings the FMU to that state. A run that
continues from the middle of a branch starts a new branch there.
"""

from __future__ import annotations

import secrets
from array import array
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import SpartError

Floats = NDArray[np.float64]

MOST_KEPT = 20_000_000
"""Limit on the numbers kept of all branches together; beyond it the oldest are forgotten."""


@dataclass
class Branch:
    """The inputs of consecutive steps. number: its name in a state vector. of: the FMU with its
    start values, and its clock. first: the tick at which the FMU starts. width: number of inputs
    per step. parent: the branch from which it departs after `taken` steps.
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
        """The number of steps from the start of the FMU to the end of the branch."""
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
    """A new branch without steps, from the start of the FMU."""
    return _kept(Branch(_number(), of, first, width))


def forked(branch: Branch, count: int) -> Branch:
    """The branch for the step after `count` steps: this one at its end, otherwise a new one."""
    if count == branch.end:
        return branch
    return _kept(Branch(_number(), branch.of, branch.first, branch.width, branch, count))


def found(number: int, count: int, of: Hashable) -> Branch:
    """The branch that a state vector names. SpartError if this process has no such branch."""
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
