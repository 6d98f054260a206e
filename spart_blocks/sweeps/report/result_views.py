"""Views of the results of a sweep: statistics, pictures, the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.base.paths import element_names, named, select
from spart_blocks.sweeps.report.compare_sweeps import compare_studies
from spart_blocks.sweeps.report.history_pictures import extreme_runs, fan
from spart_blocks.sweeps.report.picture_data import Quantity, Traces
from spart_blocks.sweeps.report.pictures import distribution, heat_map, tornado
from spart_blocks.sweeps.report.report import write_study
from spart_blocks.sweeps.report.scatter_picture import MOST_COLUMNS, scatter
from spart_blocks.sweeps.report.study import Study
from spart_blocks.sweeps.statistics import compare_variants, sobol_indices, summarize

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spart_blocks.sweeps.report.compare_sweeps import SweepComparison
    from spart_blocks.sweeps.results import SweepResults
    from spart_blocks.sweeps.statistics import SobolIndices


def study_of(found: SweepResults, traces: bool = True) -> Study:
    """The data of a sweep that pictures, tables and reports use. traces: whether to read the
    histories and compute the Sobol indices too."""
    facts = found.facts
    return Study(
        name=found.name,
        columns=found.columns,
        varied=found.varied_columns,
        metrics=found.metrics,
        units=dict(facts.get("units", {})),
        grid=tuple(facts.get("grid", ())),
        seed=int(facts.get("seed", 0)),
        design=found.design,
        together=found.together,
        left_out=found.left_out,
        plan=tuple((str(what), str(text)) for what, text in facts.get("told", ())),
        planned=None if found.complete else found.planned_runs,
        traces=all_traces(found) if traces else {},
        indices=all_indices(found) if traces else {},
        versions=dict(facts.get("versions", {})),
        folder=None if found.folder is None else str(found.folder),
    )


def all_traces(found: SweepResults) -> dict[str, Traces]:
    """The histories of signals that were kept, by name."""
    kept = found.store.histories()
    if kept is None:
        return {}
    return {
        name: Traces(name, kept.times, values, kept.runs, kept.units.get(name, ""))
        for name, values in kept.values.items()
        if not name.startswith("states.")
    }


def traces_of(found: SweepResults, signal: str) -> Traces:
    """The histories of a signal, or of some of its elements."""
    kept = found.kept()
    short = {name.rpartition(".")[0]: name for name in kept.values}
    name, index = named(signal, kept.values, short)
    if name not in kept.values:
        hint = did_you_mean(name, kept.values)
        raise InputError(Fault(f"no histories of {name!r} were kept", hint=hint))
    values, unit = kept.values[name], kept.units.get(name, "")
    if index is None:
        return Traces(name, kept.times, values, kept.runs, unit)
    n, k = values.shape[:2]
    chosen = select(signal, values.reshape(n * k, *values.shape[2:]), index)
    elements = tuple(element_names(name, values.shape[2:], index))
    shaped = chosen.reshape(n, k, *chosen.shape[1:])
    return Traces(name, kept.times, shaped, kept.runs, unit, elements=elements)


def all_indices(found: SweepResults) -> dict[str, SobolIndices]:
    """The Sobol indices of each metric, if the design allows them."""
    if found.design != "saltelli" or not len(found):
        return {}
    indices = {}
    for metric in found.metrics:
        try:
            indices[metric] = indices_of(found, metric)
        except InputError:
            continue  # too few runs have a value
    return indices


def indices_of(found: SweepResults, metric: str, **options: Any) -> SobolIndices:
    """The Sobol indices of a metric, of the mean over the runs of a draw."""
    import numpy as np

    if found.design != "saltelli":
        hint = "give design: saltelli (design='saltelli')"
        raise InputError(Fault("Sobol indices need a design made for them", hint=hint))
    values = Quantity(metric, found.columns[metric]).numbers()
    draws = found["draw"]
    count = np.bincount(draws)
    with np.errstate(invalid="ignore"):
        means = np.bincount(draws, weights=values) / count
    return sobol_indices(means, tuple(found.facts.get("factors", ())), **options)


class ResultViews:
    """The methods of `SweepResults` that compute statistics and draw pictures."""

    def statistics(self: SweepResults, **options: Any) -> Any:  # type: ignore[misc]
        """How runs ended, the success probability and the metrics, of each variant and fault, with
        intervals: prints as tables. options: by (columns whose values make groups), confidence,
        shares (of quantiles)."""
        known = {"together": self.together, "design": self.design, "left_out": self.left_out}
        return summarize(self.columns, self.metrics, **{**known, **options})

    def compare_variants(self: SweepResults, **options: Any) -> Any:  # type: ignore[misc]
        """The differences of all pairs of variants, draw by draw, in metrics and success: prints as
        a table. options: confidence, variants."""
        drawn = {"together": self.together, "design": self.design}
        return compare_variants(self.columns, self.metrics, **{**drawn, **options})

    def compare(  # type: ignore[misc]
        self: SweepResults,
        other: SweepResults,
        names: tuple[str, str] = ("first", "second"),
        **options: Any,
    ) -> SweepComparison:
        """This sweep and another one side by side, draw by draw where their draws are the same:
        prints as a table. options: confidence."""
        if not isinstance(other, type(self)):
            text = f"a sweep is compared with the results of another, not {brief(other)}"
            raise InputError(text)
        return compare_studies(study_of(self), study_of(other), names, **options)

    def sobol(self: SweepResults, metric: str, **options: Any) -> SobolIndices:  # type: ignore[misc]
        """First-order and total Sobol indices of a metric; for a sweep with design: saltelli."""
        return indices_of(self, metric, **options)

    def plot_distribution(self: SweepResults, metric: str, **options: Any) -> Figure:  # type: ignore[misc]
        """Histogram and empirical distribution function of a metric, of each variant and fault."""
        study = study_of(self, traces=False)
        labels, apart = study.factors()
        options = options if study.banded else {"confidence": None, **options}
        return distribution(study.quantity(metric), labels, apart=apart, **options)

    def plot_map(self: SweepResults, metric: str, x: str, y: str) -> Figure:  # type: ignore[misc]
        """Mean of a metric, or the rate of success for 'passed', over two varied values."""
        return heat_map(*map(study_of(self, traces=False).quantity, (metric, x, y)))

    def plot_tornado(self: SweepResults, metric: str) -> Figure:  # type: ignore[misc]
        """Sobol indices of a metric as bars."""
        return tornado(metric, indices_of(self, metric))

    def plot_scatter(self: SweepResults, *names: str) -> Figure:  # type: ignore[misc]
        """A panel for each pair of columns, with the runs that failed marked; by default what
        varies and the metrics."""
        chosen: Sequence[str] = names or (*self.varied_columns, *self.metrics)[:MOST_COLUMNS]
        study = study_of(self, traces=False)
        return scatter([study.quantity(name) for name in chosen], study.outcomes)

    def plot_fan(self: SweepResults, signal: str) -> Figure:  # type: ignore[misc]
        """Median and quantile bands of a signal over time, of each variant and fault."""
        traces = traces_of(self, signal)
        return fan(traces, *study_of(self, traces=False).factors(traces))

    def plot_extremes(  # type: ignore[misc]
        self: SweepResults, signal: str, metric: str, worst: str = "largest"
    ) -> Figure:
        """A signal in the runs with the worst, median and best value of a metric."""
        traces = traces_of(self, signal)
        study = study_of(self, traces=False)
        return extreme_runs(traces, study.quantity(metric, traces), worst)

    def report(self: SweepResults, path: str | Path) -> Path:  # type: ignore[misc]
        """Write statistics and pictures as one HTML file. Returns its path."""
        return write_study(study_of(self), path)
