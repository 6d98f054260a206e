"""Makes the plan of a sweep from the file's `sweep:` section or the arguments of a call."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.diagram.sections.sweep_section import Cases, RotationDraw, SweepSection, Varied
from spart_blocks.results.csv_columns import read_csv
from spart_blocks.sweeps.plan.asked_section import asked_section
from spart_blocks.sweeps.plan.distributions import scaled, table, values_of
from spart_blocks.sweeps.plan.memory_source import FileSource, MemorySource, source_of
from spart_blocks.sweeps.plan.plan import (
    NO_FAULT,
    Factor,
    GridAxis,
    Plan,
    PlannedFault,
    check_apart,
    grid_axes,
    plain_value,
)
from spart_blocks.sweeps.plan.source import Source, dotted

MOST_VARIANTS = 10_000


def section_of(given: Any, **changes: Any) -> SweepSection:
    """The `sweep:` section of a file, with some entries changed; None leaves an entry unchanged,
    and metrics are added to those of the file.

    given: as `source_of` takes it. Raises InputError with all faults.
    """
    return asked_section(source_of(given), "sweep", SweepSection, changes, added=("metrics",))


def plan_of(given: Any, section: SweepSection | None = None, **changes: Any) -> Plan:
    """The plan of a sweep.

    given: a path, a DiagramFile, a diagram, or a program. section: by default that of the file.
    changes: entries that replace those of the section: over, runs, seed, design, ... Raises
    InputError with all faults.
    """
    source = source_of(given)
    if section is None or changes:
        section = section_of(source, **changes)
    return plan_of_cases(source, section, "sweep")


def plan_of_cases(
    source: FileSource | MemorySource,
    section: Cases,
    name: str,
    searched: Mapping[str, Any] = MappingProxyType({}),
) -> Plan:
    """The plan of the cases of a section.

    name: of the section. searched: paths that a search sets, and their values where it starts,
    which are on axes of length 1. Raises InputError with all faults.
    """
    over = _with_nominal(source, section.over, name)
    over += [(p, Varied.model_validate({"values": [v]}), None) for p, v in searched.items()]
    axes = grid_axes({path: varied for path, varied, _ in over}, section.zip)
    axes += _cases(source, section, name)
    factors = tuple(Factor(path, varied, value) for path, varied, value in over if varied.drawn)
    written = [path for path, _, _ in over]
    paths = tuple(dict.fromkeys([*written, *(path for axis in axes for path in axis.paths)]))
    check_apart(paths, {path: dotted(path) for path in paths})
    file = source.given if isinstance(source, FileSource) else None
    return Plan(
        seed=section.seed,
        runs=_runs(section, factors),
        design=section.design,
        paths=paths,
        axes=axes,
        factors=factors,
        variants=_variants(source, section.variants, name),
        faults=_faults(section),
        file=file,
        model=source.digest(),
        section=name,
        searched=tuple(searched),
    )


def _runs(section: Cases, factors: Iterable[Factor]) -> int:
    names = [factor.path for factor in factors]
    if section.runs is None and names:
        shown = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
        hint = "give runs: 100, or --runs 100"
        raise InputError(Fault(f"how many draws there are of {shown} is not said", hint=hint))
    if section.design == "saltelli" and not names:
        raise InputError("a saltelli design needs random paths, and there are none under over")
    return section.runs or 1


def _with_nominal(
    source: Source, over: Mapping[str, Varied], name: str
) -> list[tuple[str, Varied, Any]]:
    """The varied paths with their distribution, and the diagram's value if the draws depend on it.
    Lists of relative factors are replaced by lists of values.
    """
    found: list[tuple[str, Varied, Any]] = []
    faults: list[Fault] = []
    for path, varied in over.items():
        drawn = varied.drawn
        about = isinstance(drawn, RotationDraw) and drawn.about_nominal
        try:
            if not (varied.relative or varied.each or about):
                found.append((path, varied, None))
                continue
            nominal = plain_value(source.nominal(path))
            if drawn is None:
                values = scaled(table(varied.values or ()), nominal).tolist()
                found.append((path, Varied.model_validate({"values": values}), None))
            else:
                factor = Factor(path, varied, nominal)
                halves = np.full((1, factor.size), 0.5)
                values_of(varied, halves, nominal)  # raises if it does not fit
                found.append((path, varied, nominal))
        except InputError as error:
            place = source.place(name, "over", path)
            faults += [replace(f, message=f"{path}: {f.message}", place=place)
                       for f in error.faults]  # fmt: skip
    if faults:
        raise InputError(faults)
    return found


def _cases(source: Source, section: Cases, name: str) -> tuple[GridAxis, ...]:
    """The grid axis of a CSV file of cases, if there is one."""
    if section.cases is None:
        return ()
    path: Any = section.cases
    if isinstance(source, FileSource):
        path = source.folder_file(section.cases, name, "cases")
    file = read_csv(path)
    twice = [name for name in file.names if name in section.over]
    if twice:
        raise InputError(f"{path}:{file.header}: {twice[0]} varies under over too")
    columns = file.numbers(file.names)
    return (GridAxis(tuple(file.names), tuple(map(tuple, columns.T.tolist()))),)


def _variants(source: Source, asked: Any, name: str) -> tuple[Mapping[str, str], ...]:
    """For each requested variant the choice for each slot."""
    if asked is None:
        return ({},)
    slots = source.slots()
    place = source.place(name, "variants")
    if not slots:
        raise InputError(Fault(f"{source.title} has no variants", place))
    wanted = dict.fromkeys(slots, "all") if asked == "all" else asked
    faults: list[Fault] = []
    choices: dict[str, tuple[str, ...]] = {}
    for slot, names in wanted.items():
        if slot not in slots:
            hint = did_you_mean(slot, slots)
            faults.append(
                Fault(f"there is no slot {slot!r}", source.place(name, "variants", slot), hint)
            )
            continue
        choices[slot] = slots[slot] if names in ("all", ("all",)) else tuple(names)
        faults += [
            Fault(f"{slot} has no choice {name!r}", source.place(name, "variants", slot),
                  did_you_mean(name, slots[slot]))
            for name in choices[slot] if name not in slots[slot]
        ]  # fmt: skip
    if faults:
        raise InputError(faults)
    made = tuple(
        dict(zip(choices, names, strict=True)) for names in itertools.product(*choices.values())
    )
    if len(made) > MOST_VARIANTS:
        raise InputError(Fault(f"there are {len(made):,} variants; most is {MOST_VARIANTS}", place))
    return made


def _faults(section: Cases) -> tuple[PlannedFault, ...]:
    none = (PlannedFault(NO_FAULT, 0.0, {}),) if section.faultless else ()
    named = (PlannedFault(name, fault.at, fault.set) for name, fault in section.faults.items())
    return (*none, *named)
