"""Variants compared pair by pair on common random numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from spart_blocks.base.errors import InputError
from spart_blocks.sweeps.statistics import (
    compare_faults,
    compare_success,
    compare_values,
    compare_variants,
    holm,
)


def test_values_that_share_their_draws_are_told_apart():
    """A difference of 0.1 within a spread of 1, seen by 100 pairs only as pairs."""
    rng = np.random.default_rng(0)
    shared = rng.normal(size=100)
    first, second = (shared + shift + 0.2 * rng.normal(size=100) for shift in (0.1, 0.0))
    got = compare_values(first, second)
    want = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert (got.difference.low, got.difference.high) == pytest.approx((want.low, want.high))
    assert 0 < got.difference.low < 0.1 < got.difference.high
    assert got.p == stats.wilcoxon(first, second).pvalue < 0.01
    assert got.higher > 0.6
    assert got.lower + got.higher == 1
    assert stats.ttest_ind(first, second).pvalue > 0.2  # a negative control


def test_the_test_of_mcnemar_counts_pairs_that_differ():
    """Both 60, only first 4, only second 15, none 21."""
    first = np.repeat([1, 1, 0, 0], [60, 4, 15, 21])
    second = np.repeat([1, 0, 1, 0], [60, 4, 15, 21])
    got = compare_success(first, second)
    assert got.p == pytest.approx(stats.binomtest(4, 19).pvalue)
    assert got.difference.estimate == pytest.approx(-0.11)
    middle, square = -11 / 102, (19 + 1) / 102  # of Agresti and Min, with two pairs more
    half = 1.959964 * math.sqrt((square - middle**2) / 102)
    assert got.difference.low == pytest.approx(middle - half)
    assert got.difference.high == pytest.approx(middle + half)
    assert (got.higher, got.lower) == (0.04, 0.15)


def test_a_difference_of_success_lies_in_its_interval_at_the_stated_rate():
    """First 0.9, second 0.84, of which 0.8 together."""
    rng = np.random.default_rng(1)
    held = 0
    for outcome in rng.choice(4, p=[0.8, 0.1, 0.04, 0.06], size=(400, 80)):
        got = compare_success(outcome < 2, (outcome == 0) | (outcome == 2)).difference
        held += got.low <= 0.06 <= got.high
    assert held >= 0.95 * 400


def test_like_variants_are_told_apart_no_more_often_than_stated():
    rng = np.random.default_rng(2)
    found = [0, 0]
    for _ in range(200):
        shared = rng.normal(size=60)
        first, second = (shared + 0.3 * rng.exponential(size=60) for _ in range(2))
        found[0] += compare_values(first, second).p < 0.05
        found[1] += compare_success(first > 0, second > 0).p < 0.05
    assert max(found) <= 0.05 * 200 + 3 * math.sqrt(0.05 * 0.95 * 200)
    assert found[0] > 2


def test_runs_of_one_draw_make_one_pair():
    rng = np.random.default_rng(3)
    draws = np.repeat(np.arange(40), 25)
    found = {"draws": 0, "runs": 0}
    for _ in range(100):
        a, b = (np.repeat(rng.normal(size=40), 25) + 0.1 * rng.normal(size=1000) for _ in range(2))
        found["draws"] += compare_values(a, b, draws).p < 0.05
        found["draws"] += compare_success(a > 0, b > 0, draws).p < 0.05
        found["runs"] += compare_values(a, b).p < 0.05
    assert found["draws"] < 22
    assert found["runs"] > 50


def test_infinite_values_and_missing_ones():
    """Settling times: infinite where a run never settles, NaN where it failed."""
    first = np.array([1.0, 2.0, math.inf, math.inf, math.nan, 3.0])
    second = np.array([2.0, 3.0, 4.0, math.inf, 1.0, 3.0])
    got = compare_values(first, second)
    assert (got.pairs, got.left_out) == (5, 1)
    assert (got.lower, got.higher) == (0.4, 0.2)
    assert math.isnan(got.difference.low)
    assert got.p == stats.wilcoxon([-1, -1, math.inf]).pvalue
    same = compare_values([1.0, 2.0], [1.0, 2.0])
    assert (same.p, same.difference.estimate) == (1.0, 0.0)
    assert math.isnan(compare_values([], []).p)
    assert math.isnan(compare_success([], []).p)


def test_holms_values_are_the_published_ones():
    """p.adjust(c(0.01, 0.02, 0.03, 0.04), "holm") of R, and one of its order."""
    assert holm([0.01, 0.02, 0.03, 0.04]) == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert holm([0.04, 0.001, math.nan, 0.5]) == pytest.approx(
        [0.08, 0.003, math.nan, 0.5], nan_ok=True
    )
    assert holm([]) == []


def sweep(draws=200, seed=0):
    """Two faults, three variants, two points of a grid: lqr misses by less than pd."""
    rng = np.random.default_rng(seed)
    run = np.arange(draws * 2 * 3 * 2)
    fault, variant, grid, draw = run % 2, run // 2 % 3, run // 6 % 2, run // 12
    miss = rng.normal(size=draws)[draw] + 0.3 * (variant == 0) + 0.2 * rng.normal(size=len(run))
    miss += fault
    return {
        "run": run,
        "draw": draw,
        "grid": grid,
        "variant": np.array(["pd", "lqr", "pid"], dtype=object)[variant],
        "fault": np.array(["none", "stuck"])[fault],
        "status": np.full(len(run), "complete"),
        "passed": miss < 2,
        "miss": miss,
    }


def test_each_pair_of_variants_is_compared_under_each_fault():
    table = sweep()
    got = compare_variants(table, ("miss",))
    assert len(got.differences) == 3 * 2 * 2
    assert {d.pairs for d in got.differences} == {400}
    found = {(d.what, d.first, d.second, d.fault): d for d in got.differences}
    one = found["miss", "lqr", "pd", "stuck"]
    assert one.difference.low < -0.3 < one.difference.high < 0
    assert one.p_holm < 1e-6
    assert one.p_holm > one.p
    assert found["miss", "lqr", "pid", "none"].p_holm > 0.05
    pairs = [
        table["miss"][(table["variant"] == name) & (table["fault"] == "stuck")]
        for name in ("lqr", "pd")
    ]
    assert one.difference.estimate == pytest.approx((pairs[0] - pairs[1]).mean())


def test_pairs_are_found_whatever_the_order_and_what_is_there():
    table = sweep()
    mixed = np.random.default_rng(5).permutation(len(table["run"]))[:2000]
    shuffled = {name: column[mixed] for name, column in table.items()}
    ordered = {name: column[np.sort(mixed)] for name, column in table.items()}
    one, other = (
        compare_variants(t, ("miss",), variants=("pd", "pid")) for t in (shuffled, ordered)
    )
    for a, b in zip(one.differences, other.differences, strict=True):
        assert a.pairs == b.pairs < 400
        assert a.difference.low == pytest.approx(b.difference.low)
        assert a.p == pytest.approx(b.p)


def test_a_comparison_is_shown():
    got = compare_variants(sweep(), ("miss",), variants=("pd", "lqr"))
    lines = str(got).splitlines()
    assert lines[0].split() == [
        *("variants", "fault", "difference", "lower", "higher", "p", "p", "(Holm)", "pairs")
    ]
    assert lines[1].startswith("miss     pd - lqr  none   0.2937 (0.2648 to ")
    assert lines[-1] == "intervals: 95 % each; p (Holm): for 4 comparisons at once"
    assert "<td" in got._repr_html_()
    assert str(compare_variants(sweep(), (), variants=("pd",))) == "one variant: nothing to compare"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: compare_variants(sweep(), ("mis",)), "no column 'mis'\n  did you mean 'miss'"),
        (lambda: compare_variants(sweep(), (), variants=("pf",)), "no variant 'pf'"),
        (lambda: compare_variants(sweep(), ("variant",)), "variant is not a number of each run"),
        (lambda: compare_values([1.0], [1.0, 2.0]), r"not of shapes \(1,\), \(2,\) and \(1,\)"),
    ],
)
def test_wrong_arguments_are_named(call, text):
    with pytest.raises(InputError, match=text):
        call()


def test_each_fault_is_compared_with_none_in_each_variant_on_the_same_draws():
    table = sweep()
    got = compare_faults(table, ("miss",))
    assert {(d.what, d.variant, d.first, d.second) for d in got.differences} == {
        (what, variant, "stuck", "none")
        for what in ("miss", "success")
        for variant in ("pd", "lqr", "pid")
    }
    found = {(d.what, d.variant): d for d in got.differences}
    one = found["miss", "pid"]
    pairs = [
        table["miss"][(table["variant"] == "pid") & (table["fault"] == name)]
        for name in ("stuck", "none")
    ]
    want = compare_values(
        *pairs, table["draw"][(table["variant"] == "pid") & (table["fault"] == "none")]
    )
    assert one.difference == want.difference
    # What a draw brings to both cancels: the interval is that of the noise within a draw.
    assert abs(one.difference.estimate - 1) < 4 * 0.2 * (2 / 400) ** 0.5
    assert one.difference.high - one.difference.low < 0.1
    assert found["success", "pid"].difference.high < 0
    assert str(got).splitlines()[0].split()[:3] == ["faults", "variant", "difference"]


def test_a_fault_to_compare_with_must_be_in_the_sweep():
    with pytest.raises(InputError, match="the sweep has no fault 'no'"):
        compare_faults(sweep(), (), to="no")
    alone = {name: column[::2] for name, column in sweep().items()}
    assert str(compare_faults(alone, ())) == "one fault: nothing to compare"
