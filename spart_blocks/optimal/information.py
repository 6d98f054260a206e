"""Fisher information: how well parameters could be estimated from measurements of a motion.

Signals y(t) are measured `rate` times a second with independent noise of standard deviations s.
With the derivatives Y of y by the parameters, the Fisher information and the least covariance are

    M = rate * integral of Y' diag(1/s^2) Y,        C >= M^-1  (Cramer and Rao)

A motion of greatest log det M is D-optimal. Where rates depend on the parameters, so do the
states: their sensitivities S follow S' = A S + B from the derivatives of the initial states, and
are states of the problem; Y = C S + D. Sources: V. Fedorov, "Theory of Optimal Experiments", 1972;
J. Swevers et al., "Optimal Robot Excitation and Identification", IEEE Trans. Robotics and
Automation 13 (1997).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, Place
from spart_blocks.diagram.sections.bounds import Bounds
from spart_blocks.diagram.sections.optimize_section import InformationSection
from spart_blocks.fits.base_parameters import ORDER, BaseParameter
from spart_blocks.fits.free import Free, Placed, Placement, Space, value_at
from spart_blocks.fits.inertial import LINEAR
from spart_blocks.fits.link_paths import LinkPaths
from spart_blocks.fits.statistics import Told
from spart_blocks.program import Program
from spart_blocks.program.added_signals import entries
from spart_blocks.program.slots import Places
from spart_blocks.run.engines.native import Native
from spart_blocks.sweeps.plan.memory_source import FileSource, MemorySource

Floats = NDArray[np.float64]

METRIC = "information"
"""The name of the logarithm of the determinant in formulas."""
FREE = Bounds.model_validate({})


@dataclass(frozen=True)
class Sensed:
    """A signal that is measured. rows: its entries among all signals. sd (w,): of its noise. place:
    where it is written."""

    name: str
    rows: NDArray[np.intp]
    sd: Floats
    place: Place | None


@dataclass(frozen=True)
class Wanted:
    """What is to be estimated, from which signals. rate: samples a second. place: of the
    section."""

    placement: Placement
    sensed: tuple[Sensed, ...]
    rate: float
    place: Place | None

    @property
    def space(self) -> Space:
        """The space of what is to be estimated."""
        return Space(tuple(free for free, _ in self.placement.placed))

    @property
    def rows(self) -> list[int]:
        """The entries of all measured elements among all signals."""
        return [row for one in self.sensed for row in one.rows.tolist()]

    @property
    def weights(self) -> Floats:
        """The inverse variances (w,) of all elements times the rate."""
        sd = np.concatenate([one.sd for one in self.sensed])
        return np.asarray(self.rate / sd**2)


def wanted(
    source: FileSource | MemorySource,
    section: InformationSection,
    links: LinkPaths,
    engine: Native,
    places_of: Callable[[str, Place | None], tuple[Places, ...]],
) -> Wanted:
    """What a section asks for. places_of: the entries of p of a path. Raises InputError with what
    is wrong in it."""

    def place(*keys: str | int) -> Place | None:
        return source.place("optimize", METRIC, *keys)

    placed: list[Placed] = []
    size = 0
    for k, path in enumerate(section.parameters):
        for free, places in _placed(
            path, source, links, engine, places_of, size, place("parameters", k)
        ):
            placed.append((free, places))
            size += len(free.start)
    sensed = []
    for name, noise in section.signals.items():
        at = place("signals", name)
        try:
            rows = entries(engine.program, name).ravel()
        except InputError as error:
            raise InputError(replace(f, place=f.place or at) for f in error.faults) from None
        given = np.asarray(noise, float)
        if given.size not in (1, len(rows)):
            text = f"{name} has {len(rows)} elements, and {given.size} standard deviations"
            raise InputError(Fault(text, at))
        sd = np.broadcast_to(given.ravel(), len(rows)).astype(float)
        sensed.append(Sensed(name, rows, sd, at))
    return Wanted(Placement(tuple(placed)), tuple(sensed), section.rate, place())


def _placed(
    path: str,
    source: FileSource | MemorySource,
    links: LinkPaths,
    engine: Native,
    places_of: Callable[[str, Place | None], tuple[Places, ...]],
    first: int,
    place: Place | None,
) -> Iterator[Placed]:
    """What a path names, with its entries of p, as a fit has it."""
    if links.names(path):
        for body, places in links.bodies(path, FREE, engine, place):
            start = links.start(body, engine.program.p[places[0]], place)
            yield Free.of_body(body, start, first), places
            first += len(start)
        return
    places = places_of(path, place)
    now = value_at(engine, places, source.written(path, {}))
    yield Free.of(path, now, FREE, first, place), places


# --- what can be told apart ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Directions:
    """Changes of the parameters p along b values. moves (np, b): of p. sensitive (nx, b): the
    states that depend on each value; their derivatives are states of the problem."""

    moves: Floats
    sensitive: NDArray[np.bool_]

    @staticmethod
    def of(program: Program, moves: Floats) -> Directions:
        """Those of changes of p (np, b)."""
        arguments = program.rates.sx_in()
        by_x, by_p = (
            np.array(ca.DM(ca.jacobian_sparsity(program.rates(*arguments), arguments[k]), 1)) != 0
            for k in (1, 3)
        )
        moved = moves != 0
        reached = by_p @ moved | _started(program, moved)
        for _ in range(len(reached)):
            reached = reached | by_x @ reached
        return Directions(moves, reached)

    @property
    def count(self) -> int:
        """The number of derivatives of states."""
        return len(self.places)

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """Row and column of each derivative of states."""
        rows, columns = np.nonzero(self.sensitive)
        return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _started(program: Program, moved: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which initial states (nx, b) are parameters that move (np, b)."""
    found = np.zeros((len(program.x0), moved.shape[1]), dtype=bool)
    parts = {slot.name: slot.part for slot in program.parameters}
    for slot in program.states:
        part = parts.get(program.start.get(slot.name, ""))
        if part is not None:
            found[slot.part] = moved[part]
    return found


@dataclass(frozen=True, eq=False)
class Basis:
    """What the signals can tell: values, of links their base parameters. names, values, sizes (b,).
    sums: of each what it is a sum of. directions: along the values, in units of their sizes.
    """

    names: tuple[str, ...]
    values: Floats
    sizes: Floats
    sums: tuple[str, ...]
    directions: Directions
    factors: Floats
    """Derivatives (k, b) of the wanted entries along the directions."""

    @staticmethod
    def of(wanted: Wanted, program: Program, slopes: Floats, moves: Floats) -> Basis:
        """Of the derivatives (n, k) of weighted signals along some motions by the wanted entries,
        which move p (np, k). Raises InputError for what cannot be told apart."""
        space = wanted.space
        start = space.start
        told = Told.of(space, start, slopes, np.arange(space.size))
        if told.combinations:
            text = "; ".join(str(one) for one in told.combinations)
            hint = "leave out one of them, or measure another signal"
            raise InputError(Fault(f"not identifiable: {text}", wanted.place, hint))
        columns = [np.eye(space.size)[:, told.apart]]
        values, sums = start[told.apart].tolist(), [""] * len(told.apart)
        if told.groups is not None:
            order = [LINEAR.index(name) for name in ORDER]
            linear = np.hstack([
                space.by_linear(start)[:, part][:, order] for _, part in space.bodies
            ])  # fmt: skip
            columns.append(linear[:, list(told.groups.kept)])
            base: Sequence[BaseParameter] = told.groups.parameters(np.eye(len(told.groups.kept)))
            values += [one.value for one in base]
            sums += [str(one) for one in base]
        factors = np.hstack(columns) * told.sizes
        directions = Directions.of(program, moves @ factors)
        return Basis(told.names, np.array(values), told.sizes, tuple(sums), directions, factors)


# --- the matrix ---------------------------------------------------------------------------


def upper(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the upper triangle of a matrix, by which its entries are given."""
    columns, rows = np.tril_indices(count)
    return rows, columns


def log_determinant(count: int) -> Any:
    """A function of the upper entries of a positive definite matrix."""
    given = ca.SX.sym("M", count * (count + 1) // 2)
    M = ca.SX(count, count)
    for k, (i, j) in enumerate(zip(*upper(count), strict=True)):
        M[int(i), int(j)] = M[int(j), int(i)] = given[k]
    value = 2 * ca.sum1(ca.log(ca.diag(ca.chol(M))))
    return ca.Function("log_determinant", [given], [value])
