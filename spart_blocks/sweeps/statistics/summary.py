"""A summary of a sweep: how runs ended, how often they succeeded, and the spread of each metric."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.measures.work import STATUSES
from spart_blocks.sweeps.statistics.grouping import (
    Table,
    about_draws,
    coded,
    draws_of,
    groups_by,
    numbers,
    succeeded,
    verdicts,
)
from spart_blocks.sweeps.statistics.intervals import (
    Interval,
    check_confidence,
    mean,
    quantiles,
    success_of,
)
from spart_blocks.sweeps.statistics.tables import Tables, TextTable, percent
from spart_blocks.sweeps.storage.columns import SEPARATOR

SHARES = (0.05, 0.5, 0.95)
"""The quantiles that are shown."""
MOST_GROUPS = 1000
"""Groups that are summarized one by one, at most."""


@dataclass(frozen=True)
class MetricSummary:
    """One metric in one group of runs. runs: number of runs with a value; missing: without.
    quantiles: of `Summary.shares`. least_run, most_run: the first runs with the extremes, None
    without values."""

    name: str
    runs: int
    missing: int
    mean: Interval
    sd: float
    least: float
    most: float
    quantiles: tuple[Interval, ...]
    least_run: int | None = None
    most_run: int | None = None


@dataclass(frozen=True)
class GroupSummary:
    """Runs with the same values in some columns, such as variant and fault.

    status: numbers of runs by how they ended. success: of the success probability, by Clopper and
    Pearson; wilson: its interval by Wilson. draws: independent ones. missed: by claim, the number
    of runs that do not fulfil it.
    """

    group: Mapping[str, Any]
    runs: int
    draws: int
    status: Mapping[str, int]
    successes: int
    success: Interval
    wilson: Interval
    metrics: tuple[MetricSummary, ...]
    missed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary(Tables):
    """The summary of a sweep. by: the columns that make groups. judged: whether runs had claims; if
    not, a success is a run that no error ended. design: of the draws. together: number of
    consecutive draws that count as one. left_out: claims that no single run decides."""

    runs: int
    status: Mapping[str, int]
    by: tuple[str, ...]
    judged: bool
    confidence: float
    shares: tuple[float, ...]
    groups: tuple[GroupSummary, ...]
    design: str = "random"
    together: int = 1
    left_out: tuple[str, ...] = ()

    @property
    def above(self) -> str:  # type: ignore[override]
        ended = ", ".join(f"{count:,} {status}" for status, count in self.status.items())
        return f"{self.runs:,} runs: {ended}" if ended else "no runs"

    def outcome_table(self) -> TextTable:
        """How the runs of each group ended, and their success."""
        success = ("success", "probability", "Wilson's interval")
        rows = [
            (
                *self._named(g),
                f"{g.runs:,}",
                *(f"{g.status.get(status, 0):,}" for status in self.status),
                f"{g.successes:,}",
                str(g.success),
                _ends(g.wilson),
            )
            for g in self.groups
        ]
        return TextTable((*self.columns, "runs", *self.status, *success), rows)

    def metric_table(self) -> TextTable:
        """The spread of each metric in each group."""
        shown = (f"{100 * share:g} % quantile" for share in self.shares)
        rows = [
            (
                m.name,
                *self._named(g),
                f"{m.runs:,}",
                str(m.mean),
                _text(m.sd),
                _in_run(m.least, m.least_run),
                *(str(interval) for interval in m.quantiles),
                _in_run(m.most, m.most_run),
            )
            for k in range(len(self.groups[0].metrics) if self.groups else 0)
            for g in self.groups
            for m in (g.metrics[k],)
        ]
        return TextTable(
            ("metric", *self.columns, "runs", "mean", "sd", "least", *shown, "most"), rows
        )

    def claim_table(self) -> TextTable:
        """The claims that some runs of a group do not fulfil."""
        claims = dict.fromkeys(claim for g in self.groups for claim in g.missed)
        rows = [
            (claim, *self._named(g), f"{count:,}", percent(count / g.runs))
            for claim in claims
            for g in self.groups
            if (count := g.missed.get(claim, 0))
        ]
        return TextTable(("claim not met", *self.columns, "runs", "share"), rows)

    def tables(self) -> list[TextTable]:
        found = (self.outcome_table(), self.claim_table(), self.metric_table())
        return [one for one in found if one.rows]

    def notes(self) -> list[str]:
        if not self.groups:
            return []
        meant = "met its claims" if self.judged else "was not ended by an error"
        found = [f"success: the run {meant}; intervals: {percent(self.confidence)}"]
        if self.left_out:
            found.append(f"not of single runs, and left out of expect: {', '.join(self.left_out)}")
        missing = sum(m.missing for g in self.groups for m in g.metrics[:1])
        if missing:
            found.append(f"metrics leave out runs without a value, {missing:,} of the first metric")
        if any(g.draws == 1 and g.runs > 1 for g in self.groups):
            found.append("one draw: its runs are no random sample, so there are no intervals")
        elif self.together == 1 and any(g.draws < g.runs for g in self.groups):
            found.append("runs of one draw count together in intervals")
        return found + about_draws(self.design, self.together)

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain dictionaries and lists, for JSON; NaN and infinity are None."""
        plain = _plain(self)
        assert isinstance(plain, dict)
        return plain

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values differ among groups."""
        return tuple(name for name in self.by if len({str(g.group[name]) for g in self.groups}) > 1)

    def _named(self, group: GroupSummary) -> Iterator[str]:
        return (_text(group.group[name]) for name in self.columns)


def summarize(
    table: Table,
    metrics: Sequence[str],
    *,
    by: Sequence[str] = ("variant", "fault"),
    confidence: float = 0.95,
    shares: Sequence[float] = SHARES,
    together: int = 1,
    design: str = "random",
    left_out: Sequence[str] = (),
) -> Summary:
    """Summarize a sweep. table: its columns by name. by: columns whose values make groups.
    together: number of consecutive draws that depend on each other: d + 2 in a saltelli design for
    d quantities. design, left_out: of the draws and of the claims, for the notes."""
    check_confidence(confidence)
    status, names = coded(table, "status")
    none: tuple[NDArray[np.int64], list[str]] = (np.zeros_like(status), [""])
    missed, claims = coded(table, "missed") if "missed" in table else none
    good = succeeded(table).astype(float)
    judged = bool((verdicts(table) >= 0).any())
    columns = {name: numbers(table, name) for name in metrics}
    groups = groups_by(table, by)
    if len(groups) > MOST_GROUPS:
        text = f"{len(groups):,} groups of runs by {', '.join(by)}; at most {MOST_GROUPS:,}"
        raise InputError(Fault(text, hint="group by columns of few values"))
    runs = np.asarray(table["run"])
    found = []
    for group, rows in groups:
        draws = draws_of(table, rows, together)
        found.append(
            GroupSummary(
                group,
                len(rows),
                len(rows) if draws is None else len(np.unique(draws)),
                _counted(status[rows], names),
                int(good[rows].sum()),
                success_of(good[rows], confidence, draws),
                success_of(good[rows], confidence, draws, method="wilson"),
                tuple(
                    _metric(name, values[rows], runs[rows], draws, confidence, shares)
                    for name, values in columns.items()
                ),
                _missed(missed[rows], claims),
            )
        )
    return Summary(
        len(status),
        _counted(status, names),
        tuple(by),
        judged,
        confidence,
        tuple(shares),
        tuple(found),
        design,
        together,
        tuple(left_out),
    )


def _missed(codes: NDArray[np.int64], texts: Sequence[str]) -> dict[str, int]:
    """For each claim the number of runs that do not fulfil it, if there are any. codes: the
    positions of the runs' entries of the column `missed` in `texts`."""
    found: dict[str, int] = {}
    for text, count in zip(texts, np.bincount(codes, minlength=len(texts)).tolist(), strict=True):
        for claim in text.split(SEPARATOR) if text and count else ():
            found[claim] = found.get(claim, 0) + count
    return found


def _metric(
    name: str,
    values: NDArray[np.float64],
    runs: NDArray[Any],
    draws: NDArray[Any] | None,
    confidence: float,
    shares: Sequence[float],
) -> MetricSummary:
    missing = np.isnan(values)
    if missing.any():
        values = values[~missing]
        runs = runs[~missing]
        draws = None if draws is None else draws[~missing]
    n = len(values)
    with np.errstate(invalid="ignore"):  # infinite values
        sd = float(np.std(values, ddof=1)) if n > 1 else math.nan
    return MetricSummary(
        name,
        n,
        int(missing.sum()),
        mean(values, confidence, draws),
        sd,
        float(values.min()) if n else math.nan,
        float(values.max()) if n else math.nan,
        quantiles(values, shares, confidence, draws),
        int(runs[values.argmin()]) if n else None,
        int(runs[values.argmax()]) if n else None,
    )


def _counted(codes: NDArray[np.int64], names: Sequence[Any]) -> dict[str, int]:
    counts = dict(zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True))
    return {status: counts[status] for status in STATUSES if counts.get(status)}


def _ends(interval: Interval) -> str:
    if math.isnan(interval.low):
        return ""
    return f"{interval.low:.4g} to {interval.high:.4g}"


def _in_run(value: float, run: int | None) -> str:
    """An extreme, with the run that has it."""
    return f"{_text(value)} (run {run})" if run is not None else _text(value)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return str(value)


def _plain(value: Any) -> Any:
    """A dataclass as nested dictionaries."""
    from dataclasses import fields, is_dataclass

    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if isinstance(value, np.generic) else value
