"""From the values of a plan to works: runs of programs that differ in their parameters.

A value is a parameter of the program where it can be: of a block, an element of it, an initial
state, a mass. All other values are structural: each set of them is loaded and traced once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from spart_blocks.errors import Fault, InputError, SpartError
from spart_blocks.program import Program
from spart_blocks.program.symbol import TraceError
from spart_blocks.simulation.gauges import Gauge
from spart_blocks.simulation.native import Native
from spart_blocks.simulation.simulate import options_with
from spart_blocks.sweeps.designs import noise_draws
from spart_blocks.sweeps.distributions import Values
from spart_blocks.sweeps.plan import Ints, Plan, PlannedFault
from spart_blocks.sweeps.sources import FileSource, Found, MemorySource, source_of
from spart_blocks.sweeps.structures import StartPlan, Structure
from spart_blocks.sweeps.targets import dotted, start_of
from spart_blocks.sweeps.work import Work

MOST_STRUCTURES = 64
"""Structures that are held at once."""
_OF_PROGRAM = ("first_tick",)
"""Run options that are part of a program."""
_TRIED = 8
"""Runs of which one must load before a sweep begins."""


@dataclass(frozen=True, eq=False)
class Placed:
    """Works, and the runs that cannot begin, with the reason."""

    works: list[Work]
    failed: dict[int, str]


def works_of(
    plan: Plan,
    runs: Sequence[int] | Ints,
    source: Any = None,
    *,
    gauges: tuple[Gauge, ...] = (),
    blocks: tuple[str, ...] = (),
    every: float | None = None,
) -> Placed:
    """The works of some runs of a plan.

    source: the diagram or program of a plan that is not of a file. gauges, blocks, every: of the
    works. Raises InputError for a path that is not there, before anything runs; values that are
    wrong are told by run, in `failed`. Programs are kept with the plan, so that it may be asked for
    in parts.
    """
    placed = placer_of(plan, source).place(runs)
    works = [replace(w, gauges=gauges, blocks=blocks, every=every) for w in placed.works]
    return Placed(works, placed.failed)


_PLACERS: WeakKeyDictionary[Plan, Placer] = WeakKeyDictionary()


def placer_of(plan: Plan, source: Any = None) -> Placer:
    """What places the runs of a plan; one for each plan. Raises InputError for a path that is not
    there."""
    found = _PLACERS.get(plan)
    if found is None or (source is not None and source is not found.given):
        if source is None and plan.file is None:
            raise InputError("the plan is of a diagram in memory; give the diagram too")
        found = Placer(plan, plan.file if source is None else source)
        found.check()
        _PLACERS[plan] = found
    return found


@dataclass(eq=False)
class _Kinds:
    """The paths of a variant by kind. base: its structure, with the values that keep paths among
    the parameters. structural: those that are not. options: of the run, by path."""

    base: Structure
    overrides: dict[str, Any]
    structural: tuple[str, ...]
    options: dict[str, str]


@dataclass(eq=False)
class Placer:
    """Places the runs of a plan. given: the diagram or program."""

    plan: Plan
    given: Any
    _kinds: dict[int, _Kinds] = field(default_factory=dict)
    _made: dict[str, Structure | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.source: FileSource | MemorySource = source_of(self.given)
        self.paths = tuple(
            dict.fromkeys([*self.plan.paths, *(p for f in self.plan.faults for p in f.set)])
        )
        self.switched = tuple(
            dict.fromkeys(path for f in self.plan.faults if f.at > 0 for path in f.set)
        )

    def check(self) -> None:
        """Find the paths of all variants. Raises InputError for what is not there."""
        kinds = [self.kinds(variant) for variant in range(len(self.plan.variants))]
        faults = [
            self._fault(path, "no block takes this parameter")
            for path in self.paths
            if all(path in one.base.found and one.base.found[path].nowhere for one in kinds)
        ]
        if faults:
            raise InputError(faults)

    # --- what is a parameter --------------------------------------------------------------------

    def kinds(self, variant: int) -> _Kinds:
        """The kinds of the paths in a variant."""
        if variant not in self._kinds:
            self._kinds[variant] = self._sorted(self.plan.variants[variant])
        return self._kinds[variant]

    def _sorted(self, chosen: Mapping[str, str]) -> _Kinds:
        options = {p: name for p in self.paths if (name := self.source.run_option(p))}
        options = {path: name for path, name in options.items() if name not in _OF_PROGRAM}
        paths = [path for path in self.paths if path not in options]
        overrides = self.source.matter_overrides(paths, chosen)
        engine = self.source.engine(chosen, overrides)
        found, lacking = self._found(paths, engine, chosen)
        if lacking and self.source.structural:
            engine, overrides = self._given_values(lacking, overrides, chosen)
            found, lacking = self._found(paths, engine, chosen)
            overrides = {path: v for path, v in overrides.items() if path not in lacking}
            if lacking:
                engine = self.source.engine(chosen, overrides)
                found, lacking = self._found(paths, engine, chosen, lacking)
        elif lacking:
            raise InputError(self._fault(lacking[0], "is no parameter of the program"))
        self._check_faults(lacking, found, options)
        base = self._structure(engine, found, chosen, overrides)
        return _Kinds(base, overrides, tuple(lacking), options)

    def _found(
        self,
        paths: Sequence[str],
        engine: Native,
        chosen: Mapping[str, str],
        known: Sequence[str] = (),
    ) -> tuple[dict[str, Found], list[str]]:
        """Where paths stand in a program, and those that do not. known: not to be looked for."""
        found: dict[str, Found] = {}
        faults: list[Fault] = []
        for path in paths:
            try:
                one = None if path in known else self.source.find(path, engine, chosen)
            except InputError as error:
                faults += [self._fault(path, "", error)]
                continue
            if one is not None and self._fits(path, one):
                found[path] = one
        if faults:
            raise InputError(faults)
        found = self._with_known_starts(found, engine, chosen)
        return found, [path for path in paths if path not in found]

    def _fits(self, path: str, found: Found) -> bool:
        """Whether the values of a path have the shape of the parameter."""
        places = found.places
        return places is None or all(places.takes(shape) for shape in self._shapes(path))

    def _shapes(self, path: str) -> set[tuple[int, ...]]:
        """The shapes of the values of a path; those of texts and the like do not fit any."""
        shapes: set[tuple[int, ...]] = set()
        if path in self.plan.paths:
            column = self._first_values(1)[path]
            shapes.add(column.shape[1:] if column.dtype.kind in "iuf" else (-1,))
        for fault in self.plan.faults:
            if path in fault.set:
                shapes.add(_shape_of(fault.set[path]))
        return shapes

    def _first_values(self, count: int) -> dict[str, Values]:
        return self.plan.columns(np.arange(min(count, len(self.plan))))

    def _with_known_starts(
        self, found: dict[str, Found], engine: Native, chosen: Mapping[str, str]
    ) -> dict[str, Found]:
        """Without the initial states that cannot be made from entries of a plant's `initial`."""
        for path, one in list(found.items()):
            for start in one.starts:
                given, frame = self.source.initial(start.block, chosen)
                if StartPlan.of(engine, start.block, {}, given, frame) is None:
                    found.pop(path, None)
        return found

    def _given_values(
        self, lacking: Sequence[str], overrides: dict[str, Any], chosen: Mapping[str, str]
    ) -> tuple[Native, dict[str, Any]]:
        """An engine with values written out for some paths, which may make them parameters: those
        of the file, where they fit, or of the first run that can be loaded."""
        error: InputError | None = None
        for run in range(min(_TRIED, len(self.plan))):
            values = {path: self._example(path, run, chosen) for path in lacking}
            try:
                return self.source.engine(chosen, {**overrides, **values}), {**overrides, **values}
            except InputError as raised:
                error = error or raised
        assert error is not None
        raise InputError(replace(f, hint=f.hint) for f in (self._placed(f) for f in error.faults))

    def _example(self, path: str, run: int, chosen: Mapping[str, str]) -> Any:
        shapes = self._shapes(path)
        written = self.source.written(path, chosen)
        if written is not None and shapes <= {(), _shape_of(written)}:
            return written
        if path in self.plan.paths:
            return self.plan.case(run)[path]
        return next(fault.set[path] for fault in self.plan.faults if path in fault.set)

    def _placed(self, fault: Fault) -> Fault:
        """A fault of an override, at the place in the section that asks for it."""
        text = "" if fault.place is None else str(fault.place)
        for path in self.paths:
            if text.startswith(f"override {dotted(path)}="):
                return self._fault(path, fault.message, hint=fault.hint)
        return fault

    def _fault(
        self, path: str, text: str, error: InputError | None = None, hint: str | None = None
    ) -> Fault:
        """A fault of a path, where it is written."""
        keys: tuple[str, ...] = ("over", path)
        for fault in self.plan.faults:
            if path in fault.set and path not in self.plan.paths:
                keys = ("faults", fault.name, "set", path)
        if error is not None:
            text, hint = error.faults[0].message, error.faults[0].hint
        message = text if path in text else f"{path}: {text}"
        return Fault(message, self.source.place(*keys), hint)

    def _check_faults(
        self, lacking: Sequence[str], found: Mapping[str, Found], options: Mapping[str, str]
    ) -> None:
        """Refuse what cannot begin within a run."""
        faults = []
        for path in self.switched:
            one = found.get(path)
            hint = "what is no parameter of the program can be a fault at: 0 alone"
            if path in lacking or path in options or one is None:
                faults.append(self._fault(path, f"{path} cannot change during a run", hint=hint))
            elif one.starts:
                text = f"{path} is an initial state, which cannot change during a run"
                faults.append(self._fault(path, text, hint=hint))
        if faults:
            raise InputError(faults)

    # --- structures -----------------------------------------------------------------------------

    def _structure(
        self,
        engine: Native,
        found: Mapping[str, Found],
        chosen: Mapping[str, str],
        overrides: Mapping[str, Any],
    ) -> Structure:
        starts: dict[str, dict[str, Any]] = {}
        for path, one in found.items():
            for start in one.starts:
                starts.setdefault(start.block, {})[path] = start
        plans = []
        for block, entries in starts.items():
            given, frame = self.source.initial(block, chosen)
            made = StartPlan.of(engine, block, entries, given, frame)
            assert made is not None
            plans.append(made)
        kept = {name for name in engine.program.random if self._chosen_start(name, found, engine)}
        structure = Structure(
            engine=engine,
            file=self.source.file(chosen, overrides),
            found=found,
            starts=tuple(plans),
            kept=frozenset(kept),
        )
        return self._with_faults(structure)

    def _chosen_start(self, block: str, found: Mapping[str, Found], engine: Native) -> bool:
        """Whether the plan says how a random block starts."""
        slot = start_of(engine.program, block)
        taken = [one.places.slots for one in found.values() if one.places is not None]
        if slot is not None and any(slot.name in names for names in taken):
            return True
        return any(dotted(p).removeprefix("blocks.") == f"{block}.seed" for p in self.paths)

    def _with_faults(self, structure: Structure) -> Structure:
        """With a program whose parameters switch where faults change them."""
        names: dict[str, None] = {}
        for path in self.switched:
            one = structure.found[path]
            names |= dict.fromkeys(() if one.places is None else one.places.slots)
        if not names:
            return structure
        from spart_blocks.program.switched_parameters import AFTER, AT, switched_parameters

        program = switched_parameters(structure.program, names)
        parts = {slot.name: slot.part for slot in program.parameters}
        return replace(
            structure,
            engine=structure.engine.of(program),
            at=parts[AT].start,
            after={name: (parts[name], parts[f"{AFTER}{name}"]) for name in names},
        )

    def structure(self, variant: int, values: Mapping[str, Any]) -> Structure | str:
        """The structure of a variant with structural values; why there is none, as text."""
        kinds = self.kinds(variant)
        if not values:
            return kinds.base
        key = json.dumps([variant, {p: _plain(v) for p, v in values.items()}], sort_keys=True)
        if key not in self._made:
            while len(self._made) >= MOST_STRUCTURES:
                del self._made[next(iter(self._made))]
            self._made[key] = self._loaded(kinds, self.plan.variants[variant], values)
        return self._made[key]

    def _loaded(
        self, kinds: _Kinds, chosen: Mapping[str, str], values: Mapping[str, Any]
    ) -> Structure | str:
        overrides = {**kinds.overrides, **{path: _plain(v) for path, v in values.items()}}
        try:
            engine = self.source.engine(chosen, overrides)
            paths = [path for path in self.paths if path in kinds.base.found]
            found, lacking = self._found(paths, engine, chosen)
            if lacking:
                return f"{lacking[0]} is no parameter of this run's diagram"
            return self._structure(engine, found, chosen, overrides)
        except TraceError:
            raise
        except SpartError as error:
            return str(error).partition("\n")[0]

    # --- runs -------------------------------------------------------------------------------------

    def place(self, runs: Sequence[int] | Ints) -> Placed:
        """The works of some runs, and those that cannot begin."""
        asked = np.atleast_1d(np.asarray(runs, dtype=np.int64))
        failed: dict[int, str] = {}
        parts: dict[int, tuple[Program, Structure, list[tuple[Ints, Any]]]] = {}
        for group in self._groups(asked):
            structure = self.structure(group.variant, group.structural)
            if isinstance(structure, str):
                failed |= dict.fromkeys(group.runs.tolist(), structure)
                continue
            rows = structure.rows(
                {path: c for path, c in group.values.items() if path in structure.found},
                self.plan.seed,
                noise_draws(self.plan.design, len(self.plan.factors), group.draws),
                group.fault.set if group.fault.at > 0 else {},
                group.fault.at,
            )
            good = np.ones(len(group.runs), dtype=bool)
            for k, text in rows.wrong.items():
                good[k] = False
                failed[int(group.runs[k])] = text
            program = self._with_options(structure.program, group)
            if isinstance(program, str):
                failed |= dict.fromkeys(group.runs.tolist(), program)
                continue
            entry = parts.setdefault(id(program), (program, structure, []))
            entry[2].append((group.runs[good], rows.p[good]))
        return Placed([_work(*part) for part in parts.values() if _any(part[2])], failed)

    _options: dict[tuple[int, str], Any] = field(default_factory=dict)

    def _with_options(self, program: Program, group: _Group) -> Program | str:
        """The program with the run options of a group, the same object each time."""
        if not group.options:
            return program
        key = (id(program), json.dumps(_plain(group.options), sort_keys=True))
        if key not in self._options:
            try:
                made: Any = replace(program, run=options_with(program.run, _plain(group.options)))
            except InputError as error:
                made = str(error).partition("\n")[0]
            self._options[key] = (program, made)  # with the program, so that its id stays its own
        found: Program | str = self._options[key][1]
        return found

    def _groups(self, runs: Ints) -> Iterator[_Group]:
        """Runs that share a variant, a fault, and all structural values."""
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
                    values[path] = _repeated(value, len(chosen))
            yield from self._split(_Group(variant, begins, chosen, draws, values))

    def _split(self, group: _Group) -> Iterator[_Group]:
        """A group for each set of structural values and run options."""
        kinds = self.kinds(group.variant)
        apart = [p for p in (*kinds.structural, *kinds.options) if p in group.values]
        if not apart:
            yield group
            return
        keys: dict[str, list[int]] = {}
        for k in range(len(group.runs)):
            key = json.dumps([_plain(group.values[path][k]) for path in apart])
            keys.setdefault(key, []).append(k)
        for places in keys.values():
            first = {path: group.values[path][places[0]] for path in apart}
            yield replace(
                group,
                runs=group.runs[places],
                draws=group.draws[places],
                values={p: c[places] for p, c in group.values.items() if p not in apart},
                structural={p: first[p] for p in kinds.structural if p in first},
                options={n: first[p] for p, n in kinds.options.items() if p in first},
            )


@dataclass(frozen=True, eq=False)
class _Group:
    """Runs of one structure. values: of the parameters, by path. structural, options: values of
    the file, and of the run, that they share."""

    variant: int
    fault: PlannedFault
    runs: Ints
    draws: Ints
    values: Mapping[str, Values]
    structural: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def _any(parts: Sequence[tuple[Ints, Any]]) -> bool:
    return any(len(runs) for runs, _ in parts)


def _work(program: Program, structure: Structure, parts: Sequence[tuple[Ints, Any]]) -> Work:
    """The work of the runs of a structure, in rising order."""
    if len(parts) == 1:
        [(runs, p)] = parts
    else:
        runs = np.concatenate([part[0] for part in parts])
        p = np.concatenate([part[1] for part in parts])
    if (np.diff(runs) < 0).any():
        order: NDArray[np.intp] = np.argsort(runs, kind="stable")
        runs, p = runs[order], p[order]
    return Work(program, runs, p, file=structure.file)


def _repeated(value: Any, count: int) -> Values:
    """A value for each of so many runs."""
    if _shape_of(value) != (-1,):
        array = np.asarray(value, dtype=float)
        return np.broadcast_to(array, (count, *array.shape))
    out = np.empty(count, dtype=object)
    for k in range(count):
        out[k] = value
    return out


def _shape_of(value: Any) -> tuple[int, ...]:
    """The shape of a value; (-1,) of one that is no array of numbers."""
    try:
        array = np.asarray(value)
    except ValueError:
        return (-1,)
    return array.shape if array.dtype.kind in "iuf" else (-1,)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value


__all__ = ["Placed", "Placer", "placer_of", "works_of"]
