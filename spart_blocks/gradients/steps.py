"""One step of a run, repeated with the changes of its states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spart_blocks.gradients.compiled_rows import CompiledRows
from spart_blocks.gradients.field import Field
from spart_blocks.gradients.loops import ALLOWED, LEAST
from spart_blocks.gradients.place import Place
from spart_blocks.gradients.tangents import Floats
from spart_blocks.run.constants import BEFORE, LENGTHEN, PART, SAFETY_OF_STEPS, SHORTEN

SHORTER = 0.1
"""Each step towards a crossing leaves this fraction of the way."""


@dataclass(frozen=True)
class _Part:
    """A step of the method from a place, with its stages' slopes and their changes. error: that of
    the changes, relative to what is allowed. added (k, m): to the changes of integrals.
    """

    at: Place
    h: float
    slopes: Sequence[Floats]
    changes: Sequence[Floats]
    after: Place
    error: float
    added: Floats


class Step:
    """One step of the run with its changes. inside: the earliest and the latest time at which the
    equations of the step hold. integral (k, m): what it adds to the changes of integrals.
    """

    def __init__(self, field: Field, at: Place, inside: tuple[float, float]) -> None:
        self.field, self.at, self.inside = field, at, inside
        self.integral = field.no_integral
        self.last = np.zeros(0)
        self._parts: list[_Part] = []

    def within(self, h: float) -> Place:
        """The states at a time h after the start of the step.

        The run's step is as long as its states allow, and their changes may need shorter ones: a
        fast mode may rest in the run and be stirred along a direction.
        """
        self.integral, self._parts = self.field.no_integral, []
        if not self.at.x.size and self.field.summed is None:
            return replace(self.at, t=self.at.t + h)
        at, left, part = self.at, h, h
        while True:
            part = min(part, left)
            tried = self._tried(at, part)
            error = tried.error / ALLOWED
            if error > 1.0 and part > LEAST * h:
                shorter = SAFETY_OF_STEPS * error ** (-1 / self.field.method.order)
                part *= max(SHORTEN, shorter)
                continue
            at, left = tried.after, left - part
            self.integral = self.integral + tried.added
            self._parts.append(tried)
            if left <= 1e-12 * h:
                return replace(at, t=self.at.t + h)
            part *= min(LENGTHEN, SAFETY_OF_STEPS * max(error, 1e-9) ** (-1 / 5))

    def read(self, h: float) -> Place:
        """The states at a time h after the start of a step that `within` has taken, by the dense
        output of the method where its stages give it, as the run reads its own. It leaves
        `integral` alone.
        """
        method = self.field.method
        if not self._parts or not method.reads or self.field.engine.program.stepped:
            return Step(self.field, self.at, self.inside).within(h)
        t = self.at.t + h
        part = next((one for one in reversed(self._parts) if one.at.t <= t), self._parts[0])
        theta = (t - part.at.t) / part.h
        weights = part.h * method.dense_weights(theta)
        x = part.at.x + _sum(weights, part.slopes, part.at.x)
        dx = part.at.dx + _sum(weights, part.changes, part.at.dx)
        return replace(part.at, t=t, x=x, dx=dx)

    def _tried(self, at: Place, h: float) -> _Part:
        """One step of the method."""
        f, method = self.field, self.field.method
        if f.compiled is not None:
            return self._compiled(f.compiled, at, h)
        slopes: list[Floats] = []
        changes: list[Floats] = []
        sums: list[Floats] = []
        for s, c in enumerate(method.c[: len(method.b)].tolist()):
            weights = method.A[s, :s]
            stage = replace(
                at,
                t=min(max(at.t + c * h, self.inside[0]), self.inside[1]),
                x=at.x + h * _sum(weights, slopes, at.x),
                dx=at.dx + h * _sum(weights, changes, at.dx),
            )
            slopes.append(f.slope(stage, start=self.at.x))
            for found, one in zip((changes, sums), f.changes(stage, self.at.x), strict=True):
                found.append(one)
        x = at.x + h * _sum(method.b, slopes, at.x)
        dx = at.dx + h * _sum(method.b, changes, at.dx)
        error = 0.0
        if method.e is not None:
            error = f.error(at, x, dx, h * _sum(method.e, changes, at.dx))
        integral = h * _sum(method.b, sums, self.integral)
        return self._ended(at, h, (slopes, changes, integral, x, dx, error))

    def _compiled(self, compiled: CompiledRows, at: Place, h: float) -> _Part:
        """The same by machine code."""
        return self._ended(at, h, compiled.attempt(at, h, self.inside, self.at.x))

    def _ended(
        self, at: Place, h: float, found: tuple[Any, Any, Floats, Floats, Floats, float]
    ) -> _Part:
        slopes, changes, integral, x, dx, error = found
        if self.field.engine.program.stepped:
            x, dx = self._own_steps(at, h, x, dx)
        return _Part(at, h, slopes, changes, replace(at, t=at.t + h, x=x, dx=dx), error, integral)

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
        total = self.field.no_integral
        near, left = self.at, h
        while left > rest:
            step = Step(self.field, near, self.inside)
            after = max(SHORTER * left, rest)
            near, left = step.within(left - after), after
            total = total + step.integral
        self.integral = total
        return near

    def _middle(self, near: Place, rest: float) -> tuple[Place, Floats, Floats]:
        """The states in the middle of the rest of the step, the rates of their changes, and what
        the rest adds to the changes of integrals.
        """
        f, half = self.field, 0.5 * rest
        x = near.x + half * self._rates(near)
        dx = near.dx + half * f.changes(near, self.at.x)[0]
        at = replace(near, t=near.t + half, x=x, dx=dx)
        change, sums = f.changes(at, self.at.x)
        return at, change, rest * sums

    def _crossed(self, at: Place) -> bool:
        """Whether a signal crosses between the start of the step and some states."""
        guards, start = self.field.watched, self.at
        assert guards is not None
        before = guards.value(max(start.t, self.inside[0]), start.x, start.xd)
        return bool(self.field.run.crossed(before, guards.value(at.t, at.x, at.xd)))

    def _rates(self, at: Place) -> Floats:
        return self.field.slope(at, start=self.at.x)

    def _own_steps(self, at: Place, h: float, x: Floats, dx: Floats) -> tuple[Floats, Floats]:
        f = self.field
        program = f.engine.program
        tangent = f.directions.tangent("advance", lambda: program.advance)
        more = (np.array([h]),)
        after = tangent.value(at.t, at.x, at.xd, *more)
        change = tangent.along(at.t, at.x, at.xd, 0.0, at.dx, at.dxd, *more)
        for name in program.stepped:
            part = f.engine.continuous[name]
            x[part], dx[part] = after[part], change[part]
        return x, dx


def _sum(weights: Floats, terms: Sequence[Floats], like: Floats) -> Floats:
    total = np.zeros_like(like)
    for weight, term in zip(weights.tolist(), terms, strict=True):
        if weight:
            total = total + weight * term
    return total
