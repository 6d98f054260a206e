"""Comparison of two sweeps: of the same draws pair by pair, otherwise of their means."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError
from spart_blocks.base.html import lines, table
from spart_blocks.results.files import save_table
from spart_blocks.results.plots import presented, write_figures
from spart_blocks.sweeps.report.history_pictures import fan
from spart_blocks.sweeps.report.picture_data import Quantity, Traces
from spart_blocks.sweeps.report.pictures import distribution
from spart_blocks.sweeps.report.study import Study
from spart_blocks.sweeps.report.sweep_pairs import (
    ComparedRuns,
    difference_of,
    grid_points,
    in_pairs,
    notes,
    parts,
    unlike,
)
from spart_blocks.sweeps.statistics import Interval
from spart_blocks.sweeps.statistics.intervals import check_confidence
from spart_blocks.sweeps.statistics.paired import SUCCESS
from spart_blocks.sweeps.statistics.tables import text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class MetricComparison:
    """One metric, or success, in one group of runs.

    first, second: its mean (or probability) in each sweep. difference: first minus second. pairs:
    pairs compared; 0 where the draws differ. p: of the test that the two are alike, of pairs.
    """

    what: str
    unit: str
    group: str
    first: Interval
    second: Interval
    difference: Interval
    pairs: int
    p: float


@dataclass(frozen=True, eq=False, repr=False)
class SweepComparison:
    """Two sweeps side by side.

    names: of the two. unlike: why they are not compared pair by pair; None if they are.
    """

    names: tuple[str, str]
    studies: tuple[Study, Study]
    rows: tuple[MetricComparison, ...]
    unlike: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def paired(self) -> bool:
        """Whether both have the same draws."""
        return self.unlike is None

    @property
    def diagram_name(self) -> str:
        """The names of the diagrams, once if they are equal."""
        return " and ".join(dict.fromkeys(study.name for study in self.studies))

    @property
    def scopes(self) -> tuple[str, ...]:
        """The metrics that both sweeps have, each of which has a figure."""
        return _common_metrics(*self.studies)

    def __repr__(self) -> str:
        return f"<comparison of sweeps {' and '.join(self.names)} of {self.diagram_name}>"

    def __str__(self) -> str:
        """The table and notes as plain text."""
        return "\n".join([*text_table(self.head, self.text_rows()), "", *self.all_notes()])

    def _repr_html_(self) -> str:
        return table(self.head, self.text_rows()) + lines(self.all_notes())

    @property
    def head(self) -> tuple[str, ...]:
        """The headings of `text_rows`."""
        pairs = ("pairs", "p") if self.paired else ()
        return ("", "runs", *self.names, "difference", *pairs)

    def text_rows(self) -> list[tuple[str, ...]]:
        """A row of texts for each metric and group."""
        rows = []
        for row in self.rows:
            what = f"{row.what} [{row.unit}]" if row.unit else row.what
            p = "" if math.isnan(row.p) else f"{row.p:.2g}"
            pairs = (f"{row.pairs:,}", p) if self.paired else ()
            numbers = (str(row.first), str(row.second), str(row.difference))
            rows.append((what, row.group, *numbers, *pairs))
        return rows

    def all_notes(self) -> list[str]:
        """Notes on how to read the numbers."""
        first, second = self.names
        how = "pair by pair, on the same draws" if self.paired else f"not in pairs: {self.unlike}"
        return [f"difference: {first} minus {second}, {how}", *self.notes]

    def table(self) -> dict[str, NDArray[Any]]:
        """The columns of the table by name, for instance for pandas.DataFrame."""
        texts = ("what", "unit", "group")
        found: dict[str, NDArray[Any]] = {
            name: np.array([getattr(row, name) for row in self.rows], dtype=object)
            for name in texts
        }
        for name in ("first", "second", "difference"):
            intervals = [getattr(row, name) for row in self.rows]
            found[name] = np.array([one.estimate for one in intervals], dtype=float)
            found[f"{name}_low"] = np.array([one.low for one in intervals], dtype=float)
            found[f"{name}_high"] = np.array([one.high for one in intervals], dtype=float)
        found["pairs"] = np.array([row.pairs for row in self.rows], dtype=int)
        found["p"] = np.array([row.p for row in self.rows], dtype=float)
        return found

    def save(self, path: str | Path) -> Path:
        """Write the table to a .csv file, whole or not at all; what is NaN stays empty."""
        return save_table(self.table(), path)

    def plot(self, *, show: bool | None = None) -> list[Figure]:
        """The distribution of each metric in both sweeps, and a fan chart of each signal that both
        have kept. show: as for `Results.plot`."""
        return presented([figure for _, figure in self._figures()], show)

    def save_plots(self, folder: str | Path, fmt: str = "png") -> list[Path]:
        """Write the figures of `plot()` into a folder, made if missing: png, svg or pdf."""
        return write_figures(list(self._figures()), folder, fmt)

    def _figures(self) -> Iterator[tuple[str, Figure]]:
        labels = np.concatenate(
            [_labelled(*one) for one in zip(self.names, self.studies, strict=True)]
        )
        first, second = self.studies
        confidence = 0.95 if first.banded and second.banded else None
        for name in self.scopes:
            values = [study.quantity(name).numbers() for study in self.studies]
            shown = Quantity(name, np.concatenate(values), first.units.get(name, ""))
            if np.isfinite(shown.values).any():
                yield name, distribution(shown, labels, confidence)
        for name, one in first.traces.items():
            other = second.traces.get(name)
            if other is not None and _alike(one, other):
                yield name, fan(*_joined(self.names, one, other))


def compare_studies(
    first: Study,
    second: Study,
    names: tuple[str, str] = ("first", "second"),
    confidence: float = 0.95,
) -> SweepComparison:
    """Compare two sweeps in success and in the metrics that both have.

    Runs of variants and faults of the same name are compared; where no name is in both, all runs.
    """
    check_confidence(confidence)
    for name, study in zip(names, (first, second), strict=True):
        if not len(study):
            raise InputError(f"the sweep {name} has no runs to compare")
    why = unlike(first, second)
    points = grid_points(first, second)
    rows = tuple(
        _row(part, what, first.units.get(what, ""), points if why is None else None, confidence)
        for part in parts(first, second)
        for what in (SUCCESS, *_common_metrics(first, second))
    )
    told = tuple(notes(names, first, second))
    return SweepComparison(names, (first, second), rows, why, told)


def _row(
    part: ComparedRuns, what: str, unit: str, points: int | None, confidence: float
) -> MetricComparison:
    """The comparison of one metric. points: grid points of a pair of draws; None compares means."""
    means = part.first.mean(what, confidence), part.second.mean(what, confidence)
    if points is None:
        return MetricComparison(what, unit, part.name, *means, difference_of(*means), 0, math.nan)
    difference, pairs, p = in_pairs(part, what, points, confidence)
    return MetricComparison(what, unit, part.name, *means, difference, pairs, p)


def _common_metrics(first: Study, second: Study) -> tuple[str, ...]:
    return tuple(name for name in first.metrics if name in second.metrics)


def _labelled(name: str, study: Study) -> NDArray[np.object_]:
    """The name of a sweep, with the group of each run where there are several."""
    labels = study.labels()
    if labels is None:
        return np.full(len(study), name, dtype=object)
    return np.array([f"{name}: {label}" for label in labels], dtype=object)


def _alike(one: Traces, other: Traces) -> bool:
    """Whether two histories have the same signal and elements, so that one chart can show both."""
    same = one.values.shape[2:] == other.values.shape[2:] and one.elements == other.elements
    return same and np.array_equal(one.times, other.times)


def _joined(
    names: tuple[str, str], one: Traces, other: Traces
) -> tuple[Traces, NDArray[np.object_]]:
    """The histories of both sweeps as one, and the name of the sweep of each run."""
    values = np.concatenate([one.values, other.values])
    runs = np.concatenate([one.runs, other.runs])
    labels = np.repeat(np.array(names, dtype=object), [len(one.runs), len(other.runs)])
    return Traces(one.name, one.times, values, runs, one.unit, one.held, one.elements), labels
