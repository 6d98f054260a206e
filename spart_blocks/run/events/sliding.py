"""Sliding: motion along surfaces on which the equations jump, in the sense of Filippov.

Next to the surfaces g = 0 there is one field f for each combination of sides. A sliding motion is
a convex combination of these fields such that g stays zero; its weights are products of one number
in [0, 1] for each surface. On one surface this is Filippov's combination, on the intersection of
two the bilinear one of L. Dieci, L. Lopez, "Sliding motion on discontinuity surfaces of high
co-dimension", Numer. Math. 117 (2011); A. F. Filippov, "Differential Equations with Discontinuous
Righthand Sides" (1988).

The fields are evaluated slightly beside the surfaces and extrapolated to them. So any watched
signal that passes continuously through zero defines a surface, whatever its block. A signal that
jumps over zero has no zero, and thus no surface.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.run.constants import (
    BESIDE,
    CLOSER,
    DIFFERENCE,
    MOST_SETTLED,
    NEAR_SURFACE,
    NO_RATE,
    PARALLEL,
    STEEPER,
)
from spart_blocks.run.engines.engine import Engine, Floats

MOST_SURFACES = 2
JUMPS = 10.0
"""A ratio of the rates on the two sides above this means a jump."""

Sides = tuple[int, ...]


@dataclass(frozen=True)
class Surface:
    """The surface on which the value of crossing k is zero. along: all crossings that are zero
    there, including k.
    """

    k: int
    along: tuple[int, ...]


@dataclass(frozen=True)
class Geometry:
    """Local geometry of m surfaces at a point.

    g (m,): watched values. J (m, nx): their derivatives by the states. g_t (m,): by time. along
    (m, nx): for each surface a unit vector along which only its value changes. size (m,): size of
    a step along it, from the size of the states.
    """

    g: Floats
    J: Floats
    g_t: Floats
    along: Floats
    size: Floats

    def onto(self, x: Floats) -> Floats:
        """x moved to where all values are zero, to first order."""
        step: Floats = self.g / np.einsum("ij,ij->i", self.J, self.along)
        return x - step @ self.along


def slopes(
    engine: Engine, t: float, x: Floats, xd: Floats, rows: list[int], apart: float
) -> Floats:
    """The derivatives (m, nx) of the values of these crossings by the states, by central
    differences."""
    J = np.empty((len(rows), len(x)))
    for i, h in enumerate(apart * np.maximum(np.abs(x), 1.0)):
        ends = []
        for side in (h, -h):
            moved = x.copy()
            moved[i] += side
            ends.append(engine.watch(t, moved, xd)[rows])
        J[:, i] = (ends[0] - ends[1]) / (2 * h)
    return J


def jumping(
    engine: Engine, t: float, x: Floats, xd: Floats, rows: list[int], scale: Floats
) -> NDArray[np.bool_]:
    """Which of these crossings have values that jump near x.

    scale (m,): norms of their slopes. At a jump the slope grows, or vanishes beside it, when the
    step of the difference is reduced.
    """
    closer = np.linalg.norm(slopes(engine, t, x, xd, rows, CLOSER * DIFFERENCE), axis=1)
    steady: NDArray[np.bool_] = (closer < STEEPER * scale) & (scale < STEEPER * closer)
    return ~steady


def geometry(engine: Engine, t: float, x: Floats, xd: Floats, ks: Sequence[int]) -> Geometry:
    """The geometry of these crossings at a point, by central differences."""
    rows = list(ks)
    J = slopes(engine, t, x, xd, rows, DIFFERENCE)
    now = engine.watch(t, x, xd)[rows]
    h = 1e-7 * max(abs(t), 1.0)
    ahead = (engine.watch(t + h, x, xd)[rows] - now) / h
    behind = (now - engine.watch(t - h, x, xd)[rows]) / h
    g_t = 0.5 * (ahead + behind)
    # A known event may lie on one side: a jump there is no rate.
    jumps = np.abs(ahead - behind) > JUMPS * (np.minimum(np.abs(ahead), np.abs(behind)) + 1.0)
    g_t = np.where(jumps, np.where(np.abs(ahead) < np.abs(behind), ahead, behind), g_t)
    along = np.linalg.pinv(J).T if np.isfinite(J).all() else np.zeros_like(J)
    lengths = np.linalg.norm(along, axis=1, keepdims=True)
    along = along / np.where(lengths > 0, lengths, 1.0)
    size = 1e-2 + np.abs(along) @ np.abs(x)
    return Geometry(now, J, g_t, along, size)


@dataclass(frozen=True)
class Fields:
    """The fields next to m surfaces. field: f (nx,) for each combination of sides. rate: rates
    (m,) of the surfaces' values along it. largest: largest sum of the absolute terms of a rate, a
    scale for rounding.
    """

    field: dict[Sides, Floats]
    rate: dict[Sides, Floats]
    largest: float


def fields(
    engine: Engine, t: float, x: Floats, xd: Floats, surfaces: Sequence[Surface], at: Geometry
) -> Fields:
    """The fields next to the surfaces through a point x."""
    blocks = {engine.crossings[k].block for s in surfaces for k in s.along}
    field, rate, largest = {}, {}, 0.0
    for sides in product((-1, 1), repeat=len(surfaces)):
        way = (np.array(sides) * at.size * BESIDE) @ at.along
        near, far = (
            engine.derivative(t, settled(engine, t, x + n * way, xd, blocks), xd) for n in (1, 2)
        )
        field[sides] = 2 * near - far
        rate[sides] = at.J @ field[sides] + at.g_t
        size = np.abs(at.J) @ np.abs(field[sides]) + np.abs(at.g_t)
        largest = max(largest, float(size.max()))
    return Fields(field, rate, largest)


def settled(engine: Engine, t: float, x: Floats, xd: Floats, blocks: set[str]) -> Floats:
    """x after these blocks have switched their modes until none requests a switch."""
    modes = [k for k, c in enumerate(engine.crossings) if c.kind == "mode" and c.block in blocks]
    for _ in range(MOST_SETTLED if modes else 0):
        now = engine.watch(t, x, xd)
        unfit = {engine.crossings[k].block: k for k in modes if now[k] > 0}
        if not unfit:
            break
        for k in unfit.values():
            x, _ = engine.reset(k, t, x, xd)
    return x


def weights(rates: dict[Sides, Floats]) -> Floats:
    """For one or two surfaces the numbers in [0, 1] that make the combined rates zero; the weight
    of the upper side. If there are several solutions, the one with the smallest violation of [0,
    1].
    """
    if len(next(iter(rates))) == 1:
        down, up = float(rates[(-1,)][0]), float(rates[(1,)][0])
        return np.array([down / (down - up) if down != up else 0.5])
    mm, mp, pm, pp = (rates[sides] for sides in ((-1, -1), (-1, 1), (1, -1), (1, 1)))
    # rate = c + a u + b v + d u v for both surfaces; v is eliminated.
    c, a, b, d = mm, pm - mm, mp - mm, pp - pm - mp + mm
    square = a[0] * d[1] - a[1] * d[0]
    linear = c[0] * d[1] + a[0] * b[1] - c[1] * d[0] - a[1] * b[0]
    constant = c[0] * b[1] - c[1] * b[0]
    best, least = np.array([0.5, 0.5]), np.inf
    for u in _roots(square, linear, constant):
        slope = b + d * u
        i = int(np.argmax(np.abs(slope)))
        v = -(c[i] + a[i] * u) / slope[i] if slope[i] else 0.5
        outside = max(abs(u - 0.5), abs(v - 0.5))
        if outside < least:
            best, least = np.array([u, v]), outside
    return best


def _roots(square: float, linear: float, constant: float) -> Iterator[float]:
    """The real roots of square s^2 + linear s + constant; square may be zero."""
    if abs(square) <= 1e-14 * abs(linear):
        if linear:
            yield -constant / linear
        return
    under = linear**2 - 4 * square * constant
    if under < 0:
        return
    half = -0.5 * (linear + np.copysign(np.sqrt(under), linear))
    yield half / square
    if half:
        yield constant / half


def combined(found: Mapping[Sides, Any], numbers: Iterable[Any]) -> Any:
    """The combination of the values for all sides, with these numbers as weights of the upper
    sides; of arrays, or of expressions.
    """
    numbers, total = list(numbers), 0.0
    for sides, value in found.items():
        weight = 1.0
        for side, number in zip(sides, numbers, strict=True):
            weight = weight * (number if side > 0 else 1 - number)
        total = total + weight * value
    return total


@dataclass(frozen=True)
class Sliding:
    """A motion along surfaces."""

    surfaces: tuple[Surface, ...]

    def _at(self, engine: Engine, t: float, x: Floats, xd: Floats) -> tuple[Fields, Floats]:
        at = geometry(engine, t, x, xd, [s.k for s in self.surfaces])
        beside = fields(engine, t, at.onto(x), xd, self.surfaces, at)
        return beside, weights(beside.rate)

    def rates(self, engine: Engine, t: float, x: Floats, xd: Floats) -> Floats:
        """dx/dt along the surfaces; next to them as at the nearest point on them."""
        beside, numbers = self._at(engine, t, x, xd)
        rates: Floats = combined(beside.field, numbers)
        return rates

    def watch(self, engine: Engine, t: float, x: Floats, xd: Floats, values: Floats) -> Floats:
        """The zero-crossing values, with those of the surfaces replaced: positive if the motion
        leaves the surface.
        """
        _, numbers = self._at(engine, t, x, xd)
        values = values.copy()
        for surface, number in zip(self.surfaces, numbers, strict=True):
            for k in surface.along:
                values[k] = -(engine.crossings[k].direction or 1.0)
            values[surface.k] *= 1 - 2 * abs(number - 0.5)
        return values

    def project(self, engine: Engine, t: float, x: Floats, xd: Floats) -> Floats:
        """x projected onto the surfaces."""
        for _ in range(3):
            x = geometry(engine, t, x, xd, [s.k for s in self.surfaces]).onto(x)
        return x


def surfaces_at(
    engine: Engine, t: float, x: Floats, xd: Floats, ks: Sequence[int]
) -> list[Surface]:
    """The surfaces through x among those of the crossings ks; crossings that are zero on the same
    surface are grouped. A crossing whose value jumps has no surface, and the motion passes it.
    """
    found: list[Surface] = []
    normals: list[Floats] = []
    if not ks or not len(x):
        return []
    every = [k for k, c in enumerate(engine.crossings) if c.kind not in ("limit", "fault")]
    at = geometry(engine, t, x, xd, every)
    scale = np.linalg.norm(at.J, axis=1)
    size = 1e-2 + np.abs(at.J) @ np.abs(x) / np.where(scale > 0, scale, 1.0)
    on = (scale > 0) & np.isfinite(scale) & (np.abs(at.g) <= NEAR_SURFACE * scale * size)
    if on.any():
        on &= ~jumping(engine, t, x, xd, every, scale)
    normal = {k: at.J[i] / scale[i] for i, k in enumerate(every) if on[i]}
    for k in (k for k in ks if k in normal):
        if any(abs(normal[k] @ n) > 1 - PARALLEL for n in normals):
            continue
        normals.append(normal[k])
        along = [j for j in normal if abs(normal[j] @ normal[k]) > 1 - PARALLEL]
        found.append(Surface(k, tuple(along)))
    return found


@dataclass(frozen=True)
class Way:
    """How a motion continues: the surfaces along which it slides, and for each other surface the
    side to which it goes (+1, -1).
    """

    along: tuple[Surface, ...]
    beside: tuple[tuple[Surface, int], ...]


def way_on(engine: Engine, t: float, x: Floats, xd: Floats, surfaces: Sequence[Surface]) -> Way:
    """How the motion continues from a point on one or two surfaces: along as few of them as
    possible, towards the sides to which its rates lead.
    """
    at = geometry(engine, t, x, xd, [s.k for s in surfaces])
    beside = fields(engine, t, at.onto(x), xd, surfaces, at)
    none = -NO_RATE * beside.largest
    m, now = len(surfaces), np.sign(at.g)
    for count in range(m + 1):
        ways = []
        for slid in combinations(range(m), count):
            others = [j for j in range(m) if j not in slid]
            for sides in product((-1, 1), repeat=len(others)):
                rate = _consistent(beside, slid, others, sides)
                if rate is not None and (rate * sides >= none).all():
                    same = sum(now[j] == side for j, side in zip(others, sides, strict=True))
                    ways.append((same, slid, others, sides))
        if ways:
            _, slid, others, sides = max(ways, key=lambda way: way[0])
            return Way(
                tuple(surfaces[i] for i in slid),
                tuple((surfaces[j], side) for j, side in zip(others, sides, strict=True)),
            )
    return Way(tuple(surfaces), ())


def _consistent(
    beside: Fields, slid: Sequence[int], others: Sequence[int], sides: Sides
) -> Floats | None:
    """The rates of the other surfaces' values if the motion slides along `slid`, with the others
    on these sides; None if there is no such motion.
    """
    if not slid:
        return beside.rate[tuple(sides)]
    own = {}
    for choice in product((-1, 1), repeat=len(slid)):
        whole = dict(zip((*slid, *others), (*choice, *sides), strict=True))
        own[choice] = beside.rate[tuple(whole[i] for i in sorted(whole))]
    if len(slid) == 1:  # from both sides towards it
        i = slid[0]
        if not own[(-1,)][i] > 0 > own[(1,)][i]:
            return None
    numbers = weights({choice: rate[list(slid)] for choice, rate in own.items()})
    if np.abs(numbers - 0.5).max() > 0.5:
        return None
    rates: Floats = combined(own, numbers)[list(others)]
    return rates
