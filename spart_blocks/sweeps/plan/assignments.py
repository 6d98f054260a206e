"""Turns the values of a plan into works: runs of programs that differ in their parameters.

A plan gives each run a value for each path. Where possible the value is a parameter of the
program: of a block, of an element of it, an initial state, a mass. Runs that differ in parameters
only are rows of one matrix p, which the lanes take as it is. All other values are structural (a
file, a size, a block's type): each set of them needs its own loaded and traced diagram, a
Structure.

The runs are grouped by variant, fault and structural values. Each group gets its Structure, which
writes the values of the other paths into rows of p. Groups with the same program become one Work.
If a path is not a parameter in one structure, it is structural there, and the group is split
again. If a block refuses values, only the runs with these values fail.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError, SpartError, warn
from spart_blocks.diagram.sections.declarations import Declarations, declarations_of
from spart_blocks.measures.work import AnyWork, Derivatives, FileWork, Work
from spart_blocks.program import Program
from spart_blocks.program.tracing.rules import random_entries
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.engines.interpreter import Interpreter
from spart_blocks.run.simulate import options_with
from spart_blocks.sweeps.plan.designs import noise_draws
from spart_blocks.sweeps.plan.distributions import Values, table
from spart_blocks.sweeps.plan.file_source import texts_of
from spart_blocks.sweeps.plan.memory_source import FileSource, MemorySource
from spart_blocks.sweeps.plan.path_kinds import PathFinder, PathKinds, is_structural
from spart_blocks.sweeps.plan.plan import Ints, Plan, PlannedFault, plain_value
from spart_blocks.sweeps.plan.source import dotted
from spart_blocks.sweeps.plan.structures import Structure, sequence_states

MANY_STRUCTURES = 20
"""Number of structures at which a warning is given."""
MOST_STRUCTURES = 64
"""Largest number of structures in memory at once."""


@dataclass(eq=False)
class Assigner:
    """Makes the works for runs of a plan. Its structures are cached, so that runs may be requested
    in parts. derivatives_of: gives those that are asked for of runs; None if there are none.
    Raises InputError for paths that do not exist.
    """

    plan: Plan
    source: FileSource | MemorySource
    derivatives_of: Callable[[Placed], Derivatives] | None = None
    _known: dict[int, PathKinds] = field(default_factory=dict)
    _made: dict[str, Structure | str] = field(default_factory=dict)
    _options: dict[tuple[int, str], Any] = field(default_factory=dict)
    _random: dict[int, Mapping[str, tuple[int, NDArray[np.float64]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.finder = PathFinder(self.plan, self.source)
        bases = [self.kinds(variant).base for variant in range(len(self.plan.variants))]
        faults = [
            self.finder.fault(path, "no block takes this parameter")
            for path in self.finder.paths
            if all(b is not None and path in b.found and b.found[path].nowhere for b in bases)
        ]
        if faults:
            raise InputError(faults)

    def kinds(self, variant: int) -> PathKinds:
        """The kind of each path in a variant: parameter, structural or run option."""
        if variant not in self._known:
            self._known[variant] = self.finder.kinds(self.plan.variants[variant])
        return self._known[variant]

    def structure(self, variant: int, values: Mapping[str, Any]) -> Structure | str:
        """The Structure of a variant with structural values, or the reason why it cannot be
        loaded, as text.
        """
        kinds = self.kinds(variant)
        assert kinds.base is not None
        if not values:
            return kinds.base
        plain = plain_value(values)
        key = json.dumps([variant, plain], sort_keys=True)
        if key not in self._made:
            if len(self._made) == MANY_STRUCTURES:
                warn(
                    f"{', '.join(plain)}: no parameters of the program; each of their values is "
                    f"loaded and traced by itself, {MANY_STRUCTURES} so far"
                )
            while len(self._made) >= MOST_STRUCTURES:
                del self._made[next(iter(self._made))]
            self._made[key] = self._loaded(kinds, kinds.base, self.plan.variants[variant], plain)
        return self._made[key]

    def _loaded(
        self,
        kinds: PathKinds,
        base: Structure,
        chosen: Mapping[str, str],
        values: Mapping[str, Any],
    ) -> Structure | str:
        overrides = {**kinds.overrides, **values}
        try:
            engine = self.source.engine(chosen, overrides)
            paths = [path for path in base.found if path not in values]
            found, lacking = self.finder.found(paths, engine, chosen, overrides)
            structure = self.finder.structure(engine, found, chosen, overrides)
            return replace(structure, lacking=tuple(lacking))
        except SpartError as error:
            return str(error).partition("\n")[0]

    # --- runs -------------------------------------------------------------------------------------

    def place(self, runs: Sequence[int] | Ints) -> tuple[list[AnyWork], dict[int, str]]:
        """The works for some runs, and for each run that cannot start the reason, by number."""
        failed: dict[int, str] = {}
        parts: dict[Any, list[Placed]] = {}
        works: list[AnyWork] = []
        for one in self.placed(runs, failed):
            if isinstance(one, FileWork):
                works.append(one)
            else:
                # Derivatives go along other directions where a fault sets other parameters.
                fault = None if self.derivatives_of is None else one.fault.name
                parts.setdefault((id(one.program), fault), []).append(one)
        for some in parts.values():
            runs_of = np.concatenate([one.runs for one in some])
            if len(runs_of):
                order: NDArray[np.intp] = np.argsort(runs_of, kind="stable")
                p = np.concatenate([one.p for one in some])[order]
                file = some[0].structure.file
                asked = self.derivatives_of and self.derivatives_of(some[0])
                works.append(Work(some[0].program, runs_of[order], p, file=file, derivatives=asked))
        return works, failed

    def placed(
        self, runs: Sequence[int] | Ints, failed: dict[int, str]
    ) -> Iterator[Placed | FileWork]:
        """Some runs by groups that share a structure. failed: collects the reason for each run that
        cannot start, by number.
        """
        waiting = deque(self._groups(np.atleast_1d(np.asarray(runs, dtype=np.int64))))
        while waiting:
            group = waiting.popleft()
            if self.kinds(group.variant).base is None:
                yield self._of_file(group)
                continue
            structure = self.structure(group.variant, group.structural)
            if isinstance(structure, str):
                failed |= dict.fromkeys(group.runs.tolist(), structure)
                continue
            lacking = [path for path in structure.lacking if path in group.values]
            if lacking:
                waiting.extend(_split_by_values(group, lacking, {}))
                continue
            never = [path for path in structure.lacking if path in group.switched]
            if never:
                text = f"{never[0]} is no parameter of this run's diagram"
                failed |= dict.fromkeys(group.runs.tolist(), text)
                continue
            rows = structure.rows(
                {path: c for path, c in group.values.items() if path in structure.found},
                self.plan.seed,
                noise_draws(self.plan.design, len(self.plan.factors), group.draws),
                group.switched,
                group.fault.at,
            )
            for k, text in self._beyond_bounds(group.values):
                rows.wrong.setdefault(k, text)
            good = np.ones(len(group.runs), dtype=bool)
            for k, text in rows.wrong.items():
                good[k] = False
                failed[int(group.runs[k])] = text
            program = self._with_options(structure.program, group)
            if isinstance(program, str):
                failed |= dict.fromkeys(group.runs.tolist(), program)
                continue
            runs_of = group.runs[good]
            kinds = self.kinds(group.variant)
            taken = {p: group.options[name] for p, name in kinds.options.items()
                     if name in group.options}  # fmt: skip
            fixed = {**group.structural, **taken}
            yield Placed(program, structure, runs_of, rows.p[good], group.fault, fixed)

    def _beyond_bounds(self, values: Mapping[str, Values]) -> Iterator[tuple[int, str]]:
        """The rows of values that are beyond the bounds that the file declares, with the reason."""
        for path, column in values.items():
            name = re.split(r"[.\[]", dotted(path).removeprefix("params."))[0]
            declared = self.declared.get(name)
            if declared is None or column.dtype.kind not in "fiu":
                continue
            low, high = declared.range
            wrong = ((column < low) | (column > high)).reshape(len(column), -1).any(axis=1)
            for k in np.flatnonzero(wrong):
                yield int(k), declared.problem(path, column[k]) or ""

    @cached_property
    def declared(self) -> Declarations:
        """What the diagram's file declares of its parameters."""
        if isinstance(self.source, FileSource):
            return declarations_of(self.source.document().data)
        return {}

    def _of_file(self, group: _Group) -> FileWork:
        """The work of a group whose diagram cannot be traced."""
        assert isinstance(self.source, FileSource)
        file = self.source.file(self.plan.variants[group.variant], {})
        overrides = tuple(
            texts_of({path: plain_value(column[k]) for path, column in group.values.items()})
            for k in range(len(group.runs))
        )
        draws = noise_draws(self.plan.design, len(self.plan.factors), group.draws)
        start = {}
        for name, (count, state) in self._random_blocks(group.variant, file).items():
            start[name] = np.tile(state, (len(draws), 1))
            start[name][:, :count] = sequence_states(self.plan.seed, name, draws, count)
        return FileWork(file, group.runs, overrides, start=start)

    def _random_blocks(
        self, variant: int, file: DiagramFile
    ) -> Mapping[str, tuple[int, NDArray[np.float64]]]:
        """The random blocks of a file, without those whose seed the plan sets: for each the number
        of leading entries of its initial state that are random number generators' states, and the
        whole initial state.
        """
        if variant not in self._random:
            taken = {dotted(path).removeprefix("blocks.") for path in self.finder.paths}
            blocks = file.reference()
            assert isinstance(blocks, Interpreter)
            nodes, (_, xd) = blocks.node, blocks.initial()
            found = {
                name: (random_entries(nodes[name].block, part.stop - part.start), xd[part])
                for name, part in blocks.sampled.items()
                if name in nodes and f"{name}.seed" not in taken
            }
            self._random[variant] = {name: one for name, one in found.items() if one[0]}
        return self._random[variant]

    def _with_options(self, program: Program, group: _Group) -> Program | str:
        """The program with the run options of a group. Equal options give the same object."""
        if not group.options:
            return program
        key = (id(program), json.dumps(plain_value(group.options), sort_keys=True))
        if key not in self._options:
            try:
                made: Any = replace(
                    program, run=options_with(program.run, plain_value(group.options))
                )
            except InputError as error:
                made = str(error).partition("\n")[0]
            self._options[key] = (program, made)  # with the program, so that its id stays its own
        found: Program | str = self._options[key][1]
        return found

    def _groups(self, runs: Ints) -> Iterator[_Group]:
        """Groups of runs with the same variant, fault and structural values."""
        numbers = self.plan.numbers(runs)
        columns = self.plan.columns(runs)
        _, variants, faults = self.plan.counts
        both = numbers.variant * faults + numbers.fault
        for code in np.unique(both):
            which = np.flatnonzero(both == code) if variants * faults > 1 else slice(None)
            variant, fault = divmod(int(code), faults)
            begins = self.plan.faults[fault]
            values = {path: column[which] for path, column in columns.items()}
            chosen, draws = runs[which], numbers.draw[which]
            if begins.at <= 0:
                for path, value in begins.set.items():
                    one = table((value,))
                    values[path] = np.broadcast_to(one, (len(chosen), *one.shape[1:]))
            yield from self._split(_Group(variant, begins, chosen, draws, values))

    def _split(self, group: _Group) -> Iterator[_Group]:
        """Split a group into groups with the same structural values and run options."""
        kinds = self.kinds(group.variant)
        if kinds.base is None:
            yield group
            return
        some: dict[str, NDArray[np.bool_]] = {}
        for path, one in kinds.base.found.items():
            # What a fault changes within a run stays a parameter.
            if one.structural_values and path in group.values and path not in self.finder.switched:
                which = is_structural(group.values[path], one.structural_values)
                some |= {path: which} if which.any() else {}
        all_of = [p for p in (*kinds.structural, *kinds.options) if p in group.values]
        for part in _split_by_values(group, all_of, some):
            taken = part.structural
            options = {n: taken[p] for p, n in kinds.options.items() if p in taken}
            structural = {p: value for p, value in taken.items() if p not in kinds.options}
            yield replace(part, structural=structural, options=options)


@dataclass(frozen=True, eq=False)
class Placed:
    """Runs (n,) of one structure with their parameters p (n, np).

    program: that of the structure, with the run options of these runs. fault: of these runs.
    fixed: paths that are no parameters, and their values.
    """

    program: Program
    structure: Structure
    runs: Ints
    p: NDArray[np.float64]
    fault: PlannedFault
    fixed: Mapping[str, Any]

    @property
    def changed(self) -> set[int]:
        """The entries of p that a fault sets to other values during the runs."""
        switched = self.fault.set if self.fault.at > 0 else ()
        found = (self.structure.found[path].places for path in switched)
        each = (places for one in found if one is not None for places in one.places)
        return {entry for places in each for entry in places.ravel().tolist()}


@dataclass(frozen=True, eq=False)
class _Group:
    """Runs that share one structure.

    values: of the parameters, by path, a row for each run. structural, options: the structural
    values and run options, equal for all runs.
    """

    variant: int
    fault: PlannedFault
    runs: Ints
    draws: Ints
    values: Mapping[str, Values]
    structural: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def switched(self) -> Mapping[str, Any]:
        """The values by path that the fault sets during the run; empty if it applies from the
        start.
        """
        return self.fault.set if self.fault.at > 0 else {}


def _split_by_values(
    group: _Group, whole: Sequence[str], some: Mapping[str, NDArray[np.bool_]]
) -> Iterator[_Group]:
    """Split a group by values that become structural: all values of the paths in `whole`, and
    those values of the paths in `some` that its masks select.
    """
    if not whole and not some:
        yield group
        return
    keys: dict[str, list[int]] = {}
    for k in range(len(group.runs)):
        values = {path: group.values[path][k] for path in whole}
        values |= {path: group.values[path][k] for path, which in some.items() if which[k]}
        keys.setdefault(json.dumps(plain_value(values)), []).append(k)
    for places in keys.values():
        first = places[0]
        taken = [*whole, *(path for path, which in some.items() if which[first])]
        yield replace(
            group,
            runs=group.runs[places],
            draws=group.draws[places],
            values={p: column[places] for p, column in group.values.items() if p not in taken},
            structural={**group.structural, **{p: group.values[p][first] for p in taken}},
        )
