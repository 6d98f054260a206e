"""Comparison of variants, and of faults with none, on common random numbers.

Draw k has the same random values in all variants and faults, so that runs are compared pair by
pair; what a draw brings to both cancels. Where a draw has several runs (points of a grid), their
mean difference is one observation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.sweeps.plan.plan import NO_FAULT
from spart_blocks.sweeps.statistics.grouping import (
    Table,
    about_draws,
    coded,
    numbers,
    succeeded,
)
from spart_blocks.sweeps.statistics.intervals import Interval, by_draw, check_confidence, mean
from spart_blocks.sweeps.statistics.tables import Tables, TextTable, percent

Floats = NDArray[np.float64]

SUCCESS = "success"
"""The name under which success is compared, besides the metrics."""


@dataclass(frozen=True)
class Difference:
    """First variant minus second, of one metric or of success, under one fault; or first fault
    minus second, in one variant.

    difference: the mean difference; of success, the difference of probabilities. lower, higher:
    the parts of the pairs in which the first has the lower, or the higher value. p: of the test
    that the two are alike (Wilcoxon's signed-rank test; of success, McNemar's). p_holm: the same,
    adjusted for the number of comparisons made together. pairs, left_out: numbers of runs compared,
    and of those of which one has no value.
    """

    what: str
    first: str
    second: str
    fault: str
    difference: Interval
    lower: float
    higher: float
    p: float
    p_holm: float
    pairs: int
    left_out: int = 0
    variant: str = ""


@dataclass(frozen=True)
class Comparison(Tables):
    """Differences of pairs of variants, or of faults. design, together: as of `Summary`. factor:
    variant or fault, whichever is compared."""

    differences: tuple[Difference, ...]
    design: str = "random"
    together: int = 1
    factor: str = "variant"

    between = ()

    @property
    def above(self) -> str:  # type: ignore[override]
        if self.differences:
            return ""
        return f"one {self.factor}: nothing to compare"

    @property
    def _other(self) -> str:
        """The factor whose values are alike in a pair."""
        return "fault" if self.factor == "variant" else "variant"

    def table(self) -> TextTable:
        """A row for each difference."""
        compared = (f"{self.factor}s", self._other, "difference", "lower", "higher")
        head = ("", *compared, "p", "p (Holm)", "pairs")
        rows = [
            (
                d.what,
                f"{d.first} - {d.second}",
                getattr(d, self._other),
                str(d.difference),
                percent(d.lower),
                percent(d.higher),
                _text(d.p),
                _text(d.p_holm),
                f"{d.pairs:,}",
            )
            for d in self.differences
        ]
        return TextTable(head, rows)

    def tables(self) -> list[TextTable]:
        return [self.table()] if self.differences else []

    def notes(self) -> list[str]:
        if not self.differences:
            return []
        level = percent(self.differences[0].difference.confidence)
        note = f"intervals: {level} each; p (Holm): for {len(self.differences)} comparisons at once"
        left = max(d.left_out for d in self.differences)
        more = [f"pairs without a value are left out, at most {left:,}"] if left else []
        return [note, *more, *about_draws(self.design, self.together)]


def compare_variants(
    table: Table,
    metrics: Sequence[str],
    *,
    confidence: float = 0.95,
    variants: Sequence[str] | None = None,
    together: int = 1,
    design: str = "random",
) -> Comparison:
    """Compare each pair of variants under each fault, in every metric and in success. together,
    design: as in `summarize`."""
    names = [str(name) for name in coded(table, "variant")[1]]
    pairs = list(combinations(names if variants is None else variants, 2))
    _check_names("variant", variants or (), names)
    return _compared(table, metrics, "variant", pairs, confidence, together, design)


def compare_faults(
    table: Table,
    metrics: Sequence[str],
    *,
    confidence: float = 0.95,
    to: str = NO_FAULT,
    together: int = 1,
    design: str = "random",
) -> Comparison:
    """Compare each fault with another one, by default with none, in each variant, in every metric
    and in success. together, design: as in `summarize`."""
    names = [str(name) for name in coded(table, "fault")[1]]
    others = [name for name in names if name != to]
    if others:
        _check_names("fault", (to,), names)
    pairs = [(name, to) for name in others]
    return _compared(table, metrics, "fault", pairs, confidence, together, design)


def _check_names(factor: str, chosen: Sequence[str], names: Sequence[str]) -> None:
    for name in chosen:
        if name not in names:
            raise InputError(
                Fault(f"the sweep has no {factor} {name!r}", hint=did_you_mean(name, names))
            )


def _compared(
    table: Table,
    metrics: Sequence[str],
    factor: str,
    pairs: Sequence[tuple[str, str]],
    confidence: float,
    together: int,
    design: str,
) -> Comparison:
    """Compare pairs of values of a factor, at each value of the other one."""
    check_confidence(confidence)
    other = "fault" if factor == "variant" else "variant"
    codes, known = coded(table, factor)
    names = [str(name) for name in known]
    rest, others = coded(table, other)
    draw, grid = np.asarray(table["draw"]), np.asarray(table["grid"])
    compared = [(name, numbers(table, name), compare_values) for name in metrics]
    compared.append((SUCCESS, succeeded(table).astype(float), compare_success))
    places = draw * (int(grid.max(initial=0)) + 1) + grid
    found = []
    for k, named in enumerate(others):
        for pair in pairs:
            rows = [np.flatnonzero((codes == names.index(name)) & (rest == k)) for name in pair]
            _, *both = np.intersect1d(*(places[some] for some in rows), return_indices=True)
            first, second = (some[which] for some, which in zip(rows, both, strict=True))
            for what, values, compare in compared:
                got = compare(values[first], values[second], draw[first] // together, confidence)
                got = replace(got, what=what, first=pair[0], second=pair[1])
                fault, variant = (str(named), "") if other == "fault" else ("", str(named))
                found.append(replace(got, fault=fault, variant=variant))
    adjusted = holm([d.p for d in found])
    return Comparison(
        tuple(replace(d, p_holm=p) for d, p in zip(found, adjusted, strict=True) if d.pairs),
        design,
        together,
        factor,
    )


def compare_values(
    first: ArrayLike, second: ArrayLike, draws: ArrayLike | None = None, confidence: float = 0.95
) -> Difference:
    """Compare paired values: Student's interval of the mean difference, Wilcoxon's test."""
    a, b, which = _pairs(first, second, draws)
    known = ~(np.isnan(a) | np.isnan(b))
    a, b, which = a[known], b[known], which[known]
    with np.errstate(invalid="ignore"):
        differences = np.where(a == b, 0.0, a - b)  # two infinite values are alike
    totals, counts = by_draw(differences, which)
    return _difference(
        mean(differences, confidence, which), a, b, _wilcoxon(totals / counts), int((~known).sum())
    )


def compare_success(
    first: ArrayLike, second: ArrayLike, draws: ArrayLike | None = None, confidence: float = 0.95
) -> Difference:
    """Compare paired successes (1 or 0): interval of the difference of probabilities, McNemar's
    exact test.

    The interval is that of Agresti and Min (Statistics in Medicine 24, 2005): two draws are added,
    half of one in each of the four outcomes. With several runs a draw, McNemar's test counts the
    draws in which one variant succeeds more often.
    """
    a, b, which = _pairs(first, second, draws)
    totals, counts = by_draw(a - b, which)
    net = totals / counts
    estimate = float(np.mean(a - b)) if len(a) else math.nan
    if len(net) < 2:
        return _difference(Interval(estimate, math.nan, math.nan, confidence), a, b, math.nan, 0)
    from scipy.stats import binomtest, norm

    more, fewer = int((net > 0).sum()), int((net < 0).sum())
    p = float(binomtest(more, more + fewer).pvalue) if more + fewer else 1.0
    n = len(net) + 2
    middle = float(net.sum()) / n
    variance = (float(net @ net) + 1) / n - middle**2
    half = float(norm.ppf((1 + confidence) / 2)) * math.sqrt(variance / n)
    ends = Interval(estimate, max(middle - half, -1.0), min(middle + half, 1.0), confidence)
    return _difference(ends, a, b, p, 0)


def holm(p: Sequence[float]) -> list[float]:
    """Values p of tests made together, adjusted by Holm's method; NaN stays.

    Source: S. Holm, Scandinavian Journal of Statistics 6, 1979.
    """
    given = np.asarray(p, dtype=float)
    order = np.argsort(given)  # NaN last
    count = int((~np.isnan(given)).sum())
    factors = np.maximum(count - np.arange(len(given)), 1)
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(np.maximum.accumulate(given[order] * factors), 1.0)
    found: list[float] = adjusted.tolist()
    return found


def _pairs(
    first: ArrayLike, second: ArrayLike, draws: ArrayLike | None
) -> tuple[Floats, Floats, NDArray[np.generic]]:
    a, b = np.asarray(first, float), np.asarray(second, float)
    which = np.arange(len(a)) if draws is None else np.asarray(draws)
    if not a.shape == b.shape == which.shape or a.ndim != 1:
        shapes = f"{a.shape}, {b.shape} and {which.shape}"
        raise InputError(f"pairs are two lists of values with their draws, not of shapes {shapes}")
    return a, b, which


def _difference(ends: Interval, a: Floats, b: Floats, p: float, left_out: int) -> Difference:
    n = len(a)
    lower, higher = (float(np.mean(part)) if n else math.nan for part in (a < b, a > b))
    return Difference("", "", "", "", ends, lower, higher, p, p, n, left_out)


def _text(p: float) -> str:
    return "" if math.isnan(p) else f"{p:.2g}"


def _wilcoxon(differences: Floats) -> float:
    """The two-sided p-value of the signed-rank test."""
    if len(differences) < 2:
        return math.nan
    from scipy.stats import wilcoxon

    unlike = differences[differences != 0]
    return float(wilcoxon(unlike).pvalue) if len(unlike) else 1.0
