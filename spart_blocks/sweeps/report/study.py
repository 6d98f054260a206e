"""The data of a sweep as statistics, pictures, reports and comparisons use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, counted, did_you_mean
from spart_blocks.base.paths import element_names, named, select
from spart_blocks.measures.work import STATUSES
from spart_blocks.results.signal_names import STATES
from spart_blocks.sweeps.plan.plan import NO_FAULT
from spart_blocks.sweeps.report.picture_data import Quantity, Traces, outcomes
from spart_blocks.sweeps.statistics import (
    Comparison,
    SobolIndices,
    Summary,
    compare_faults,
    compare_variants,
    sobol_indices,
    summarize,
)
from spart_blocks.sweeps.statistics.grouping import coded
from spart_blocks.sweeps.storage.columns import UNKNOWN
from spart_blocks.sweeps.storage.histories import Histories
from spart_blocks.sweeps.sweep_data import SweepData

FACTORS = ("variant", "fault")
"""The columns whose values are compared with one another."""
MOST_COLUMNS = 4
"""Faults that are shown side by side, at most."""


class Study(SweepData):
    """The finished runs of a sweep, with their statistics and what pictures show of them."""

    # --- statistics ----------------------------------------------------------------------

    @property
    def _drawn(self) -> dict[str, Any]:
        return {"together": self.together, "design": self.design}

    def statistics(self, **options: Any) -> Summary:
        """How runs ended, the success probability, the metrics and their derivatives, of each
        variant and fault, with intervals: prints as tables. options: by (columns whose values make
        groups), confidence, shares (of quantiles)."""
        known = {**self._drawn, "left_out": self.left_out}
        shown = (*self.metrics, *self.derivative_columns)
        return summarize(self.columns, shown, **{**known, **options})

    def compare_variants(self, metrics: Sequence[str] | None = None, **options: Any) -> Comparison:
        """The differences of all pairs of variants, draw by draw, in metrics and success: prints as
        a table. metrics: by default all. options: confidence, variants."""
        chosen = self.metrics if metrics is None else metrics
        return compare_variants(self.columns, chosen, **{**self._drawn, **options})

    def compare_faults(self, metrics: Sequence[str] | None = None, **options: Any) -> Comparison:
        """The differences of each fault from none, draw by draw, in metrics and success: prints as
        a table. metrics: by default all. options: confidence, to (another fault than none)."""
        chosen = self.metrics if metrics is None else metrics
        return compare_faults(self.columns, chosen, **{**self._drawn, **options})

    def comparisons(self, metrics: Sequence[str], **options: Any) -> list[Comparison]:
        """The comparisons of variants, and of faults with none, where there are several."""
        found = []
        if len(self.names("variant")) > 1:
            found.append(self.compare_variants(metrics, **options))
        faults = self.names("fault")
        if NO_FAULT in faults and len(faults) > 1:
            found.append(self.compare_faults(metrics, **options))
        return found

    def sobol(self, metric: str, **options: Any) -> SobolIndices:
        """First-order and total Sobol indices of a metric, of its mean over the runs of a draw; for
        a sweep with design: saltelli."""
        if self.design != "saltelli":
            hint = "give design: saltelli (design='saltelli')"
            raise InputError(Fault("Sobol indices need a design made for them", hint=hint))
        values, draws = Quantity(metric, self.columns[metric]).numbers(), self["draw"]
        with np.errstate(invalid="ignore"):
            means = np.bincount(draws, weights=values) / np.bincount(draws)
        return sobol_indices(means, tuple(self.facts.get("factors", ())), **options)

    def all_indices(self) -> dict[str, SobolIndices]:
        """The Sobol indices of each metric of which enough runs have a value."""
        indices = {}
        for metric in self.metrics:
            with suppress(InputError):  # another design, or too few values
                indices[metric] = self.sobol(metric)
        return indices

    @property
    def judged(self) -> bool:
        """Whether runs had claims."""
        return bool((self.columns.kept("passed") != UNKNOWN).any())

    @property
    def independent(self) -> bool:
        """Whether the draws are independent, as intervals of a single sweep take them to be."""
        return self.design == "random"

    @property
    def banded(self) -> bool:
        """Whether the runs of each variant and fault are independent, as a band about their
        distribution takes them to be."""
        return self.independent and int(self["grid"].max(initial=0)) == 0

    # --- quantities and groups of runs -----------------------------------------------------

    @property
    def units(self) -> Mapping[str, str]:
        """Units by column or signal."""
        return dict(self.facts.get("units", {}))

    def quantity(self, name: str, traces: Traces | None = None) -> Quantity:
        """A column with its unit. traces: histories to whose runs it is restricted."""
        return Quantity(name, self._of(traces, self.columns[name]), self.units.get(name, ""))

    def _of(self, traces: Traces | None, values: NDArray[Any]) -> NDArray[Any]:
        return values if traces is None else values[np.searchsorted(self["run"], traces.runs)]

    @property
    def outcomes(self) -> NDArray[np.object_]:
        """The outcome of each run."""
        return outcomes(self["status"], self["passed"])

    def names(self, factor: str) -> list[str]:
        """The variants, or the faults, in the order in which they first occur."""
        codes, known = coded(self.columns, factor)
        first = np.unique(codes, return_index=True)[1]
        return [str(known[codes[place]]) for place in np.sort(first)]

    def labels(self) -> NDArray[np.object_] | None:
        """The variant and fault of each run as a text; None where all are alike."""
        parts = [part for name in FACTORS if (part := self.factor(name)) is not None]
        if not parts:
            return None
        found: NDArray[np.object_] = parts[0] if len(parts) == 1 else parts[0] + ", " + parts[1]
        return found

    def factor(self, name: str) -> NDArray[np.object_] | None:
        """The variant (or fault) of each run as a text; None where all are alike."""
        return self[name] if len(self.names(name)) > 1 else None

    def factors(self, traces: Traces | None = None) -> list[NDArray[np.object_] | None]:
        """The groups of runs that pictures show by colour, and by column: variants and faults; or
        both by colour, where the faults are many. traces: histories to whose runs they are
        restricted."""
        found = [self.labels(), None]
        if len(self.names("fault")) <= MOST_COLUMNS:
            found = [self.factor("variant"), self.factor("fault")]
        return [None if one is None else self._of(traces, one) for one in found]

    # --- histories -------------------------------------------------------------------------

    def all_traces(self) -> dict[str, Traces]:
        """The histories of signals that were kept, by name."""
        kept = self.store.histories()
        names = () if kept is None else kept.values
        return {name: self.traces(name, kept) for name in names if not name.startswith(STATES)}

    def traces(self, signal: str, kept: Histories | None = None) -> Traces:
        """The histories of a signal, or of some of its elements. kept: all that were kept, if they
        are read already."""
        kept = kept or self.kept()
        short = {name.rpartition(".")[0]: name for name in kept.values}
        name, index = named(signal, kept.values, short)
        if name not in kept.values:
            hint = did_you_mean(name, kept.values)
            raise InputError(Fault(f"no histories of {name!r} were kept", hint=hint))
        values = kept.values[name]
        elements: tuple[str, ...] = ()
        if index is not None:
            n, k = values.shape[:2]
            elements = tuple(element_names(name, values.shape[2:], index))
            chosen = select(signal, values.reshape(n * k, *values.shape[2:]), index)
            values = chosen.reshape(n, k, *chosen.shape[1:])
        return Traces(name, kept.times, values, kept.runs, kept.units.get(name, ""), elements)

    # --- texts -----------------------------------------------------------------------------

    def replay_command(self, run: int) -> str:
        """The command that repeats a run alone."""
        folder = quote(str(self.folder)) if self.folder else "DIR"
        return f"spart run --from-sweep {folder} --run {run}"

    def counts_in_words(self) -> str:
        """The number of runs and how they ended, as text."""
        counts = self.counts()
        parts = [f"{counts[one]:,} {one}" for one in STATUSES if one in counts]
        left = 0 if self.complete else self.planned_runs - len(self)
        more = f"; {counted(left, 'run')} of the plan are missing" if left > 0 else ""
        return (
            f"{counted(len(self), 'run')}: {', '.join(parts)}{more}" if parts else f"no runs{more}"
        )
