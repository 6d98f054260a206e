"""The search for the best design."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from spart_blocks.base.errors import Fault, InputError, RunError, SpartWarning
from spart_blocks.gradients.instants import NoGradientError
from spart_blocks.gradients.tangents import Floats
from spart_blocks.tunes.by_values import Judge, search_by_values
from spart_blocks.tunes.demands import LEAST_UNIT, Demands, Linear
from spart_blocks.tunes.optimality import optimality
from spart_blocks.tunes.problem import Point, Problem
from spart_blocks.tunes.runs import WITHOUT
from spart_blocks.tunes.solver import Solver

Progress = Callable[[int, float, float], None]
"""Called with the number of the step, the objective and the largest violation, which is relative to
the bounds, of the best design so far."""

ROUNDS = 8
"""Most searches in succession from one start, each from where the last has ended."""
LEAST_GAIN = 1e-6
"""A further search from where one has ended must gain more than this, in units of the objective."""
MOST_WHOLE = 6
"""Largest number of cases that are heeded from the beginning."""
PART = 16
"""Designs that are sampled at once."""
LEAST_TRIED = 2
"""Designs with derivatives after which a parameter is told to have no effect."""
MOST_WITHOUT = 20
"""A search ends after more designs in succession without numbers."""
NEAR, WIDE = 0.02, 0.1
"""First radii of a search by values, relative to the distance of the bounds: beside a kink, and
otherwise."""
KINKS, PER_ENTRY = 3, 20
"""Most kinks from which a search goes on, and the designs, for each parameter, that are tried
around one."""
STATIONARY = 1e-3
"""What is left of the balance of slopes at a design that is told to be the best nearby."""
INTERRUPTED = "interrupted"


@dataclass(frozen=True, eq=False)
class Found:
    """Where a search ended. first: the design that it started from. best: the best that was found.
    evaluations: designs that were run. refused: of those that had no numbers, how many and why the
    first had none. idle: parameters on which nothing depended. why: why it ended. ended: whether
    by itself.
    """

    problem: Problem
    demands: Demands
    first: Floats
    best: Point
    steps: int
    evaluations: int
    refused: tuple[int, str]
    idle: tuple[str, ...]
    why: str
    ended: bool

    @property
    def feasible(self) -> bool:
        """Whether all constraints hold."""
        return bool(self.demands.violation(self.best.numbers) <= 0)


def best_design(problem: Problem, progress: Progress | None = None) -> Found:
    """The best design that is found. An interrupt ends the search and keeps the best so far. Raises
    the error of the run from the start if no design has numbers.
    """
    return _Search(problem, progress).found()


class _EnoughError(Exception):
    """A search has found what it is for, or goes no further."""


@dataclass
class _Search:
    problem: Problem
    progress: Progress | None
    best: Point | None = None
    steps: int = 0
    evaluations: int = 0
    refused: int = 0
    reason: str = ""
    why: list[str] = field(default_factory=list)
    exact: int = 0
    failed: RunError | None = None

    def found(self) -> Found:
        section, space = self.problem.section, self.problem.space
        self.low, self.high = space.searched(space.low), space.searched(space.high)
        start = space.searched(space.start)
        span = self.high - self.low
        self.working: set[int] | None = None
        self.moved = np.zeros(space.size, dtype=bool)
        self.unit = np.where(np.isfinite(span), span, np.where(start != 0, abs(start), 1.0))
        first = self._begun()
        ended, why = True, "nothing is left to search"
        try:
            starts = self._starts(first)
            for z in starts:
                if section.search == "gradient":
                    self._by_gradient(z)
                else:
                    most = section.iterations * (space.size + 2)
                    if not self._by_values(z, WIDE, most):
                        self.why.append(f"no end after {most} designs")
            if self.failed is not None and self.exact == 0:
                raise self.failed
            if section.search == "gradient":
                self._finish()
            why = self.why[0] if self.why else "the objective does not fall further"
            ended = not self.why
        except KeyboardInterrupt:
            if self.best is None:
                raise
            ended, why = False, INTERRUPTED
        assert self.best is not None
        return Found(self.problem, self.demands, first, self.best, self.steps, self.evaluations,
                     (self.refused, self.reason), self._idle(), why, ended)  # fmt: skip

    def _idle(self) -> tuple[str, ...]:
        """The parameters that nothing depends on. Raises InputError if these are all."""
        if self.exact < LEAST_TRIED:
            return ()
        if not self.moved.any():
            names = " and ".join(one.name for one in self.problem.space.free)
            hint = "a signal that changes with them has to be in a metric"
            raise InputError(Fault(f"nothing that is asked depends on {names}", hint=hint))
        labels = self.problem.space.labels
        return tuple(label for label, moved in zip(labels, self.moved, strict=True) if not moved)

    # --- designs --------------------------------------------------------------------------

    def _begun(self) -> Floats:
        """The numbers of the design that the search starts from; NaN where it has none."""
        space = self.problem.space
        first: Floats = self.problem.numbers(space.start[None])[0]
        self.demands = self.problem.demands(first)
        self._taken(Point(space.start, first))
        return first

    def _starts(self, first: Floats) -> list[Floats]:
        """The best of sampled designs and of the start, as what is searched."""
        section, space = self.problem.section, self.problem.space
        points, numbers = space.start[None], first[None]
        if section.samples:
            some = space.points(section.samples, section.seed)
            points = np.concatenate([points, some])
            numbers = np.concatenate([numbers, *self._sampled(some)])
        good = np.isfinite(numbers).all(axis=1)
        if not good.any():
            self.problem.at(space.start)  # raises
            raise RunError("none of the designs that were tried has numbers")
        points, numbers = points[good], numbers[good]
        if not np.isfinite(first).all():
            self.demands = self.problem.demands(np.median(numbers, axis=0))
        excess = np.maximum(self.demands.violation(numbers), 0.0)
        order = np.lexsort((self.demands.objective(numbers), excess))
        return [space.searched(points[k]) for k in order[: section.searches]]

    def _sampled(self, points: Floats) -> Iterator[Floats]:
        """The numbers of designs, in parts, after each of which the best is kept."""
        for k in range(0, len(points), PART):
            some = points[k : k + PART]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SpartWarning)
                numbers = self.problem.numbers(some)
            for values, found in zip(some, numbers, strict=True):
                self._taken(Point(values, found))
            yield numbers

    def _taken(self, point: Point) -> None:
        """Keep a design if it is the best so far."""
        self.evaluations += 1
        if not np.isfinite(point.numbers).all():
            return
        rank = self._rank(point, self.demands)
        if self.best is None or rank < self._rank(self.best, self.demands):
            self.best = point
            self.steps += 1
            if self.progress is not None:
                excess, objective = rank
                self.progress(self.steps, objective, excess)

    def _rank(self, point: Point, demands: Demands | None = None) -> tuple[float, float]:
        """Less is better: what violates least, and of those without violation the objective.
        demands: by default those of the cases that the search heeds now.
        """
        asked = self.part if demands is None else demands
        excess = float(asked.violation(point.numbers))
        if not self.problem.weights:
            return 0.0, excess
        return max(excess, 0.0), float(asked.objective(point.numbers))

    @property
    def part(self) -> Demands:
        """What is asked of the cases that the search heeds now."""
        return self.demands if self.working is None else self.demands.part(self.working)

    def _refuse(self, error: str) -> None:
        self.refused += 1
        self.reason = self.reason or error.partition("\n")[0]

    # --- with derivatives -----------------------------------------------------------------

    def _by_gradient(self, z: Floats) -> None:
        """Searches from one start. Where only the worst of many cases counts, they heed those that
        decide, and go on with more of them as long as others turn out to be worse. Source: J. W.
        Blankenship, J. E. Falk, "Infinitely constrained optimization problems", J. Optim. Theory
        Appl. 19 (1976), algorithm 2.1.
        """
        self.working = None
        if len(self.problem.cases) > MOST_WHOLE and self.demands.all_worst:
            values = self.problem.space.values(z)
            self.working = self.demands.deciding(self.problem.numbers(values[None])[0])
        point = self._exact(z)
        while point is not None:
            found = self._heeding(point)
            if self.working is None or found is None or self.why:
                return
            more = self.demands.deciding(found.numbers) - self.working
            if not more or not self._better(self._rank(found), self._rank(found, self.demands)):
                return
            self.working = self.working | more
            point = self._exact(self.problem.space.searched(found.values))

    def _heeding(self, point: Point) -> Point | None:
        """The end of searches from a design, of the cases that they heed; None if these cannot be
        fulfilled."""
        space = self.problem.space
        if self._rank(point)[0] > 0:
            fulfilled = self._fulfilled(point)
            if fulfilled is None:
                return None
            point = fulfilled
        for _ in range(ROUNDS):
            before = self._rank(point)
            z, why = self._solved(self._asked(point), space.searched(point.values))
            after = self._exact(z)
            if after is None or not self._better(self._rank(after), before):
                return point
            point = after
            if why is not None:
                self.why.append(why)
                return point
        return point

    def _asked(self, point: Point) -> Linear:
        if self.problem.weights:
            assert point.slopes is not None
            return self.part.linear(point.numbers, point.slopes)
        return self.part.feasibility(point.numbers, each=False)

    def _fulfilled(self, point: Point) -> Point | None:
        """A design that fulfils the constraints, searched from another; None if none is found.
        First all that is beyond a bound is made small, then the largest alone."""
        for each in (True, False):
            z = self.problem.space.searched(point.values)
            z, _ = self._solved(self.part.feasibility(point.numbers, each=each), z, enough=True)
            found = self._exact(z)
            if found is None or self._rank(found)[0] <= 0:
                return found
            point = found
        return None

    def _better(self, after: tuple[float, float], before: tuple[float, float]) -> bool:
        if before[0] > 0 and after[0] > 0:
            return after[0] < before[0] * (1 - LEAST_GAIN)
        if before[0] > 0 or after[0] > 0:
            return after < before
        return after[1] < before[1] - LEAST_GAIN * max(
            abs(before[1]), LEAST_UNIT * self.demands.size
        )

    def _solved(
        self, asked: Linear, z: Floats, *, enough: bool = False
    ) -> tuple[Floats, str | None]:
        """One search: the best that it has seen, and why it has not ended by itself. enough:
        whether it ends at the first design that fulfils the constraints.
        """
        wide = asked.A.shape[1] > len(self.problem.rows)
        seen: list[tuple[tuple[float, float], Floats]] = []
        without = 0

        def numbers(x: Floats) -> tuple[Floats, Floats] | None:
            nonlocal without
            at = np.clip(x * self.unit, self.low, self.high)
            point = self._exact(at)
            without = without + 1 if point is None else 0
            if without > MOST_WITHOUT:
                raise _EnoughError
            if point is None:
                return None
            assert point.slopes is not None
            seen.append((self._rank(point), at))
            if enough and seen[-1][0][0] <= 0:
                raise _EnoughError
            slopes = point.slopes * self._by_searched(point.values) * self.unit
            if not wide:
                return point.numbers, slopes
            return np.append(point.numbers, 1.0), np.vstack([slopes, np.zeros(slopes.shape[1])])

        solver = Solver(asked, numbers, self.low / self.unit, self.high / self.unit,
                        self.problem.section.iterations)  # fmt: skip
        why = None
        with suppress(_EnoughError):
            why = solver.run(z / self.unit)
        return min(seen, key=lambda one: one[0])[1], why

    def _by_searched(self, values: Floats) -> Floats:
        """The derivatives of values by what is searched."""
        return np.where(self.problem.space.log, values, 1.0)

    def _exact(self, z: Floats) -> Point | None:
        """A design with derivatives; None if it has none."""
        try:
            point = self.problem.at(self.problem.space.values(z), self.working)
        except RunError as error:
            if isinstance(error, NoGradientError):
                error.add_hint(WITHOUT)
            self.failed = self.failed or error
            self._refuse(str(error))
            return None
        self.exact += 1
        assert point.slopes is not None
        self.moved |= (point.slopes != 0).any(axis=0)
        self._taken(point)
        return point

    def _finish(self) -> None:
        """Go on from where a kink of a metric has stopped the search: there the slopes do not
        balance. Designs around it are searched by values, and from the best of these by slopes.
        """
        for _ in range(KINKS):
            self._complete()
            assert self.best is not None
            balance = optimality(self.problem, self.demands, self.best)
            before = self._rank(self.best, self.demands)
            if before[0] > 0 or balance is None or balance.residual < STATIONARY:
                return
            most = PER_ENTRY * (self.problem.space.size + 1)
            self._by_values(self.problem.space.searched(self.best.values), NEAR, most)
            if not self._better(self._rank(self.best, self.demands), before):
                return
            self._by_gradient(self.problem.space.searched(self.best.values))
        self._complete()

    def _complete(self) -> None:
        """Derivatives of the best design in all cases."""
        if self.best is not None and not (self.best.whole and self.best.slopes is not None):
            with suppress(RunError):
                found = self.problem.at(self.best.values)
                if self._rank(found, self.demands)[0] <= self._rank(self.best, self.demands)[0]:
                    self.best = found

    # --- without --------------------------------------------------------------------------

    def _by_values(self, z: Floats, radius: float, most: int) -> bool:
        """A search by values alone. Returns whether it has ended by itself."""

        def numbers(x: Floats) -> Floats:
            values = self.problem.space.values(np.clip(x * self.unit, self.low, self.high))
            found: Floats = self.problem.numbers(values[None])[0]
            if not np.isfinite(found).all():
                self._refuse("its run fails")
            self._taken(Point(values, found))
            return found

        bounds = self.low / self.unit, self.high / self.unit
        judge = Judge(self.demands, numbers)
        return search_by_values(judge, z / self.unit, bounds, radius, most)
