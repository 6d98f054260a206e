"""Segments by CVODES."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, RunError
from spart_blocks.diagram.network.clocks import exact
from spart_blocks.run.constants import LOCATED
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.engines.native import Native
from spart_blocks.run.events.acting import cross
from spart_blocks.run.events.meeting import leads_back
from spart_blocks.run.events.shrinking import report
from spart_blocks.run.events.stops import just_after, just_before, within
from spart_blocks.run.record.record import Dense, Grid
from spart_blocks.run.run import Run
from spart_blocks.run.solvers.cvodes import Cvodes
from spart_blocks.run.solvers.solver import SegmentSolver
from spart_blocks.run.solvers.stepwise import Stepwise

SHARPER = 32
"""Smallest factor by which the error of a quintic spline falls when its states are
twice as dense.
"""
PARTS, MOST_DEEP, BEYOND = 16, 4, 3
"""Number of parts into which an interval is divided; number of nested divisions; number of states
beyond the ends of an interval that its curve also interpolates.
"""
MOST_STAYING = 5_000
"""Largest number of steps between two samples where CVODES might not leave a surface."""
MANY, FINER, FINEST = 0.3, 4, 64
"""If more than the fraction MANY of a segment needs denser states, the whole segment and the
following ones get them, denser by the factor FINER, up to FINEST.
"""

LINE_ERROR = 0.1
"""Largest error of a straight line to a crossing, as a fraction of the tolerance. The error of a
parabola that reaches no further is smaller.
"""
LOOKED_ALONG = 1e-3
"""The change of the rates is evaluated at this fraction of an interval along a line."""
EDGE = 0.02
"""An evaluation within an interval is at least this fraction of the interval away from its ends."""
ENOUGH = 1.25
"""If the rest of a segment is at most this factor longer than a call may be, the call covers the
rest.
"""


class Multistep(SegmentSolver):
    """CVODES, which steps from sample to sample inside one call.

    Crossings are searched between samples, at intervals of at most max_step. They are located by
    shorter calls, which evaluate nothing beyond their ends, so that the state at a bend is not
    affected by the equations behind it.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._largest, self._finer = np.zeros(len(run.x)), 1
        options = run.options
        if not isinstance(run.engine, Native):
            raise InputError(
                Fault(
                    f"{options.solver} cannot run with blocks that are not traced",
                    hint="use BDF or LSODA",
                )
            )
        self.before = replace(run.stats)  # another solver may have begun
        self.bends = any(c.kind == "bend" for c in run.crossings)
        self.may_stay = bool(run.acting) and self.bends
        self.reach = np.inf
        """How far [s] the next call leads at most: twice as far as the last crossing was, or the
        last call that found none, so that crossings cost no more in a long segment than in short
        ones."""
        most = {"most_steps": MOST_STAYING} if self.may_stay else {}
        self.cvodes = Cvodes(
            run.engine, options.solver, options.rtol, options.atol, options.max_step, **most
        )

    def advance(self, a: Fraction, b: Fraction) -> Fraction:
        run = self.run
        if self.pass_by(float(a), float(b)):
            return b
        while True:
            run.t, end = a, b
            reach = min(self.reach, run.look)
            if float(a) + ENOUGH * reach < float(b):
                end = exact(float(a) + reach)
            reached, crossed = self._advance(a, end)
            if crossed:
                self.reach = max(2 * float(reached - a), min(self.reach, float(b - a)) / 4)
            if crossed or reached == b:
                return reached
            self.reach *= 2
            a = reached
            if isinstance(run.keeper, Grid):  # a sample may be due just there
                run.keeper.state(a, run.x, run.xd, sides=False)
            run.t = a
            report(run, float(a), settled=True)

    def _advance(self, a: Fraction, b: Fraction) -> tuple[Fraction, bool]:
        """Advance by one call of CVODES. Returns the time reached, and whether a crossing ended
        it.
        """
        run = self.run
        if isinstance(run.keeper, Grid):  # those that equal a up to rounding
            for t in run.samples.before(a):
                run.recorder.keep(float(t), run.x, run.xd)
        times, sampled = self._looks(float(a), self._due(a, b))
        try:
            states = self.cvodes.over(float(a), times.tolist(), run.x, run.xd)
        except RunError as failure:
            reached = self._instead(failure, a, b)
            return reached, reached < b
        if self._meets(float(a), times, states):
            reached = Stepwise(run, "BDF").advance(a, b)
            return reached, reached < b
        found = self._first_crossing(float(a), times, states)
        until = found[0] if found else float(b)
        before = int(np.searchsorted(times[:-1], until))
        if not isinstance(run.keeper, Grid):
            end = found[2] if found else states[-1]
            self._keep_lines(
                np.array([float(a), *times[:before], until]),
                np.array([run.x, *states[:before], end]),
                found[3] if found else just_before(until),
            )
        else:
            # A slice where all are samples, for then nothing is copied.
            count = len(run.samples.before(exact(just_before(until))))
            kept = slice(count) if sampled.all() else np.flatnonzero(sampled)[:count]
            run.recorder.keep_all(times[kept], states[kept], run.xd)
        run.stats.steps = self.before.steps + self.cvodes.steps
        run.stats.evaluations = self.before.evaluations + self.cvodes.evaluations
        if found:
            run.x = found[2]
            reached = cross(run, found[1], until)
            report(run, until)
            return reached, True
        report(run, until)
        run.x = run.project(float(b), states[-1])
        return b, False

    def _instead(self, failure: RunError, a: Fraction, b: Fraction) -> Fraction:
        """Repeat the segment with SciPy's BDF when CVODES fails, as CVODES reports neither the
        time nor the cause. BDF goes as far as the equations allow, keeps samples, and names the
        block that fails.

        If CVODES could not leave a surface and BDF ends at a crossing there, CVODES is used again
        afterwards. Otherwise a run with solver 'auto' changes to BDF, and any other run raises the
        failure with a hint.
        """
        run = self.run
        run.t = a
        reached = Stepwise(run, "BDF").advance(a, b)
        if self.may_stay and reached < b:
            return reached
        if run.engine.run.solver == "auto":
            run.change_solver("BDF", float(a))
            return reached
        failure.add_hint("BDF gets over it: run: {solver: BDF}")
        raise failure

    def _keep_lines(self, times: Floats, states: Floats, last: float, depth: int = 0) -> None:
        """Keep the rows that lines need between the states (N, nx) at times (N,), up to `last`
        before the end, a stop or a crossing.

        Splines through the states replace the solver's own dense output. Where they are less
        accurate than the states, denser states are computed. Slopes are not used: in a stiff
        problem, slopes at states that are accurate to the tolerance are inaccurate.
        """
        run = self.run
        self._largest = np.maximum(self._largest, np.abs(states).max(axis=0))
        coarse = self._strays(times, states) & (depth < MOST_DEEP)
        if depth == 0 and coarse.mean() > MANY and self._finer < FINEST:
            self._finer *= FINER
            n = len(times) - 1
            fine = np.interp(np.arange(FINER * n + 1) / FINER, np.arange(n + 1), times)
            inner = self.cvodes.over(float(times[0]), fine[1:].tolist(), states[0], run.xd)
            # What follows starts from the state that was found first.
            self._keep_lines(fine, np.array([states[0], *inner[:-1], states[-1]]), last)
            return
        at = np.flatnonzero(coarse)
        # Runs of intervals that need no more states, each by one curve, and single ones that do.
        cuts = np.unique([0, *at, *(at + 1), len(times) - 1]).tolist()
        for k, end in pairwise(cuts):
            if coarse[k]:
                length = times[end] - times[k]
                inner = self.cvodes.within(times[k], length, PARTS, states[k], run.xd)
                inside = np.array([states[k], *inner[:-1], states[end]])
                grid = np.linspace(times[k], times[end], PARTS + 1)
                self._keep_lines(grid, inside, min(last, float(times[end])), depth + 1)
                continue
            # The curve extends beyond both ends, where a spline is least accurate.
            near = slice(max(k - BEYOND, 0), end + BEYOND + 1)
            until = min(last, float(times[end]))
            run.keeper.step(_spline(times[near], states[near]), until, run.xd)

    def _strays(self, times: Floats, states: Floats) -> NDArray[np.bool_]:
        """For each interval, whether the spline may be less accurate than the states. To test
        this, a spline through every second state, whose error is SHARPER times larger, is compared
        with the states between. True if there are too few states for the test.
        """
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
        """The times between a and b at which states are needed, and b [s]."""
        grid = np.array([*(float(t) for t in self.run.samples.within(a, b)), float(b)])
        if isinstance(self.run.keeper, Grid):
            return grid
        lo, hi = within(float(a), float(b))  # a sample may equal a stop up to rounding
        grid = np.array([*grid[(grid > lo) & (grid < hi)], float(b)])
        count = len(grid) * self._finer
        if count < PARTS or self._finer > 1:  # a grid of its own, which fits the segment
            return np.linspace(float(a), float(b), max(count, PARTS) + 1)[1:]
        return grid

    def _looks(self, start: float, times: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """The times, with further ones between them at which crossings are checked; and a mask of
        the given times.
        """
        step = min(
            self.run.options.max_step or np.inf, self.run.engine.reach(start, self.run.x) / 2
        )
        if np.isinf(step) or not self.run.crossings:
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

    def _meets(self, start: float, times: Floats, states: Floats) -> bool:
        """Whether the states cross a surface with an effect behind which the rates lead back;
        CVODES might never leave it.
        """
        run = self.run
        if not self.may_stay:
            return False
        t0, x0, before = start, run.x, run.watch(start, run.x)
        last = within(start, float(times[-1]))[1]
        for t, x in zip(times.tolist(), states, strict=True):
            t1 = min(t, last)
            after = run.watch(t1, x)
            if self.near(before, after) and (
                self.stays(before, x0, t0, t1)
                # The line from the end has the times of this step, since the next may not be seen.
                or self.stays(after, x, t0, t1)
                or leads_back(run, before, t1, x, last)
            ):
                return True
            if self.run.crossed(before, after):
                return False
            t0, x0, before = t, x, after
        return False

    def _first_crossing(
        self, start: float, times: Floats, states: Floats
    ) -> tuple[float, list[int], Floats, float] | None:
        """The earliest crossing: its time, the indices of the crossings there, the state, and the
        latest time before it; None if there is none. The states before it may come from a step
        beyond a bend; then they are recomputed by steps that end before it.
        """
        run = self.run
        run.before = run.watch(start, run.x)
        if not run.crossings:
            return None
        k = self._first_interval(start, times, states)
        while k is not None and k > 0 and self.bends:
            states[:k] = self.cvodes.over(start, times[:k].tolist(), run.x, run.xd)
            sooner = self._first_interval(start, times[:k], states)
            if sooner is None:
                break
            k = sooner
        if k is None:
            return None
        t0, x0 = (start, run.x) if k == 0 else (float(times[k - 1]), states[k - 1])
        t1 = min(float(times[k]), within(start, float(times[-1]))[1])
        run.before = run.watch(t0, x0)
        return self._located(t0, x0, t1, states[k])

    def _located(
        self, t0: float, x0: Floats, t1: float, x1: Floats
    ) -> tuple[float, list[int], Floats, float] | None:
        """The crossing between two states. Each evaluation between them needs a call of CVODES, so
        the interval is narrowed by the values at its ends, until a parabola from its start is
        accurate enough.
        """
        run, low, x, high, narrowed = self.run, t0, x0, t1, True
        before, beyond = run.before, run.watch(t1, x1)
        assert before is not None
        found = run.crossed(before, beyond)
        while found:
            curve, reach = self._parabola(low, x, high)
            until = min(low + reach, high)
            ahead = run.watch(until, curve(until))
            crossing = self.crossed(before, ahead, curve, low, until)
            if crossing:
                at, crossings = crossing
                return at, crossings, curve(at), self.near_side(before, curve, low, at)
            left = high - until
            if left <= LOCATED:
                return high, found, x1, until
            here, over = abs(ahead[found[0]]), abs(beyond[found[0]])
            part = here / (here + over) if narrowed and here + over > 0 else 0.5
            # A little less, so that the curve from there leads over it.
            t = until + left * min(max(part, EDGE), 1 - EDGE) - min(reach, EDGE * left) / 2
            state = self.cvodes.over(t0, [t], x0, run.xd)[-1]
            values = run.watch(t, state)
            crossed = run.crossed(before, values)
            if crossed:
                high, x1, beyond, found = t, state, values, crossed
            else:
                low, x = t, state
            narrowed = high - low <= left / 2
        return None

    def _parabola(self, t: float, x: Floats, end: float) -> tuple[Dense, float]:
        """A curve from a state by its rates and their change, and the time [s] for which it is
        accurate. If the rates have a bend, it is as accurate as a straight line.
        """
        options, run = self.run.options, self.run
        span = LOOKED_ALONG * (end - t)
        slope = run.derivative(just_after(t), x)
        change = (run.derivative(t + span, x + span * slope) - slope) / span
        allowed = LINE_ERROR * (options.atol + options.rtol * np.abs(x))
        with np.errstate(divide="ignore"):
            reach = np.sqrt(np.min(2 * allowed / np.abs(change), initial=np.inf))
        return lambda at: x + (at - t) * (slope + (at - t) / 2 * change), float(reach)

    def _first_interval(self, start: float, times: Floats, states: Floats) -> int | None:
        """The index of the first time by which a crossing has happened; None if there is none."""
        run = self.run
        before, end = run.watch(start, run.x), within(start, float(times[-1]))[1]
        for k, (t, x) in enumerate(zip(times.tolist(), states, strict=False)):
            after = run.watch(min(t, end), x)
            if self.run.crossed(before, after):
                return k
            before = after
        run.before = before
        return None


def _spline(times: Floats, states: Floats) -> Dense:
    """A spline through states (N, nx) at times (N,)."""
    from scipy.interpolate import make_interp_spline

    degree = min(5, len(times) - 1)
    curve = make_interp_spline(times, states, k=degree - (degree + 1) % 2)
    return lambda t: curve(t).T
