"""How the states move over a piece of a run, from one stop to the next: by steps of an
explicit or implicit solver, by CVODES, or not at all where there are none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spart_blocks.diagram.clocks import exact
from spart_blocks.errors import Fault, InputError, RunError
from spart_blocks.simulation.crossings import LOCATED_WITHIN, locate, upward
from spart_blocks.simulation.cvodes import METHODS, Cvodes
from spart_blocks.simulation.engine import Floats
from spart_blocks.simulation.fixed_step import FixedStep
from spart_blocks.simulation.meeting import LOOKED_AHEAD, held_at
from spart_blocks.simulation.record import Grid
from spart_blocks.simulation.run import Run
from spart_blocks.simulation.shrinking import no_step
from spart_blocks.simulation.stiffness import INTERPRETED, StiffnessTest, heeds, meet
from spart_blocks.simulation.stops import just_before, within
from spart_blocks.tableaus import tableau

EARLY = 0.99
"""A stage that crosses at this part of the way to the crossing of the step's end, or before,
has made that end wrong."""

Dense = Callable[[float], Floats]

NEAREST = 1e-10
"""How near [s] to where a block gives no number a run is led, as a part of times over 1 s."""
SHARPER = 32
"""By how much less a spline of fifth degree is off at least where its states are twice as dense."""
PARTS, MOST_DEEP, BEYOND = 16, 4, 3
"""Into how many parts, and how often; the states beyond its ends that a curve goes through."""
MANY, FINER, FINEST = 0.3, 4, 64
"""Where this part of a piece needs more states, all of it gets them, and those that follow."""


class Piecewise(ABC):
    """Advances a run from stop to stop, keeping samples on the way.

    located: the kinds of crossings that it stops at. solver: the run's, as it was made.
    """

    located: ClassVar[tuple[str, ...]] = ("stop", "event", "mode", "limit", "bend", "fault")

    def __init__(self, run: Run) -> None:
        self.run, self.solver = run, run.options.solver

    @abstractmethod
    def advance(self, a: Fraction, b: Fraction) -> Fraction:
        """Advance the states from a to b, or to a crossing before b; the time reached."""

    def passed_by(self, t0: float, t1: float) -> bool:
        """Go from one stop to the next at once where only rounding parts them; whether so."""
        if t1 - t0 >= 1e-12 * max(1.0, t1):
            return False
        self.run.x = self.run.x + (t1 - t0) * self.run.derivative(t0, self.run.x)
        return True

    def crossed(
        self, before: Floats, after: Floats, dense: Dense, t0: float, t1: float
    ) -> tuple[float, list[int]] | None:
        """The earliest crossing between two times: when, and which, with those that come
        with it; dense gives x."""
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


def pieces_of(run: Run) -> Piecewise:
    """The way in which this run advances, by its states and its solver."""
    if not len(run.x):
        return Idle(run)
    solver: str = run.options.solver
    if run.slides:  # along surfaces go rates that CVODES cannot call
        solver = {"CVODES": "BDF", "Adams": "RK45"}.get(solver, solver)
    return Multistep(run) if solver in METHODS else Stepwise(run, solver)


class Idle(Piecewise):
    """Without continuous states, time alone passes."""

    def advance(self, a: Fraction, b: Fraction) -> Fraction:
        run = self.run

        def standing(t: Any) -> Floats:
            return np.zeros((0, *np.shape(t)))

        for t in (*run.samples.within(a, b), b):
            t0 = float(run.t)
            t1 = float(t) if t < b else float(np.nextafter(float(t), t0))
            before, after = run.watch(t0, run.x), run.watch(t1, run.x)
            found = self.crossed(before, after, lambda _: run.x, t0, t1)
            until = found[0] if found else t1
            run.keeper.step(standing, just_before(until) if found or t == b else t1, run.xd)
            if found:
                return run.cross(found[1], found[0])
            run.before = after
            run.t = t
        run.report(float(b))
        return b


class Stepwise(Piecewise):
    """One of SciPy's solvers, or a tableau, restarted at every stop."""

    def __init__(self, run: Run, solver: str) -> None:
        super().__init__(run)
        self.method, self.stiffness = solver, StiffnessTest(solver)
        self.last_step: float | None = None
        self.refused: tuple[float, RunError] | None = None
        """The trial of the present step that was refused last: its time, and why."""
        self.start = run.x
        """The state at the start of the step."""
        self.staged = self.at_once = False
        """Whether the last crossing was one of a stage, and whether it was at once."""

    def advance(self, a: Fraction, b: Fraction) -> Fraction:
        run = self.run
        t0, t1 = float(a), float(b)
        run.before = run.watch(t0, run.x)
        if self.passed_by(t0, t1):
            return b
        inside = within(t0, t1)
        self.start = run.x
        rates = self._rates(*inside)
        solver = self._solver(rates, t0, t1, run.x)
        while solver.status == "running":
            self._bound(solver)
            try:
                solver = self._stepped(solver, rates, t1)
            except RunError as failure:  # it may have landed on a surface
                if held_at(run, float(run.t)):
                    return run.t
                raise no_step(run, float(run.t), failure) from failure
            run.stats.steps += 1
            if run.slides and not isinstance(solver, FixedStep):
                near = self._nears(solver, rates(solver.t_old, self.start), inside[1])
                if near is not None and near[0] - solver.t_old > 2 * LOCATED_WITHIN:
                    self.last_step = near[0] - solver.t_old - LOCATED_WITHIN
                    solver = self._solver(rates, solver.t_old, t1, self.start)
                    continue
                if near is not None:
                    return self._go_over(*near)
            stiff = heeds(run) and self.stiffness.sees(solver, run.stats.steps)
            before = run.before
            found = self._first_crossing(solver, inside[1])
            until = found[0] if found else solver.t
            if found and isinstance(solver, FixedStep):
                self._shorten(solver, until, found[1])
            dense = solver.dense_output()
            stop = found or solver.status != "running"
            run.keeper.step(dense, just_before(until) if stop else until, run.xd)
            run.t = exact(until)
            if run.engine.drifting and not found and solver.status == "running":
                self._put_back(solver)
            run.x = np.asarray(dense(until)) if until < solver.t else solver.y
            self.start, sliding = run.x, run.held.sliding
            run.report(until)
            if run.held.sliding != sliding:
                return run.t
            if found:
                self.last_step = None
                return run.cross(self._with(found[1], before, until), until)
            asked = run.engine.completed(min(until, inside[1]), run.x, run.xd)
            if asked:
                self.last_step = None
                return run.cross(asked, until)
            if stiff and meet(run, solver.t, solver.t - solver.t_old, INTERPRETED):
                b = run.t  # the solver that follows starts here
                break
        self.last_step = getattr(solver, "h_abs", None)
        # What holds the states is where it was before a jump at the end.
        run.x = run.project(min(solver.t, inside[1]) if run.held else solver.t, solver.y)
        return b

    def _rates(self, lo: float, hi: float) -> Callable[[float, Floats], Floats]:
        run = self.run

        def rates(t: float, x: Floats) -> Floats:
            run.stats.evaluations += 1
            try:
                return run.derivative(min(max(t, lo), hi), x, self.start)
            except RunError as error:
                # A trial step may reach too far; NaN makes the solver try a shorter one.
                if np.isfinite(x).all():  # later stages only echo the first NaN
                    self.refused = t, error
                if self.method == "LSODA":  # its Fortran does not look for NaN
                    raise
                return np.full_like(x, np.nan)

        return rates

    def _solver(
        self, rates: Callable[[float, Floats], Floats], t0: float, t1: float, x: Floats
    ) -> Any:
        """A solver at the state x of time t0 that steps to t1."""
        from scipy import integrate

        run, options = self.run, self.run.options
        method = tableau(self.method)
        if method is not None and method.e is None:
            return FixedStep(rates, t0, x, t1, method, run.fixed_step, self._own_steps)
        arguments: dict[str, Any] = {"rtol": options.rtol, "atol": options.atol}
        reach = run.engine.reach(t0, x) / 2  # LSODA's steps cannot be bounded later
        if options.max_step is not None or np.isfinite(reach):
            arguments["max_step"] = min(options.max_step or np.inf, reach)
        if self.last_step is not None:
            arguments["first_step"] = min(self.last_step, options.max_step or np.inf, t1 - t0)
        jacobian = None if run.held else run.engine.jacobian
        if jacobian is not None and self.method in ("Radau", "BDF", "LSODA"):
            xd = run.xd
            arguments["jac"] = lambda t, x: jacobian(t, x, xd)
        try:
            return getattr(integrate, self.method)(rates, t0, x, t1, **arguments)
        except ValueError:  # it is no number that the first slope or Jacobian has
            if self.refused:
                raise self.refused[1] from None
            raise

    def _own_steps(self, t: float, h: float, x: Floats, after: Floats) -> None:
        """The states of blocks that bring a one-step map of their own."""
        engine = self.run.engine
        for name, moved in engine.advance(t, h, x, self.run.xd).items():
            after[engine.continuous[name]] = moved

    def _bound(self, solver: Any) -> None:
        """Let the next step be no longer than what it may overlook nothing in."""
        reach = self.run.engine.reach(solver.t, solver.y)
        if isinstance(solver, FixedStep):
            solver.step_limit = min(self.run.fixed_step, reach)
        elif np.isfinite(reach) and hasattr(solver, "max_step"):
            solver.max_step = min(self.run.options.max_step or np.inf, reach)

    def _put_back(self, solver: Any) -> None:
        """Let the next step start on the constraints, where the solver lets its state be
        moved: a multistep method goes on along its past."""
        if hasattr(solver, "f"):  # SciPy's one-step methods
            solver.y = self.run.project(solver.t, solver.y)
            solver.f = solver.fun(solver.t, solver.y)
        elif isinstance(solver, FixedStep):
            solver.move(self.run.project(solver.t, solver.y))

    def _stepped(self, solver: Any, rates: Callable[[float, Floats], Floats], end: float) -> Any:
        """The solver after one step; RunError where none is possible."""
        while True:
            failure = self._failure_of_step(solver)
            if failure is None:
                self.refused = None
                return solver
            # Some of SciPy's solvers give up at the first trial that reaches too far.
            t, x = float(self.run.t), self.start
            far = self.refused[0] - t if self.refused else 0.0
            if solver.status == "failed" or far <= NEAREST * max(1.0, t):
                raise failure
            self.last_step = far / 4
            self.refused = None
            solver = self._solver(rates, t, end, x)

    def _failure_of_step(self, solver: Any) -> RunError | None:
        """Take one step; why it was not possible."""
        try:
            message = solver.step()
        except RunError as error:
            return error
        except ValueError as error:  # SciPy's implicit solvers refuse NaN so
            failure = RunError(f"the solver failed: {error}", time=solver.t)
        else:
            if solver.status != "failed":
                return None
            failure = RunError(
                f"the solver failed: {message}",
                time=solver.t,
                hint="try a smaller max_step, another solver, or looser tolerances",
            )
        return self.refused[1] if self.refused else failure

    def _shorten(self, solver: FixedStep, until: float, found: list[int]) -> None:
        """End a step at the crossings found at `until`."""
        run = self.run
        before = run.watch(solver.t_old, self.start)

        def crossed(x: Floats) -> bool:
            return self.staged or set(found) <= set(self._located(before, run.watch(until, x)))

        solver.shorten(until, crossed)

    def _first_crossing(self, solver: Any, end: float) -> tuple[float, list[int]] | None:
        """The earliest crossing within the solver's last step."""
        run = self.run
        if not run.crossings:
            return None
        t0, t1 = solver.t_old, min(solver.t, end)
        before, after = run.before, run.watch(t1, solver.y)
        assert before is not None
        run.before = after
        if not isinstance(solver, FixedStep):
            return self.crossed(before, after, solver.dense_output(), t0, t1)
        staged = [] if self.at_once else self._crossed_by_stage(solver, before, t0, t1)
        found = self.crossed(before, after, solver.at, t0, t1)
        ends = found[0] if found else np.inf
        self.staged = bool(staged) and staged[0][0] - t0 < EARLY * (ends - t0)
        self.at_once = self.staged and staged[0][0] - t0 < LOOKED_AHEAD
        return (staged[0][0], [staged[0][1]]) if self.staged else found

    def _with(self, found: list[int], before: Floats | None, until: float) -> list[int]:
        """The crossings found with those that the end of a shortened step has crossed."""
        run = self.run
        if not self.staged or before is None:
            return found
        return sorted({*found, *self._located(before, run.watch(until, run.x))})

    def _crossed_by_stage(
        self, solver: FixedStep, before: Floats, t0: float, t1: float
    ) -> list[tuple[float, int]]:
        """Where the last stage crosses bends, the first first. Where that is long before the
        step's end does, this is wrong, or comes back."""
        run = self.run
        values = run.watch(t1, solver.stage)

        return self._bends(before, values, lambda t: solver.tried(t).stage, t0, t1)

    def _bends(
        self, before: Floats, after: Floats, curve: Dense, t0: float, t1: float
    ) -> list[tuple[float, int]]:
        """Where a curve crosses bends, the first first."""
        return sorted(
            (self._locate(k, after, curve, t0, t1), k)
            for k in self._located(before, after)
            if self.run.crossings[k].kind == "bend"
        )

    def _nears(self, solver: Any, slope: Floats, last: float) -> tuple[float, Dense] | None:
        """Where the line along the first slope of a step crosses a surface, and the line.

        A step with stages on both sides of a surface may stay on its own side for ever, each
        time by as little as error control allows. So a step ends where its first slope leads to
        a surface, as Newton's method comes to a root, and there goes over it.
        """
        run, t0, x0 = self.run, solver.t_old, self.start
        t1 = min(solver.t, last)

        def line(t: Any) -> Floats:
            return np.asarray((np.multiply.outer(np.asarray(t) - t0, slope) + x0).T)

        if run.before is None or not np.isfinite(slope).all():
            return None
        found = self._bends(run.before, run.watch(t1, line(t1)), line, t0, t1)
        found = [(t, k) for t, k in found if k not in run.held.leaders]
        return (found[0][0], line) if found else None

    def _go_over(self, until: float, line: Dense) -> Fraction:
        """Go just over a surface along a line."""
        run, before = self.run, self.run.before
        assert before is not None
        run.keeper.step(line, just_before(until), run.xd)
        run.t, run.x = exact(until), np.asarray(line(until))
        run.report(until)
        self.last_step = None
        return run.cross(self._located(before, run.watch(until, run.x)), until)


class Multistep(Piecewise):
    """CVODES, which steps from sample to sample inside one call. Crossings are looked for
    between samples, no further apart than max_step, and located by shorter calls; bends it
    meets by its error control."""

    located = ("stop", "event", "mode", "limit", "fault")

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._largest, self._finer = np.zeros(len(run.x)), 1
        from spart_blocks.simulation.native import Native

        options = run.options
        if not isinstance(run.engine, Native):
            raise InputError(
                Fault(
                    f"{options.solver} cannot run with blocks that are not traced",
                    hint="use BDF or LSODA",
                )
            )
        self.before = replace(run.stats)  # another solver may have begun
        self.cvodes = Cvodes(
            run.engine.program, options.solver, options.rtol, options.atol, options.max_step
        )

    def advance(self, a: Fraction, b: Fraction) -> Fraction:
        run = self.run
        if self.passed_by(float(a), float(b)):
            return b
        times, sampled = self._looks(float(a), self._due(a, b))
        try:
            states = self.cvodes.over(float(a), times.tolist(), run.x, run.xd)
        except RunError as failure:
            return self._instead(failure, a, b)
        found = self._first_crossing(float(a), times, states)
        until = found[0] if found else float(b)
        before = int(np.searchsorted(times[:-1], until))
        if not isinstance(run.keeper, Grid):
            end = found[2] if found else states[-1]
            self._keep_lines(
                np.array([float(a), *times[:before], until]),
                np.array([run.x, *states[:before], end]),
            )
        else:
            # A slice where all are samples, for then nothing is copied.
            kept = slice(before) if sampled.all() else np.flatnonzero(sampled[:before])
            run.recorder.keep_all(times[kept], states[kept], run.xd)
            run.samples.before(exact(until))
        run.stats.steps = self.before.steps + self.cvodes.steps
        run.stats.evaluations = self.before.evaluations + self.cvodes.evaluations
        run.report(until)
        if found:
            run.x = found[2]
            return run.cross(found[1], until)
        run.x = run.project(float(b), states[-1])
        return b

    def _instead(self, failure: RunError, a: Fraction, b: Fraction) -> Fraction:
        """Where CVODES gives up within a piece it tells neither when nor why: SciPy's BDF goes
        as far as the equations lead, keeping samples, and names the block at which they end.
        A run that chooses its solver itself goes on with it."""
        run = self.run
        run.t = a
        reached = Stepwise(run, "BDF").advance(a, b)
        if run.engine.run.solver == "auto":
            run.change_solver("BDF", float(a))
            return reached
        failure.add_hint("BDF gets over it: run: {solver: BDF}")
        raise failure

    def _keep_lines(self, times: Floats, states: Floats, depth: int = 0) -> None:
        """Keep what lines need between the states (N, nx) at times (N,), up to the last,
        where it stops. Between them splines stand for the solver's own curve; where those are
        not as right as the states, more are asked for. Slopes are not: where it is stiff,
        those of states that are right to the tolerance are not right at all."""
        run = self.run
        self._largest = np.maximum(self._largest, np.abs(states).max(axis=0))
        coarse = self._strays(times, states) & (depth < MOST_DEEP)
        if depth == 0 and coarse.mean() > MANY and self._finer < FINEST:
            self._finer *= FINER
            n = len(times) - 1
            fine = np.interp(np.arange(FINER * n + 1) / FINER, np.arange(n + 1), times)
            inner = self.cvodes.over(float(times[0]), fine[1:].tolist(), states[0], run.xd)
            # What follows starts from the state that was found first.
            self._keep_lines(fine, np.array([states[0], *inner[:-1], states[-1]]))
            return
        at = np.flatnonzero(coarse)
        # Runs of intervals that need no more, each by one curve, and single ones that do.
        cuts = np.unique([0, *at, *(at + 1), len(times) - 1]).tolist()
        for k, end in pairwise(cuts):
            if coarse[k]:
                length = times[end] - times[k]
                inner = self.cvodes.within(times[k], length, PARTS, states[k], run.xd)
                inside = np.array([states[k], *inner[:-1], states[end]])
                self._keep_lines(np.linspace(times[k], times[end], PARTS + 1), inside, depth + 1)
                continue
            # The curve goes on beyond both ends: there a spline is at its worst.
            near = slice(max(k - BEYOND, 0), end + BEYOND + 1)
            ends = end == len(times) - 1
            until = just_before(float(times[end])) if ends else float(times[end])
            run.keeper.step(_spline(times[near], states[near]), until, run.xd)

    def _strays(self, times: Floats, states: Floats) -> NDArray[np.bool_]:
        """Whether the spline may be less right than the states, in each interval; where nothing
        tells, it may. A spline through every second state, which is off by SHARPER times as
        much, is held against those between."""
        count = len(times) - 1
        if count < PARTS:
            return np.ones(count, dtype=bool)
        options = self.run.options
        kept = np.unique([*range(0, count + 1, 2), count])
        left = np.setdiff1d(np.arange(count + 1), kept)
        off = np.abs(_spline(times[kept], states[kept])(times[left]).T - states[left])
        allowed = SHARPER * (options.rtol * self._largest + options.atol)
        strays = np.zeros(count + 1, dtype=bool)
        strays[left[(off > allowed).any(axis=1)]] = True
        return np.asarray(strays[:-1] | strays[1:])

    def _due(self, a: Fraction, b: Fraction) -> Floats:
        """The times between a and b at which states are asked for, and b."""
        grid = np.array([*(float(t) for t in self.run.samples.within(a, b)), float(b)])
        if isinstance(self.run.keeper, Grid):
            return grid
        count = len(grid) * self._finer
        if count < PARTS or self._finer > 1:  # a grid of its own, which fits the piece
            return np.linspace(float(a), float(b), max(count, PARTS) + 1)[1:]
        return grid

    def _looks(self, start: float, times: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """The times with those between them at which crossings are looked for too, and which
        of them were given."""
        step = min(
            self.run.options.max_step or np.inf, self.run.engine.reach(start, self.run.x) / 2
        )
        if np.isinf(step) or not any(c.kind in self.located for c in self.run.crossings):
            return times, np.ones(len(times), dtype=bool)
        gaps = np.diff(times, prepend=start)
        counts = np.maximum(np.ceil(gaps / step - 1e-9).astype(int), 1)
        looks = [
            np.linspace(t - gap, t, n + 1)[1:]
            for t, gap, n in zip(times, gaps, counts, strict=True)
        ]
        given = np.zeros(counts.sum(), dtype=bool)
        given[np.cumsum(counts) - 1] = True
        return np.concatenate(looks), given

    def _first_crossing(
        self, start: float, times: Floats, states: Floats
    ) -> tuple[float, list[int], Floats] | None:
        """The earliest crossing: when, which, and the states there."""
        run = self.run
        run.before = run.watch(start, run.x)
        if not any(crossing.kind in self.located for crossing in run.crossings):
            return None
        t0, x0 = start, run.x
        end = within(start, float(times[-1]))[1]
        for t, x in zip(times.tolist(), states, strict=True):
            t1 = min(t, end)
            after = run.watch(t1, x)

            def dense(at: float, t0: float = t0, x0: Floats = x0) -> Floats:
                return x0 if at <= t0 else self.cvodes.over(t0, [at], x0, run.xd)[-1]

            found = self.crossed(run.before, after, dense, t0, t1)
            if found:
                return (*found, dense(found[0]))
            run.before, t0, x0 = after, t, x
        return None


def _spline(times: Floats, states: Floats) -> Dense:
    """A curve through states (N, nx) at times (N,)."""
    from scipy.interpolate import make_interp_spline

    degree = min(5, len(times) - 1)
    curve = make_interp_spline(times, states, k=degree - (degree + 1) % 2)
    return lambda t: curve(t).T
