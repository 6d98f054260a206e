"""The term of frequencies: figures of loops and transfers of the cases at operating points."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from spart_blocks.analysis.frequency.figures import Linearized
from spart_blocks.analysis.point import moves_of, operating_point
from spart_blocks.analysis.trim import Equilibrium
from spart_blocks.base.errors import Fault, InputError, Place, RunError
from spart_blocks.diagram.sections.frequency_section import (
    START,
    FigureBounds,
    FrequencySection,
    PointSection,
)
from spart_blocks.diagram.sections.tune_section import Constraint, TuneSection
from spart_blocks.fits.free import Space
from spart_blocks.gradients.tangents import Floats
from spart_blocks.program import Program
from spart_blocks.program.derivatives import Moves, Point
from spart_blocks.run.engines.native import Native
from spart_blocks.sweeps.plan.assignments import Placed
from spart_blocks.sweeps.plan.memory_source import FileSource, MemorySource
from spart_blocks.tunes.cases import Case
from spart_blocks.tunes.runs import in_case
from spart_blocks.tunes.terms import Row


@dataclass(frozen=True)
class Asked:
    """A figure that is asked of an entry at a point. name: of its numbers."""

    entry: str
    point: str
    figure: str
    bounds: FigureBounds
    name: str


def asked_of(section: TuneSection) -> tuple[Asked, ...]:
    """All figures that a section asks for."""
    return tuple(_asked(section))


def _asked(section: TuneSection) -> Iterator[Asked]:
    for entry, one in section.frequency.items():
        points = one.points or tuple(section.points) or (START,)
        for point in points:
            for figure, bounds in one.asked().items():
                where = f" ({point})" if len(points) > 1 else ""
                yield Asked(entry, point, figure, bounds, f"{entry}.{figure}{where}")


def constraints_of(asked: tuple[Asked, ...]) -> dict[str, Constraint]:
    """The bounds of figures as constraints, by name."""
    found = {}
    for one in asked:
        given = one.bounds.model_dump(include={"min", "max"}, exclude_none=True)
        if given:
            found[one.name] = Constraint.model_validate({"metric": one.name, **given})
    return found


def weights_of(asked: tuple[Asked, ...]) -> dict[str, float]:
    """The weights of figures in the objective, negative for what is to be large."""
    found: dict[str, float] = {}
    for one in asked:
        if one.bounds.minimize is not None:
            found[one.name] = one.bounds.minimize
        if one.bounds.maximize is not None:
            found[one.name] = -one.bounds.maximize
    return found


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Figures of all cases. asked: what they are, the same in each case."""

    space: Space
    cases: tuple[Case, ...]
    source: FileSource | MemorySource
    section: TuneSection
    asked: tuple[Asked, ...]

    def __post_init__(self) -> None:
        _ = self._prepared

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The figures of the first case, then those of the next."""
        return tuple(Row(case.number, one.name) for case in self.cases for one in self.asked)

    @cached_property
    def _prepared(self) -> list[_Prepared]:
        """For each case the loops and points of its diagram; cases that share it share them."""
        made: dict[int, _Prepared] = {}
        found = []
        for case in self.cases:
            if not isinstance(case.placed, Placed):
                raise InputError(Fault("a diagram that cannot be traced cannot be linearised"))
            key = id(case.placed.structure)
            if key not in made:
                made[key] = self._of_diagram(case.placed)
            found.append(made[key])
        return found

    def _of_diagram(self, placed: Placed) -> _Prepared:
        file = placed.structure.file
        if file is not None:
            diagram: Any = file.load()
        elif isinstance(self.source, MemorySource) and not isinstance(self.source.given, Program):
            diagram = self.source.given
        else:
            raise InputError("figures by frequency need a diagram, not a program")
        points = dict.fromkeys(one.point for one in self.asked)
        prepared = _Prepared({}, {})
        for name in points:
            section = self.section.points.get(name, PointSection.model_validate({}))
            place = self.source.place("tune", "points", name)
            with _written_at(place, f"point {name}"):
                prepared.points[name] = _point(diagram, section)
        for name, one in self.section.frequency.items():
            with _written_at(self.source.place("tune", "frequency", name), f"frequency: {name}"):
                prepared.entries[name] = _entry(diagram, one)
        return prepared

    def values(self, values: Floats, cases: Container[int] | None = None) -> tuple[Floats, Floats]:
        """The figures of all cases, and their derivatives. Raises RunError."""
        numbers, slopes = [], []
        for case, prepared in zip(self.cases, self._prepared, strict=True):
            entries, moves = case.placement.directions(len(case.p))
            try:
                value, slope = prepared.read(self.asked, case, values, moves)
            except RunError as error:
                raise in_case(error, case) from None
            by = np.zeros((len(value), self.space.size))
            by[:, entries] = slope
            numbers.append(value)
            slopes.append(by)
        return np.concatenate(numbers), np.concatenate(slopes)

    def numbers(self, points: Floats) -> Floats:
        """The figures at n points of the space (n, r); NaN where there are none."""
        found = np.full((len(points), len(self.rows)), np.nan)
        width = len(self.asked)
        for row, values in zip(found, points, strict=True):
            for k, (case, prepared) in enumerate(zip(self.cases, self._prepared, strict=True)):
                none = np.zeros((len(case.p), 0))
                try:
                    row[k * width : (k + 1) * width] = prepared.read(
                        self.asked, case, values, none
                    )[0]
                except RunError:
                    continue
        return found


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The loops, transfers and points of one diagram."""

    entries: dict[str, Linearized]
    points: dict[str, _PointOf]

    def read(
        self, asked: tuple[Asked, ...], case: Case, values: Floats, moves: Floats
    ) -> tuple[Floats, Floats]:
        """The figures, and their changes along m directions (np, m) of the case's parameters."""
        p = case.placement.parameters(case.p, values)
        found: dict[tuple[str, str], Any] = {}
        numbers, slopes = np.zeros(len(asked)), np.zeros((len(asked), moves.shape[1]))
        for k, one in enumerate(asked):
            linearized, key = self.entries[one.entry], (one.entry, one.point)
            if key not in found:
                there = self.points[one.point].at(linearized.engine, case.program, p, moves)
                found[key] = linearized.at(*there)
            figure = linearized.figures[one.figure]
            reading = figure.read(found[key])
            if reading.value < figure.most:
                numbers[k], slopes[k] = reading.value, reading.changes
            else:
                numbers[k] = figure.most
        return numbers, slopes


@dataclass(frozen=True, eq=False)
class _PointOf:
    """An operating point of a diagram. equilibrium: to which it is trimmed, or None."""

    section: PointSection
    equilibrium: Equilibrium | None

    def at(
        self, engine: Native, program: Program, p: Floats, changes: Floats
    ) -> tuple[Point, Moves]:
        """The point of an engine with parameters of another program of the diagram, and how it
        moves with them.
        """
        own, moved = _translated(engine.program, program, p, changes)
        there = engine.with_parameters(own)
        start = operating_point(there, self.section.states, self.section.t)
        moves = moves_of(there, self.section.states, start, moved)
        if self.equilibrium is None:
            return start, moves
        solution, _ = self.equilibrium.solved(start)
        return self.equilibrium.settled(solution, self.equilibrium.moved(solution, moves))


def _point(diagram: Any, section: PointSection) -> _PointOf:
    if section.trim is None:
        return _PointOf(section, None)
    asked = section.trim
    return _PointOf(section, Equilibrium(diagram, asked.unknowns, asked.conditions, asked.steady))


def _entry(diagram: Any, section: FrequencySection) -> Linearized:
    return Linearized(diagram, section.loop, section.inputs, section.outputs, section.open)


def _translated(to: Program, program: Program, p: Floats, changes: Floats) -> tuple[Floats, Floats]:
    """Parameters p, and their changes (np, m), of a program as those of another by their names."""
    slots = {slot.name: slot for slot in program.parameters}
    own, moved = to.p.copy(), np.zeros((len(to.p), changes.shape[1]))
    for slot in to.parameters:
        given = slots.get(slot.name)
        if given is not None:
            own[slot.part], moved[slot.part] = p[given.part], changes[given.part]
    return own, moved


@contextmanager
def _written_at(place: Place | None, what: str) -> Iterator[None]:
    """Gives the faults of what is prepared within it their place, and what they are of."""
    try:
        yield
    except InputError as error:
        raise InputError(
            replace(f, message=f"{what}: {f.message}", place=place or f.place) for f in error.faults
        ) from None


def places_of(
    asked: tuple[Asked, ...], source: FileSource | MemorySource
) -> Mapping[str, Place | None]:
    """Where each figure is written."""
    return {one.name: source.place("tune", "frequency", one.entry, one.figure) for one in asked}
