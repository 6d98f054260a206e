"""The results of a sweep: its data, statistics, pictures, replays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import InputError, brief, warn
from spart_blocks.base.html import heading
from spart_blocks.sweeps.report.compare_sweeps import SweepComparison, compare_studies
from spart_blocks.sweeps.report.history_pictures import extreme_runs, fan
from spart_blocks.sweeps.report.pictures import distribution, heat_map, tornado
from spart_blocks.sweeps.report.report import write_study
from spart_blocks.sweeps.report.scatter_picture import MOST_COLUMNS, scatter
from spart_blocks.sweeps.report.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spart_blocks.results import Results


class SweepResults(Study):
    """The finished runs of a sweep, ordered by run number.

    columns: the values by name, as in `table`; `results["miss"]` is one column. metrics: names of
    the metrics. complete: whether all runs have ended. stopped: why the sweep ended early; None if
    it did not.
    """

    def replay(self, run: int) -> Results:
        """Repeat one run and return its results. Warns if its metrics differ from the stored ones
        in any bit.
        """
        from spart_blocks.sweeps.replay import replayed

        replay = replayed(self, run)
        if replay.differences:
            warn(replay.message)
        return replay.results

    def _repr_html_(self) -> str:
        found = heading(f"sweep of {self.name}", repr(self)[1:-1])
        return found + str(self.statistics()._repr_html_() if len(self) else "")

    def compare(
        self,
        other: Study,
        names: tuple[str, str] = ("first", "second"),
        **options: Any,
    ) -> SweepComparison:
        """This sweep and another one side by side, draw by draw where their draws are the same:
        prints as a table. options: confidence."""
        if not isinstance(other, type(self)):
            text = f"a sweep is compared with the results of another, not {brief(other)}"
            raise InputError(text)
        return compare_studies(self, other, names, **options)

    def plot_distribution(self, metric: str, **options: Any) -> Figure:
        """Histogram and empirical distribution function of a metric, of each variant and fault."""
        labels, apart = self.factors()
        options = options if self.banded else {"confidence": None, **options}
        return distribution(self.quantity(metric), labels, apart=apart, **options)

    def plot_map(self, metric: str, x: str, y: str) -> Figure:
        """Mean of a metric, or the rate of success for 'passed', over two varied values."""
        return heat_map(*map(self.quantity, (metric, x, y)))

    def plot_tornado(self, metric: str) -> Figure:
        """Sobol indices of a metric as bars."""
        return tornado(metric, self.sobol(metric))

    def plot_scatter(self, *names: str) -> Figure:
        """A panel for each pair of columns, with the runs that failed marked; by default what
        varies and the metrics."""
        chosen: Sequence[str] = names or (*self.varied_columns, *self.metrics)[:MOST_COLUMNS]
        return scatter([self.quantity(name) for name in chosen], self.outcomes)

    def plot_fan(self, signal: str) -> Figure:
        """Median and quantile bands of a signal over time, of each variant and fault."""
        traces = self.traces(signal)
        return fan(traces, *self.factors(traces))

    def plot_extremes(self, signal: str, metric: str, worst: str = "largest") -> Figure:
        """A signal in the runs with the worst, median and best value of a metric."""
        traces = self.traces(signal)
        return extreme_runs(traces, self.quantity(metric, traces), worst)

    def report(self, path: str | Path) -> Path:
        """Write statistics and pictures as one HTML file. Returns its path."""
        return write_study(self, path)
