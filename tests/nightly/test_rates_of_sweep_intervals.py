"""Rates of intervals over many runs and repetitions, at any stopping time and at a fixed one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from spart_blocks.sweeps.statistics import MeanSequence, draws_needed, success
from spart_blocks.sweeps.statistics.anytime import bounds

REPETITIONS, RUNS = 10_000, 2000


def fixed(k, failures):
    low = np.where(k > 0, beta.ppf(0.025, np.maximum(k, 1), failures + 1), 0.0)
    high = np.where(failures > 0, beta.isf(0.025, k + 1, np.maximum(failures, 1)), 1.0)
    return low, high


def always_held(ends, p, paths):
    """Repetitions in which the interval holds p after each run. paths (R, RUNS): successes."""
    held = np.ones(len(paths), dtype=bool)
    for n in range(1, RUNS + 1):
        k = np.arange(paths[:, n - 1].min(), paths[:, n - 1].max() + 1)
        low, high = ends(k, n - k)
        held &= ((low <= p) & (p <= high))[paths[:, n - 1] - k[0]]
    return int(held.sum())


@pytest.mark.parametrize("p", [0.01, 0.5, 0.9, 0.99, 0.999])
def test_a_known_probability_lies_in_all_intervals_of_a_sequence_at_the_stated_rate(p):
    rng = np.random.default_rng(10)
    paths = np.cumsum(rng.random((REPETITIONS, RUNS)) < p, axis=1, dtype=np.int32)
    for aim in (None, 0.1, 0.02):
        held = always_held(lambda k, f: bounds(k, f, 0.95, aim), p, paths)  # noqa: B023
        assert held >= 0.95 * REPETITIONS, aim
    assert always_held(fixed, p, paths) < 0.93 * REPETITIONS


@pytest.mark.parametrize("p", [0.5, 0.9, 0.99])
def test_stopping_when_narrow_keeps_the_stated_rate(p):
    width, repetitions, most = 0.05, 2000, 8000
    rng, held = np.random.default_rng(11), 0
    for _ in range(repetitions):
        shares = (rng.random(most) < p).astype(float)
        n = draws_needed(shares, width)
        low, high = bounds(shares[:n].sum(), n - shares[:n].sum(), 0.95, width)
        held += low <= p <= high
    assert held >= 0.95 * repetitions


@pytest.mark.parametrize("n", [50, 1000, 20_000])
@pytest.mark.parametrize("p", [0.5, 0.97, 0.999])
def test_a_known_probability_lies_in_its_interval_at_the_stated_rate(n, p):
    k = np.random.default_rng(12).binomial(n, p, size=REPETITIONS)
    seen, which = np.unique(k, return_inverse=True)
    ends = [success(int(j), n) for j in seen]
    holds = np.array([end.low <= p <= end.high for end in ends])
    assert holds[which].sum() >= 0.95 * REPETITIONS


def test_means_lie_in_all_intervals_at_the_stated_rate():
    rng, held = np.random.default_rng(13), 0
    for _ in range(1000):
        sequence, always = MeanSequence(0, 1), True
        for part in np.split(rng.beta(0.3, 2.7, size=2000), 200):
            end = sequence.update(part).interval
            always &= end.low <= 0.1 <= end.high
        held += always
    assert held >= 0.95 * 1000
