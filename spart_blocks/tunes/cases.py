"""The cases that a design must do in: variants, values, draws and faults, each one run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, Place, brief
from spart_blocks.diagram.sections.declarations import declarations_of
from spart_blocks.diagram.sections.tune_section import TuneSection
from spart_blocks.fits.free import Free, Placement, Space, entries_of
from spart_blocks.gradients.tangents import Floats
from spart_blocks.measures.work import FileWork
from spart_blocks.program import Program
from spart_blocks.program.slots import Places
from spart_blocks.sweeps.plan.assignments import Assigner, Placed
from spart_blocks.sweeps.plan.memory_source import FileSource, MemorySource
from spart_blocks.sweeps.plan.plan import Plan, plain_value
from spart_blocks.sweeps.plan.requested_plan import plan_of_cases
from spart_blocks.sweeps.plan.source import dotted

NOMINAL = "nominal"
"""The name of the case of a design that has one."""
SHOWN = 40
"""Largest number of characters of a value in the name of a case."""


@dataclass(frozen=True, eq=False)
class Case:
    """One run for which a design must do.

    number: among all. values: of what varies, by path. program, p: what runs. placement: of the
    design in p. placed: where it comes from. A diagram that cannot be traced has a work instead.
    """

    number: int
    name: str
    values: Mapping[str, Any]
    placed: Placed | FileWork
    placement: Placement

    @property
    def program(self) -> Program:
        """What runs. Of a diagram that can be traced."""
        assert isinstance(self.placed, Placed)
        return self.placed.program

    @property
    def p(self) -> Floats:
        """Its parameters (np,) where the search starts."""
        assert isinstance(self.placed, Placed)
        return np.asarray(self.placed.p[0])

    def refusal(self, values: Floats) -> str | None:
        """Why the diagram's blocks refuse values (k,) of the design; None if they take them."""
        if isinstance(self.placed, FileWork):
            return None  # the diagram is read anew
        for free, _ in self.placement.placed:
            accepted = self.placed.structure.accepted.get(free.name)
            if accepted is not None:
                wrong = accepted.wrong(np.asarray(free.shaped(values), dtype=float)[None])
                if wrong:
                    return wrong[0]
        return None


@dataclass(frozen=True)
class Cases:
    """The cases of a design, and the space of its parameters."""

    space: Space
    cases: tuple[Case, ...]

    @staticmethod
    def of(
        source: FileSource | MemorySource, section: TuneSection, given: Collection[str] = ()
    ) -> Cases:
        """Those of a section. given: its entries that are not those of the file. Raises InputError
        with what is wrong in it.
        """
        if not section.parameters:
            hint = "tune: {parameters: {ctrl.kp: [1, 100]}, minimize: rms(error)}"
            raise InputError(Fault("a design needs parameters", hint=hint))
        own = "parameters" in given
        places = {path: None if own else source.place("tune", "parameters", path)
                  for path in section.parameters}  # fmt: skip
        space = _space(source, section, places)
        start = {one.name: plain_value(one.shaped(space.start)) for one in space.free}
        plan = plan_of_cases(source, section, "tune", start)
        assigner = Assigner(plan, source)
        return Cases(space, tuple(_cases(plan, assigner, space, places)))


def _space(
    source: FileSource | MemorySource,
    section: TuneSection,
    places: Mapping[str, Place | None],
) -> Space:
    free: list[Free] = []
    first = 0
    for path, bounds in section.parameters.items():
        place = places[path]
        try:
            now = source.nominal(path)
        except InputError as error:
            raise InputError(replace(f, place=place or f.place) for f in error.faults) from None
        array = np.asarray(0.0 if now is None else now)
        if array.dtype.kind not in "iuf" or now is None:
            text = f"{path} is no parameter of the program"
            text += "" if now is None else f": its value is {brief(now)}"
            raise InputError(Fault(text, place, "numbers of blocks and of params: can be tuned"))
        one = Free.of(path, array.astype(float), bounds, first, place)
        free.append(_within_declared(one, source, place))
        first += len(one.start)
    return Space(tuple(free))


def _within_declared(one: Free, source: FileSource | MemorySource, place: Place | None) -> Free:
    """A quantity within the bounds, too, that `declare:` of the file gives its parameter."""
    data = source.document().data if isinstance(source, FileSource) else {}
    name, *index = dotted(one.name).removeprefix("params.").split(".")
    declared = declarations_of(data).get(name)
    if declared is None or not all(part.isdecimal() for part in index):
        return one
    low, high = declared.range
    within = replace(one, low=np.maximum(one.low, low), high=np.minimum(one.high, high))
    if (within.low >= within.high).any():
        text = f"the bounds of {one.name} are beyond those declared, {low:g} to {high:g}"
        raise InputError(Fault(text, place))
    return within


def _cases(
    plan: Plan, assigner: Assigner, space: Space, places: Mapping[str, Place | None]
) -> Iterator[Case]:
    for run in range(len(plan)):
        failed: dict[int, str] = {}
        found = list(assigner.placed([run], failed))
        name = _name(plan, run)
        if failed:
            raise InputError(f"the case {name} cannot begin: {failed[run]}")
        (one,) = found
        placement = Placement(()) if isinstance(one, FileWork) else _placement(one, space, places)
        placement.check_apart()
        values = {path: v for path, v in plan.case(run).items() if path not in plan.searched}
        yield Case(run, name, values, one, placement)


def _placement(placed: Placed, space: Space, places: Mapping[str, Place | None]) -> Placement:
    found: list[tuple[Free, tuple[Places, ...]]] = []
    structure = placed.structure
    for free in space.free:
        one = structure.found.get(free.name)
        where = () if one is None else tuple(entries_of(one, structure.engine))
        if not where:
            text = f"{free.name} is no parameter of the program"
            hint = "numbers of blocks, of params:, initial states and masses can be tuned"
            raise InputError(Fault(text, places[free.name], hint))
        found.append((free, (*where, *_after(placed, free, where))))
    return Placement(tuple(found))


def _after(placed: Placed, free: Free, where: Sequence[Places]) -> Iterator[Places]:
    """The entries that have the value after a fault, where the fault sets something else of the
    same parameter. Raises InputError if it sets the value itself.
    """
    shift, changed = placed.structure.shift, placed.changed
    for places in where:
        if (shift[places] == places).all():
            continue
        if changed & set(np.ravel(places).tolist()):
            text = f"{free.name} is tuned, and a fault sets it"
            raise InputError(Fault(text, hint="let the fault set something else"))
        yield shift[places]


def _name(plan: Plan, run: int) -> str:
    """A name of what is special in a case: `load.J = 0.03, pd, draw 4`."""
    numbers = plan.numbers(run)
    grid = [path for axis in plan.axes for path in axis.paths if path not in plan.searched]
    values = plan.case(run)
    parts = [f"{path} = {_short(values[path])}" for path in grid]
    if len(plan.variants) > 1:
        parts.append(plan.variant_names[int(numbers.variant[0])])
    if len(plan.faults) > 1:
        parts.append(f"fault {plan.fault_names[int(numbers.fault[0])]}")
    if plan.draws > 1:
        parts.append(f"draw {int(numbers.draw[0])}")
    return ", ".join(parts) or NOMINAL


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else brief(value, SHOWN)
