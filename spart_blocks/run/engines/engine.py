"""Interface between a run and a diagram: equations of time and states, and events.

Two engines implement it: the interpreter calls the blocks, the native engine a program.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import RunError
from spart_blocks.diagram.network.clocks import Clock
from spart_blocks.diagram.network.display import Display
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.program.tracing.holds import HeldOutput
from spart_blocks.program.tracing.switching import Crossing, SwitchTimes, UpcomingSwitches

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.network.nodes import Node

Floats = NDArray[np.float64]
Pick = Callable[[float, Floats, Floats], list[Floats]]


def not_finite(slices: Mapping[str, slice], vector: Floats) -> str | None:
    """The first block whose part of a vector contains a number that is not finite; None if there
    is none.
    """
    return next((n for n, part in slices.items() if not np.isfinite(vector[part]).all()), None)


def shown(value: Any) -> str:
    """Text of a value for messages."""
    return np.array2string(np.asarray(value), threshold=12, precision=4)


class Engine(ABC):
    """The equations of a diagram.

    title: name of the diagram. continuous, sampled: slices of each block's states in the vectors x
    and xd. traced: whether a program is evaluated instead of the blocks. holds: outputs that are
    held between ticks; each is a state in `sampled`, by its name. drifting: whether steps and
    samples must be projected. damped: blocks that continue through poses in which their loops lose
    rank; see `Program`. jacobian: function (t, x, xd) -> df/dx (nx, nx), if available.
    """

    name: ClassVar[str]
    traced: ClassVar[bool]
    title: str
    run: RunOptions
    continuous: Mapping[str, slice]
    sampled: Mapping[str, slice]
    clocks: tuple[Clock, ...]
    holds: tuple[HeldOutput, ...] = ()
    drifting: bool = False
    damped: Sequence[str] = ()
    jacobian: Callable[[float, Floats, Floats], Floats] | None = None

    @property
    def can_linearise(self) -> bool:
        """Whether `linearised` has derivatives."""
        return False

    @cached_property
    @abstractmethod
    def display(self) -> Display:
        """What is shown of the diagram."""

    # --- the equations ---------------------------------------------------------------

    def linearised(self, t: float, x: Floats, xd: Floats) -> tuple[Floats, Floats] | None:
        """The derivatives (nx, nx) and (nx,) of dx/dt by x and t at the start of a step; None if
        they are to be found by differences.
        """
        return None

    @abstractmethod
    def initial(self) -> tuple[Floats, Floats]:
        """The initial continuous and discrete states."""

    @abstractmethod
    def derivative(self, t: float, x: Floats, xd: Floats, start: Floats | None = None) -> Floats:
        """dx/dt. Raises RunError, naming the first signal that is not finite, if it is not finite.

        start: the state at the start of the step, which decides which limits act; x by default.
        """

    @abstractmethod
    def tick(self, t: float, x: Floats, xd: Floats, due: Sequence[Clock]) -> Floats:
        """The discrete states after the clocks `due` have ticked together. All blocks read the
        values before the tick, except that outputs held on these clocks are renewed first.
        """

    @abstractmethod
    def filled(self, t: float, x: Floats, xd: Floats) -> Floats:
        """xd with all held outputs computed as at a tick of their clocks now; other states stay."""

    @abstractmethod
    def project(self, t: float, x: Floats) -> Floats:
        """x projected onto its constraints: unit quaternions, integrators within limits, closed
        loops."""

    def project_all(self, t: Floats, x: Floats) -> Floats:
        """`project` for N states x (N, nx) at times t (N,)."""
        rows = [self.project(one, state) for one, state in zip(t.tolist(), x, strict=True)]
        return np.array(rows).reshape(x.shape)

    def reach(self, t: float, x: Floats) -> float:
        """The longest step [s] from x that does not pass over an event."""
        return float("inf")

    @abstractmethod
    def advance(self, t: float, h: float, x: Floats, xd: Floats) -> Mapping[str, Floats]:
        """The states at t + h of the blocks that advance by a one-step map instead of rates."""

    @property
    @abstractmethod
    def fixed(self) -> Sequence[str]:
        """The blocks that cannot be integrated with error control."""

    # --- signals ---------------------------------------------------------------------

    @abstractmethod
    def signals(self) -> Iterable[str]:
        """The full names of all signals."""

    @abstractmethod
    def picked(self, names: Sequence[str]) -> Pick:
        """A function (t, x, xd) -> the named signals; it raises RunError where a signal is
        not finite."""

    @abstractmethod
    def over(self, names: Sequence[str], t: Floats, x: Floats, xd: Floats) -> list[Floats]:
        """The named signals at N times t (N,) and states x (N, nx), xd (N, nd): an array (N, ...)
        for each, which may contain NaN or infinity. Raises KeyError for an unknown signal.
        """

    def alone(self, names: Sequence[str]) -> Pick:
        """A function (t, x, xd) -> the named signals, evaluated without the others; they may not
        be finite."""

        def pick(t: float, x: Floats, xd: Floats) -> list[Floats]:
            return [one[0] for one in self.over(names, np.array([t]), x[None], xd[None])]

        return pick

    def width(self, names: Sequence[str]) -> int:
        """Total number of entries of these signals, or an estimate before they are evaluated."""
        return len(names)

    @abstractmethod
    def explain(self, t: float, x: Floats, xd: Floats) -> None:
        """Raise RunError for the first block, in the order of evaluation, that fails or gives a
        number that is not finite. Does nothing if there is none.
        """

    def refuse_states(self, t: float, x: Floats, xd: Floats) -> None:
        """Raise RunError for a block whose own state is not finite."""
        for slices, vector in ((self.continuous, x), (self.sampled, xd)):
            name = not_finite(slices, vector)
            if name is not None:
                text = f"its state is not finite ({shown(vector[slices[name]])})"
                raise RunError(text, block=name, time=t)

    def check_shapes(self, t: float, x: Floats, xd: Floats) -> None:  # noqa: B027
        """Raise DiagramError for every wire whose shape its input does not accept."""

    def act(self, t: float, x: Floats, xd: Floats) -> None:  # noqa: B027
        """Execute the actions of blocks that act at every sample."""

    # --- events ------------------------------------------------------------------------

    @property
    @abstractmethod
    def crossings(self) -> Sequence[Crossing]:
        """The zero-crossings to watch, in the order of `watch`."""

    @abstractmethod
    def seeing(self, signals: Collection[str]) -> Engine:
        """This engine without the bends that can be seen neither between ticks nor in these
        signals, which are all that is recorded or measured.
        """

    @abstractmethod
    def watch(self, t: float, x: Floats, xd: Floats) -> Floats:
        """Values of the zero-crossing functions, one for each crossing."""

    @abstractmethod
    def reset(self, k: int, t: float, x: Floats, xd: Floats) -> tuple[Floats, Floats]:
        """The states after the EVENT of crossing k."""

    @abstractmethod
    def failure(self, k: int, t: float, x: Floats, xd: Floats) -> RunError:
        """The error of a run that ends at crossing k, which is a fault."""

    @abstractmethod
    def switches(self) -> Iterable[SwitchTimes]:
        """The times at which signals switch that are known in advance."""

    def switches_within(self, start: Fraction, end: Fraction) -> UpcomingSwitches:
        """The switching times after start up to the end."""
        return UpcomingSwitches.of(self.switches(), start, end)

    def next_stop(self, x: Floats) -> float:
        """The next time [s] at which a block requests a stop. It is a time that the block learned
        during the run and stores in its state.
        """
        return float("inf")

    def completed(self, t: float, x: Floats, xd: Floats) -> Sequence[int]:
        """Notify blocks of an accepted step. Returns the crossings of the blocks that request a
        switch there.
        """
        return ()

    def jump_inputs(self, t: float, x: Floats, xd: Floats) -> Sequence[Any]:
        """The inputs of the blocks that are notified of jumps of their inputs; an argument of
        `jumped`.
        """
        return ()

    def jumped(self, before: Sequence[Any], t: float, x: Floats, xd: Floats) -> Sequence[int]:
        """The crossings of the blocks that request a switch because their inputs differ from
        before."""
        return ()

    # --- known to blocks alone -----------------------------------------------------------

    @abstractmethod
    def made_of(self) -> tuple[Diagram, Sequence[Node]]:
        """The diagram and the nodes of its wiring. Raises InputError if there is only a program."""

    def plant_state(self, block: str) -> Any:
        """The object that converts `initial` entries of a plant to states; None for
        other blocks.
        """
        return None
