"""The motion of states that are held, with its tangents: along surfaces, and with signals at rest.

The rates are those of run/events/holds.py and sliding.py, with exact derivatives in place of
differences. What is found by numbers, the sides of the surfaces and the weights of their fields,
enters the functions as arguments; the weights are found anew from there by Newton's method, which
has the same derivatives as they.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.gradients.instants import NoGradientError
from spart_blocks.gradients.place import Place
from spart_blocks.gradients.tangents import Directions, Floats, Tangent
from spart_blocks.program import Program
from spart_blocks.run.constants import BESIDE
from spart_blocks.run.events.holds import Held
from spart_blocks.run.events.sliding import (
    Geometry,
    Sides,
    combined,
    geometry,
    settled,
    weights,
)
from spart_blocks.run.run import Run

SAME = 1e-6
"""Largest change of the distance from a surface along which it is none, relative to its terms."""

KEPT = 8
"""Number of states whose held motion is kept."""


@dataclass(frozen=True)
class Push:
    """The direction in which a reset has changed the states, a unit vector (nx,), with its changes
    (nx, m). length: of the change.
    """

    way: Floats
    changes: Floats
    length: float

    @staticmethod
    def of(before: Place, after: Place) -> list[Push]:
        """That of a reset; none if it has changed nothing."""
        jump, change = after.x - before.x, after.dx - before.dx
        length = float(np.linalg.norm(jump))
        if not length:
            return []
        way = jump / length
        return [Push(way, (change - np.outer(way, way @ change)) / length, length)]


class HeldMotion:
    """The motion of a run while something holds its states.

    Its methods are those of a field, and of the tangent of its zero-crossing functions: of a held
    signal they tell how far it is from being released.
    """

    def __init__(
        self,
        run: Run,
        directions: Directions,
        guards: Tangent,
        held: Held,
        pushes: Sequence[Push],
    ) -> None:
        """guards: the tangent of the zero-crossing functions. pushes: for each contact its
        direction.
        """
        self.run, self.held, self.guards = run, held, guards
        self.engine, self.directions = directions.engine, directions
        crossings, program = self.engine.crossings, self.engine.program
        surfaces = held.sliding.surfaces if held.sliding else ()
        self.surfaces = [surface.k for surface in surfaces]
        self.contacts = [contact.k for contact in held.contacts]
        self.still = sorted({k for s in surfaces for k in s.along} - {*self.surfaces})
        self.blocks = {crossings[k].block for s in surfaces for k in s.along}
        self.sides = list(product((-1, 1), repeat=len(surfaces)))
        n, nx = len(self.contacts), len(run.x)
        self.ways = np.concatenate([np.zeros(0), *(push.way for push in pushes)])
        changes = [push.changes for push in pushes]
        self.turns = np.concatenate([np.zeros((0, directions.m)), *changes])
        given = Motion(program, tuple(self.surfaces), tuple(self.contacts))
        signs = np.array([crossings[k].direction or 1.0 for k in self.surfaces])
        self.signs = np.concatenate([signs, -np.ones(n)])
        key = ("held", given.surfaces, given.contacts)
        made = directions.tangent
        self.motion = made((*key, "motion"), given.motion)
        self.approach = made((*key, "approach"), given.approach) if n else None
        self.rates = self.engine.derived((*key, "rates"), given.rates)
        self.nx = nx
        self._spots: dict[Any, _Spot] = {}

    # --- the field -------------------------------------------------------------------------

    def slope(self, at: Place, t: float) -> Floats:
        """The rates at a place, at a time t."""
        spot = self._spot(t, at.x, at.xd)
        return self.motion.value(*spot.arguments)[: self.nx]

    def changes(self, at: Place) -> Floats:
        """How the rates (nx, m) change along the directions."""
        return self._along(self.motion, self.onto(at))[: self.nx]

    def onto(self, at: Place) -> Place:
        """The states on the surfaces, with the signals at rest and their rates at zero."""
        spot = self._spot(at.t, at.x, at.xd)
        at = replace(at, x=spot.x)
        for rows, near in spot.near:
            change = self._approached(at, at.dx, spot)[rows]
            steps = change / np.einsum("ij,ij->i", near.J, near.along)[:, None]
            at = replace(at, dx=at.dx - near.along.T @ steps)
        if self.approach is None:
            return at
        forces = np.linalg.solve(spot.pushed, self._along(self.approach, at))
        return replace(at, dx=at.dx - self.ways.reshape(-1, self.nx).T @ forces)

    def left_by(self, at: Place) -> int | None:
        """The crossing of a surface that the states leave along a direction, if there is one."""
        if not self.surfaces:
            return None
        rows, options = self.surfaces, self.run.options
        spot = self._spot(at.t, at.x, at.xd)
        change, rest = (self._approached(at, dx, spot)[rows] for dx in (at.dx, 0 * at.dx))
        slopes = np.abs(spot.near[0][1].J)
        terms = slopes @ np.abs(at.dx) + np.abs(rest)
        off = options.atol * slopes.sum(axis=1) + options.rtol * (slopes @ np.abs(at.x))
        left = np.abs(change) > SAME * terms + off[:, None] / self.directions.size
        return next((k for k, one in zip(rows, left, strict=True) if one.any()), None)

    # --- as zero-crossing functions ----------------------------------------------------------

    def value(self, t: float, x: Floats, xd: Floats) -> Floats:
        """Values of the zero-crossing functions, positive where a held signal must be released."""
        return self.held.watch(self.engine, t, x, xd, self.guards.value(t, x, xd))

    def along(
        self, t: float, x: Floats, xd: Floats, dt: Floats | float, dx: Floats, dxd: Floats
    ) -> Floats:
        """Their derivatives (n, m) along the directions."""
        moves = np.broadcast_to(np.asarray(dt, dtype=float), self.directions.m)
        at = self.onto(Place(t, x, xd, dx, dxd, moves))
        found = self.guards.along(t, x, xd, dt, dx, dxd)
        return self._released(at, found, self._along(self.motion, at)[self.nx :])

    def by_time(self, t: float, x: Floats, xd: Floats, dx: Floats) -> Floats:
        """Their change (n,) per second where the states change by dx (nx,)."""
        spot = self._spot(t, x, xd)
        rates = self._by_time(self.motion, spot.arguments, dx)[self.nx :]
        none = np.zeros((0, 0))
        at = Place(t, spot.x, xd, none, none, np.zeros(0))
        return self._released(at, self.guards.by_time(t, x, xd, dx)[:, None], rates[:, None])[:, 0]

    def _released(self, at: Place, found: Floats, leads: Floats) -> Floats:
        """Changes of all zero-crossing functions with those of held signals: of their weights and
        accelerations `leads` (n, m).
        """
        now = self.motion.value(*self._spot(at.t, at.x, at.xd).arguments)[self.nx :]
        count = len(self.surfaces)
        outwards = np.ones(len(now))
        outwards[:count] = 2 * np.sign(now[:count] - 0.5)
        found = found.copy()
        found[self.still] = 0.0
        found[[*self.surfaces, *self.contacts]] = (self.signs * outwards)[:, None] * leads
        return found

    # --- numbers -----------------------------------------------------------------------------

    def _approached(self, at: Place, dx: Floats, spot: _Spot) -> Floats:
        """The changes (n, m) of all zero-crossing functions, beside those that are zero."""
        return self.guards.along(at.t, at.x + spot.aside, at.xd, at.dt, dx, at.dxd)

    def _along(self, tangent: Tangent, at: Place) -> Floats:
        t, whole, xd, *numbers = self._spot(at.t, at.x, at.xd).arguments
        return tangent.along(t, whole, xd, at.dt, np.vstack([at.dx, self.turns]), at.dxd, *numbers)

    def _by_time(self, tangent: Tangent, arguments: tuple[Any, ...], dx: Floats) -> Floats:
        t, whole, xd, *numbers = arguments
        return tangent.by_time(t, whole, xd, np.append(dx, np.zeros(len(self.ways))), *numbers)

    def _spot(self, t: float, x: Floats, xd: Floats) -> _Spot:
        """The held motion near these states. Those found last are kept: rates, their changes and
        zero-crossing functions are asked for in turn.
        """
        key = (t, x.tobytes(), xd.tobytes())
        if key not in self._spots:
            if len(self._spots) >= KEPT:
                del self._spots[next(iter(self._spots))]
            self._spots[key] = self._found(t, x, xd)
        return self._spots[key]

    def _found(self, t: float, x: Floats, xd: Floats) -> _Spot:
        engine, near, aside = self.engine, [], np.zeros(len(x))
        for rows in (rows for rows in (self.surfaces, self.contacts) if rows):
            one = geometry(engine, t, x, xd, rows)
            near.append((rows, one))
            x, aside = one.onto(x), aside + (one.size * BESIDE) @ one.along
        beside = weighted = pushed = np.zeros(0)
        if self.surfaces:
            _, surfaces = near[0]
            points = []
            for sides in self.sides:
                way = (np.array(sides) * surfaces.size * BESIDE) @ surfaces.along
                points += [settled(engine, t, x + n * way, xd, self.blocks) - x for n in (1, 2)]
            beside = np.concatenate(points)
            whole, p = np.append(x, self.ways), engine.program.p
            rates = self.rates(t, whole, xd, p, aside, beside, np.zeros(len(self.surfaces))).full()
            weighted = weights(dict(zip(self.sides, rates.T, strict=True)))
        if self.approach is not None:
            arguments = (t, np.append(x, self.ways), xd, aside, beside, weighted)
            ways = self.ways.reshape(-1, self.nx)
            by_time = self._by_time(self.approach, arguments, np.zeros(len(x)))
            pushed = np.array(
                [self._by_time(self.approach, arguments, way) - by_time for way in ways]
            ).T
            if np.linalg.matrix_rank(pushed) < len(pushed):
                raise NoGradientError(
                    "signals rest at zero that are not independent of each other",
                    block=engine.crossings[self.contacts[-1]].block,
                    time=t,
                )
            x = x - np.linalg.solve(pushed, self.approach.value(*arguments)) @ ways
        arguments = (t, np.append(x, self.ways), xd, aside, beside, weighted)
        return _Spot(x, near, aside, pushed, arguments)


@dataclass(frozen=True)
class _Spot:
    """The held motion near some states.

    x: these where they are held. near: crossings of surfaces, and of signals at rest, each with
    their geometry. aside (nx,): a step off all of them: on them, zero-crossing functions may have a
    kink. pushed (n, n): how the rates of the signals at rest change along the directions of their
    contacts. arguments: those of `Motion`, without p.
    """

    x: Floats
    near: list[tuple[list[int], Geometry]]
    aside: Floats
    pushed: Floats
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Motion:
    """The functions of a held motion along the surfaces of these crossings, with the signals of
    these at rest.

    Their arguments are t, the states x with the directions of the contacts below them, xd, p; a
    step off the surfaces; for each combination of sides a near and a far point beside them,
    relative to x; and the weights of the upper sides.
    """

    program: Program
    surfaces: tuple[int, ...]
    contacts: tuple[int, ...]

    def rates(self) -> Any:
        """The Function of the surfaces' rates (m, sides) in the field of each combination."""
        free = self._free()
        return ca.Function("rates", free.arguments, [ca.densify(ca.horzcat(*free.rates.values()))])

    def approach(self) -> Any:
        """The Function of the rates of the signals at rest."""
        free = self._free()
        return ca.Function("approach", free.arguments, [ca.densify(self._approach(free))])

    def motion(self) -> Any:
        """The Function of the column of the rates of the states, the weights, and the accelerations
        of the signals at rest without their contacts.
        """
        free = self._free()
        column = [free.slope, free.weights]
        if self.contacts:
            approach = self._approach(free)
            by_x = ca.jacobian(approach, free.x)
            pressed = by_x @ free.slope + ca.jacobian(approach, free.arguments[0])
            column[0] = free.slope - free.ways @ ca.solve(by_x @ free.ways, pressed)
            column.append(pressed)
        return ca.Function("motion", free.arguments, [ca.cse(ca.densify(ca.vertcat(*column)))])

    def _approach(self, free: _Free) -> Any:
        t, _, xd, p, aside, *_ = free.arguments
        q = self.program.watched(t, free.x + aside, xd, p)[list(self.contacts)]
        return ca.jtimes(q, free.x, free.slope) + ca.jacobian(q, t)

    def _free(self) -> _Free:
        program, m, n = self.program, len(self.surfaces), len(self.contacts)
        t, x, xd, p = program.rates.sx_in()
        nx = x.numel()
        ways = ca.SX.sym("ways", nx, n)
        aside = ca.SX.sym("aside", nx)
        beside = ca.SX.sym("beside", 2 * nx * 2**m if m else 0)
        given = ca.SX.sym("weights", m)
        arguments = [t, ca.veccat(x, ways), xd, p, aside, beside, given]
        if not m:
            return _Free(arguments, x, ways, program.rates(t, x, xd, p), given, {})
        g = program.watched(t, x + aside, xd, p)[list(self.surfaces)]
        points = iter(ca.vertsplit(beside, nx))
        fields, rates = {}, {}
        for sides in product((-1, 1), repeat=m):
            near, far = (program.rates(t, x + next(points), xd, p) for _ in range(2))
            fields[sides] = 2 * near - far
            rates[sides] = ca.jtimes(g, x, fields[sides]) + ca.jacobian(g, t)
        numbers, off = given, combined(rates, ca.vertsplit(given))
        step = ca.solve(ca.jacobian(off, given), off)
        for _ in range(2 if n else 1):  # each doubles the order up to which derivatives are exact
            numbers = numbers - ca.substitute(step, given, numbers)
        slope = combined(fields, ca.vertsplit(numbers))
        return _Free(arguments, x, ways, slope, numbers, rates)


@dataclass(frozen=True)
class _Free:
    """The motion without contacts. arguments: as for `Motion`. x: the states. ways (nx, n): the
    directions of the contacts. slope: the rates of the states. weights (m,). rates: for each
    combination of sides those of the surfaces.
    """

    arguments: list[Any]
    x: Any
    ways: Any
    slope: Any
    weights: Any
    rates: dict[Sides, Any]
