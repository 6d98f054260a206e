"""Confidence sequences hold at all times at once; intervals for a fixed number of runs do not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta

from spart_blocks.base.errors import InputError
from spart_blocks.sweeps.statistics import ConfidenceSequence, MeanSequence, draws_needed, success
from spart_blocks.sweeps.statistics.anytime import bounds

REPETITIONS, RUNS = 10_000, 100


def all_outcomes(runs):
    """Numbers of runs and successes: every pair up to `runs`."""
    n = np.repeat(np.arange(1, runs + 1), runs + 1)
    k = np.tile(np.arange(runs + 1), runs)
    return n, np.minimum(k, n)


def always_held(ends, p, seed):
    """Repetitions in which the interval holds p after each run."""
    n, k = all_outcomes(RUNS)
    low, high = ends(k, n - k)
    holds = ((low <= p) & (p <= high)).reshape(RUNS, RUNS + 1)
    rng = np.random.default_rng(seed)
    successes = np.cumsum(rng.random((REPETITIONS, RUNS)) < p, axis=1)
    return int(holds[np.arange(RUNS), successes].all(axis=1).sum())


def fixed(k, failures):
    """Clopper and Pearson's interval."""
    low = np.where(k > 0, beta.ppf(0.025, np.maximum(k, 1), failures + 1), 0.0)
    high = np.where(failures > 0, beta.isf(0.025, k + 1, np.maximum(failures, 1)), 1.0)
    return low, high


@pytest.mark.parametrize("p", [0.5, 0.97])
def test_a_known_probability_lies_in_all_intervals_of_a_sequence_at_the_stated_rate(p):
    for aim in (None, 0.1):
        held = always_held(lambda k, f: bounds(k, f, 0.95, aim), p, 1)  # noqa: B023
        assert held >= 0.95 * REPETITIONS, aim
    # An interval for a fixed number of runs, looked at after each.
    assert always_held(fixed, p, 1) < 0.94 * REPETITIONS


def test_stopping_when_narrow_keeps_the_stated_rate():
    p, width, repetitions = 0.95, 0.12, 20
    rng = np.random.default_rng(2)
    stopped, held = [], 0
    for _ in range(repetitions):
        shares = (rng.random(400) < p).astype(float)
        n = draws_needed(shares, width)
        end = ConfidenceSequence(aim=width).update(shares[:n].sum(), n - shares[:n].sum())
        assert end.width <= width
        held += end.low <= p <= end.high
        stopped.append(n)
    assert held >= 0.95 * repetitions
    assert 70 < np.median(stopped) < 200


def test_the_answer_does_not_depend_on_chunks():
    shares = (np.random.default_rng(3).random(600) < 0.97).astype(float)
    n = draws_needed(shares, 0.08)
    seen = 0
    for end in range(7, 600, 7):
        found = draws_needed(shares[:end], 0.08, since=seen)
        if found:
            break
        seen = end
    assert found == n
    assert draws_needed(shares[: n - 1], 0.08) is None


@pytest.mark.parametrize(
    ("p", "aim", "most"),  # most: how often the runs of a fixed-n interval of the same width
    [(1.0, 0.01, 1.35), (0.99, 0.01, 2.6), (0.9, 0.02, 2.7), (0.5, 0.02, 2.7)],
)
def test_a_sequence_is_narrow_where_it_aims(p, aim, most):
    n = np.arange(100, 40_000, 50)
    low, high = bounds(n * p, n * (1 - p), 0.95, aim)
    exact_low, exact_high = fixed(n * p, n * (1 - p))
    need, exact = (int(n[np.argmax(wide <= aim)]) for wide in (high - low, exact_high - exact_low))
    assert exact < need < most * exact
    plain_low, plain_high = bounds(n * p, n * (1 - p), 0.95)
    at = np.searchsorted(n, need)
    assert plain_high[at] - plain_low[at] > 1.1 * aim


def test_ends_are_where_the_evidence_reaches_its_limit():
    """All successes and no aim: B(n + 1/2, 1/2) / B(1/2, 1/2) = 0.05^-1 low^n."""
    n = 50
    ratio = math.exp(math.lgamma(n + 0.5) - math.lgamma(n + 1)) / math.sqrt(math.pi)
    assert ConfidenceSequence().update(n, 0).low == pytest.approx((0.05 * ratio) ** (1 / n))


def test_successes_and_failures_are_alike():
    low, high = bounds(30, 5, 0.9, 0.05)
    other_low, other_high = bounds(5, 30, 0.9, 0.05)
    assert (low, high) == pytest.approx((1 - other_high, 1 - other_low), abs=1e-12)


def test_a_sequence_begins_knowing_nothing_and_grows_by_parts():
    sequence = ConfidenceSequence(0.9)
    assert (sequence.low, sequence.high, sequence.width) == (0.0, 1.0, 1.0)
    assert math.isnan(sequence.interval.estimate)
    sequence.update(3, 1).update(40, 0)
    assert sequence.interval == ConfidenceSequence(0.9).update(43, 1).interval
    assert sequence.interval.estimate == 43 / 44
    assert sequence.width > success(43, 44, 0.9).width


def test_shares_of_draws_count_as_fractions():
    """Draws of four dependent runs each: all four pass, or none."""
    p, rng = 0.8, np.random.default_rng(4)
    shares = rng.beta(0.8, 0.2, size=(500, 20))  # mean 0.8, far from 0 and 1 at times
    total = np.cumsum(shares, axis=1)
    n = np.arange(1, 21)
    low, high = bounds(total, n - total, 0.9, 0.1)
    assert ((low <= p) & (p <= high)).all(axis=1).mean() >= 0.9


def test_the_mean_of_bounded_values_lies_in_all_intervals_at_the_stated_rate():
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(100):
        values = 10 * rng.beta(5, 20, size=400) - 5  # mean -3
        sequence, always = MeanSequence(-5, 5, 0.9), True
        for part in np.split(values, 40):
            end = sequence.update(part).interval
            always &= end.low <= -3 <= end.high
        held += always
    assert held >= 0.9 * 100
    # Values of small variance have a short interval: less than their range alone allows.
    share = (values + 5) / 10
    low, high = bounds(share.sum(), 400 - share.sum(), 0.9)
    assert end.width < 0.6 * 10 * (high - low)


def test_means_do_not_depend_on_chunks():
    values = np.random.default_rng(6).random(500)
    whole = MeanSequence(0, 1).update(values).interval
    parts = MeanSequence(0, 1)
    for part in np.array_split(values, 13):
        parts.update(part)
    assert (parts.low, parts.high) == pytest.approx((whole.low, whole.high), rel=1e-12)
    assert whole.estimate == pytest.approx(values.mean())
    assert (MeanSequence(0, 2).low, MeanSequence(0, 2).high) == (0, 2)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ConfidenceSequence(1.0), "confidence lies between 0 and 1, not 1.0"),
        (lambda: ConfidenceSequence(aim=0), "width of an interval lies between 0 and 1, not 0"),
        (lambda: ConfidenceSequence().update(-1, 2), "not negative, not -1 and 2"),
        (lambda: draws_needed([1.0], 2), "width of an interval lies between 0 and 1, not 2"),
        (lambda: MeanSequence(1, 1), "the lower first, not 1 and 1"),
        (lambda: MeanSequence(0, 1).update([2.0]), "outside the bounds 0 and 1"),
    ],
)
def test_wrong_arguments_are_named(call, text):
    with pytest.raises(InputError, match=text):
        call()
