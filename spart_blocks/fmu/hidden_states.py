"""Hidden state of an FMU for model exchange. The solver stores its continuous states; the rest,
such as modes, held values and counters, is hidden in the FMU and changes at events only. So a state
vector contains the continuous states and the name of a mode. A mode stores its event and the
previous mode; replaying these events from the start brings an FMU to the mode. Other times, states
and inputs have no influence.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from spart_blocks.base.errors import SpartError
from spart_blocks.fmu.exchange import Update
from spart_blocks.fmu.instance import Floats

MOST_KEPT = 20_000_000
"""Limit on the numbers kept of all modes together; beyond it the oldest are forgotten."""
_BITS = 50
_SCALE = 2.0**-1000
"""Names are far below all tolerances, so they do not affect the error norms of a solver."""

Step = tuple[float, Floats, Floats]
"""An accepted step: time [s], continuous states, inputs."""


@dataclass(eq=False)
class FmuMode:
    """The mode of an FMU after an event. of: the FMU with its start values and ports. t [s], x, u:
    time, states and inputs of the event; update: its result. parent: the previous mode, and `past`
    the steps accepted in it; None at the start. steps: those accepted in this mode, if the FMU
    needs them.
    """

    of: Hashable
    t: float
    x: Floats
    u: Floats
    update: Update
    parent: FmuMode | None = None
    past: tuple[Step, ...] = ()
    steps: list[Step] = field(default_factory=list)
    number: int = field(default_factory=lambda: secrets.randbelow(2**_BITS - 1) + 1)

    def __post_init__(self) -> None:
        _KEPT.add(self)

    @property
    def name(self) -> float:
        """Its name in a state vector."""
        return self.number * _SCALE

    @property
    def size(self) -> int:
        """The count of numbers that it keeps."""
        width = 1 + len(self.x) + len(self.u)
        return width * (1 + len(self.past)) + len(self.update.x)

    def back(self) -> Iterator[FmuMode]:
        """This mode and its predecessors."""
        mode: FmuMode | None = self
        while mode is not None:
            yield mode
            mode = mode.parent


class _Kept:
    """The modes that a state vector can name, oldest first, and the count of their numbers."""

    def __init__(self) -> None:
        self.modes: OrderedDict[int, FmuMode] = OrderedDict()
        self.total = 0

    def add(self, mode: FmuMode) -> None:
        self.modes[mode.number] = mode
        self.total += mode.size
        while self.total > MOST_KEPT and len(self.modes) > 1:
            self.total -= self.modes.popitem(last=False)[1].size


_KEPT = _Kept()


def is_kept(mode: FmuMode) -> bool:
    """Whether a state vector can name a mode."""
    return mode.number in _KEPT.modes


def found(name: float, of: Hashable) -> FmuMode | None:
    """The mode named by an entry of a state vector. None if a solver has perturbed the entry for a
    finite difference, which must have no effect. SpartError if this process has no such mode.
    """
    number = name / _SCALE
    if not abs(number) <= 2.0**_BITS or number != int(number):
        return None
    mode = _KEPT.modes.get(int(number))
    if mode is None:
        raise SpartError(
            "the state is not one that the FMU has had here: its inner state is kept only "
            "while the program runs\n"
            "  continue a run in the Python program that made it, or run it from the start; "
            "start: gives states their first values"
        )
    if mode.of != of:
        raise SpartError(
            "the state is that of another FMU, or of other start values\n"
            "  continue a run with the diagram that it was of"
        )
    return mode
