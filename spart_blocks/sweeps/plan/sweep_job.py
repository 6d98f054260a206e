"""A sweep that is ready to run: its plan, and what is measured and stored of each run."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.paths import element_names
from spart_blocks.diagram import as_diagram
from spart_blocks.diagram.sections.expectations import Expectations
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.diagram.sections.sweep_section import SweepSection
from spart_blocks.measures.metrics import Metrics
from spart_blocks.measures.work import MOST_TRIED, AnyWork, Derivatives, Done, FileWork, Ints, Work
from spart_blocks.program import Program
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.simulate import options_with
from spart_blocks.sweeps.plan.assignments import Assigner, Placed
from spart_blocks.sweeps.plan.derivatives import UNTRACED, AskedDerivatives
from spart_blocks.sweeps.plan.file_source import signals_of
from spart_blocks.sweeps.plan.memory_source import FileSource, MemorySource, source_of
from spart_blocks.sweeps.plan.plan import Plan
from spart_blocks.sweeps.plan.requested_plan import plan_of, section_of
from spart_blocks.sweeps.run.with_derivatives import RUN_FAILED
from spart_blocks.sweeps.storage.columns import (
    FALSE,
    UNKNOWN,
    Array,
    Column,
    columns_of,
    metric_names,
    schema_of,
    succeeded,
)
from spart_blocks.sweeps.storage.histories import Histories, histories_of
from spart_blocks.sweeps.verdicts import Verdicts

if TYPE_CHECKING:
    from spart_blocks.diagram.sections.expectations import Expectations
    from spart_blocks.program import Program

DEFAULT_SAMPLES = 500
"""Number of samples of a stored history, by default."""
_MOST_KNOWN = 128

Function = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class _Measured:
    """The metrics and verdicts of one program. given: the program without their added signals; the
    reference keeps its id valid as a key.
    """

    given: Program
    metrics: Metrics
    verdicts: Verdicts


@dataclass(eq=False)
class Planned:
    """A planned sweep: its diagram, metrics and claims. `SweepRun` executes it.

    source: the diagram. section: the requested sweep. functions: metrics in Python, by name.
    options: run options of the call. expected: the claims of the diagram. given: the entries of
    the section that the call gives.
    """

    source: FileSource | MemorySource
    section: SweepSection
    functions: Mapping[str, Function] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    expected: Expectations | None = None
    given: Collection[str] = ()
    _known: dict[int, _Measured] = field(default_factory=dict, init=False)
    _signals: dict[Any, Program] = field(default_factory=dict, init=False)

    @staticmethod
    def of(diagram: Any, changes: Mapping[str, Any], options: Mapping[str, Any] = {}) -> Planned:
        """The sweep of a diagram's file with the arguments of a call. changes: entries that
        replace those of the section. Raises InputError.
        """
        named = changes.get("metrics") or {}
        if not isinstance(named, Mapping):
            text = f"metrics are formulas or functions by name, not {brief(named)}"
            raise InputError(Fault(text, hint="write {'miss': 'abs(final(x))'}"))
        functions = {name: one for name, one in named.items() if callable(one)}
        texts = {name: one for name, one in named.items() if not callable(one)}
        source = source_of(with_options(diagram, options))
        asked = {name: value for name, value in changes.items() if name != "metrics"}
        section = section_of(source, **asked, metrics=texts or None)
        return Planned(
            source, section, functions, dict(options), expectations(source), frozenset(changes)
        )

    # --- the plan ----------------------------------------------------------------------

    @cached_property
    def plan(self) -> Plan:
        """The plan: which runs there are."""
        return plan_of(self.source, self.section)

    @cached_property
    def _assigner(self) -> Assigner:
        return Assigner(self.plan, self.source, self._derivatives if self._derives else None)

    # --- derivatives -------------------------------------------------------------------

    @property
    def _derives(self) -> bool:
        return bool(self.section.gradients)

    def _derivatives(self, placed: Placed) -> Derivatives:
        return self.derivatives.of_runs(placed)

    @cached_property
    def derivatives(self) -> AskedDerivatives:
        """The derivatives that are asked for. Raises InputError with what is wrong there."""
        kinds = [self._assigner.kinds(variant) for variant in range(len(self.plan.variants))]
        functions, place = tuple(self.functions), self._place_of_gradients
        return AskedDerivatives.of(self.section, functions, self.examples, kinds, place)

    def _place_of_gradients(self, metric: str | None = None, name: str | None = None) -> Any:
        """Where the derivatives of a metric, or those by a parameter, are asked for in the file."""
        if "gradients" in self.given:
            return None
        names, keys = self.section.gradients, ["sweep", "gradients"]
        if isinstance(names, Mapping) and (metric or name):
            metric = metric or next(one for one, some in names.items() if name in some)
            names, keys = names[metric], [*keys, metric]
        index = () if name is None else (names.index(name),)
        return self.source.place(*keys, *index)

    @cached_property
    def derivative_facts(self) -> dict[str, Any]:
        """For each metric and parameter their width and shape, for `found.gradients`."""
        if not self._derives:
            return {}
        return self.derivatives.plain(self._measured(self.first).metrics.widths)

    @property
    def total(self) -> int:
        return len(self.plan)

    @property
    def per_draw(self) -> int:
        return self.plan.per_draw

    @property
    def groups(self) -> int:
        _, variants, faults = self.plan.counts
        return variants * faults

    @property
    def kept_first(self) -> int | None:
        return self.section.keep if isinstance(self.section.keep, int) else None

    @cached_property
    def bytes_of_run(self) -> int:
        work = self.first
        if isinstance(work, FileWork):
            return 1 << 16
        program = work.program
        width = len(program.x0) + len(program.xd0) if work.every is not None else 0
        rows = 0 if work.every is None else int(program.run.T / work.every) + 2
        return 8 * (len(program.p) + rows * width)

    @cached_property
    def first(self) -> AnyWork:
        """The work of the first run that can start. Raises InputError if none of the first runs
        can.
        """
        for run in range(min(MOST_TRIED, self.total)):
            works, reasons = self.works(np.array([run]))
            if works:
                return works[0]
        first = next(iter(reasons.values()))
        raise InputError(f"none of the first {MOST_TRIED} runs can begin; the last: {first}")

    # --- runs -----------------------------------------------------------------------------

    def works(self, runs: Ints) -> tuple[Sequence[AnyWork], Mapping[int, str]]:
        """The works for these runs, and for each run that cannot start the reason."""
        works, failed = self._assigner.place(runs)
        return [self.measured(work) for work in works], failed

    def measured(self, work: AnyWork) -> AnyWork:
        """A work with the gauges, events and histories that its runs must record."""
        every = self.interval(work) if self._keeps(work.runs) else None
        found = self._measured(work)
        gauges = tuple(dict.fromkeys((*found.metrics.gauges, *found.verdicts.gauges)))
        blocks = found.metrics.blocks
        if isinstance(work, FileWork):
            return replace(work, gauges=gauges, blocks=blocks, every=every)
        program = found.metrics.program
        return replace(work, program=program, gauges=gauges, blocks=blocks, every=every)

    def _measured(self, work: AnyWork) -> _Measured:
        """The metrics and verdicts for the program of a work."""
        if isinstance(work, Work):
            return self._measured_of(work.program)
        key = work.file.variants  # its blocks cannot be traced: a program holds their signals
        if key not in self._signals:
            self._signals[key] = signals_of(work)
        return self._measured_of(self._signals[key])

    def _keeps(self, runs: Ints) -> bool:
        keep = self.section.keep
        if isinstance(keep, int):
            return bool(len(runs)) and int(runs[0]) < keep
        return bool(keep != "none")

    def interval(self, work: AnyWork) -> float:
        """The interval [s] of stored histories."""
        if self.section.every is not None:
            return float(self.section.every)
        run = work.program.run if isinstance(work, Work) else work.file.load().run
        return float(run.every or run.T / DEFAULT_SAMPLES)

    def _measured_of(self, program: Program) -> _Measured:
        """The metrics and verdicts of a program, given with or without their added signals."""
        found = self._known.get(id(program))
        if found is None:
            metrics = Metrics.of(
                {**self.section.metrics, **self.functions}, program, self.examples, self._places
            )
            claims = self.expected.section if self.expected else None
            places = self.expected.places if self.expected else {}
            found = _Measured(program, metrics, Verdicts(claims, metrics.program, places))
            while len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[id(program)] = self._known[id(metrics.program)] = found
        return found

    @cached_property
    def examples(self) -> dict[str, Any]:
        """The values of the first run, by path."""
        return self.plan.case(0)

    @property
    def _places(self) -> dict[str, Any]:
        places = {
            name: self.source.place("sweep", "metrics", name) for name in self.section.metrics
        }
        return {name: place for name, place in places.items() if place is not None}

    @property
    def claimed(self) -> bool:
        """Whether the diagram makes claims about each run."""
        return self.expected is not None and any(True for _ in self.expected.section.claims())

    # --- what came of them ------------------------------------------------------------------

    def evaluated(self, work: AnyWork, done: Done) -> tuple[Mapping[str, Array], Histories | None]:
        values = self.plan.columns(done.runs)
        passed = np.full(len(done.runs), UNKNOWN, dtype=np.int8)
        missed: Array = np.full(len(done.runs), "", dtype=object)
        found = self._measured(work)
        metrics = found.metrics.columns(done, values)
        self._check_names(found.metrics)
        if self.claimed:
            passed = found.verdicts.passed(done).astype(np.int8)
            missed = found.verdicts.missed(done)
        columns = self._columns(self._told(work, done), passed, metrics, missed)
        which = self._kept_of(done, passed)
        histories = histories_of(work, done, which) if len(which) else None
        return columns, histories

    def not_begun(self, reasons: Mapping[int, str]) -> Mapping[str, Array]:
        """The table columns of runs that cannot start; the reasons are their messages."""
        done = Done.unstarted(np.array(sorted(reasons), dtype=np.int64), reasons)
        done = replace(done, underived=dict.fromkeys(reasons, RUN_FAILED))
        n = len(done.runs)
        metrics = dict.fromkeys(metric_names(self.schema), np.full(n, np.nan))
        passed = np.full(n, FALSE if self.claimed else UNKNOWN, dtype=np.int8)
        return self._columns(done, passed, metrics, np.full(n, "", dtype=object))

    def _columns(
        self, done: Done, passed: Array, metrics: Mapping[str, Array], missed: Array
    ) -> Mapping[str, Array]:
        numbers, values = self.plan.numbers(done.runs), self.plan.columns(done.runs)
        return columns_of(
            self.schema, numbers, element_columns(values), done, passed, metrics, missed
        )

    def reasons(self, work: AnyWork, done: Done) -> list[str]:
        """Why the first of some runs did not pass: a line for each claim; an empty list if it
        passed.
        """
        return self._measured(work).verdicts.reasons(done, 0)

    def _kept_of(self, done: Done, passed: Array) -> NDArray[np.intp]:
        """The indices of the runs whose histories are stored."""
        if self.section.keep == "failed":
            return np.flatnonzero(~succeeded(done.status, passed))
        return np.arange(len(done.runs))

    def _told(self, work: AnyWork, done: Done) -> Done:
        """Outcomes with the reasons for derivatives that no run of the work has."""
        if not self._derives:
            return done
        asked = work.derivatives if isinstance(work, Work) else None
        why = UNTRACED if asked is None else asked.refusal
        if not why:
            return done
        told = {int(run): [why, done.underived.get(int(run), "")] for run in done.runs}
        return replace(done, underived={n: "; ".join(filter(None, t)) for n, t in told.items()})

    def _check_names(self, metrics: Metrics) -> None:
        if metric_names(self.schema) != metrics.names:
            hint = "take elements that all structures have, such as plant.qm[0]"
            text = "a metric has different numbers of elements in different structures"
            raise InputError(Fault(text, hint=hint))

    @cached_property
    def schema(self) -> tuple[Column, ...]:
        """The columns of the table."""
        work = self.first
        metrics = self._measured(work).metrics
        values = element_columns(self.plan.columns(np.zeros(1, dtype=np.int64)))
        varied = [
            Column(name, "float" if array.dtype.kind in "iufb" else "text")
            for name, array in values.items()
        ]
        names = self.plan.variant_names, self.plan.fault_names
        derived = self.derivatives.labels(metrics.widths) if self._derives else ()
        return schema_of(varied, metrics.names, *names, claimed=self.claimed, derivatives=derived)


def element_columns(values: Mapping[str, Array]) -> dict[str, Array]:
    """The values of paths (n, ...) as columns (n,), one for each element of a vector."""
    found: dict[str, Array] = {}
    for path, array in values.items():
        if array.dtype.kind not in "iufb":
            found[path] = np.array([_text(value) for value in array], dtype=object)
            continue
        flat = array.reshape(len(array), -1)
        names = element_names(path, array.shape[1:])
        found |= dict(zip(names, flat.T.astype(float), strict=True))
    return found


def _text(value: Any) -> str:
    if hasattr(value, "tolist"):
        value = value.tolist()
    return value if isinstance(value, str) else json.dumps(value, default=str)


def with_options(diagram: Any, options: Mapping[str, Any]) -> Any:
    """A diagram with some run options replaced. Raises InputError."""
    if not options:
        return diagram
    options_with(RunOptions(), options)
    if isinstance(diagram, str | Path):
        diagram = DiagramFile(Path(diagram))
    if isinstance(diagram, DiagramFile):
        texts = tuple(f"run.{name}={json.dumps(value)}" for name, value in options.items())
        return replace(diagram, overrides=(*diagram.overrides, *texts))
    if isinstance(diagram, Program):
        return replace(diagram, run=options_with(diagram.run, options))
    ready = as_diagram(diagram)
    return ready.with_sections(run=options_with(ready.run, options))


def expectations(source: FileSource | MemorySource) -> Expectations | None:
    """The claims of a diagram; None if it has none."""
    if isinstance(source, FileSource):
        return source.expectations()
    section = getattr(source.given, "expect", None)
    return None if section is None else Expectations(source.given.name, section, None, {})
