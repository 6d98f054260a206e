"""Intervals hold the true value as often as they say, and equal published and SciPy's ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from spart_blocks.base.errors import InputError
from spart_blocks.sweeps.statistics import mean, quantile, quantiles, success, success_of

PUBLISHED = [  # Newcombe, Statistics in Medicine 17, 1998, table I: methods 3 and 5
    (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
    (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
    (0, 20, (0.0000, 0.1611), (0.0000, 0.1684)),
    (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
]


@pytest.mark.parametrize(("k", "n", "wilson", "exact"), PUBLISHED)
def test_intervals_of_success_are_the_published_ones(k, n, wilson, exact):
    for method, want in (("wilson", wilson), ("clopper_pearson", exact)):
        got = success(k, n, method=method)
        assert (got.low, got.high) == pytest.approx(want, abs=5.1e-5)
        assert got.estimate == k / n


@pytest.mark.parametrize(("method", "scipys"), [("wilson", "wilson"), ("clopper_pearson", "exact")])
@pytest.mark.parametrize(
    ("side", "alternative"), [("both", "two-sided"), ("low", "greater"), ("high", "less")]
)
def test_intervals_of_success_are_those_of_scipy(method, scipys, side, alternative):
    for k, n in ((0, 1), (3, 3), (7, 9), (995, 1000), (40, 100_000)):
        got = success(k, n, 0.9, method=method, side=side)
        test = stats.binomtest(k, n, alternative=alternative)
        want = test.proportion_ci(0.9, method=scipys)
        assert (got.low, got.high) == pytest.approx((want.low, want.high), rel=1e-9, abs=1e-12)


def hits(low, high, k, p):
    """How many of the outcomes k have an interval that holds p."""
    return int(((low[k] <= p) & (p <= high[k])).sum())


@pytest.mark.parametrize("p", [0.5, 0.97, 0.999])
def test_a_known_probability_lies_in_its_interval_at_the_stated_rate(p):
    n, repetitions = 200, 10_000
    k = np.random.default_rng(1).binomial(n, p, size=repetitions)
    ends = [success(j, n) for j in range(n + 1)]
    low, high = np.array([end.low for end in ends]), np.array([end.high for end in ends])
    assert hits(low, high, k, p) >= 0.95 * repetitions
    # The textbook's interval does not hold at that rate near 1.
    share = np.arange(n + 1) / n
    half = 1.96 * np.sqrt(share * (1 - share) / n)
    if p > 0.5:
        assert hits(share - half, share + half, k, p) < 0.95 * repetitions - 100


@pytest.mark.parametrize("p", [0.9, 0.99])
def test_a_one_sided_bound_holds_at_the_whole_confidence(p):
    n, repetitions = 300, 10_000
    k = np.random.default_rng(2).binomial(n, p, size=repetitions)
    low = np.array([success(j, n, side="low").low for j in range(n + 1)])
    held = hits(low, np.ones(n + 1), k, p)
    assert 0.95 * repetitions <= held < 0.985 * repetitions
    assert success(n, n, 0.95, side="low").low == pytest.approx(0.05 ** (1 / n))


def test_the_interval_of_a_mean_is_students():
    values = np.random.default_rng(3).normal(2.0, 3.0, size=17)
    got = mean(values, 0.9)
    want = stats.ttest_1samp(values, 0.0).confidence_interval(0.9)
    assert (got.low, got.high) == pytest.approx((want.low, want.high), rel=1e-12)
    assert got.estimate == pytest.approx(values.mean())


def test_the_interval_of_a_quantile_is_that_of_order_statistics():
    values = np.random.default_rng(4).normal(size=501)
    for share, got in zip((0.05, 0.5, 0.95), quantiles(values, (0.05, 0.5, 0.95)), strict=True):
        want = stats.quantile_test(values, p=share).confidence_interval(0.95)
        assert (got.low, got.high) == (want.low, want.high)
        assert got.estimate == pytest.approx(np.quantile(values, share))
        assert got == quantile(values, share)


def test_quantiles_of_few_values_have_no_finite_ends():
    got = quantile([1.0, 2.0, 3.0], 0.05)
    assert got.low == -math.inf
    assert got.high == 2.0
    assert quantile([1.0, 2.0, 3.0], 0.95).high == math.inf


def test_quantiles_of_infinite_values_are_infinite():
    """A settling time of a run that never settles."""
    middle, high = quantiles([1.0, 2.0, math.inf, 3.0, math.inf], (0.5, 0.95))
    assert middle.estimate == 3.0
    assert high.estimate == math.inf
    assert math.isnan(mean([1.0, math.inf]).low)


def test_a_quantile_lies_in_its_interval_at_the_stated_rate():
    values = np.random.default_rng(5).exponential(size=(1000, 80))
    true = -math.log(1 - 0.9)
    held = sum(end.low <= true <= end.high for end in (quantile(row, 0.9) for row in values))
    assert held >= 0.95 * len(values)


CLUSTERS, EACH = 60, 8


def clustered(rng, spread):
    """Values that share a part with those of their draw: sd `spread` within, 1 between."""
    between = rng.normal(size=(CLUSTERS, 1))
    return (between + spread * rng.normal(size=(CLUSTERS, EACH))).ravel()


def test_runs_of_one_draw_count_together():
    rng = np.random.default_rng(6)
    draws = np.repeat(np.arange(CLUSTERS), EACH)
    names = ("mean", "median", "success")
    held, taken_alone = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    p = stats.norm.cdf(1.2 / math.hypot(1, 0.3))
    for _ in range(200):
        values = clustered(rng, 0.3)
        for counts, which in ((held, draws), (taken_alone, None)):
            ends = (mean(values, draws=which), quantile(values, 0.5, draws=which))
            for name, end in zip(names, ends, strict=False):
                counts[name] += end.low <= 0 <= end.high
            end = success_of(values < 1.2, draws=which)
            counts["success"] += end.low <= p <= end.high
    assert all(0.92 * 200 < count <= 200 for count in held.values()), held
    assert all(count < 0.8 * 200 for count in taken_alone.values()), taken_alone


def test_one_run_a_draw_is_the_usual_case():
    values = np.random.default_rng(7).normal(size=50)
    order = np.random.default_rng(8).permutation(50)
    for kind in (mean, lambda v, draws=None: quantile(v, 0.3, draws=draws)):
        a, b = kind(values), kind(values, draws=order)
        assert (a.low, a.estimate, a.high) == pytest.approx((b.low, b.estimate, b.high), rel=1e-12)
    assert success_of(values > 0, draws=order) == success(int((values > 0).sum()), 50)


def test_one_draw_of_several_runs_says_nothing_of_chance():
    """The points of a grid, run once."""
    values, draws = np.arange(9.0), np.zeros(9, int)
    for got in (mean(values, draws=draws), quantile(values, 0.5, draws=draws)):
        assert got.estimate == 4
        assert math.isnan(got.low)
        assert math.isnan(got.high)
    assert math.isnan(success_of(values > 3, draws=draws).low)
    assert success_of(values > 3, draws=draws).estimate == 5 / 9


def test_identical_runs_of_a_draw_add_nothing():
    passed = np.repeat(np.arange(40) != 3, 5)
    got = success_of(passed, draws=np.repeat(np.arange(40), 5))
    alone = success(39, 40)
    assert (got.low, got.high) == pytest.approx((alone.low, alone.high), abs=5e-3)
    every = success_of(np.ones(200), draws=np.repeat(np.arange(40), 5))
    assert every.low == success(40, 40).low


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: success(3, 2), "between 0 and that of the runs, not 3 of 2"),
        (lambda: success(1, 2, 95), "confidence lies between 0 and 1, not 95"),
        (lambda: success(1, 2, method="wald"), "'clopper_pearson' or 'wilson', not 'wald'"),
        (lambda: success(1, 2, side="left"), "'both', 'low' or 'high', not 'left'"),
        (lambda: quantile([1.0], 5), "between 0 and 1, not 5"),
        (lambda: mean([1.0, math.nan]), "values hold NaN"),
        (lambda: mean([1.0, 2.0], draws=[1]), r"2 values have draws of shape \(1,\)"),
    ],
)
def test_wrong_arguments_are_named(call, text):
    with pytest.raises(InputError, match=text):
        call()


def test_nothing_known_is_no_number():
    assert (success(0, 0).low, success(0, 0).high) == (0.0, 1.0)
    assert math.isnan(mean([]).estimate)
    assert math.isnan(mean([1.0]).low)
    assert math.isnan(quantile([], 0.5).estimate)
    assert str(mean([2.0])) == "2"
    assert str(success(1, 2)) == "0.5 (0.01258 to 0.9874)"
