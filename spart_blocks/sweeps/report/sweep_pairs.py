"""Runs of two sweeps that are compared, and the differences of their results.

Two sweeps have the same draws if their seed, their design and all values drawn under the same name
are equal. The effect of a draw on both then cancels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from spart_blocks.sweeps.report.study import FACTORS, Study
from spart_blocks.sweeps.statistics import Interval, compare_success, compare_values, mean
from spart_blocks.sweeps.statistics.grouping import about_draws, coded, draws_of
from spart_blocks.sweeps.statistics.intervals import success_of
from spart_blocks.sweeps.statistics.paired import SUCCESS

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
            return self.study.verdicts()[self.rows].astype(float)
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
    for what in ("seed", "design"):
        if getattr(first, what) != getattr(second, what):
            return f"{what} {getattr(first, what)} and {getattr(second, what)}"
    for name in first.varied:
        drawn = name in second.varied and _drawn(first, name) and _drawn(second, name)
        if drawn and not _same_values(first, second, name):
            return f"{name} has other values in the same draws"
    return None


def grid_points(first: Study, second: Study) -> int:
    """The count of grid points if both have the same grid, and otherwise 1."""
    counts = [int(study.columns["grid"].max()) + 1 for study in (first, second)]
    varied = [{name for name in s.varied if not _drawn(s, name)} for s in (first, second)]
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
