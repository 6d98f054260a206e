"""Base of all segment solvers: the location of crossings in a segment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from spart_blocks.simulation.crossings import locate, upward
from spart_blocks.simulation.engine import Floats
from spart_blocks.simulation.record import Dense

if TYPE_CHECKING:
    from spart_blocks.simulation.run import Run


class SegmentSolver(ABC):
    """Advances a run over segments, from stop to stop, keeping samples on the way.

    located: the kinds of crossings that it stops at. solver: the run's, as it was made.
    """

    located: ClassVar[tuple[str, ...]] = ("stop", "event", "mode", "limit", "bend", "fault")

    def __init__(self, run: Run) -> None:
        self.run, self.solver = run, run.options.solver

    @abstractmethod
    def advance(self, a: Fraction, b: Fraction) -> Fraction:
        """Advance the states from a to b, or to a crossing before b; the time reached."""

    def passed_by(self, t0: float, t1: float) -> bool:
        """Step from one stop to the next at once if they differ only by rounding; returns
        whether they do.
        """
        if t1 - t0 >= 1e-12 * max(1.0, t1):
            return False
        self.run.x = self.run.x + (t1 - t0) * self.run.derivative(t0, self.run.x)
        return True

    def crossed(
        self, before: Floats, after: Floats, dense: Dense, t0: float, t1: float
    ) -> tuple[float, list[int]] | None:
        """The earliest crossing between two times: its time, and its index with those of coinciding
        crossings; dense gives x."""
        found = [(self._locate(k, after, dense, t0, t1), k) for k in self._located(before, after)]
        if not found:
            return None
        t, first = min(found)
        return t, sorted({first, *self._located(before, self.run.watch(t, dense(t)))})

    def _locate(self, k: int, after: Floats, dense: Dense, t0: float, t1: float) -> float:
        run = self.run

        def watched(t: float) -> float:
            return float(run.watch(t, dense(t))[k])

        return locate(watched, run.crossings[k], upward(run.crossings[k], after[k]), t0, t1)

    def _located(self, before: Floats, after: Floats) -> list[int]:
        """The crossings between two sets of watched values at which it stops."""
        found = self.run.crossed(before, after)
        return [k for k in found if self.run.crossings[k].kind in self.located]
