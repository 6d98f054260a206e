"""The term of runs: metrics of the cases that share one program."""

from __future__ import annotations

import warnings
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from spart_blocks.base.errors import Fault, InputError, Place, RunError, SpartWarning
from spart_blocks.fits.free import Space
from spart_blocks.gradients.gradient import GradientRuns
from spart_blocks.gradients.tangents import Floats
from spart_blocks.gradients.taped_run import explicit
from spart_blocks.measures.metrics import Metrics
from spart_blocks.measures.work import AnyWork, FileWork, Work, joined
from spart_blocks.run.engines.native import Native
from spart_blocks.sweeps.plan.assignments import Placed
from spart_blocks.sweeps.plan.file_source import signals_of, texts_of
from spart_blocks.sweeps.plan.plan import plain_value
from spart_blocks.sweeps.run.executors import Runner
from spart_blocks.tunes.cases import NOMINAL, Case
from spart_blocks.tunes.terms import Row

FREE = "design"
"""The name of the directions of a gradient."""
WITHOUT = "search without derivatives: search: derivative-free (--derivative-free)"


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of cases that share one program.

    formulas: of the metrics, by name. places: where each is written. exact: whether derivatives
    are asked for. A diagram that cannot be traced has one case in each term.
    """

    space: Space
    cases: tuple[Case, ...]
    formulas: Mapping[str, str]
    places: Mapping[str, Place]
    runner: Runner
    exact: bool

    def __post_init__(self) -> None:
        if self.exact:
            _ = self._gradients

    @cached_property
    def metrics(self) -> Metrics:
        """The metrics, compiled. Raises InputError with all faults."""
        if self.exact:
            return self._gradients[0][0].metrics
        first = self.cases[0]
        work = first.placed
        program = signals_of(work) if isinstance(work, FileWork) else first.program
        return Metrics.of(self.formulas, program, first.values, self.places)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The metrics of the first case, then those of the next."""
        return tuple(
            Row(case.number, name, k)
            for case in self.cases
            for name, width in self.metrics.widths.items()
            for k in range(width)
        )

    # --- with derivatives -----------------------------------------------------------------

    @cached_property
    def _gradients(self) -> list[tuple[GradientRuns, list[int]]]:
        """For each case the runs with derivatives, and the entries of the design that they are
        by."""
        found: list[tuple[GradientRuns, list[int]]] = []
        base: GradientRuns | None = None
        for case in self.cases:
            if not isinstance(case.placed, Placed):
                raise InputError(Fault("the diagram cannot be traced", hint=WITHOUT))
            entries, moves = case.placement.directions(len(case.p))
            if base is None:
                engine = Native(case.program)
                base = self._first(engine, entries, moves)
            made = replace(base, engine=base.engine.with_parameters(case.p), changes=moves)
            found.append((made, entries))
        return found

    def _first(self, engine: Native, entries: list[int], moves: Floats) -> GradientRuns:
        try:
            return GradientRuns.along(
                engine, self.formulas, (FREE,), ((len(entries),),), moves, self.places
            )
        except InputError as error:
            if "derivative" not in str(error):
                raise
            faults = (replace(f, hint=f"{f.hint}\n  or {WITHOUT}") for f in error.faults)
            raise InputError(faults) from None

    def values(self, values: Floats, cases: Container[int] | None = None) -> tuple[Floats, Floats]:
        """The metrics of all cases, and their derivatives. cases: as for `Term`; the others are run
        without derivatives, all at once. Raises RunError.
        """
        width = len(self.rows) // len(self.cases)
        numbers = np.zeros((len(self.cases), width))
        slopes = np.zeros((len(self.cases), width, self.space.size))
        if any(cases is not None and case.number not in cases for case in self.cases):
            numbers[:] = self.numbers(values[None])[0].reshape(numbers.shape)
            failed = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
            if len(failed):
                raise in_case(RunError("its run fails"), self.cases[failed[0]])
        for k, case in enumerate(self.cases):
            if cases is None or case.number in cases:
                numbers[k], slopes[k] = self._exact(case, self._gradients[k], values)
        return numbers.ravel(), slopes.reshape(-1, self.space.size)

    def _exact(
        self, case: Case, gradient: tuple[GradientRuns, list[int]], values: Floats
    ) -> tuple[Floats, Floats]:
        """The metrics (w,) of one case, and their derivatives (w, k). Raises RunError."""
        runs, entries = gradient
        refused = case.refusal(values)
        if refused is not None:
            raise in_case(RunError(refused), case)
        try:
            with warnings.catch_warnings():  # trials may be far from what a run should be
                warnings.simplefilter("ignore", SpartWarning)
                found = runs.at(case.placement.parameters(case.p, values))
        except RunError as error:
            raise in_case(error, case) from None
        numbers, slopes = [], []
        for name, width in self.metrics.widths.items():
            numbers.append(np.reshape(found.values[name], width))
            by = np.zeros((width, self.space.size))
            by[:, entries] = found.derivatives[name][FREE].reshape(width, len(entries))
            slopes.append(by)
        return np.concatenate(numbers), np.concatenate(slopes)

    # --- values alone ---------------------------------------------------------------------

    def numbers(self, points: Floats) -> Floats:
        """The metrics of all cases at n points, with a column for each row of the term."""
        n, width = len(points), sum(self.metrics.widths.values())
        found = np.full((n, len(self.cases), width), np.nan)
        if isinstance(self.cases[0].placed, FileWork):
            for k, case in enumerate(self.cases):
                found[:, k] = self._measured(self._of_file(case, points), n, [case] * n)
            return found.reshape(n, -1)
        good = np.array([[case.refusal(z) is None for case in self.cases] for z in points])
        pairs = np.argwhere(good)
        if not len(pairs):
            return found.reshape(n, -1)
        p = np.array([self.cases[c].placement.parameters(self.cases[c].p, points[k])
                      for k, c in pairs])  # fmt: skip
        case = self.cases[0]
        assert isinstance(case.placed, Placed)
        program = self.metrics.program
        if self.exact:
            program = replace(program, run=explicit(program.run))
        work = Work(program, np.arange(len(p)), p, self.metrics.gauges, self.metrics.blocks,
                    file=case.placed.structure.file)  # fmt: skip
        rows = self._measured(work, len(p), [self.cases[c] for _, c in pairs])
        found[pairs[:, 0], pairs[:, 1]] = rows
        return found.reshape(n, -1)

    def _of_file(self, case: Case, points: Floats) -> AnyWork:
        assert isinstance(case.placed, FileWork)
        overrides = tuple(
            texts_of(plain_value(
                {**case.values, **{one.name: one.shaped(z) for one in self.space.free}}
            ))
            for z in points
        )  # fmt: skip
        start = {name: np.tile(x, (len(points), 1)) for name, x in case.placed.start.items()}
        return replace(case.placed, runs=np.arange(len(points)), overrides=overrides, start=start,
                       gauges=self.metrics.gauges, blocks=self.metrics.blocks)  # fmt: skip

    def _measured(self, work: AnyWork, n: int, cases: Sequence[Case]) -> Floats:
        """The metrics (n, w) of the runs of a work. cases: that of each run."""
        parts = list(self.runner(work))
        found = np.full((n, sum(self.metrics.widths.values())), np.nan)
        if not parts:
            return found
        done = joined(parts)
        values = {path: np.array([cases[run].values[path] for run in done.runs])
                  for path in cases[0].values} if not self.exact else {}  # fmt: skip
        columns = self.metrics.columns(done, values)
        found[done.runs] = np.column_stack(list(columns.values()))
        return found


def in_case(error: RunError, case: Case) -> RunError:
    """The error with the name of the case."""
    if case.name == NOMINAL:
        return error
    message = f"{error.message} ({case.name})"
    return type(error)(message, block=error.block, time=error.time, hint=error.hint)
