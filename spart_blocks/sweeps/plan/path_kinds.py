"""Which paths of a sweep are parameters of its program, and which are structural."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.diagram.sections.run_options import OF_PROGRAM
from spart_blocks.measures.work import MOST_TRIED
from spart_blocks.program.tracing.switched_parameters import AFTER, AT, switched_parameters
from spart_blocks.program.tracing.symbol import TraceError
from spart_blocks.run.engines.native import Native
from spart_blocks.sweeps.plan.distributions import Values
from spart_blocks.sweeps.plan.memory_source import FileSource, MemorySource
from spart_blocks.sweeps.plan.plan import Plan
from spart_blocks.sweeps.plan.source import Chosen, Found, dotted, start_of
from spart_blocks.sweeps.plan.structures import StartPlan, Structure
from spart_blocks.sweeps.plan.validity import Accepted

_SEARCHED = 1024
"""Number of first runs that are searched for a value with which a path is a parameter."""

Made = TypeVar("Made")
_NONE = object()


@dataclass(frozen=True, eq=False)
class PathKinds:
    """The kind of each path in one variant.

    base: the structure with the values of the file; None if the diagram cannot be traced.
    overrides: values that are written into the file so that paths are parameters. structural: the
    structural paths. options: the run option that each path sets. why: why the diagram cannot be
    traced.
    """

    base: Structure | None
    overrides: Mapping[str, Any]
    structural: tuple[str, ...]
    options: Mapping[str, str]
    why: str = ""


@dataclass(frozen=True, eq=False)
class PathFinder:
    """Finds which parameters of the diagram's programs the paths of a plan set."""

    plan: Plan
    source: FileSource | MemorySource

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The varied paths, and those that faults set."""
        faults = (path for fault in self.plan.faults for path in fault.set)
        return tuple(dict.fromkeys([*self.plan.paths, *faults]))

    @cached_property
    def switched(self) -> tuple[str, ...]:
        """The paths that faults change during a run."""
        late = (fault for fault in self.plan.faults if fault.at > 0)
        return tuple(dict.fromkeys(path for fault in late for path in fault.set))

    def kinds(self, chosen: Chosen) -> PathKinds:
        """The kinds of all paths in a variant. Raises InputError for paths that do not exist."""
        try:
            return self._sorted(chosen)
        except TraceError as error:
            return self._without_program(chosen, error)

    def _sorted(self, chosen: Chosen) -> PathKinds:
        options = {p: name for p in self.paths if (name := self.source.run_option(p))}
        options = {path: name for path, name in options.items() if name not in OF_PROGRAM}
        paths = [path for path in self.paths if path not in options]
        overrides = self.source.matter_overrides(paths, chosen)
        engine = self.source.engine(chosen, overrides)
        found, lacking = self.found(paths, engine, chosen, overrides)
        if lacking and self.source.structural:
            engine, values = self._written_out(lacking, engine, overrides, chosen)
            found, lacking = self.found(paths, engine, chosen, {**overrides, **values})
            overrides |= {path: value for path, value in values.items() if path not in lacking}
            if lacking:
                engine = self.source.engine(chosen, overrides)
                found, lacking = self.found(paths, engine, chosen, overrides, lacking)
        elif lacking:
            raise InputError(self.fault(lacking[0], "is no parameter of the program"))
        self._check_faults(lacking, found, options)
        base = self.structure(engine, found, chosen, overrides)
        return PathKinds(base, overrides, tuple(lacking), options)

    def _without_program(self, chosen: Chosen, why: TraceError) -> PathKinds:
        """The kinds in a diagram that cannot be traced: all paths are structural. Raises
        InputError for paths that do not exist.
        """
        source = self.source
        assert isinstance(source, FileSource)  # others need a program
        faults = []
        for path in self.paths:
            try:
                source.check(path, chosen)
            except InputError as error:
                faults.append(self.fault(path, "", error))
            if path in self.switched:
                hint = f"the diagram has no program: {_line(why)}"
                faults.append(self.fault(path, "cannot change during a run", hint=hint))
        if faults:
            raise InputError(faults)
        self._loading(self.plan.case, lambda values: source.file(chosen, values).reference())
        return PathKinds(None, {}, self.paths, {}, _line(why))

    def found(
        self,
        paths: Sequence[str],
        engine: Native,
        chosen: Chosen,
        overrides: Mapping[str, Any],
        known: Sequence[str] = (),
    ) -> tuple[dict[str, Found], list[str]]:
        """For each path that is a parameter its location in the program of `engine`; and the paths
        that are not. known: paths to skip.
        """
        found: dict[str, Found] = {}
        faults: list[Fault] = []
        for path in paths:
            try:
                one = None
                if path not in known:
                    one = self.source.find(path, engine, chosen, overrides)
            except InputError as error:
                faults += [self.fault(path, "", error)]
                continue
            if one is not None and self._fits(path, one):
                found[path] = one
        if faults:
            raise InputError(faults)
        found = self._with_known_starts(found, engine, chosen)
        return found, [path for path in paths if path not in found]

    def _fits(self, path: str, found: Found) -> bool:
        """Whether all values of a path have a shape that the parameter accepts."""
        places = found.places
        return places is None or all(places.takes(shape) for shape in self._shapes(path))

    def _shapes(self, path: str) -> set[tuple[int, ...]]:
        """The shapes of the values of a path; (-1,) for values that are not arrays of numbers."""
        shapes: set[tuple[int, ...]] = set()
        if path in self.plan.paths:
            column = self._first_values(1)[path]
            shapes.add(column.shape[1:] if column.dtype.kind in "iuf" else (-1,))
        for fault in self.plan.faults:
            if path in fault.set:
                shapes.add(shape_of(fault.set[path]))
        return shapes

    def _first_values(self, count: int) -> dict[str, Values]:
        return self.plan.columns(np.arange(min(count, len(self.plan))))

    def _with_known_starts(
        self, found: dict[str, Found], engine: Native, chosen: Chosen
    ) -> dict[str, Found]:
        """The found paths without those of plants whose initial state in the program does not
        agree with their `initial`.
        """
        for path, one in list(found.items()):
            for start in one.starts:
                given, frame = self.source.initial(start.block, chosen)
                if StartPlan.of(engine, start.block, {}, given, frame) is None:
                    found.pop(path, None)
        return found

    def _written_out(
        self, lacking: Sequence[str], engine: Native, overrides: Mapping[str, Any], chosen: Chosen
    ) -> tuple[Native, dict[str, Any]]:
        """An engine of the file with values written explicitly for the paths in `lacking`, which
        may make them parameters; and these values.
        """

        def written(run: int) -> dict[str, Any]:
            values = {path: self._example(path, run, engine, chosen) for path in lacking}
            return {path: value for path, value in values.items() if value is not _NONE}

        return self._loading(
            written, lambda values: self.source.engine(chosen, {**overrides, **values})
        )

    def _loading(
        self, values_of: Callable[[int], dict[str, Any]], load: Callable[[dict[str, Any]], Made]
    ) -> tuple[Made, dict[str, Any]]:
        """Load with the values of the first run with which this succeeds; returns what was loaded
        and the values. Raises the error of the first run if none succeeds.
        """
        first: InputError | None = None
        for run in range(min(MOST_TRIED, len(self.plan))):
            values = values_of(run)
            try:
                return load(values), values
            except InputError as error:
                first = first or error
        assert first is not None
        raise InputError(self._placed(fault) for fault in first.faults)

    def _example(self, path: str, run: int, engine: Native, chosen: Chosen) -> Any:
        """A value to write for a path that has none in the program.

        It is the value in the file if it has the right shape, which leaves the diagram unchanged;
        otherwise the value of a run. Values that need other blocks are not used; `_NONE` if there
        is no other.
        """
        shapes, structural = self._shapes(path), self.source.structural_values(path, engine, chosen)
        written = self.source.written(path, chosen)
        if (
            written is not None
            and shapes <= {(), shape_of(written)}
            and written not in [*structural]
        ):
            return written
        if path not in self.plan.paths:
            return _NONE
        if not structural:
            return self.plan.case(run)[path]
        column = self._first_values(_SEARCHED)[path]
        others = column[~is_structural(column, structural)]
        return others[run].tolist() if run < len(others) else _NONE

    def _placed(self, fault: Fault) -> Fault:
        """A fault of an override, with its place changed to the entry of the section that caused
        it.
        """
        text = "" if fault.place is None else str(fault.place)
        for path in self.paths:
            if text.startswith(f"override {dotted(path)}="):
                return self.fault(path, fault.message, hint=fault.hint)
        return fault

    def fault(
        self, path: str, text: str, error: InputError | None = None, hint: str | None = None
    ) -> Fault:
        """A fault of a path, with the place where the path is written."""
        if error is not None:
            text, hint = error.faults[0].message, error.faults[0].hint
        message = text if path in text else f"{path}: {text}"
        return Fault(message, self.source.place(*self.plan.keys(path)), hint)

    def _check_faults(
        self, lacking: Sequence[str], found: Mapping[str, Found], options: Mapping[str, str]
    ) -> None:
        """Raise InputError for paths that a fault cannot change during a run: structural ones, run
        options, initial states.
        """
        faults = []
        for path in self.switched:
            one = found.get(path)
            hint = "what is no parameter of the program can be a fault at: 0 alone"
            if path in lacking or path in options or one is None:
                faults.append(self.fault(path, f"{path} cannot change during a run", hint=hint))
            elif one.starts:
                text = f"{path} is an initial state, which cannot change during a run"
                faults.append(self.fault(path, text, hint=hint))
        if faults:
            raise InputError(faults)

    # --- structures -----------------------------------------------------------------------------

    def structure(
        self,
        engine: Native,
        found: Mapping[str, Found],
        chosen: Chosen,
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
            accepted=self._accepted(engine, found, chosen, overrides),
        )
        return self._with_faults(structure)

    def _accepted(
        self,
        engine: Native,
        found: Mapping[str, Found],
        chosen: Chosen,
        overrides: Mapping[str, Any],
    ) -> dict[str, Accepted]:
        """For each path of a file the values that its blocks accept. Initial states accept any
        value.
        """
        source, starts = self.source, set(engine.program.start.values())
        if not isinstance(source, FileSource):
            return {}

        def problem_of(path: str) -> Callable[[Any], str | None]:
            return lambda value: source.problem(chosen, {**overrides, path: value})

        return {
            path: Accepted(one.target.of(engine.program.p), problem_of(path))
            for path, one in found.items()
            if one.target is not None and not starts & set(one.target.slots)
        }

    def _chosen_start(self, block: str, found: Mapping[str, Found], engine: Native) -> bool:
        """Whether the plan sets the seed or the initial state of a random block."""
        slot = start_of(engine.program, block)
        taken = [one.places.slots for one in found.values() if one.places is not None]
        if slot is not None and any(slot.name in names for names in taken):
            return True
        return any(dotted(p).removeprefix("blocks.") == f"{block}.seed" for p in self.paths)

    def _with_faults(self, structure: Structure) -> Structure:
        """The structure with a program in which the parameters that faults change can switch at a
        time.
        """
        names: dict[str, None] = {}
        for path in self.switched:
            one = structure.found.get(path, Found())
            names |= dict.fromkeys(() if one.places is None else one.places.slots)
        if not names:
            return structure
        program = switched_parameters(structure.program, names)
        parts = {slot.name: slot.part for slot in program.parameters}
        return replace(
            structure,
            engine=structure.engine.of(program),
            at=parts[AT].start,
            after={name: (parts[name], parts[f"{AFTER}{name}"]) for name in names},
        )


def is_structural(column: Values, structural: frozenset[float]) -> NDArray[np.bool_]:
    """Which of the values (n, ...) contain one of the structural values."""
    if not structural or column.dtype.kind not in "iuf":
        return np.zeros(len(column), dtype=bool)
    return np.asarray(np.isin(column, list(structural)).reshape(len(column), -1).any(axis=1))


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of a value; (-1,) if it is not an array of numbers."""
    try:
        array = np.asarray(value)
    except ValueError:
        return (-1,)
    return array.shape if array.dtype.kind in "iuf" else (-1,)


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0]
