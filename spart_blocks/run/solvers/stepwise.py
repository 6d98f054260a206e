"""Advances a segment by steps of one of SciPy's solvers, or of a Runge-Kutta table.

A loop takes one step after another until the next stop. After each step the zero-crossing
functions are compared with their values at its start; if one has crossed, the crossing is located
on the dense output, the step is kept up to it, and its effect is applied.

A bend (a kink or jump of the equations) inside a step spoils the step, since stages beyond it
count for all of it. So a step that crosses a bend is repeated to end just before it (`Ahead`); the
next step then crosses it. To notice bends that are crossed twice within a step, or that make the
solver shorten its trials again and again, the evaluations of each trial are recorded (`Trial`) and
checked too. A surface behind which the rates lead back may never be reached by such steps; there
the run crosses it along a straight line (`_nears`, `_go_over`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from spart_blocks.base.errors import RunError
from spart_blocks.base.tableaus import FIXED_STEP, tableau
from spart_blocks.diagram.network.clocks import exact
from spart_blocks.program.tracing.switching import BENDS
from spart_blocks.run.constants import AHEAD, EARLY, LAST_LINE, SHORT_OF
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.events.acting import cross
from spart_blocks.run.events.crossings import locate
from spart_blocks.run.events.meeting import held_at, straight
from spart_blocks.run.events.shrinking import no_step, report
from spart_blocks.run.events.stops import just_after, just_before, within
from spart_blocks.run.record.record import Dense
from spart_blocks.run.run import Run
from spart_blocks.run.solvers.fixed_step import FixedStep
from spart_blocks.run.solvers.linearly_implicit import LinearlyImplicit
from spart_blocks.run.solvers.pairs import ExplicitPair
from spart_blocks.run.solvers.repeating import (
    SUBSTITUTE,
    Ahead,
    BentStepError,
    Trial,
    remembered,
)
from spart_blocks.run.solvers.solver import SegmentSolver
from spart_blocks.run.solvers.steps import Derivatives, Rates, differences, short_of
from spart_blocks.run.solvers.stiffness import INTERPRETED, StiffnessTest, heeds, meet

BETWEEN = 0.25, 0.5, 0.75
"""Points of a step, as fractions, at which bends are checked if its stages do not show any."""
Found = tuple[float, list[int]]
"""The time [s] of a crossing, and the indices of all crossings there."""
NEAREST = 1e-10
"""How near [s] a run approaches a time at which a block gives a number that is not finite;
relative for times above 1 s.
"""


class Stepwise(SegmentSolver):
    """Steps of one of SciPy's solvers, or of a Runge-Kutta table; restarted at every stop."""

    def __init__(self, run: Run, solver: str) -> None:
        super().__init__(run)
        self.method, self.stiffness = solver, StiffnessTest(solver)
        self.last_step: float | None = None
        """The length of the first step of the next solver; None: of its own choice."""
        self.refused: tuple[float, RunError] | None = None
        """The last refused trial of the present step: its time, and its error."""
        self.start = run.x
        """The state at the start of the step."""
        self.last = np.inf
        """The latest time [s] at which signals are evaluated in this segment."""
        self.staged = self.at_once = False
        """Whether the last crossing was one of a stage, and whether it was at once."""
        self.bends = any(crossing.kind in BENDS for crossing in run.crossings)
        self.ahead: Ahead | None = None
        self.past: Any = None
        """The solver before the present step."""
        self.trial: Trial | None = None
        """The present step's evaluations so far."""

    def advance(self, a: Fraction, b: Fraction) -> Fraction:
        run = self.run
        t0, t1 = float(a), float(b)
        run.before = run.watch(t0, run.x)
        if self.pass_by(t0, t1):
            return b
        inside = within(t0, t1)
        self.start, self.last = run.x, inside[1]
        rates = self._rates(*inside)
        solver = self._solver(rates, t0, t1, run.x)
        self.ahead = None
        while solver.status == "running":
            self._bound(solver)
            self.past = remembered(solver) if self.bends else None
            allowed = getattr(solver, "h_abs", None)
            try:
                solver = self.tried(solver, rates, t1)
            except RunError as failure:  # it may have landed on a surface
                if held_at(run, float(run.t)):
                    return run.t
                raise no_step(run, float(run.t), failure) from failure
            near = self._nears(solver, inside[1])
            found, after = (None, None) if near else self._first_crossing(solver, inside[1])
            if self._spans(solver, found, after):
                solver = self._again(rates)
                continue
            run.stats.steps += 1
            if allowed is not None:  # a step cut short by its end makes the next no shorter
                longest = max(allowed, self.last_step or 0.0, solver.h_abs)
                self.last_step = longest if solver.t == solver.t_bound else solver.h_abs
            if near is not None and near[0] - solver.t_old > _reached(solver.t_old):
                self.last_step = near[0] - solver.t_old - SHORT_OF
                solver = self._solver(rates, solver.t_old, t1, self.start)
                continue
            if near is not None:
                return self._go_over(min(near[0], inside[1]), near[1])
            stiff = heeds(run) and self.stiffness.sees(solver, run.stats.steps)
            substitute = self._goes_on(solver, t1)
            reached = self.accept(solver, inside[1], found, after)
            if reached is not None:
                return reached
            if stiff and meet(run, solver.t, solver.t - solver.t_old, INTERPRETED):
                b = run.t  # the solver that follows starts here
                break
            if substitute:
                self.last_step = None
                solver = self._solver(rates, solver.t, t1, run.x)
        # The holds on the states are as before a jump at the end.
        run.x = run.project(min(solver.t, inside[1]) if run.held else solver.t, solver.y)
        return b

    def accept(
        self, solver: Any, last: float, found: Found | None, after: Floats | None
    ) -> Fraction | None:
        """Keep the step just taken, up to its first crossing. Returns the time at which
        integration restarts; None if the solver continues. after: zero-crossing values at its end.
        """
        run, before = self.run, self.run.before
        if after is not None:
            run.before = after
        until = found[0] if found else solver.t
        if found and isinstance(solver, FixedStep):
            self._shorten(solver, until, found[1])
        dense = solver.dense_output()
        stop, near = found or solver.status != "running", None
        if found and before is not None:
            near = self.near_side(before, dense, solver.t_old, until)
        # A step may end a hair before the stop, where edges count as past.
        run.keeper.step(dense, min(just_before(until) if stop else until, last), run.xd, near)
        run.t = exact(until)
        if run.engine.drifting and not found and solver.status == "running":
            self._put_back(solver)
        run.x = solver.y if until == solver.t else np.asarray(dense(until))
        self.start, sliding = run.x, run.held.sliding
        report(run, until, settled=not found and solver.status == "running")
        if run.held.sliding != sliding:
            return run.t
        if found:
            acting = self._with(found[1], before, until)
        else:
            acting = list(run.engine.completed(min(until, last), run.x, run.xd))
        if not acting:
            if solver.status == "running":
                run.cut_here()
            return None
        if run.slides or not run.acting.isdisjoint(acting):
            self.last_step = None
        return cross(run, acting, until)

    def _rates(self, lo: float, hi: float) -> Rates:
        run = self.run
        looks = self.bends and not run.slides and self.method not in FIXED_STEP
        method = tableau(self.method)
        in_order = method is None or method.implicit is None

        def rates(t: float, x: Floats) -> Floats:
            run.stats.evaluations += 1
            if in_order and self.trial is not None and float(run.t) < t < self.trial.first:
                self._given_up()
            try:
                found = run.derivative(min(max(t, lo), hi), x, self.start)
                if looks and t > run.t:
                    self.trial = self.trial or Trial({}, found)
                    self.trial.add(t, x, found)
                return found
            except RunError as error:
                # A trial step may reach too far; NaN makes the solver try a shorter one.
                if np.isfinite(x).all():  # later stages only echo the first NaN
                    self.refused = t, error
                if self.method == "LSODA":  # its Fortran does not look for NaN
                    raise
                return np.full_like(x, np.nan)

        return rates

    def _solver(
        self, rates: Rates, t0: float, t1: float, x: Floats, name: str | None = None
    ) -> Any:
        """A solver that starts with state x at t0 and ends at t1. name: of another method than the
        run's.
        """
        from scipy import integrate

        run, options = self.run, self.run.options
        name, self.trial = name or self.method, None
        method = tableau(name)
        if method is not None and method.e is None:
            how = (self._own_steps, self._derivatives)
            return FixedStep(rates, t0, x, t1, method, run.fixed_step, *how)
        arguments: dict[str, Any] = {"rtol": options.rtol, "atol": options.atol}
        reach = run.engine.reach(t0, x) / 2  # LSODA's steps cannot be bounded later
        if options.max_step is not None or np.isfinite(reach):
            arguments["max_step"] = min(options.max_step or np.inf, reach)
        if self.last_step is not None:
            arguments["first_step"] = min(self.last_step, options.max_step or np.inf, t1 - t0)
        jacobian = None if run.held else run.engine.jacobian
        if method is not None and method.implicit is not None:
            derivatives = self._derivatives
            return LinearlyImplicit(
                rates, t0, x, t1, method, derivatives, self._given_up, **arguments
            )
        if jacobian is not None and name in ("Radau", "BDF", "LSODA"):
            xd = run.xd
            arguments["jac"] = lambda t, x: jacobian(t, x, xd)
        maker = getattr(integrate, name, None)
        if maker is None:
            maker, arguments["method"] = ExplicitPair, method
        try:
            return maker(rates, t0, x, t1, **arguments)
        except ValueError:  # the first slope or Jacobian is not finite
            if self.refused:
                raise self.refused[1] from None
            raise

    def _derivatives(self, t: float, x: Floats) -> Derivatives:
        """df/dx and df/dt of the rates at the start of a step."""
        run, inside = self.run, (just_after(t), self.last)
        at = min(max(t, inside[0]), inside[1])
        if not run.held:
            found = run.engine.linearised(at, x, run.xd)
            if found is not None:
                return found
        sizes = np.abs(x) + run.options.atol / run.options.rtol

        def rates(t: float, near: Floats) -> Floats:
            run.stats.evaluations += 1
            try:
                return run.derivative(min(t, inside[1]), near, x)
            except RunError as error:
                self.refused = t, error
                return np.full_like(x, np.nan)

        return differences(rates, at, x, sizes, self.last - at)

    def _own_steps(self, t: float, h: float, x: Floats, after: Floats) -> None:
        """Set the states of blocks that advance by a one-step map."""
        engine = self.run.engine
        for name, moved in engine.advance(t, h, x, self.run.xd).items():
            after[engine.continuous[name]] = moved

    def _bound(self, solver: Any) -> None:
        """Limit the next step to the longest one that passes over no event."""
        reach = self.run.engine.reach(solver.t, solver.y)
        if isinstance(solver, FixedStep):
            solver.step_limit = min(self.run.fixed_step, reach)
        elif np.isfinite(reach) and hasattr(solver, "max_step"):
            solver.max_step = min(self.run.options.max_step or np.inf, reach)

    def _put_back(self, solver: Any) -> None:
        """Project the state from which the next step starts onto the constraints, if the solver
        allows it; a multistep method continues from its history.
        """
        if hasattr(solver, "f"):  # SciPy's one-step methods
            solver.y = self.run.project(solver.t, solver.y)
            solver.f = solver.fun(solver.t, solver.y)
        elif isinstance(solver, FixedStep):
            solver.move(self.run.project(solver.t, solver.y))

    def tried(self, solver: Any, rates: Rates, end: float) -> Any:
        """Take one step. Returns the solver, which may be a new one. Raises RunError if no step is
        possible.
        """
        while True:
            try:
                failure = self._failure_of_step(solver)
            except BentStepError:
                solver = self._again(rates)
                self.past = remembered(solver)
                continue
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
        """Take one step. Returns the error if it failed, otherwise None."""
        self.trial = None
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
        """Make a fixed step end at the crossings found at `until`."""
        run = self.run
        before = run.watch(solver.t_old, self.start)

        def crossed(x: Floats) -> bool:
            return self.staged or set(found) <= set(self.run.crossed(before, run.watch(until, x)))

        solver.shorten(until, crossed)

    def _spans(self, solver: Any, found: Found | None, after: Floats | None) -> bool:
        """Whether the step just taken must be repeated to end before a bend. Stages beyond the
        bend affect the whole step, and dense output has far more of their error than the end of
        the step.
        """
        if isinstance(solver, FixedStep):
            return False
        if found is None:
            return self._spans_pair(self.trial, solver.t_old, solver.dense_output)
        assert after is not None
        bent = self._bent(after) if found[0] <= solver.t else self._stages_bent()
        return bent and self._ends_before(found[0], solver.t_old)

    def _spans_pair(self, trial: Trial | None, t0: float, curve: Callable[[], Dense]) -> bool:
        """Whether a step from t0 must be repeated to end before a bend that it crosses twice; such
        a step may seem accurate. This is checked at the stage nearest to its middle, or, for
        methods without stages, at a few points of its dense output.
        """
        before = self.run.before
        if trial is None or before is None:
            return False
        for t, x in self._inside(trial, t0, curve):
            after = self.run.watch(t, x)
            if self._crossed_any(before, after):
                first = self._first(self._crossed_any, before, after, curve(), t0, t)
                return self._ends_before(first[0], t0)
        return False

    def _inside(
        self, trial: Trial, t0: float, curve: Callable[[], Dense]
    ) -> Iterator[tuple[float, Floats]]:
        if trial.has_stages:
            yield trial.middle(t0)
            return
        dense = curve()
        for part in BETWEEN:
            t = t0 + part * (trial.last - t0)
            yield t, np.asarray(dense(t))

    def _stages_bent(self) -> bool:
        """Whether a stage of the step just taken has crossed a bend. The state of a stage is less
        accurate than the step's end, and may cross earlier.
        """
        stages = self.trial.states.items() if self.trial else ()
        return any(self._bent(self.run.watch(t, x)) for t, seen in stages for x in seen)

    def _bent(self, after: Floats) -> bool:
        """Whether a step has crossed a bend. after: zero-crossing values at its end."""
        before = self.run.before
        assert before is not None
        return bool(self._crossed_bends(before, after))

    def _ends_before(self, until: float, t0: float) -> bool:
        """Whether a step from t0 that crosses a bend at `until` must be repeated to end before it;
        sets `ahead`.
        """
        length, gap = short_of(t0, until - t0, self.ahead.gap if self.ahead else 0.0)
        if length:
            self.ahead = Ahead(t0 + length, gap)
        return length > 0

    def _given_up(self) -> None:
        """Raise BentStepError if the solver may have abandoned a trial step because of a bend
        within it; otherwise it would shorten its trials again and again.
        """
        trial = self.trial
        if trial is None:
            return
        from scipy.interpolate import CubicHermiteSpline

        run, self.trial = self.run, None
        t0, t1, before = float(run.t), min(trial.last, self.last), run.before
        end = trial.end
        if before is None or not np.isfinite([end, trial.rates]).all():
            return

        def curve() -> Dense:
            slope = run.derivative(just_after(t0), self.start)
            times, states = [t0, trial.last], [self.start, end]
            through: Dense = CubicHermiteSpline(times, states, [slope, trial.rates])
            return through

        try:
            after = run.watch(t1, end)
            if self._bent(after):
                found = self.crossed(before, after, curve(), t0, t1)
                repeats = found is not None and self._ends_before(found[0], t0)
            else:
                repeats = self._spans_pair(trial, t0, curve)
        except RunError:  # no number there
            return
        if repeats:
            raise BentStepError

    def _again(self, rates: Rates) -> Any:
        """The solver set back to the start of its last step, which must now end at `ahead`."""
        assert self.ahead is not None
        t = float(self.run.t)
        if self.past is None:
            self.last_step = self.ahead.t - t
            return self._solver(rates, t, self.ahead.t, self.start, SUBSTITUTE)
        self.past.t_bound = self.ahead.t
        return self.past

    def _goes_on(self, solver: Any, end: float) -> bool:
        """If a solver has reached `ahead`, let it continue to the end. Returns whether it is a
        substitute, which the run's own method must replace.
        """
        if self.ahead is None or solver.t < self.ahead.t or solver.t >= end:
            return False
        self.ahead = None
        solver.t_bound, solver.status = end, "running"
        return self.method == "LSODA"

    def _first_crossing(self, solver: Any, end: float) -> tuple[Found | None, Floats | None]:
        """The earliest crossing within the solver's last step, and the zero-crossing values at its
        end. After a step to `ahead`, crossings slightly beyond its end are searched too.
        """
        run = self.run
        if not run.crossings:
            return None, None
        t0, t1 = solver.t_old, min(solver.t, end)
        before, after = run.before, run.watch(t1, solver.y)
        assert before is not None
        if not isinstance(solver, FixedStep):
            dense = solver.dense_output()
            if self.ahead is None or solver.t < self.ahead.t:
                return self.crossed(before, after, dense, t0, t1), after
            far = min(t1 + 2 * self.ahead.gap * (t1 - t0), end)
            return self.crossed(before, run.watch(far, dense(far)), dense, t0, far), after
        staged = None if self.at_once else self._crossed_by_stage(solver, before, t0, t1)
        found = self.crossed(before, after, solver.at, t0, t1)
        ends = found[0] if found else np.inf
        if staged is None or staged[0] - t0 >= EARLY * (ends - t0):
            self.staged = self.at_once = False
            return found, after
        self.staged, self.at_once = True, staged[0] - t0 < AHEAD
        return (staged[0], [staged[1]]), after

    def _with(self, found: list[int], before: Floats | None, until: float) -> list[int]:
        """The crossings found, with those that the state at the end of a shortened step has
        crossed too.
        """
        run = self.run
        if not self.staged or before is None:
            return found
        return sorted({*found, *self.run.crossed(before, run.watch(until, run.x))})

    def _crossed_by_stage(
        self, solver: FixedStep, before: Floats, t0: float, t1: float
    ) -> tuple[float, int] | None:
        """The time at which the state of the last stage, or of the end, of a shorter step first
        crosses a bend that this step's last stage has crossed, and its index. If this is long
        before the step's end does, the end is wrong, or the signal returns.
        """
        run = self.run
        if len(solver.method.b) == 1:  # its stage is the start
            return None
        after = run.watch(t1, solver.stage)
        if not self._crossed_bends(before, after):
            return None

        def watched(t: float) -> Floats:
            trial = solver.tried(t)
            end, stage = run.watch(t, trial.x), run.watch(t, trial.stage)
            found = run.crossed(before, stage)
            end[found] = stage[found]
            return end

        return locate(watched, self._crossed_bends, before, after, t0, t1)

    def _crossed_bends(self, before: Floats, after: Floats) -> list[int]:
        """The bends of rates that have been crossed."""
        return [k for k in self.run.crossed(before, after) if self.run.crossings[k].kind == "bend"]

    def _crossed_any(self, before: Floats, after: Floats) -> list[int]:
        """The same with those that only signals show."""
        return [k for k in self.run.crossed(before, after) if self.run.crossings[k].kind in BENDS]

    def _nears(self, solver: Any, last: float) -> tuple[float, Dense] | None:
        """The time at which a straight line along the first slope of a step crosses a surface, and
        the line; None if it crosses none.

        A step with stages on both sides of a surface might stay on its own side for ever, and
        approach the surface as slowly as error control demands. So a step ends where its first
        slope reaches the surface, as in Newton's method, and the next one crosses it. A run
        without sliding does so only at surfaces that have an effect.
        """
        run, t0, before = self.run, solver.t_old, self.run.before
        if isinstance(solver, FixedStep) or before is None:
            return None
        t1 = min(solver.t, last)
        if not run.slides:
            if not run.acting or not self.near(before, run.watch(t1, solver.y)):
                return None
            return self.stays(before, self.start, t0, t1)
        # As in `stays`: rounding may put the step's end on either side.
        line, beyond = straight(run, t0, self.start), min(t1 + SHORT_OF / 2, last)
        ahead = run.watch(beyond, line(beyond))

        def free(before: Floats, after: Floats) -> list[int]:
            found = self._crossed_bends(before, after)
            return [k for k in found if k not in run.held.leaders]

        if not free(before, ahead):
            return None
        return self._first(free, before, ahead, line, t0, beyond)[0], line

    def _go_over(self, until: float, line: Dense) -> Fraction:
        """Cross a surface by a short step along a straight line."""
        run, before = self.run, self.run.before
        assert before is not None
        near = self.near_side(before, line, float(run.t), until)
        run.keeper.step(line, just_before(until), run.xd, near)
        run.t, run.x = exact(until), np.asarray(line(until))
        report(run, until)
        self.last_step = None
        return cross(run, self.run.crossed(before, run.watch(until, run.x)), until)


def _reached(t: float) -> float:
    """Distance [s] from t within which a surface is crossed along a line, since no solver takes
    such short steps.
    """
    return max(LAST_LINE, 16 * float(np.spacing(t)))
