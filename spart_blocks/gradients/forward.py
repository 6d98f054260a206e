"""Forward derivatives of a run: the changes of its states along directions, step by step.

The steps are those of the run. Each is repeated with its changes, by the run's own method, so that
these are the derivatives of the method with its steps held; between the steps stand the instants
of instants.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.base.tableaus import Tableau, tableau
from spart_blocks.diagram.network.clocks import exact
from spart_blocks.gradients.instants import Maps, NoGradientError, Place
from spart_blocks.gradients.tangents import Directions, Floats
from spart_blocks.run.constants import (
    BEFORE,
    LENGTHEN,
    LOCATED,
    PART,
    SAFETY_OF_STEPS,
    SHORTEN,
)
from spart_blocks.run.engines.native import Native
from spart_blocks.run.events.stops import just_after, just_before
from spart_blocks.run.run import Run
from spart_blocks.run.tape import CROSSES, HEAD, STOPPED, Act

SAME = 1e-6
"""Largest difference of a repeated state from the run's, relative to the size of the states."""
FAR = 1e-8
"""Time [s] within which a crossing that was located must be found again."""
PROBE = 1e-6
"""Time [s] over which the rate of a signal that crosses is differenced."""
LEAST = 1e-6
"""Shortest step of the changes, as a fraction of the run's."""
SHORTER = 0.1
"""Each step towards a crossing leaves this fraction of the way."""
_ULPS = 64


@dataclass(frozen=True)
class Look:
    """The states at a time of interest. at: with the changes at a fixed time; at.dt: how the time
    itself moves along the directions. slope (nx,): the rates there. integral (k, m): the changes of
    the integrals up to this time, if it stood still. instant: whether something happens here.
    """

    at: Place
    slope: Floats
    integral: Floats
    instant: bool = True

    def moving(self) -> Place:
        """The states with their changes as the time moves."""
        none = replace(self.at, dt=np.zeros_like(self.at.dt))
        return none.moving(self.slope, self.at.dt)


@dataclass
class Forward:
    """The derivatives of a run that was taped.

    run: it has ended. directions: of an engine with the same parameters. integrands: a Function
    (t, x, xd, p) -> column of signals to integrate, or None.
    """

    run: Run
    directions: Directions
    integrands: Any = None
    maps: Maps = field(init=False)
    engine: Native = field(init=False)
    moved: dict[str, Floats] = field(init=False, default_factory=dict)
    """For each block with events how the time of its first one moves along the directions."""

    def __post_init__(self) -> None:
        engine = self.run.engine
        assert isinstance(engine, Native)
        self.engine, self.maps = engine, Maps(self.directions)
        method = tableau(self.run.options.solver)
        assert method is not None
        self.method: Tableau = method
        program = engine.program
        self.rates = self.directions.tangent(
            "rates", lambda: program.held or program.rates, often=True
        )
        self.holds = program.held is not None
        self.guards = (
            self.directions.tangent(("guards", len(engine.crossings)), lambda: program.watched)
            if engine.crossings
            else None
        )
        self.ticks = {c.name: c.first_tick_from(self.run.start) for c in self.run.clocks}
        self.edges = _MovingEdges(engine, self.directions)
        self.integral = np.zeros(0)
        if self.integrands is not None:
            self.summed = self.directions.tangent(
                "integrands", lambda: self.integrands, often=True
            )
            self.integral = np.zeros((self.integrands.numel_out(0), self.directions.m))

    # --- the run ---------------------------------------------------------------------------

    def looks(self, times: Iterable[float]) -> Iterator[tuple[float, list[Look]]]:
        """What is seen at these times, in ascending order: one look within a step, one on each
        side of an instant.
        """
        wanted = sorted(times)
        rows, acts = self.run.tape.rows, list(self.run.tape.acts)
        n = len(self.run.x)
        at = self._begun()
        at = self._instant(at, self._slope(at, at.t), at.t, True, _taken(acts, at.t))
        sides = [self._look(at)]
        for k, row in enumerate(rows):
            t, near, until, end = row[:HEAD]
            self._agrees(at, row[HEAD : HEAD + n], row[HEAD + n :])
            at = replace(at, t=t, x=row[HEAD : HEAD + n], xd=row[HEAD + n :])
            low = just_after(t) if k == 0 or rows[k - 1, 3] == STOPPED else t
            high = just_before(until) if end == STOPPED else near
            step = _Step(self, at, (low, high))
            edge = _ULPS * np.spacing(max(abs(t), abs(until)))
            while wanted and wanted[0] <= t + edge:
                yield wanted.pop(0), sides
            while wanted and wanted[0] < near - edge:
                inside = step.within(wanted[0] - t)
                total = self.integral + step.integral
                one = Look(inside, self._slope(inside, inside.t), total, instant=False)
                yield wanted.pop(0), [one]
            over = step.up_to(near - t) if end == CROSSES else step.within(until - t)
            if end == STOPPED:  # what happens there has not happened
                over = replace(over, t=high)
            self.integral = self.integral + step.integral
            slope = step.last if end == CROSSES else self._slope(over, over.t)
            close = Look(over, slope, self.integral)
            if end in (STOPPED, CROSSES) or k + 1 == len(rows):
                then = self._then(rows, k)
                acted = _taken(acts, until)
                crossed = self._crossed(at, low, then, until, acted) if end == CROSSES else ()
                at = self._instant(over, close.slope, until, end == STOPPED, acted, crossed)
            else:
                at = self.maps.project(over) if self.engine.drifting else over
            sides = [replace(close, at=replace(over, dt=at.dt)), self._look(at)]
            at = replace(at, dt=np.zeros(self.directions.m))
        self._agrees(at, self.run.x, self.run.xd)
        for time in wanted:
            yield time, sides

    def _begun(self) -> Place:
        """The initial states."""
        program, d = self.engine.program, self.directions
        _, x, xd, p = program.rates.sx_in()
        changes = []
        for base in program.starts(d.changes.T):
            changes.append(base.T)
        x0, xd0 = self.engine.initial()
        t = float(self.run.start)
        return Place(t, x0, xd0, changes[0], changes[1], np.zeros(d.m))

    def _then(self, rows: Floats, k: int) -> tuple[Floats, Floats]:
        """The run's own states after step k and what ends it."""
        if k + 1 == len(rows):
            return self.run.x, self.run.xd
        return np.split(rows[k + 1, HEAD:], [len(self.run.x)])  # type: ignore[return-value]

    # --- instants --------------------------------------------------------------------------

    def _instant(
        self,
        near: Place,
        slope: Floats,
        t: float,
        stops: bool,
        acts: Sequence[Act],
        crossed: Sequence[int] = (),
    ) -> Place:
        """The states after all that happens at t, and how t moves. near: just before, with the
        rates there. stops: whether it is a stop, with its ticks and edges. crossed: the crossings
        that ended the step.
        """
        moves = self._moves(near, slope, crossed, t)
        dt = next(iter(moves.values())) if moves else self.edges.at(t)
        now = replace(near, t=t, x=self._beyond(near, slope, t, moves)).moving(slope, dt)
        if stops or not acts:
            now = self.maps.project(now)
        early = list(_before_ticks(acts))
        now = self._act(now, early, moves)
        if stops:
            now = self._tick(now)
        now = self._act(now, acts[len(early) :], moves)
        after = just_after(t) if stops else t
        if self.integrands is not None and now.dt.any():
            old, new = (self.summed.value(s, one.x, one.xd) for s, one in ((near.t, near), (after, now)))
            self.integral = self.integral + np.outer(old - new, now.dt)
        for k, move in moves.items():
            self.moved.setdefault(self.engine.crossings[k].block, move)
        for act in acts:
            for k in act.k:
                self.moved.setdefault(self.engine.crossings[k].block, now.dt)
        return replace(now.moving(self._slope(now, after), np.zeros(self.directions.m)), dt=now.dt)

    def _tick(self, now: Place) -> Place:
        due = [c for c in self.run.clocks if float(c.time(self.ticks[c.name])) == now.t]
        if not due:
            return now
        if now.dt.any():
            raise NoGradientError(
                "a source switches at a tick, and would before or after it with other parameters",
                block=self.edges.block_at(now.t),
                time=now.t,
            )
        for clock in due:
            self.ticks[clock.name] += 1
        return self.maps.tick(now, due)

    def _beyond(self, near: Place, slope: Floats, t: float, moves: Iterable[int]) -> Floats:
        """The states at t, on the far side of these crossings."""
        way = t - near.t
        if self.guards is None or not moves:
            return near.x + way * slope
        before = self.guards.value(near.t, near.x, near.xd)
        while way < t - near.t + FAR:
            x = near.x + way * slope
            after = self.guards.value(max(t, near.t + way), x, near.xd)
            if all(self.engine.crossings[k].direction * after[k] > 0
                   or (self.engine.crossings[k].direction == 0 and before[k] * after[k] <= 0)
                   for k in moves):
                break
            way = max(2 * way, LOCATED)
        return x

    def _crossed(
        self, at: Place, low: float, then: tuple[Floats, Floats], t: float, acts: Sequence[Act]
    ) -> Sequence[int]:
        """The crossings that ended a step from a place: those at which the run has acted, or all
        between there and the run's states after it.
        """
        found = next((act.k for act in acts if act.kind == "found"), None)
        if found is not None or self.guards is None:
            return found or ()
        before = self.guards.value(max(at.t, low), at.x, at.xd)
        return self.run.crossed(before, self.guards.value(t, *then))

    def _moves(
        self, near: Place, slope: Floats, crossed: Sequence[int], t: float
    ) -> dict[int, Floats]:
        """For each crossing that ended a step how its time moves along the directions."""
        if not crossed or self.guards is None:
            return {}
        values = self.guards.value(near.t, near.x, near.xd)
        changes = self.guards.along(near.t, near.x, near.xd, 0.0, near.dx, near.dxd)
        rates = self.guards.by_time(near.t, near.x, near.xd, slope)
        past = replace(near, t=near.t - PROBE, x=near.x - PROBE * slope)
        earlier = self.guards.by_time(past.t, past.x, past.xd, self._slope(past, past.t))
        bends = (rates - earlier) / PROBE
        moves = {}
        for k in crossed:
            crossing = self.engine.crossings[k]
            depth = 0.5 * rates[k] ** 2 / max(abs(bends[k]), 1e-300)
            if depth <= self._resolved(values[k]) or t - near.t > FAR:
                if changes[k].any():
                    raise NoGradientError(
                        "its signal grazes zero, where the run has no derivative",
                        block=crossing.block,
                        time=t,
                    )
                continue
            if abs(values[k]) <= FAR * abs(rates[k]):  # others have jumped with it
                moves[k] = -changes[k] / rates[k]
        return moves

    def _resolved(self, value: float) -> float:
        """The distance from zero that a signal is known to."""
        options = self.run.options
        return float(options.atol + options.rtol * abs(value))

    def _act(self, now: Place, acts: Sequence[Act], moves: dict[int, Floats]) -> Place:
        blocks = {self.engine.crossings[k].block: k for k in moves}
        for act in acts:
            if act.kind == "held":
                raise NoGradientError("states slide or rest at zero from here on", time=act.t)
            if act.kind == "project":
                now = self.maps.project(now)
                continue
            if act.kind == "found":
                continue
            (k,) = act.k
            cause = k if k in moves else blocks.get(self.engine.crossings[k].block)
            if cause is not None and not np.array_equal(moves[cause], now.dt):
                now = now.moving(self._slope(now, now.t), moves[cause])
            now = self.maps.reset(now, k) if act.kind == "reset" else self.maps.switch(now, k)
        return now

    def error(self, at: Place, x: Floats, dx: Floats, off: Floats) -> float:
        """The error `off` of changes dx (nx, m) relative to what is allowed: what a state may be
        off, for a change of each direction by its size, and a fraction of the change itself.
        Source: A. C. Hindmarsh, R. Serban, User documentation of CVODES, sec. 2.6 (tolerances of
        sensitivities)."""
        if not off.size:
            return 0.0
        options = self.run.options
        state = options.atol + options.rtol * np.maximum(abs(at.x), abs(x))
        allowed = state[:, None] / self.directions.size
        allowed = allowed + options.rtol * np.maximum(abs(at.dx), abs(dx))
        return float(np.sqrt(np.mean((off / allowed) ** 2, axis=0)).max())

    def _slope(self, at: Place, t: float) -> Floats:
        more = (at.x,) if self.holds else ()
        return self.rates.value(t, at.x, at.xd, *more)

    def _look(self, at: Place) -> Look:
        return Look(at, self._slope(at, at.t), self.integral)

    def _agrees(self, at: Place, x: Floats, xd: Floats) -> None:
        """Check that the repeated run goes where the run went."""
        for found, wanted in ((at.x, x), (at.xd, xd)):
            size = max(1.0, float(np.abs(wanted).max(initial=0.0)))
            if np.abs(found - wanted).max(initial=0.0) > SAME * size:
                k = int(np.abs(found - wanted).argmax())
                raise NoGradientError(
                    f"repeated, the run differs here by {np.abs(found - wanted).max():.3g} "
                    f"in state {k}",
                    time=at.t,
                )


class _Step:
    """One step of the run with its changes. inside: the earliest and the latest time at which the
    equations of the step hold. integral (k, m): what it adds to the changes of integrals.
    """

    def __init__(self, forward: Forward, at: Place, inside: tuple[float, float]) -> None:
        self.forward, self.at, self.inside = forward, at, inside
        self.integral = np.zeros_like(forward.integral)
        self.last = np.zeros(0)

    def within(self, h: float) -> Place:
        """The states at a time h after the start of the step.

        The run's step is as long as its states allow, and their changes may need shorter ones: a
        fast mode may rest in the run and be stirred along a direction.
        """
        self.integral = np.zeros_like(self.integral)
        at, left, part = self.at, h, h
        while True:
            part = min(part, left)
            after, error, integral = self._tried(at, part)
            if error > 1.0 and part > LEAST * h:
                part *= max(SHORTEN, SAFETY_OF_STEPS * error ** (-1 / self.forward.method.order))
                continue
            at, left = after, left - part
            self.integral = self.integral + integral
            if left <= 1e-12 * h:
                return replace(at, t=self.at.t + h)
            part *= min(LENGTHEN, SAFETY_OF_STEPS * max(error, 1e-9) ** (-1 / 5))

    def _tried(self, at: Place, h: float) -> tuple[Place, float, Floats]:
        """One step of the method, the error of the changes relative to what is allowed, and what
        it adds to the changes of integrals."""
        f = self.forward
        method, more = f.method, self._more
        slopes: list[Floats] = []
        changes: list[Floats] = []
        sums: list[Floats] = []
        for s, c in enumerate(method.c.tolist()):
            weights = method.A[s, :s]
            x = at.x + h * _sum(weights, slopes, len(at.x))
            dx = at.dx + h * _sum(weights, changes, at.dx.shape)
            t = min(max(at.t + c * h, self.inside[0]), self.inside[1])
            slopes.append(f.rates.value(t, x, at.xd, *more))
            changes.append(f.rates.along(t, x, at.xd, 0.0, dx, at.dxd, *more))
            if f.integrands is not None:
                sums.append(f.summed.along(t, x, at.xd, 0.0, dx, at.dxd))
        x = at.x + h * _sum(method.b, slopes, len(at.x))
        dx = at.dx + h * _sum(method.b, changes, at.dx.shape)
        error, integral = 0.0, self.integral[:0]
        if method.e is not None:
            error = f.error(at, x, dx, h * _sum(method.e, changes, at.dx.shape))
        integral = np.zeros_like(self.integral)
        if f.integrands is not None:
            integral = h * _sum(method.b, sums, sums[0].shape)
        if f.engine.program.stepped:
            x, dx = self._own_steps(at, h, x, dx)
        return replace(at, t=at.t + h, x=x, dx=dx), error, integral

    def up_to(self, h: float) -> Place:
        """The states at a time h after the start of the step, just before a crossing: by shorter
        and shorter steps, since stages are less accurate than a step's end and may lie beyond, and
        a midpoint step at last. `last` has the rates there.
        """
        rest = min(h, max(BEFORE, PART * h))
        while True:
            near = self._before(h, rest)
            middle, change, added = self._middle(near, rest)
            if not self._crossed(middle):
                break
            if rest == h:  # it starts as near as this
                self.last = self._rates(near)
                return self.within(h)
            rest = min(8 * rest, h)  # repeated, the step crosses a little earlier
        slope = self._rates(middle)
        self.last = 2 * slope - self._rates(near)
        self.integral = self.integral + added
        x, dx = near.x + rest * slope, near.dx + rest * change
        return replace(near, t=self.at.t + h, x=x, dx=dx)

    def _before(self, h: float, rest: float) -> Place:
        """The states a time `rest` before the time h."""
        total = np.zeros_like(self.integral)
        near, left = self.at, h
        while left > rest:
            step = _Step(self.forward, near, self.inside)
            after = max(SHORTER * left, rest)
            near, left = step.within(left - after), after
            total = total + step.integral
        self.integral = total
        return near

    def _middle(self, near: Place, rest: float) -> tuple[Place, Floats, Floats]:
        """The states in the middle of the rest of the step, the rates of their changes, and what
        the rest adds to the changes of integrals.
        """
        f, at, half = self.forward, near, 0.5 * rest
        change = f.rates.along(at.t, at.x, at.xd, 0.0, at.dx, at.dxd, *self._more)
        x, dx = at.x + half * self._rates(at), at.dx + half * change
        at = replace(at, t=at.t + half, x=x, dx=dx)
        added = np.zeros_like(self.integral)
        if f.integrands is not None:
            added = rest * f.summed.along(at.t, at.x, at.xd, 0.0, at.dx, at.dxd)
        change = f.rates.along(at.t, at.x, at.xd, 0.0, at.dx, at.dxd, *self._more)
        return at, change, added

    def _crossed(self, at: Place) -> bool:
        """Whether a signal crosses between the start of the step and some states."""
        guards, start = self.forward.guards, self.at
        assert guards is not None
        before = guards.value(max(start.t, self.inside[0]), start.x, start.xd)
        return bool(self.forward.run.crossed(before, guards.value(at.t, at.x, at.xd)))

    def _rates(self, at: Place) -> Floats:
        return self.forward.rates.value(at.t, at.x, at.xd, *self._more)

    @property
    def _more(self) -> tuple[Floats, ...]:
        """Further arguments of the rates: limits act by the state at the start of the step."""
        return (self.at.x,) if self.forward.holds else ()

    def _own_steps(
        self, at: Place, h: float, x: Floats, dx: Floats
    ) -> tuple[Floats, Floats]:
        f = self.forward
        program = f.engine.program
        tangent = f.directions.tangent("advance", lambda: program.advance)
        more = (np.array([h]),)
        after = tangent.value(at.t, at.x, at.xd, *more)
        change = tangent.along(at.t, at.x, at.xd, 0.0, at.dx, at.dxd, *more)
        for name in program.stepped:
            part = f.engine.continuous[name]
            x[part], dx[part] = after[part], change[part]
        return x, dx


def _sum(weights: Floats, terms: Sequence[Floats], shape: Any) -> Floats:
    total = np.zeros(shape)
    for weight, term in zip(weights.tolist(), terms, strict=True):
        if weight:
            total = total + weight * term
    return total


def _taken(acts: list[Act], t: float) -> list[Act]:
    """Take the acts up to an instant at t out of the list."""
    limit = t + _ULPS * math.ulp(max(abs(t), 1e-300))
    count = next((k for k, act in enumerate(acts) if act.t > limit), len(acts))
    taken, acts[:] = acts[:count], acts[count:]
    return taken


def _before_ticks(acts: Sequence[Act]) -> Iterator[Act]:
    """The acts before the ticks at their instant."""
    early = False
    for act in acts:
        if act.kind == "found":
            early = act.ticks_follow
        if not early:
            return
        yield act


class _MovingEdges:
    """The known times at which sources switch and that depend on the parameters that vary."""

    def __init__(self, engine: Native, directions: Directions) -> None:
        self.m = directions.m
        self.series: list[tuple[str, Any, Floats, Floats]] = []
        program = engine.program
        if not program.switching:
            return
        (p,) = arguments = program.edges.sx_in()
        jacobian = ca.Function("j", arguments, [ca.jacobian(program.edges(p), p)])(program.p)
        changes = np.array(jacobian.full()) @ directions.changes
        for k, times in enumerate(program.switches()):
            first, period = changes[2 * k], changes[2 * k + 1]
            if first.any() or period.any():
                self.series.append((times.block, times, first, period))

    def at(self, t: float) -> Floats:
        """How an edge at t moves along the directions: (m,)."""
        for _, times, first, period in self.series:
            k = self._number(times, t)
            if k is not None:
                return np.asarray(first + k * period)
        return np.zeros(self.m)

    def block_at(self, t: float) -> str | None:
        """The block of an edge at t."""
        return next((b for b, times, _, _ in self.series if self._number(times, t) is not None), None)

    @staticmethod
    def _number(times: Any, t: float) -> int | None:
        if not math.isfinite(float(times.first)):
            return None
        k = 0
        if times.period > 0:
            k = max(0, round((exact(t) - times.first) / times.period))
        return k if float(times.first + k * times.period) == t else None
