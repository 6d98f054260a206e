"""Forward derivatives of a run: the changes of its states along directions, step by step.

The steps are those of the run. Each is repeated with its changes, by the run's own method; between
the steps stand the instants of instants.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from spart_blocks.diagram.network.clocks import Clock
from spart_blocks.gradients.field import Field
from spart_blocks.gradients.held import SAME, Push
from spart_blocks.gradients.instants import Edges, Maps, NoGradientError
from spart_blocks.gradients.loops import MOST_ROWS
from spart_blocks.gradients.place import Place
from spart_blocks.gradients.steps import Step
from spart_blocks.gradients.stops import Stops, edge
from spart_blocks.gradients.tangents import Directions, Floats, Integers
from spart_blocks.run.constants import BESIDE, LOCATED
from spart_blocks.run.events.holds import Contact
from spart_blocks.run.events.sliding import geometry
from spart_blocks.run.events.stops import just_after, just_before
from spart_blocks.run.run import Run
from spart_blocks.run.tape import CROSSES, HEAD, STOPPED, Act

FAR = 1e-8
"""Time [s] within which a crossing that was located must be found again."""
AT_ONCE = 1e-10
"""Instants that are no further apart [s] are as near as they can be located."""
BRIEF = 0.1
"""A signal that comes back to zero at half its acceleration times the flight does not graze it; at
less than this fraction of the product it may.
"""
PROBE = 1e-6
"""Time [s] over which the rate of a signal that crosses is differenced."""


@dataclass(frozen=True)
class Look:
    """The states at a time of interest.

    at: at a fixed time. dt (m,): how the time itself moves along the directions. slope (nx,): the
    rates. integral (k, m): the changes of the integrals up to this time, if it stood still.
    instant: whether something happens here.
    """

    at: Place
    dt: Floats
    slope: Floats
    integral: Floats
    instant: bool = True

    def moving(self) -> Place:
        """The states with their changes as the time moves."""
        return self.at.moving(self.slope, self.dt)


Seen = tuple[float, list[Look]]
"""A time with what is seen there."""


class Forward:
    """The derivatives of a run.

    field: its equations. law: those at present, when something may hold the states. moved: for each
    block with events how the time of its first one moves along the directions.
    """

    def __init__(self, run: Run, directions: Directions, integrands: Any = None) -> None:
        """run: it has ended, and was taped. directions: of an engine with the same parameters.
        integrands: a Function (t, x, xd, p) -> column of signals to integrate, or None.
        """
        assert run.tape is not None
        self.run, self.tape = run, run.tape
        self.edges = Edges(directions.engine.program, directions)
        self.stops = Stops.of(run, self.edges)
        self.field = Field(run, directions, integrands, self.stops.sets)
        self.engine = self.field.engine
        self.directions, self.maps = directions, Maps(directions)
        self.law = self.field
        self.integral = self.field.no_integral
        self._acted = 0
        self._pushes: dict[int, list[Push]] = {}
        self._crossed_at: dict[int, float] = {}
        self._last = -np.inf, np.zeros(directions.m)
        self.moved: dict[str, Floats] = {}

    # --- the run ---------------------------------------------------------------------------

    def looks(
        self, times: Iterable[float], *, dense: bool = False
    ) -> Iterator[tuple[float, list[Look]]]:
        """What is seen at these times, in ascending order: one look within a step, one on each
        side of an instant. dense: within steps, read the dense output, without integrals; for many
        times.
        """
        wanted = deque(sorted(times))
        rows = self.tape.rows
        at, sides = self.begin(self.begun())
        k = 0
        while k < len(rows):
            upto = self._plain_until(k, wanted, dense=dense)
            if upto > k:
                at, seen = self._repeated(k, upto, at, wanted)
                sides, k = [self._look(at)], upto
            else:
                t, near = rows[k, :2].tolist()
                while wanted and wanted[0] <= t + edge(t):
                    yield wanted.popleft(), sides
                within = list(_taken_before(wanted, near - edge(near)))
                at, sides, seen = self.row(k, at, within, dense=dense)
                k += 1
            yield from seen
        self.check(len(rows), at)
        for time in wanted:
            yield time, sides

    def begin(self, at: Place) -> tuple[Place, list[Look]]:
        """The states after what happens at the start of the run, and what is seen there."""
        self._refuse_edges(at, "start")
        slope = self.law.slope(at)
        first, acts = self.stops.first, self._taken(at.t)
        at = self._instant(at, slope, at.t, True, first, acts, still=True)
        return at, [self._look(at)]

    def row(
        self, k: int, at: Place, within: Sequence[float] = (), *, dense: bool = False
    ) -> tuple[Place, list[Look], list[Seen]]:
        """The states after row k of the tape and what happens at its end, with what is seen on each
        side of it, and within it. Rows are taken in ascending order.

        at: the states at its start. within: times within it; dense: as for `looks`.
        """
        rows = self.tape.rows
        t, near, until, end = rows[k, :HEAD].tolist()
        at = self.check(k, at)
        low = just_after(t) if self.begins(k) else t
        if self.begins(k) and t > self._last[0] + edge(t):  # a plain stop
            self._last = t, np.zeros(self.directions.m)
        step = Step(self.law, at, (low, just_before(until) if end == STOPPED else near))
        read = dense and end != CROSSES
        seen = [] if read else [(time, [self._look_within(step, time - t)]) for time in within]
        over = step.up_to(near - t) if end == CROSSES else step.within(until - t)
        if read:
            seen = [(time, [self._read(step, time - t)]) for time in within]
        if end == STOPPED:  # what happens there has not happened
            over = replace(over, t=step.inside[1])
        self.integral = self.integral + step.integral
        slope = step.last if end == CROSSES else self.law.slope(over)
        close = Look(over, over.dt, slope, self.integral)
        acted = self._taken(until)
        if end in (STOPPED, CROSSES) or acted or k + 1 == len(rows):
            crossed = self._crossed(step, rows, k, acted) if end == CROSSES else ()
            due = self.stops.sets[self.stops.due[k]]
            at = self._instant(over, slope, until, end == STOPPED, due, acted, crossed)
            if k + 1 == len(rows) and end != CROSSES:
                at = self._at_the_end(at)
        else:
            at = self.maps.project(over) if self.engine.drifting else over
            at = self.law.onto(at)
        return at, [replace(close, dt=at.dt), self._look(at)], seen

    def _at_the_end(self, at: Place) -> Place:
        """The states at the end of a run that no crossing ends: it stands still."""
        self._refuse_edges(at, "end")
        return replace(at, dt=np.zeros_like(at.dt))

    def _refuse_edges(self, at: Place, which: str) -> None:
        """Raises NoGradientError if what switches at the start or the end of the run moves, and the
        rates or the integrands jump by it. They may be undefined before the start.
        """
        moving = self.edges.at(at.t)[1]
        if moving is None:
            return
        sides = []
        for t in (just_before(at.t), just_after(at.t)):
            summed = self.law.summed
            sums = np.zeros(0) if summed is None else summed.value(t, at.x, at.xd)
            sides.append(np.concatenate([self.law.slope(at, t), sums]))
        if ((sides[0] != sides[1]) & np.isfinite(sides).all(axis=0)).any():
            text = (
                f"it switches at the {which} of the run, and would after it with other parameters"
            )
            raise NoGradientError(text, block=moving, time=at.t)

    def begins(self, k: int) -> bool:
        """Whether row k begins at a stop."""
        return bool(k == 0 or self.tape.rows[k - 1, 3] == STOPPED)

    def place_of(self, time: float) -> tuple[int, bool]:
        """The row within which a time lies, or else at whose end it does; -1 for the start of the
        run. And whether it is within.
        """
        rows = self.tape.rows
        k = int(np.searchsorted(rows[:, 0], time + edge(time), side="right")) - 1
        if k < 0 or time <= rows[k, 0] + edge(rows[k, 0]):
            return max(k, 0) - 1, False
        return k, bool(time < rows[k, 1] - edge(rows[k, 1]))

    @cached_property
    def codes(self) -> Integers:
        """The codes of the rows, as in stops.py; stops are special where ticks are not compiled."""
        ticks = self.field.equations.names == self.stops.names
        return self.stops.codes if ticks else np.minimum(self.stops.codes, -self.stops.codes)

    @cached_property
    def special(self) -> Integers:
        """The numbers of the rows that need more than a step and ticks."""
        return np.flatnonzero(self.codes < 0)

    def _plain_until(self, k: int, wanted: deque[float], *, dense: bool) -> int:
        """The row before which compiled code goes on from row k; k if it cannot."""
        compiled, rows = self.field.compiled, self.tape.rows
        if compiled is None or self.engine.program.stepped:
            return k
        upto = min(k + MOST_ROWS, int(self.special[np.searchsorted(self.special, k)]))
        if wanted and not (dense and compiled.reads):
            first = np.searchsorted(rows[:, 0], wanted[0] + edge(wanted[0]), side="right") - 1
            at_start = wanted[0] <= rows[first, 0] + edge(wanted[0])
            if first and at_start and self.codes[first - 1]:
                first -= 1  # both sides of the stop are seen
            upto = min(upto, int(first))
        starts = rows[k, 0] + edge(rows[k, 0])
        return k if wanted and wanted[0] <= starts else max(upto, k)

    def _repeated(
        self, k: int, upto: int, at: Place, wanted: deque[float]
    ) -> tuple[Place, list[Seen]]:
        """The states after the plain rows from k to `upto`, and what is seen within them."""
        compiled, rows = self.field.compiled, self.tape.rows
        assert compiled is not None
        until = float(rows[upto, 0])
        times = list(_taken_before(wanted, until - edge(until)))
        codes = self.codes[k:upto]
        count, at, self.integral, read = compiled.rows(
            at, self.integral, rows[k:upto], codes, starts=self.begins(k), wanted=times
        )
        if k + count < upto:
            self.check(k + count, at)
        return at, [(one.t, [self._looked(one)]) for one in read]

    def begun(self) -> Place:
        """The initial states."""
        x, xd = self.engine.initial()
        dx, dxd = self.engine.program.starts(self.directions.changes.T)
        still = np.zeros(self.directions.m)
        return Place(float(self.run.start), x, xd, dx.T, dxd.T, still)

    def start_of(self, k: int) -> tuple[float, Floats, Floats]:
        """The time and the run's own states at the start of row k; at its end, if there is none."""
        rows = self.tape.rows
        if k == len(rows):
            return float(self.run.t), self.run.x, self.run.xd
        n = HEAD + len(self.run.x)
        return float(rows[k, 0]), rows[k, HEAD:n], rows[k, n:]

    def check(self, k: int, at: Place) -> Place:
        """A place at the start of row k at a fixed time with the run's own states. Raises
        NoGradientError if the repeated ones differ.
        """
        t, x, xd = self.start_of(k)
        for found, wanted in ((at.x, x), (at.xd, xd)):
            self._compare(found, wanted, t)
        return replace(at, t=t, x=x, xd=xd, dt=np.zeros(self.directions.m))

    def _compare(self, found: Floats, wanted: Floats, t: float) -> None:
        off = np.abs(found - wanted).max(initial=0.0)
        if off > self.field.same * max(1.0, float(np.abs(wanted).max(initial=0.0))):
            text = f"repeated with its derivatives, the run differs here by {off:.3g}"
            raise NoGradientError(text, time=t)

    def _taken(self, t: float) -> list[Act]:
        """Take the acts up to an instant at t."""
        limit = t + edge(t)
        acts, begin = self.tape.acts, self._acted
        while self._acted < len(acts) and acts[self._acted].t <= limit:
            self._acted += 1
        return acts[begin : self._acted]

    def _look(self, at: Place) -> Look:
        still = replace(at, dt=np.zeros_like(at.dt))
        return Look(still, at.dt, self.law.slope(at), self.integral)

    def _look_within(self, step: Step, h: float) -> Look:
        at = step.within(h)
        total = self.integral + step.integral
        return Look(at, at.dt, self.law.slope(at), total, instant=False)

    def _read(self, step: Step, h: float) -> Look:
        return self._looked(step.read(h))

    def _looked(self, at: Place) -> Look:
        return Look(at, at.dt, self.law.slope(at), self.law.no_integral, instant=False)

    # --- instants --------------------------------------------------------------------------

    def _instant(
        self,
        near: Place,
        slope: Floats,
        t: float,
        stops: bool,
        due: Sequence[Clock],
        acts: Sequence[Act],
        crossed: Sequence[int] = (),
        *,
        still: bool = False,
    ) -> Place:
        """The states after all that happens at t, at a fixed time, with dt: how t moves.

        near: just before, with the rates there. stops: whether it is a stop, with its ticks, of
        the clocks due, and edges. crossed: the crossings that ended the step. still: whether it
        is the start of the run, which edges do not move.
        """
        self._refuse_standing(near, slope)
        moves = self._moves(near, slope, crossed, t)
        unsure = self._unsure(moves, t)
        dt, block = (next(iter(moves.values())), None) if moves else self.edges.at(t)
        if still:
            dt = np.zeros_like(near.dt)
        now = replace(near, t=t, x=self._beyond(near, slope, t, moves)).moving(slope, dt)
        if stops or not acts:
            now = self.maps.project(now)
        early = list(_before_ticks(acts))
        now = self._act(now, early, moves)
        if stops:
            now = self._tick(now, due, block)
        now = self._act(now, acts[len(early) :], moves)
        after = just_after(t) if stops else t
        summed = self.law.summed
        if summed is not None and now.dt.any():
            old = summed.value(near.t, near.x, near.xd)
            new = summed.value(after, now.x, now.xd)
            self.integral = self.integral + np.outer(old - new, now.dt)
        self._note_moves(moves, acts, now.dt)
        self._last = t, now.dt
        goes_on = self.law.slope(now, after)
        if unsure is not None and np.abs(goes_on - slope).max() > SAME * np.abs(slope).max():
            raise NoGradientError(
                "it switches as soon as it begins, and would begin on its other side with other "
                "parameters",
                block=self.engine.crossings[unsure].block,
                time=t,
            )
        return replace(now.still(goes_on), dt=now.dt)

    def _tick(self, now: Place, due: Sequence[Clock], block: str | None) -> Place:
        if not due:
            return now
        if now.dt.any():
            raise NoGradientError(
                "it switches at a tick, and would before or after it with other parameters",
                block=block,
                time=now.t,
            )
        return self.maps.tick(now, due)

    def _act(self, now: Place, acts: Sequence[Act], moves: dict[int, Floats]) -> Place:
        """The states after some acts. moves: how the times of crossings move."""
        blocks = {self.engine.crossings[k].block: move for k, move in moves.items()}
        for act in acts:
            if act.kind == "held":
                now = self._held(now, act, moves)
            if act.kind == "project":
                now = self.law.onto(self.maps.project(now))
            if act.kind not in ("reset", "switch"):
                continue
            (k,) = act.k
            own = moves.get(k, blocks.get(self.engine.crossings[k].block, now.dt))
            if not np.array_equal(own, now.dt):
                now = now.moving(self.law.slope(now), own)
            before, reset = now, act.kind == "reset"
            now = self.maps.reset(now, k) if reset else self.maps.switch(now, k)
            if reset and self.run.slides:
                self._pushes.setdefault(k, []).extend(Push.of(before, now))
        return now

    def _held(self, now: Place, act: Act, moves: dict[int, Floats]) -> Place:
        """The states as what holds them changes: the run's own, which are on the side of a surface
        to which it leaves it.
        """
        assert act.x is not None
        self._compare(now.x, act.x, act.t)
        now = replace(now, x=act.x)
        pushes = [self._push(contact, act.t) for contact in act.held.contacts]
        self.law = self.field.under(act.held, pushes)
        if self.law.held is None:
            return now
        for k in self.law.held.surfaces:
            own = moves.get(k, now.dt)
            if not np.array_equal(own, now.dt):
                now = now.moving(self.law.slope(now), own)
        left = self.law.held.left_by(now)
        if left is not None:
            raise NoGradientError(
                "its motion begins on a surface along which it slides, and would begin beside it "
                "with other parameters",
                block=self.engine.crossings[left].block,
                time=act.t,
            )
        return self.law.onto(now)

    def _push(self, contact: Contact, t: float) -> Push:
        """The direction of a contact: that of the hardest reset that gave it, since its changes are
        known best.
        """
        pushes = self._pushes.get(contact.k, ())
        alike = [push for push in pushes if np.abs(push.way - contact.jump).max() <= SAME]
        if alike:
            return max(alike, key=lambda push: push.length)
        raise NoGradientError(
            "it rests at zero from here on, held in a direction that no reset of its own gave",
            block=self.engine.crossings[contact.k].block,
            time=t,
        )

    def _note_moves(self, moves: dict[int, Floats], acts: Sequence[Act], otherwise: Floats) -> None:
        for k, move in moves.items():
            self.moved.setdefault(self.engine.crossings[k].block, move)
        for k in (k for act in acts for k in act.k):
            self.moved.setdefault(self.engine.crossings[k].block, otherwise)

    # --- crossings -------------------------------------------------------------------------

    def _crossed(self, step: Step, rows: Floats, k: int, acts: Sequence[Act]) -> Sequence[int]:
        """The crossings that ended step k: those at which the run has acted, or all between its
        start and the run's states after it.
        """
        found = next((act.k for act in acts if act.kind == "found"), None)
        guards, start = self.law.watched, step.at
        if found is not None or guards is None:
            return found or ()
        before = guards.value(max(start.t, step.inside[0]), start.x, start.xd)
        return self.run.crossed(before, guards.value(rows[k, 2], *self.start_of(k + 1)[1:]))

    def _moves(
        self, near: Place, slope: Floats, crossed: Sequence[int], t: float
    ) -> dict[int, Floats]:
        """For each crossing that ended a step how its time moves along the directions."""
        guards = self.law.watched
        if not crossed or guards is None:
            return {}
        values = guards.value(near.t, near.x, near.xd)
        changes = guards.along(near.t, near.x, near.xd, 0.0, near.dx, near.dxd)
        rates = guards.by_time(near.t, near.x, near.xd, slope)
        past = replace(near, t=near.t - PROBE, x=near.x - PROBE * slope)
        earlier = guards.by_time(past.t, past.x, past.xd, self.law.slope(past))
        bends = (rates - earlier) / PROBE
        moves, last = {}, self._crossed_at
        for k in crossed:
            depth = 0.5 * rates[k] ** 2 / max(abs(bends[k]), 1e-300)
            if k in last and abs(rates[k]) >= BRIEF * abs(bends[k]) * (t - last[k]):
                depth = np.inf
            last[k] = t
            if depth <= self.law.resolved(values[k]) or t - near.t > FAR:
                if changes[k].any():
                    raise NoGradientError(
                        "its signal grazes zero, where the run has no derivative",
                        block=self.engine.crossings[k].block,
                        time=t,
                    )
            elif abs(values[k]) <= FAR * abs(rates[k]):  # others have jumped with it
                moves[k] = -changes[k] / rates[k]
        return moves

    def _refuse_standing(self, near: Place, slope: Floats) -> None:
        """Raises NoGradientError if a signal stands exactly where the rates jump, with a change."""
        guards, crossings = self.law.watched, self.engine.crossings
        if guards is None:
            return
        zero = np.flatnonzero(guards.value(near.t, near.x, near.xd) == 0)
        found = [k for k in zero.tolist() if crossings[k].kind in ("bend", "mode")]
        if not found:
            return
        changes = guards.along(near.t, near.x, near.xd, 0.0, near.dx, near.dxd)
        rates = guards.by_time(near.t, near.x, near.xd, slope)
        for k in found:
            if changes[k].any() and not rates[k] and self._jumps(near, k):
                raise NoGradientError(
                    "it stands where it switches, and would leave it to either side with other "
                    "parameters",
                    block=crossings[k].block,
                    time=near.t,
                )

    def _jumps(self, at: Place, k: int) -> bool:
        """Whether the rates jump where a zero-crossing function is zero: apart by half as much on
        its two sides, they would otherwise differ by half as much.
        """
        near = geometry(self.engine, at.t, at.x, at.xd, [k])
        way = near.size * BESIDE @ near.along
        close, far = (
            np.abs(self.law.slope(replace(at, x=at.x + n * way))
                   - self.law.slope(replace(at, x=at.x - n * way))).max()
            for n in (1, 2)
        )  # fmt: skip
        return bool(close > 0.75 * far)

    def _unsure(self, moves: dict[int, Floats], t: float) -> int | None:
        """A crossing at once after another instant, which does not move with that."""
        before, dt = self._last
        if t - before > AT_ONCE:
            return None
        return next((k for k, move in moves.items() if not np.allclose(move, dt)), None)

    def _beyond(self, near: Place, slope: Floats, t: float, moves: Iterable[int]) -> Floats:
        """The states at t, on the far side of these crossings."""
        way, guards = t - near.t, self.law.watched
        x = near.x + way * slope
        if guards is None or not moves:
            return x
        before = guards.value(near.t, near.x, near.xd)
        furthest = way + FAR
        while not self._over(moves, before, guards.value(near.t + way, x, near.xd)):
            way = max(2 * way, LOCATED)
            if way > furthest:
                break
            x = near.x + way * slope
        return x

    def _over(self, moves: Iterable[int], before: Floats, after: Floats) -> bool:
        """Whether values are beyond these crossings, or were already before."""
        for k in moves:
            way = self.engine.crossings[k].direction
            if way * after[k] <= 0 if way else (before[k] > 0) == (after[k] > 0):
                return False
        return True


def _taken_before(times: deque[float], limit: float) -> Iterator[float]:
    """Take the times before a limit."""
    while times and times[0] < limit:
        yield times.popleft()


def _before_ticks(acts: Sequence[Act]) -> Iterator[Act]:
    """The acts before the ticks at their instant."""
    early = False
    for act in acts:
        if act.kind == "found":
            early = act.ticks_follow
        if not early:
            return
        yield act
