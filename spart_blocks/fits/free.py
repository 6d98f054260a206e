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
from spart_blocks.gradients.tangents import Floats
from spart_blocks.program.slots import Places
from spart_blocks.run.engines.native import Native
from spart_blocks.sweeps.plan.source import Found, start_of, start_places

Kind = Literal["parameter", "bias", "delay"]

WIDE = 10.0
"""Points of a space are within this factor of the start, or this many times its size, where there
are no bounds."""


@dataclass(frozen=True)
class Free:
    """A quantity that is searched. part: its entries in the vector of all. start, low, high (n,).
    log: whether its logarithm is searched. experiment: of a fit, the one that it belongs to, None
    for all.
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

    @property
    def label(self) -> str:
        """Its name in tables."""
        named = self.name if self.kind == "parameter" else f"{self.kind} of {self.name}"
        return named if self.experiment is None else f"{named} ({self.experiment})"

    @property
    def labels(self) -> list[str]:
        """The name of each of its elements."""
        if not self.shape:
            return [self.label]
        index = (",".join(map(str, place)) for place in np.ndindex(*self.shape))
        return [self.label.replace(self.name, f"{self.name}[{place}]", 1) for place in index]

    def shaped(self, values: Floats) -> Any:
        """Its part of a vector of all, as a number or an array in its shape."""
        value = values[self.part].reshape(self.shape)
        return value.copy() if self.shape else float(value)


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

    def searched(self, values: Floats) -> Floats:
        """What is searched, from values (..., k): they themselves or their logarithms."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.where(self.log, np.maximum(values, 0.0), 1.0))
        return np.asarray(np.where(self.log, logs, values))

    def values(self, z: Floats) -> Floats:
        """The values of what is searched."""
        return np.asarray(np.where(self.log, np.exp(np.where(self.log, z, 0.0)), z))

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
            return np.asarray(
                np.where(self.log, np.exp(np.log(np.where(self.log, low, 1)) * (1 - points)
                         + np.log(np.where(self.log, high, 1)) * points),
                         low + points * (high - low))
            )  # fmt: skip


@dataclass(frozen=True)
class Placement:
    """Where one program has what is searched: for each quantity its entries in the parameters, one
    or more, each in its shape or single.
    """

    placed: tuple[tuple[Free, tuple[Places, ...]], ...]

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
                if entry in owner:
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
