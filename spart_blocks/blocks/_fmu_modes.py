"""What an FMU for model exchange is between two events.

Its continuous states are the solver's; the rest, such as modes, held values and counters,
is hidden in it and changes at events alone. So a state vector has the continuous states and the
name of a mode, which knows the event that made it and the mode before; an FMU comes to a mode
from its start by these events. Times, states and inputs of other modes do not matter.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from spart_blocks.blocks._fmu_exchange import Update
from spart_blocks.blocks._fmu_instance import Floats
from spart_blocks.errors import SpartError

MOST_KEPT = 20_000_000
"""Numbers kept of all modes together; beyond it the oldest can no longer be named."""
_BITS = 50
_SCALE = 2.0**-1000
"""Names are far below all tolerances: they change no norm of a solver."""

Step = tuple[float, Floats, Floats]
"""An accepted step: time [s], continuous states, inputs."""


@dataclass(eq=False)
class Mode:
    """An FMU from an event on.

    of: the FMU with its start values and ports. t [s], x, u: the event, and the states and
    inputs that it was given; update: what it made. parent: the mode before, and `past` the
    steps accepted in that one; None at the start. steps: those accepted in this one, of an FMU
    that is told of them.
    """

    of: Hashable
    t: float
    x: Floats
    u: Floats
    update: Update
    parent: Mode | None = None
    past: tuple[Step, ...] = ()
    steps: list[Step] = field(default_factory=list)
    number: int = field(default_factory=lambda: secrets.randbelow(2**_BITS - 1) + 1)

    def __post_init__(self) -> None:
        _KEPT.add(self)

    @property
    def name(self) -> float:
        """What a state vector has for it."""
        return self.number * _SCALE

    @property
    def size(self) -> int:
        """Numbers that it keeps."""
        width = 1 + len(self.x) + len(self.u)
        return width * (1 + len(self.past)) + len(self.update.x)

    def back(self) -> Iterator[Mode]:
        """This mode and those before it."""
        mode: Mode | None = self
        while mode is not None:
            yield mode
            mode = mode.parent


class _Kept:
    """The modes that a state vector can name, the oldest first, and the numbers in them."""

    def __init__(self) -> None:
        self.modes: OrderedDict[int, Mode] = OrderedDict()
        self.total = 0

    def add(self, mode: Mode) -> None:
        self.modes[mode.number] = mode
        self.total += mode.size
        while self.total > MOST_KEPT and len(self.modes) > 1:
            self.total -= self.modes.popitem(last=False)[1].size


_KEPT = _Kept()


def is_kept(mode: Mode) -> bool:
    """Whether a state vector can name a mode."""
    return mode.number in _KEPT.modes


def found(name: float, of: Hashable) -> Mode | None:
    """The mode of a state vector's entry. None where a solver has moved the entry, to find out
    what depends on it: nothing does. SpartError where this process has no such mode."""
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
