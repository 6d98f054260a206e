"""Intervals of means, quantiles and success probabilities, for a number of runs fixed in advance.

Runs of one draw share its random values, so they count as one observation: `draws` gives the draw
of each value. Without it, each value is a draw of its own. An interval that is looked at while runs
are added, to decide when to stop, is that of `ConfidenceSequence`; these do not hold then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spart_blocks.base.errors import InputError, brief

Floats = NDArray[np.float64]
Side = Literal["both", "low", "high"]
"""The ends of an interval that are finite bounds."""
Method = Literal["clopper_pearson", "wilson"]


@dataclass(frozen=True)
class Interval:
    """An estimate with the ends of its interval, NaN if there are too few values."""

    estimate: float
    low: float
    high: float
    confidence: float

    @property
    def width(self) -> float:
        return self.high - self.low

    def __str__(self) -> str:
        if math.isnan(self.estimate):
            return ""
        if math.isnan(self.low):
            return f"{self.estimate:.4g}"
        return f"{self.estimate:.4g} ({self.low:.4g} to {self.high:.4g})"


def mean(values: ArrayLike, confidence: float = 0.95, draws: ArrayLike | None = None) -> Interval:
    """Mean of values, with Student's interval.

    Values of one draw enter through their sum: the mean is a ratio of sums over draws, and its
    variance that of the linearised ratio (Cochran, Sampling Techniques, 3rd ed., 6.3). With one
    value a draw, this is the usual interval.
    """
    check_confidence(confidence)
    totals, counts = by_draw(values, draws)
    estimate, error = _ratio(totals, counts)
    if len(totals) < 2:
        return Interval(estimate, math.nan, math.nan, confidence)
    from scipy.stats import t

    half = float(t.ppf((1 + confidence) / 2, len(totals) - 1)) * error
    return Interval(estimate, estimate - half, estimate + half, confidence)


def quantile(
    values: ArrayLike, share: float, confidence: float = 0.95, draws: ArrayLike | None = None
) -> Interval:
    """The given quantile, with a distribution-free interval. The ends are order statistics (David
    and Nagaraja, Order Statistics, 3rd ed., 7.1); one is infinite if there are too few values. With
    several values a draw, ranks are those of the effective number of values."""
    return quantiles(values, (share,), confidence, draws)[0]


def quantiles(
    values: ArrayLike,
    shares: Sequence[float],
    confidence: float = 0.95,
    draws: ArrayLike | None = None,
) -> tuple[Interval, ...]:
    """Several quantiles of the same values. See `quantile`."""
    check_confidence(confidence)
    for share in shares:
        if not 0 < share < 1:
            raise InputError(f"the share of a quantile lies between 0 and 1, not {brief(share)}")
    array = _numbers(values)
    n = len(array)
    if n == 0:
        return tuple(Interval(math.nan, math.nan, math.nan, confidence) for _ in shares)
    middle = [(n - 1) * share for share in shares]
    inner = {int(place) for place in middle} | {min(int(place) + 1, n - 1) for place in middle}
    ordered = np.partition(array, sorted(inner))
    at = [_between(ordered, place) for place in middle]
    sizes = [_effective(array <= value, draws, confidence) for value in at]
    if math.isnan(sizes[0]):
        return tuple(Interval(value, math.nan, math.nan, confidence) for value in at)
    ranks = [_ranks(n, *pair, confidence) for pair in zip(shares, sizes, strict=True)]
    ends = sorted({rank - 1 for pair in ranks for rank in pair if 1 <= rank <= n})
    if ends:
        ordered = np.partition(ordered, ends)
    padded = np.concatenate([[-math.inf], ordered, [math.inf]])
    return tuple(
        Interval(value, float(padded[low]), float(padded[high]), confidence)
        for value, (low, high) in zip(at, ranks, strict=True)
    )


def success(
    successes: float,
    runs: float,
    confidence: float = 0.95,
    *,
    method: Method = "clopper_pearson",
    side: Side = "both",
) -> Interval:
    """Success probability from the number of successes among independent runs.

    clopper_pearson: holds at least at the given confidence. wilson: shorter, holds on average
    (Brown, Cai and DasGupta, Statistical Science 16, 2001). side: `low` and `high` give a
    one-sided bound at the whole confidence; the other end is 0 or 1. The same as
    `scipy.stats.binomtest(...).proportion_ci`, for numbers that need not be whole.
    """
    check_confidence(confidence)
    if not (math.isfinite(runs) and 0 <= successes <= runs):
        raise InputError(
            f"the number of successes lies between 0 and that of the runs, not {brief(successes)} "
            f"of {brief(runs)}"
        )
    if side not in ("both", "low", "high"):
        raise InputError(f"side is 'both', 'low' or 'high', not {brief(side)}")
    if runs == 0:
        return Interval(math.nan, 0.0, 1.0, confidence)
    miss = (1 - confidence) / (2 if side == "both" else 1)
    if method == "clopper_pearson":
        low, high = _clopper_pearson(successes, runs, miss)
    elif method == "wilson":
        low, high = _wilson(successes, runs, miss)
    else:
        raise InputError(f"method is 'clopper_pearson' or 'wilson', not {brief(method)}")
    return Interval(
        successes / runs,
        0.0 if side == "high" else low,
        1.0 if side == "low" else high,
        confidence,
    )


def success_of(
    passed: ArrayLike,
    confidence: float = 0.95,
    draws: ArrayLike | None = None,
    *,
    method: Method = "clopper_pearson",
    side: Side = "both",
) -> Interval:
    """Success probability from the success (True or False) of each run. With several runs a draw,
    the interval is that of the effective number of runs (Korn and Graubard, Survey Methodology 24,
    1998)."""
    array = _numbers(passed)
    if len(array) == 0:
        return success(0, 0, confidence, method=method, side=side)
    share = min(max(float(np.mean(array)), 0.0), 1.0)
    size = _effective(array, draws, confidence)
    if math.isnan(size):
        return Interval(share, math.nan, math.nan, confidence)
    result = success(share * size, size, confidence, method=method, side=side)
    return Interval(share, result.low, result.high, confidence)


def by_draw(values: ArrayLike, draws: ArrayLike | None) -> tuple[Floats, Floats]:
    """The sum and the number of the values of each draw."""
    array = _numbers(values)
    if draws is None:
        return array, np.ones_like(array)
    which = np.asarray(draws)
    if which.shape != array.shape:
        raise InputError(f"{len(array)} values have draws of shape {which.shape}")
    place = _places(which)
    counts = np.bincount(place).astype(float)
    totals: Floats = np.bincount(place, weights=array).astype(float)
    return totals[counts > 0], counts[counts > 0]


def _places(draws: NDArray[np.generic]) -> NDArray[np.intp]:
    """Consecutive numbers for the draws. Those of most sweeps need no sorting."""
    if draws.dtype.kind in "iu" and len(draws):
        least = int(draws.min())
        if int(draws.max()) - least <= 4 * len(draws):
            return np.asarray(draws - least, dtype=np.intp)
    return np.asarray(np.unique(draws, return_inverse=True)[1], dtype=np.intp)


def check_confidence(confidence: float) -> None:
    if not (isinstance(confidence, int | float) and 0 < confidence < 1):
        raise InputError(f"a confidence lies between 0 and 1, not {brief(confidence)}")


def _ratio(totals: Floats, counts: Floats) -> tuple[float, float]:
    """Mean of all values, and its standard error."""
    n, k = counts.sum(), len(totals)
    if k == 0:
        return math.nan, math.nan
    with np.errstate(invalid="ignore"):  # infinite values
        estimate = float(totals.sum() / n)
        rest = totals - estimate * counts
        error = math.sqrt(k / (k - 1) * float(rest @ rest)) / n if k > 1 else math.nan
    return estimate, float(error)


def _effective(indicator: NDArray[np.generic], draws: ArrayLike | None, confidence: float) -> float:
    """Number of independent runs whose share of ones would vary as this one does. NaN for several
    runs of a single draw, of whose variation nothing is known.
    """
    n = indicator.size
    if draws is None:
        return float(n)
    totals, counts = by_draw(indicator, draws)
    k = len(totals)
    if k == n:
        return float(n)
    if k < 2:
        return math.nan
    share, error = _ratio(totals, counts)
    if not 0 < share < 1 or error == 0:
        return float(k)  # nothing tells that runs of a draw differ
    from scipy.stats import t

    level = (1 + confidence) / 2
    wider = float(t.ppf(level, n - 1) / t.ppf(level, k - 1))
    size = share * (1 - share) / (error**2 * (k - 1) / k) * wider**2
    return float(min(max(size, 1.0), n))


def _ranks(n: int, share: float, size: float, confidence: float) -> tuple[int, int]:
    """Ranks (from 1) of the order statistics at the ends; 0 and n + 1 stand for infinite ends."""
    from scipy.stats import binom

    m = max(int(size), 1)
    miss = (1 - confidence) / 2
    low, high = int(binom.ppf(miss, m, share)), int(binom.ppf(1 - miss, m, share)) + 1
    return (low * n) // m, n + 1 if high > m else -(-high * n // m)


def _between(ordered: Floats, place: float) -> float:
    """The value at a fractional rank, by linear interpolation; `ordered` are the values at the two
    ranks."""
    k = int(place)
    low, high = float(ordered[k]), float(ordered[min(k + 1, len(ordered) - 1)])
    return low if low == high or place == k else low + (place - k) * (high - low)


def _clopper_pearson(successes: float, runs: float, miss: float) -> tuple[float, float]:
    from scipy.stats import beta

    failures = runs - successes
    low = float(beta.ppf(miss, successes, failures + 1)) if successes > 0 else 0.0
    high = float(beta.isf(miss, successes + 1, failures)) if failures > 0 else 1.0
    return low, high


def _wilson(successes: float, runs: float, miss: float) -> tuple[float, float]:
    from scipy.stats import norm

    z = float(norm.isf(miss))
    share, room = successes / runs, 1 + z * z / runs
    middle = (share + z * z / (2 * runs)) / room
    half = z / room * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    return (
        max(middle - half, 0.0) if successes > 0 else 0.0,
        min(middle + half, 1.0) if successes < runs else 1.0,
    )


def _numbers(values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1:
        raise InputError(f"values are a list of numbers, not an array of shape {array.shape}")
    if np.isnan(array).any():
        raise InputError("values hold NaN; leave out the runs that have none")
    return array
