"""Comparison of two sweeps: of the same draws pair by pair, otherwise of their means."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError
from spart_blocks.results.files import save_table
from spart_blocks.results.plots import presented, write_figures
from spart_blocks.sweeps.report.history_pictures import fan
from spart_blocks.sweeps.report.picture_data import Quantity, Traces
from spart_blocks.sweeps.report.pictures import distribution
from spart_blocks.sweeps.report.study import FACTORS, Study
from spart_blocks.sweeps.statistics import Interval, compare_success, compare_values, mean
from spart_blocks.sweeps.statistics.grouping import about_draws, coded, draws_of
from spart_blocks.sweeps.statistics.intervals import check_confidence, success_of
from spart_blocks.sweeps.statistics.paired import SUCCESS
from spart_blocks.sweeps.statistics.tables import Tables, TextTable

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
class SweepComparison(Tables):
    """Two sweeps side by side.

    names: of the two. unlike: why they are not compared pair by pair; None if they are.
    not_compared: notes on runs and metrics that are left out.
    """

    names: tuple[str, str]
    studies: tuple[Study, Study]
    rows: tuple[MetricComparison, ...]
    unlike: str | None = None
    not_compared: tuple[str, ...] = ()

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

    def tables(self) -> list[TextTable]:
        """A row for each metric and group."""
        rows = []
        for row in self.rows:
            what = f"{row.what} [{row.unit}]" if row.unit else row.what
            p = "" if math.isnan(row.p) else f"{row.p:.2g}"
            pairs = (f"{row.pairs:,}", p) if self.paired else ()
            numbers = (str(row.first), str(row.second), str(row.difference))
            rows.append((what, row.group, *numbers, *pairs))
        pairs = ("pairs", "p") if self.paired else ()
        return [TextTable(("", "runs", *self.names, "difference", *pairs), rows)]

    def notes(self) -> list[str]:
        first, second = self.names
        how = "pair by pair, on the same draws" if self.paired else f"not in pairs: {self.unlike}"
        return [f"difference: {first} minus {second}, {how}", *self.not_compared]

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
        others = second.all_traces()
        for name, one in first.all_traces().items():
            other = others.get(name)
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
    return Traces(one.name, one.times, values, runs, one.unit, one.elements), labels


# --- runs that are compared -----------------------------------------------------------------------
# Runs of two sweeps that are compared, and the differences of their results.
#
# Two sweeps have the same draws if their seed, their design and all values drawn under the same
# name are equal. The effect of a draw on both then cancels.


Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

ALL = "all"
"""The name of the group of all runs."""


@dataclass(frozen=True, eq=False)
class SweepSide:
    """The runs of one sweep that are compared."""

    study: Study
    rows: Rows

    def values(self, what: str) -> Floats:
        """A metric of the runs, or 1 where a run succeeded and 0 where it did not."""
        if what == SUCCESS:
            return self.study.success()[self.rows].astype(float)
        return self.study.quantity(what).numbers()[self.rows]

    def mean(self, what: str, confidence: float) -> Interval:
        """The mean of a metric, or the probability of success (Wilson's interval)."""
        values = self.values(what)
        known = ~np.isnan(values)
        draws = draws_of(self.study.columns, self.rows[known], self.study.together)
        if what == SUCCESS:
            return success_of(values, confidence, draws, method="wilson")
        return mean(values[known], confidence, draws)

    def by_place(self, what: str, points: int) -> tuple[NDArray[np.int64], Floats]:
        """The places of runs, draw * points + grid, and the mean of the runs at each; NaN where
        one of them has no value. points: of the grid; 1 takes the mean over the grid."""
        draw, grid = (self.study.columns[name][self.rows] for name in ("draw", "grid"))
        places, which = np.unique(draw * points + (grid if points > 1 else 0), return_inverse=True)
        means = np.bincount(which, weights=self.values(what)) / np.bincount(which)
        return places.astype(np.int64), means


@dataclass(frozen=True)
class ComparedRuns:
    """Runs of two sweeps that are compared, under a name."""

    name: str
    first: SweepSide
    second: SweepSide


def parts(first: Study, second: Study) -> Iterator[ComparedRuns]:
    """The runs of the same variant and fault in both. Where no name is in both, all runs."""
    levels = [_common(first, second, factor) or [None] for factor in FACTORS]
    for chosen in product(*levels):
        named = [name for name, several in zip(chosen, levels, strict=True) if len(several) > 1]
        sides = [SweepSide(study, _rows(study, chosen)) for study in (first, second)]
        if all(side.rows.size for side in sides):
            yield ComparedRuns(", ".join(map(str, named)) or ALL, *sides)


def unlike(first: Study, second: Study) -> str | None:
    """The reason why two sweeps do not have the same draws; None if they do."""
    for what, usual in (("seed", 0), ("design", "random")):
        own, other = (study.facts.get(what, usual) for study in (first, second))
        if own != other:
            return f"{what} {own} and {other}"
    for name in first.varied_columns:
        drawn = name in second.varied_columns and _drawn(first, name) and _drawn(second, name)
        if drawn and not _same_values(first, second, name):
            return f"{name} has other values in the same draws"
    return None


def grid_points(first: Study, second: Study) -> int:
    """The count of grid points if both have the same grid, and otherwise 1."""
    counts = [int(study.columns["grid"].max()) + 1 for study in (first, second)]
    varied = [{name for name in s.varied_columns if not _drawn(s, name)} for s in (first, second)]
    if counts[0] != counts[1] or varied[0] != varied[1]:
        return 1
    same = all(_same_values(first, second, name) for name in varied[0])
    return counts[0] if same else 1


def in_pairs(
    part: ComparedRuns, what: str, points: int, confidence: float
) -> tuple[Interval, int, float]:
    """The mean difference over pairs, their count, and p of the test that both are alike."""
    places, a = part.first.by_place(what, points)
    others, b = part.second.by_place(what, points)
    both, one, other = np.intersect1d(places, others, assume_unique=True, return_indices=True)
    compare = compare_success if what == SUCCESS else compare_values
    together = max(part.first.study.together, part.second.study.together)
    found = compare(a[one], b[other], both // points // together, confidence)
    return found.difference, found.pairs, found.p


def difference_of(first: Interval, second: Interval) -> Interval:
    """The difference of two independent estimates from their intervals.

    Source: Zou and Donner, Statistics in Medicine 27, 2008; with Wilson's intervals it is
    Newcombe's method (Statistics in Medicine 17, 1998).
    """
    estimate = first.estimate - second.estimate
    below = math.hypot(first.estimate - first.low, second.high - second.estimate)
    above = math.hypot(first.high - first.estimate, second.estimate - second.low)
    return Interval(estimate, estimate - below, estimate + above, first.confidence)


def notes(names: tuple[str, str], first: Study, second: Study) -> Iterator[str]:
    """The runs and metrics of two sweeps that are not compared, as text."""
    for factor in FACTORS:
        known = first.names(factor), second.names(factor)
        common = _common(first, second, factor)
        if not common:
            texts = " and ".join(", ".join(own) for own in known)
            yield f"{factor}: {texts} have no name in common; all runs of each are compared"
            continue
        for name, own in zip(names, known, strict=True):
            alone = [one for one in own if one not in common]
            if alone:
                yield f"{factor} {', '.join(alone)} is only in {name}, and left out"
    if grid_points(first, second) == 1 and max(
        int(study.columns["grid"].max()) for study in (first, second)
    ):
        yield "the grids differ; means over the grid are compared"
    drawn = {study.design: study.together for study in (first, second)}
    for design, together in drawn.items():
        yield from about_draws(design, together)


def _common(first: Study, second: Study, factor: str) -> list[str | None]:
    other = second.names(factor)
    return [name for name in first.names(factor) if name in other]


def _rows(study: Study, chosen: tuple[str | None, ...]) -> Rows:
    found = np.ones(len(study), dtype=bool)
    for factor, name in zip(FACTORS, chosen, strict=True):
        if name is not None:
            codes, known = coded(study.columns, factor)
            found &= codes == [str(one) for one in known].index(name)
    return np.flatnonzero(found)


def _drawn(study: Study, name: str) -> bool:
    """Whether a varied value is the same in all runs of each draw."""
    draw, values = study.columns["draw"], study.columns[name]
    _, first, which = np.unique(draw, return_index=True, return_inverse=True)
    return bool(np.all(values == values[first][which]))


def _same_values(first: Study, second: Study, name: str) -> bool:
    """Whether a varied value, which does not depend on variant and fault, is the same at each draw
    and grid point that both have."""
    points = max(int(study.columns["grid"].max()) for study in (first, second)) + 1
    places, values = [], []
    for study in (first, second):
        place = study.columns["draw"] * points + study.columns["grid"]
        own, rows = np.unique(place, return_index=True)
        places.append(own)
        values.append(study.columns[name][rows])
    a, b = places
    _, one, other = np.intersect1d(a, b, assume_unique=True, return_indices=True)
    return bool(np.all(values[0][one] == values[1][other]))
