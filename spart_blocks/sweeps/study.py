"""Tables of a sweep as texts: how many runs passed, and what their metrics were, by group."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.sweeps.shown import Quantity, Traces, counted, outcomes
from spart_blocks.sweeps.work import FAILED, STATUSES

if TYPE_CHECKING:
    from spart_blocks.sweeps.statistics import Interval, SobolIndices

QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Table:
    """A table of texts. words: the number of first columns that are not numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1


@dataclass(frozen=True, eq=False)
class Study:
    """What pictures, tables and reports need of a sweep.

    name: of the diagram. columns: a value of each run by name, as `SweepResults` has them: run,
    draw, variant, fault, status, message, passed, varied values, metrics. varied, metrics: names
    of columns. units: by column or signal. grid: varied values that lie on a grid. seed, design:
    of the draws. plan: what was run, in words, by subject. planned: how many runs there are to be.
    traces: histories by signal. indices: Sobol indices by metric. versions: of the packages.
    folder: where the results are.
    """

    name: str
    columns: Mapping[str, NDArray[Any]]
    varied: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    grid: tuple[str, ...] = ()
    seed: int = 0
    design: str = "random"
    plan: tuple[tuple[str, str], ...] = ()
    planned: int | None = None
    traces: Mapping[str, Traces] = field(default_factory=dict)
    indices: Mapping[str, SobolIndices] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    folder: str | None = None
    confidence: float = 0.95

    def __len__(self) -> int:
        return len(self.columns["run"])

    def quantity(self, name: str) -> Quantity:
        """A column with its unit."""
        return Quantity(name, self.columns[name], self.units.get(name, ""))

    @property
    def judged(self) -> bool:
        """Whether claims were made of the runs."""
        return any(passed is not None for passed in self.columns["passed"])

    @property
    def independent(self) -> bool:
        """Whether the draws are independent, as intervals of a single sweep take them to be."""
        return self.design == "random"

    @property
    def outcomes(self) -> NDArray[np.object_]:
        """The outcome of each run."""
        return outcomes(self.columns["status"], self.columns["passed"])

    def verdicts(self) -> NDArray[np.bool_]:
        """Whether each run passed. A run that failed did not; without claims all others did."""
        done = np.array([str(status) != FAILED for status in self.columns["status"]], dtype=bool)
        told = np.array([passed is not False for passed in self.columns["passed"]], dtype=bool)
        good: NDArray[np.bool_] = done & told
        return good

    def groups(self) -> Iterator[tuple[tuple[str, ...], NDArray[np.intp]]]:
        """The rows of each combination of variant and fault that occurs, in their order."""
        factors = [np.array([str(x) for x in self.columns[name]], dtype=object) for name in FACTORS]
        names = [tuple(dict.fromkeys(factor.tolist())) for factor in factors]
        for combination in product(*names):
            same = [f == name for f, name in zip(factors, combination, strict=True)]
            rows = np.flatnonzero(np.logical_and.reduce(same))
            if rows.size:
                yield combination, rows

    def labels(self) -> NDArray[np.object_] | None:
        """The group of each run as a text; None where all are one group."""
        groups = list(self.groups())
        if len(groups) < 2:
            return None
        varying = [k for k in range(len(FACTORS)) if len({name[k] for name, _ in groups}) > 1]
        found = np.empty(len(self), dtype=object)
        for combination, rows in groups:
            found[rows] = ", ".join(combination[k] for k in varying)
        return found


FACTORS = ("variant", "fault")
"""Columns whose combinations are compared with one another."""


def success_table(study: Study) -> Table:
    """Of each variant and fault, how its runs ended and the probability of success."""
    from spart_blocks.sweeps.statistics import success_of

    passed, draws = study.verdicts(), study.columns["draw"]
    status = np.array([str(one) for one in study.columns["status"]], dtype=object)
    rows = []
    for names, own in _with_total(study):
        good = passed[own]
        exact = success_of(good, study.confidence, draws[own])
        wilson = success_of(good, study.confidence, draws[own], method="wilson")
        counts = [f"{np.count_nonzero(status[own] == one):,}" for one in STATUSES]
        rate = [f"{np.count_nonzero(good):,}", percent(exact.estimate)]
        ends = [f"{percent(one.low)} to {percent(one.high)}" for one in (exact, wilson)]
        rows.append((*names, f"{len(own):,}", *counts, *rate, *ends))
    what = "passed" if study.judged else "not failed"
    columns = (*FACTORS, "runs", *STATUSES, what, "rate", "Clopper-Pearson", "Wilson")
    return Table(columns, tuple(rows), len(FACTORS))


def metrics_table(study: Study, metric: str) -> Table:
    """Mean and quantiles of a metric, of each variant and fault."""
    from spart_blocks.sweeps.statistics import mean, quantiles

    numbers, draws = study.quantity(metric).numbers(), study.columns["draw"]
    rows = []
    for names, own in _with_total(study):
        known = own[~np.isnan(numbers[own])]
        values = numbers[known]
        middle = mean(values, study.confidence, draws[known])
        spread = f"{np.std(values, ddof=1):.4g}" if len(values) > 1 else "-"
        inner = [
            ranged(one) for one in quantiles(values, QUANTILES, study.confidence, draws[known])
        ]
        ends = [f"{end:.4g}" for end in (values.min(), values.max())] if len(values) else ["-", "-"]
        rows.append((*names, f"{len(known):,}", ranged(middle), spread, ends[0], *inner, ends[1]))
    heads = (f"{100 * level:g} %" if level != 0.5 else "median" for level in QUANTILES)
    columns = (*FACTORS, "values", "mean", "std. dev.", "least", *heads, "greatest")
    return Table(columns, tuple(rows), len(FACTORS))


def _with_total(study: Study) -> Iterator[tuple[tuple[str, ...], NDArray[np.intp]]]:
    """The groups, and where there are several all runs."""
    groups = list(study.groups())
    yield from groups
    if len(groups) > 1:
        yield ("all", *[""] * (len(FACTORS) - 1)), np.arange(len(study))


def ranged(interval: Interval) -> str:
    """An estimate with its interval, where it has one."""
    if math.isnan(interval.estimate):
        return "-"
    text = f"{interval.estimate:.4g}"
    if math.isfinite(interval.low) and math.isfinite(interval.high):
        return f"{text} ({interval.low:.3g} to {interval.high:.3g})"
    return text


def percent(share: float) -> str:
    """A share in per cent, with so many digits that what is not 0 or 100 does not look so."""
    if math.isnan(share):
        return "-"
    for digits in (1, 2, 3, 4):
        text = f"{100 * share:.{digits}f}"
        if share in (0.0, 1.0) or float(text) not in (0.0, 100.0):
            return f"{text} %"
    return f"{100 * share:.3g} %"


def replay_command(study: Study, run: int) -> str:
    """The command that repeats a run alone."""
    from shlex import quote

    folder = quote(study.folder) if study.folder else "DIR"
    return f"spart run --from-sweep {folder} --run {run}"


def counts_in_words(study: Study) -> str:
    """How many runs there are and how they ended."""
    status = [str(one) for one in study.columns["status"]]
    ends = {one: status.count(one) for one in STATUSES}
    parts = [f"{count:,} {one}" for one, count in ends.items() if count]
    left = (study.planned or len(study)) - len(study)
    more = f"; {counted(left)} of the plan are missing" if left > 0 else ""
    return f"{counted(len(study))}: {', '.join(parts)}{more}" if parts else f"no runs{more}"
