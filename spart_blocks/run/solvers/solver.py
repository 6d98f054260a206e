"""Base of all segment solvers: the location of crossings in a segment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from spart_blocks.base.errors import RunError
from spart_blocks.diagram.network.clocks import exact
from spart_blocks.run.constants import LOCATED, NEARBY, SAME_STOP, SHORT_OF
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.events.crossings import locate
from spart_blocks.run.events.meeting import straight, turns_back
from spart_blocks.run.events.stops import just_before
from spart_blocks.run.record.record import Dense
from spart_blocks.run.run import Run


class SegmentSolver(ABC):
    """Base class of solvers that advance a run from stop to stop and keep samples.

    solver: the name of the run's solver when this was made.
    """

    def __init__(self, run: Run) -> None:
        self.run, self.solver = run, run.options.solver

    @abstractmethod
    def advance(self, a: Fraction, b: Fraction) -> Fraction:
        """Advance the states from a to b, or to a crossing before b. Returns the time reached."""

    def pass_by(self, t0: float, t1: float) -> bool:
        """If two stops differ by rounding only, take one Euler step between them. Returns whether
        it did.
        """
        if t1 - t0 >= SAME_STOP * max(1.0, t1):
            return False
        self.run.x = self.run.x + (t1 - t0) * self.run.derivative(t0, self.run.x)
        return True

    def crossed(
        self, before: Floats, after: Floats, dense: Dense, t0: float, t1: float
    ) -> tuple[float, list[int]] | None:
        """The earliest crossing between two times: its time, and the indices of all crossings
        there; None if there is none. before, after: values at t0 and t1. dense: gives x.
        """
        if not self.run.crossed(before, after):
            return None
        t, first = self._first(self.run.crossed, before, after, dense, t0, t1)
        return t, sorted({first, *self.run.crossed(before, self.run.watch(t, dense(t)))})

    def near_side(self, before: Floats, dense: Dense, t0: float, t: float) -> float:
        """The latest time before the crossing at t at which nothing has crossed. (The located time
        is just after the crossing.) The record of the step ends here. If a sample time is closer
        than this, it takes precedence.
        """
        gap = LOCATED

        def is_near(at: float) -> bool:
            return not self.run.crossed(before, self.run.watch(at, np.asarray(dense(at))))

        while gap < 0.5 * (t - t0):
            if is_near(t - gap):
                samples = map(float, self.run.samples.within(exact(t - gap), exact(t)))
                return max((s for s in samples if s < t and is_near(s)), default=t - gap)
            gap *= 8
        return just_before(t)

    def near(self, before: Floats, after: Floats) -> bool:
        """Whether a step with these values at its ends is near a surface."""
        return bool((np.abs(before) <= NEARBY * np.abs(after - before)).any())

    def stays(self, before: Floats, x0: Floats, t0: float, t1: float) -> tuple[float, Dense] | None:
        """Where a straight line along the first slope of a step meets a surface with an effect, if
        the rates behind it lead back, and this line; otherwise None.

        A step might stay before such a surface for ever, so that the effect never happens. The
        surface may be slightly beyond the step's end, since rounding may put it on either side.
        before: values at x0, t0.
        """
        try:
            line = straight(self.run, t0, x0)
            until = self._stays(before, line, t0, t1)
        except RunError:  # no number there
            return None
        return None if until is None else (until, line)

    def _stays(self, before: Floats, line: Dense, t0: float, t1: float) -> float | None:
        run, beyond = self.run, t1 + SHORT_OF / 2  # a repeated step ends before that

        def watched(t: float) -> Floats:
            return run.watch(min(t, t1), line(t))

        def acting(before: Floats, after: Floats) -> list[int]:
            return [k for k in run.crossed(before, after) if k in run.acting]

        ahead = watched(beyond)
        if not acting(before, ahead):
            return None
        until, _ = locate(watched, acting, before, ahead, t0, beyond)
        since = max(until - SHORT_OF, 0.5 * (t0 + until))
        if self.run.crossed(before, watched(since)):
            return None  # another surface comes before it
        return until if turns_back(run, line, since, until, t1) else None

    def _first(
        self,
        crossed: Callable[[Floats, Floats], Sequence[int]],
        before: Floats,
        after: Floats,
        dense: Dense,
        t0: float,
        t1: float,
    ) -> tuple[float, int]:
        """The time of the first crossing between two times, and its index; see `locate`."""
        return locate(lambda t: self.run.watch(t, dense(t)), crossed, before, after, t0, t1)
