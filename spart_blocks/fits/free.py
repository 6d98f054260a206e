"""What a search varies: quantities by name with bounds, and the vector of all their entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from spart_blocks.base.errors import Fault, InputError, Place, brief
from spart_blocks.diagram.sections.bounds import Bounds
from spart_blocks.fits.inertial import Body
from spart_blocks.gradients.tangents import Floats
from spart_blocks.program.slots import Places
from spart_blocks.run.engines.native import Native
from spart_blocks.sweeps.plan.source import Found, start_of, start_places

Kind = Literal["parameter", "bias", "delay"]

WIDE = 10.0
"""Points of a space are within this factor of the start, or this many times its size, where there
are no bounds."""
BODY_WIDE = 0.3
"""Points of a space are within this distance of the log-Cholesky numbers of a link's start."""


@dataclass(frozen=True)
class Free:
    """A quantity that is searched. part: its entries in the vector of all. start, low, high (n,).
    log: whether its logarithm is searched. experiment: of a fit, the one that it belongs to, None
    for all. body: the link whose ten inertial parameters it is, if it is those.
    """

    name: str
    shape: tuple[int, ...]
    part: slice
    start: Floats
    low: Floats
    high: Floats
    log: bool
    kind: Kind = "parameter"
    experiment: str | None = None
    body: Body | None = None

    @staticmethod
    def of(
        name: str,
        now: Floats,
        bounds: Bounds,
        first: int,
        place: Place | None,
        kind: Kind = "parameter",
        experiment: str | None = None,
    ) -> Free:
        """A quantity with its value `now`, whose entries begin at `first` in the vector of all.
        place: where it is written. Raises InputError for bounds that do not fit it.
        """
        shape, n = np.shape(now), int(np.size(now))

        def filled(value: Any, otherwise: Any) -> Floats:
            try:
                given = np.asarray(otherwise if value is None else value, dtype=float)
                return np.broadcast_to(given, shape).astype(float).ravel()
            except ValueError:
                text = f"{name} has shape {shape}, and its bounds or start are {brief(value)}"
                raise InputError(Fault(text, place)) from None

        low, high = filled(bounds.min, -np.inf), filled(bounds.max, np.inf)
        start = filled(bounds.start, now)
        wrong = np.flatnonzero((start < low) | (start > high))
        if len(wrong):
            k = int(wrong[0])
            text = f"the search for {name} starts at {start[k]:g}, outside its bounds"
            hint = f"it is the diagram's value; give start: between {low[k]:g} and {high[k]:g}"
            raise InputError(Fault(text, place, hint))
        if bounds.scale == "log" and (start <= 0).any():
            text = f"{name} is searched by its logarithm and starts at {brief(start.tolist())}"
            raise InputError(Fault(text, place, "give a start above zero"))
        part, log = slice(first, first + n), bounds.scale == "log"
        return Free(name, shape, part, start, low, high, log, kind, experiment)

    @staticmethod
    def of_body(body: Body, start: Floats, first: int, experiment: str | None = None) -> Free:
        """The inertial parameters of a link, which start at `start` (10,)."""
        wide, part = np.full(len(start), np.inf), slice(first, first + len(start))
        name = f"{body.robot}.inertial[{body.link}]"
        return Free(name, np.shape(start), part, start, -wide, wide, False, experiment=experiment,
                    body=body)  # fmt: skip

    @property
    def label(self) -> str:
        """Its name in tables."""
        named = self.name if self.kind == "parameter" else f"{self.kind} of {self.name}"
        return named if self.experiment is None else f"{named} ({self.experiment})"

    @property
    def labels(self) -> list[str]:
        """The name of each of its elements."""
        if self.body is not None:
            return [self.label.replace(self.name, one, 1) for one in self.body.labels]
        if not self.shape:
            return [self.label]
        index = (",".join(map(str, place)) for place in np.ndindex(*self.shape))
        return [self.label.replace(self.name, f"{self.name}[{place}]", 1) for place in index]

    def shaped(self, values: Floats) -> Any:
        """Its part of a vector of all, as a number or an array in its shape."""
        value = values[self.part].reshape(self.shape)
        return value.copy() if self.shape else float(value)

    def named(self, values: Floats) -> dict[str, Any]:
        """Its part of a vector of all by name: of a link `arm.mass[3]`, `arm.com[3]` (3,) and
        `arm.inertia[3]` (3, 3)."""
        if self.body is None:
            return {self.label: self.shaped(values)}
        found = self.body.quantities(values[self.part])
        return {self.label.replace(self.name, name, 1): value for name, value in found.items()}


@dataclass(frozen=True)
class Space:
    """The space of k entries that are searched."""

    free: tuple[Free, ...]

    @property
    def size(self) -> int:
        """The number of entries."""
        return sum(len(one.start) for one in self.free)

    @property
    def labels(self) -> list[str]:
        """Their names."""
        return [label for one in self.free for label in one.labels]

    @cached_property
    def start(self) -> Floats:
        """Where the search starts (k,)."""
        return np.concatenate([one.start for one in self.free])

    @cached_property
    def low(self) -> Floats:
        """The least values (k,)."""
        return np.concatenate([one.low for one in self.free])

    @cached_property
    def high(self) -> Floats:
        """The greatest values (k,)."""
        return np.concatenate([one.high for one in self.free])

    @cached_property
    def log(self) -> NDArray[np.bool_]:
        """For each entry whether its logarithm is searched (k,)."""
        return np.concatenate([np.full(len(one.start), one.log) for one in self.free])

    @cached_property
    def bodies(self) -> tuple[tuple[Body, slice], ...]:
        """The links whose inertial parameters are searched, with their entries."""
        return tuple((one.body, one.part) for one in self.free if one.body is not None)

    @cached_property
    def of_bodies(self) -> NDArray[np.bool_]:
        """For each entry whether it is an inertial parameter of a link (k,)."""
        return np.concatenate([np.full(len(one.start), one.body is not None) for one in self.free])

    def searched(self, values: Floats) -> Floats:
        """What is searched, from values (..., k): they themselves, their logarithms, or the
        log-Cholesky numbers of a link."""
        found = self._logs(values)
        for body, part in self.bodies:
            for row, one in zip(found.reshape(-1, self.size), values.reshape(-1, self.size),
                                strict=True):  # fmt: skip
                row[part] = body.searched(one[part])
        return found

    def _logs(self, values: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.where(self.log, np.maximum(values, 0.0), 1.0))
        return np.array(np.where(self.log, logs, values))

    def values(self, z: Floats) -> Floats:
        """The values of what is searched (..., k)."""
        found = np.array(np.where(self.log, np.exp(np.where(self.log, z, 0.0)), z))
        for body, part in self.bodies:
            for row, one in zip(found.reshape(-1, self.size), z.reshape(-1, self.size),
                                strict=True):  # fmt: skip
                row[part] = body.values(one[part])
        return found

    @cached_property
    def limits(self) -> tuple[Floats, Floats]:
        """The bounds of what is searched (k,); log-Cholesky numbers have none."""
        return self._logs(self.low), self._logs(self.high)

    def by_searched(self, slopes: Floats, z: Floats) -> Floats:
        """Derivatives (n, k) by what is searched, at z (k,), from those by the values."""
        found = slopes * np.where(self.log, self.values(z), 1.0)
        for body, part in self.bodies:
            found[:, part] = slopes[:, part] @ body.slopes(z[part])
        return np.asarray(found)

    def linear(self, values: Floats) -> Floats:
        """The values (k,), with the linear parameters of links for theirs."""
        found = values.copy()
        for body, part in self.bodies:
            found[part] = body.linear(values[part])
        return found

    def of_linear(self, linear: Floats) -> Floats:
        """The values (k,) of `linear` ones."""
        found = linear.copy()
        for body, part in self.bodies:
            found[part] = body.of_linear(linear[part])
        return found

    def by_linear(self, values: Floats) -> Floats:
        """The derivatives (k, k) of the values by the linear ones."""
        found = np.eye(len(values))
        for body, part in self.bodies:
            found[part, part] = body.by_linear(values[part])
        return found

    def sizes(self, values: Floats) -> Floats:
        """A size of each value (k,): itself, or one for zero; of a link's inertial parameters
        that of the whole body."""
        found = np.where(values != 0, values, 1.0)
        for body, part in self.bodies:
            found[part] = body.sizes(values[part])
        return found

    def points(self, count: int, seed: int) -> Floats:
        """Values (count, k) that fill the space evenly between the bounds. Raises InputError if
        there is no distance between bounds.
        """
        first = self.start
        size = np.where(first != 0, abs(first), 1.0)
        low = np.where(np.isfinite(self.low), self.low,
                       np.where(self.log, first / WIDE, first - WIDE * size))  # fmt: skip
        high = np.where(np.isfinite(self.high), self.high,
                        np.where(self.log, first * WIDE, first + WIDE * size))  # fmt: skip
        if (low >= high).any():
            raise InputError("the starts of a search need bounds with a distance")
        sampler: Any = qmc.Sobol(len(first), rng=seed)
        points = sampler.random_base2(max(count, 1).bit_length())[:count]
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.array(
                np.where(self.log, np.exp(np.log(np.where(self.log, low, 1)) * (1 - points)
                         + np.log(np.where(self.log, high, 1)) * points),
                         low + points * (high - low))
            )  # fmt: skip
        for body, part in self.bodies:
            z = body.searched(first[part])
            away = BODY_WIDE * body.lengths(z) * (2 * points[:, part] - 1)
            found[:, part] = [body.values(one) for one in z + away]
        return found


Placed = tuple[Free, tuple[Places, ...]]
"""What is searched, with its entries in the parameters: one array of them or more, each in its
shape or single."""


@dataclass(frozen=True)
class Placement:
    """Where one program has what is searched."""

    placed: tuple[Placed, ...]

    def parameters(self, p: Floats, values: Floats) -> Floats:
        """Parameters p (np,) with values (k,) of all that is searched."""
        found = p.copy()
        for free, places in self.placed:
            number = values[free.part].reshape(free.shape)
            for place in places:
                found[place] = number
        return found

    def directions(self, size: int) -> tuple[list[int], Floats]:
        """The m entries of the vector of all that the program has, and for each the direction of
        the parameters, (size, m)."""
        entries: list[int] = []
        moves = []
        for free, places in self.placed:
            for k in range(len(free.start)):
                move = np.zeros(size)
                for place in places:
                    move[place.ravel()[k] if free.shape else place] = 1.0
                entries.append(free.part.start + k)
                moves.append(move)
        return entries, np.array(moves).reshape(len(moves), size).T

    def check_apart(self) -> None:
        """Raise InputError if two quantities are one number."""
        owner: dict[int, Free] = {}
        for one, places in self.placed:
            for entry in np.concatenate([place.ravel() for place in places]).tolist():
                if owner.get(entry, one) is not one:
                    text = f"{owner[entry].label} and {one.label} are one number"
                    raise InputError(Fault(text, hint="leave out one of them"))
                owner[entry] = one


def entries_of(found: Found, engine: Native) -> Iterator[Places]:
    """The indices of p at which a program has a value, each in the value's shape or single."""
    if found.places is not None:
        yield from found.places.places
    for start in found.starts:
        places, slot = start_places(engine, start), start_of(engine.program, start.block)
        if places is not None and slot is not None:
            yield np.arange(slot.part.start, slot.part.stop, dtype=np.intp)[places]


def value_at(engine: Native, places: Sequence[Places], written: Any) -> Floats:
    """The value at these entries: a number where one fills them all. written: as in the file."""
    one = places[0]
    if any(place.size == 1 for place in places) or isinstance(written, int | float):
        one = one.ravel()[0]
    return np.asarray(engine.program.p[one])
