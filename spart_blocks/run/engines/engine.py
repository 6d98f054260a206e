"""Interface between a run and a diagram: equations of time and states, and events.

Two engines implement it: the interpreter calls the blocks, the native engine a program.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import RunError
from spart_blocks.diagram.network.clocks import Clock
from spart_blocks.diagram.network.display import Display
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.program.tracing.holds import HeldOutput
from spart_blocks.program.tracing.switching import Crossing, SwitchTimes, switching_times

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.network.nodes import Node

Floats = NDArray[np.float64]
Pick = Callable[[float, Floats, Floats], list[Floats]]


def not_finite(slices: Mapping[str, slice], vector: Floats) -> str | None:
    """The first block whose part of a vector holds a number that is not finite."""
    return next((n for n, part in slices.items() if not np.isfinite(vector[part]).all()), None)


def shown(value: Any) -> str:
    """Text of a value for messages."""
    return np.array2string(np.asarray(value), threshold=12, precision=4)


class Engine(ABC):
    """The equations of a diagram.

    title: the diagram's name. continuous, sampled: slices of the states of each block in the
    vectors x and xd. traced: whether the engine evaluates a program in place of the blocks.
    holds: the outputs that are held between ticks; each is a state in `sampled` by its name.
    drifting: whether steps and samples must be projected. damped: the blocks that continue through
    poses in which their loops lose rank; see `Program`.
    jacobian: df/dx (nx, nx) as a function of (t, x, xd), where the engine has it.
    """

    name: ClassVar[str]
    traced: ClassVar[bool]
    title: str
    run: RunOptions
    display: Display
    continuous: Mapping[str, slice]
    sampled: Mapping[str, slice]
    clocks: tuple[Clock, ...]
    holds: tuple[HeldOutput, ...] = ()
    drifting: bool = False
    damped: Sequence[str] = ()
    jacobian: Callable[[float, Floats, Floats], Floats] | None = None

    # --- the equations ---------------------------------------------------------------

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
        """The discrete states after the clocks due have ticked together. All read the values before
        the tick, except held outputs, which are read as renewed at the tick."""

    @abstractmethod
    def filled(self, t: float, x: Floats, xd: Floats) -> Floats:
        """xd with all held outputs as a tick of their clocks makes them now; states stay."""

    @abstractmethod
    def project(self, t: float, x: Floats) -> Floats:
        """x projected onto its constraints: unit quaternions, integrators within limits, closed
        loops."""

    def project_all(self, t: Floats, x: Floats) -> Floats:
        """`project` for N states x (N, nx) at times t (N,)."""
        rows = [self.project(one, state) for one, state in zip(t.tolist(), x, strict=True)]
        return np.array(rows).reshape(x.shape)

    def reach(self, t: float, x: Floats) -> float:
        """The longest step [s] from x that misses nothing."""
        return float("inf")

    @abstractmethod
    def advance(self, t: float, h: float, x: Floats, xd: Floats) -> Mapping[str, Floats]:
        """The states at t + h of the blocks with a step of their own."""

    @property
    @abstractmethod
    def fixed(self) -> Sequence[str]:
        """The blocks that no solver with error control may run."""

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
        """The named signals at N times t (N,) and states x (N, nx), xd (N, nd), finite or
        not: (N, ...) each. KeyError where there is no such signal."""

    def width(self, names: Sequence[str]) -> int:
        """Total number of entries of these signals, as far as known beforehand."""
        return len(names)

    @abstractmethod
    def explain(self, t: float, x: Floats, xd: Floats) -> None:
        """Raise RunError naming the first block, in order of evaluation, that fails or gives a
        non-finite number here, if any does."""

    def refuse_states(self, t: float, x: Floats, xd: Floats) -> None:
        """Raise RunError naming a block whose own state is not finite."""
        for slices, vector in ((self.continuous, x), (self.sampled, xd)):
            name = not_finite(slices, vector)
            if name is not None:
                text = f"its state is not finite ({shown(vector[slices[name]])})"
                raise RunError(text, block=name, time=t)

    def check_shapes(self, t: float, x: Floats, xd: Floats) -> None:  # noqa: B027
        """Raise DiagramError for every wire whose shape its input does not take."""

    def act(self, t: float, x: Floats, xd: Floats) -> None:  # noqa: B027
        """Run the blocks that act at every sample."""

    # --- events ------------------------------------------------------------------------

    @property
    @abstractmethod
    def crossings(self) -> Sequence[Crossing]:
        """The zero-crossings to watch, in the order of `watch`."""

    @abstractmethod
    def watch(self, t: float, x: Floats, xd: Floats) -> Floats:
        """Values of the zero-crossing functions, one for each crossing."""

    @abstractmethod
    def reset(self, k: int, t: float, x: Floats, xd: Floats) -> tuple[Floats, Floats]:
        """The states after the EVENT of crossing k."""

    @abstractmethod
    def failure(self, k: int, t: float, x: Floats, xd: Floats) -> RunError:
        """The error of a run that crossing k, a fault, ends."""

    @abstractmethod
    def switches(self) -> Iterable[SwitchTimes]:
        """The known times at which signals switch."""

    def event_times(self, start: Fraction, end: Fraction) -> list[Fraction]:
        """The switching times after start up to the end, in descending order."""
        return switching_times(self.switches(), start, end)

    def next_stop(self, x: Floats) -> float:
        """Next time [s] at which a block requests a stop: a time that it learned during the run and
        that its state holds."""
        return float("inf")

    def completed(self, t: float, x: Floats, xd: Floats) -> Sequence[int]:
        """Notify blocks of an accepted step. Returns the crossings of those that request a switch
        there."""
        return ()

    def told(self, t: float, x: Floats, xd: Floats) -> Sequence[Any]:
        """Inputs of the blocks that are notified of jumps of their inputs, for `jumped`."""
        return ()

    def jumped(self, before: Sequence[Any], t: float, x: Floats, xd: Floats) -> Sequence[int]:
        """The crossings of the blocks that request a switch because their inputs differ from
        before."""
        return ()

    # --- known to blocks alone -----------------------------------------------------------

    @abstractmethod
    def made_of(self) -> tuple[Diagram, Sequence[Node]]:
        """The diagram, and the nodes of its wiring. Raises InputError where there is a program
        alone."""

    def plant_state(self, block: str) -> Any:
        """Function by which a plant reads `initial` entries; None for other blocks."""
        return None
