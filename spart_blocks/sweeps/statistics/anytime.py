"""Confidence sequences: confidence intervals that are valid at all times at once.

A sweep that stops as soon as an interval is narrow computes the interval again and again. An
interval for a fixed number of runs then misses the true value far more often than stated. These
sequences are valid whenever one stops: with the stated probability the true value lies in all of
their intervals.

They are valid for independent draws taken in the order of their numbers, not in the order in which
runs happen to finish (failed runs may be quick). The points of a Sobol or Halton design are not
independent. Where a draw has several runs, its share of successes is one observation.

Sources: Ville's inequality for mixture martingales (Robbins, Ann. Math. Statist. 41, 1970), with
beta mixtures as in Howard, Ramdas, McAuliffe and Sekhon, Ann. Statist. 49, 2021; means by
Waudby-Smith and Ramdas, JRSS-B 86, 2024, theorem 2.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spart_blocks.base.errors import InputError, brief
from spart_blocks.sweeps.statistics.intervals import Interval, check_confidence

Floats = NDArray[np.float64]

AIMED = 0.9
"""The part of the mixture's weight that is concentrated to make intervals tightest at the width
`aim`.
"""
_HALVINGS = 45
"""Number of bisections of an interval of length 1, until rounding limits it."""
_FINE = 64
"""A sweep may stop after any number of draws up to this one, then after this many numbers in each
doubling.
"""
_LARGEST_BET = 0.5


class _Sequence(ABC):
    """A sequence of intervals that is updated with each new value."""

    @property
    @abstractmethod
    def interval(self) -> Interval:
        """The current interval."""

    @property
    def low(self) -> float:
        return self.interval.low

    @property
    def high(self) -> float:
        return self.interval.high

    @property
    def width(self) -> float:
        return self.interval.width


@dataclass
class ConfidenceSequence(_Sequence):
    """Confidence sequence of a success probability.

    aim: the width at which it is to be tightest; it is valid at any width. Successes and failures
    may be fractions: a draw then adds its share of successes x, and 1 - x failures.
    """

    confidence: float = 0.95
    aim: float | None = None
    successes: float = field(default=0.0, init=False)
    failures: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        _check_width(self.aim)

    def update(self, successes: float, failures: float) -> ConfidenceSequence:
        """Add the outcomes of more draws."""
        if not (0 <= successes < math.inf and 0 <= failures < math.inf):
            raise InputError(
                "numbers of successes and failures are finite and not negative, not "
                f"{brief(successes)} and {brief(failures)}"
            )
        self.successes += successes
        self.failures += failures
        return self

    @property
    def interval(self) -> Interval:
        low, high = bounds(self.successes, self.failures, self.confidence, self.aim)
        n = self.successes + self.failures
        estimate = self.successes / n if n else math.nan
        return Interval(estimate, float(low), float(high), self.confidence)


def bounds(
    successes: ArrayLike, failures: ArrayLike, confidence: float = 0.95, aim: float | None = None
) -> tuple[Floats, Floats]:
    """The bounds of the interval after these numbers of successes and failures (any shape)."""
    S, F = np.broadcast_arrays(np.asarray(successes, float), np.asarray(failures, float))
    n = S + F
    share = np.divide(S, n, out=np.full(n.shape, 0.5), where=n > 0)
    limit = -math.log1p(-confidence)
    low = _border(np.zeros_like(share), share, S, F, limit, aim)
    high = _border(np.ones_like(share), share, S, F, limit, aim)
    return np.where(S > 0, low, 0.0), np.where(F > 0, high, 1.0)


def draws_needed(
    shares: ArrayLike, width: float, confidence: float = 0.95, since: int = 0
) -> int | None:
    """The first number of draws after which the interval is at most `width` wide; None if there is
    none.

    shares (n,): the share of successes of each draw, in the order of the draws. since: number of
    draws that is known to be too small. The interval is checked after fixed numbers of draws, so
    that the answer does not depend on the batches in which draws come.
    """
    _check_width(width)
    check_confidence(confidence)
    total = np.cumsum(np.asarray(shares, float))
    counts = _stops(len(total))
    counts = counts[counts > since]
    successes = total[counts - 1]
    low, high = bounds(successes, counts - successes, confidence, width)
    narrow = np.flatnonzero(high - low <= width)
    return int(counts[narrow[0]]) if len(narrow) else None


@dataclass
class MeanSequence(_Sequence):
    """Confidence sequence of the mean of values that lie between two known bounds.

    least, most: the bounds. The width adapts to the variance of the values (predictable plug-in
    empirical Bernstein).
    """

    least: float
    most: float
    confidence: float = 0.95
    count: int = field(default=0, init=False)
    _sum: float = field(default=0.0, init=False)
    _squares: float = field(default=0.0, init=False)
    _bets: float = field(default=0.0, init=False)
    _won: float = field(default=0.0, init=False)
    _cost: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if not -math.inf < self.least < self.most < math.inf:
            raise InputError(
                f"bounds are finite, the lower first, not {brief(self.least)} and "
                f"{brief(self.most)}"
            )

    def update(self, values: ArrayLike) -> MeanSequence:
        """Add values, in the order of the draws."""
        given = np.asarray(values, float).ravel()
        if not np.all((given >= self.least) & (given <= self.most)):
            raise InputError(f"a value lies outside the bounds {self.least:g} and {self.most:g}")
        x = (given - self.least) / (self.most - self.least)
        i = np.arange(self.count + 1, self.count + len(x) + 1)
        guess = (0.5 + self._sum + np.cumsum(x)) / (i + 1)
        spread = (0.25 + self._squares + np.cumsum((x - guess) ** 2)) / (i + 1)
        before = (0.5 + self._sum) / (self.count + 1)
        spread_before = (0.25 + self._squares) / (self.count + 1)
        expected = np.concatenate([[before], guess[:-1]])[: len(x)]
        variance = np.concatenate([[spread_before], spread[:-1]])[: len(x)]
        # Bets depend on earlier values alone.
        bet = np.sqrt(2 * math.log(2 / (1 - self.confidence)) / (variance * i * np.log1p(i)))
        bet = np.minimum(bet, _LARGEST_BET)
        self._bets += float(bet.sum())
        self._won += float(bet @ x)
        self._cost += float((x - expected) ** 2 @ (-np.log1p(-bet) - bet))
        self._sum += float(x.sum())
        self._squares += float(((x - guess) ** 2).sum())
        self.count += len(x)
        return self

    @property
    def interval(self) -> Interval:
        if not self.count:
            return Interval(math.nan, self.least, self.most, self.confidence)
        middle = self._won / self._bets
        half = (math.log(2 / (1 - self.confidence)) + self._cost) / self._bets
        low, high = max(middle - half, 0.0), min(middle + half, 1.0)
        span = self.most - self.least
        estimate = self._sum / self.count
        return Interval(
            self.least + span * estimate,
            self.least + span * low,
            self.least + span * high,
            self.confidence,
        )


def log_evidence(p: Floats, S: Floats, F: Floats, aim: float | None) -> Floats:
    """Logarithm of the evidence against the probability p, after S successes and F failures.

    The evidence is the likelihood ratio of a mixture over probabilities q to p. If p is the true
    probability, it is a martingale that starts at 1. So the probability that it ever reaches 1 /
    (1 - confidence) is at most 1 - confidence. If S and F are sums of shares x and 1 - x, it is
    below such a martingale, because x log a + (1 - x) log b <= log(x a + (1 - x) b).
    """
    from scipy.special import betaln, xlog1py, xlogy

    likelihood = xlogy(S, p) + xlog1py(F, -p)
    # Jeffreys' mixture, good at any width.
    plain = betaln(0.5 + S, 0.5 + F) - betaln(0.5, 0.5) - likelihood
    if aim is None:
        return np.asarray(plain)
    # A mixture about p itself, as wide as the interval is to be when it is `aim` wide.
    weight = np.maximum(p * (1 - p) / aim**2, 0.3 / aim)
    a, b = np.maximum(weight * p, 1e-300), np.maximum(weight * (1 - p), 1e-300)
    aimed = betaln(a + S, b + F) - betaln(a, b) - likelihood
    return np.asarray(np.logaddexp(math.log(AIMED) + aimed, math.log1p(-AIMED) + plain))


def _border(
    outside: Floats, inside: Floats, S: Floats, F: Floats, limit: float, aim: float | None
) -> Floats:
    """The probability between `inside` and `outside` at which the evidence reaches the limit,
    found by bisection and rounded outwards.
    """
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        refuted = log_evidence(middle, S, F, aim) >= limit
        outside = np.where(refuted, middle, outside)
        inside = np.where(refuted, inside, middle)
    return outside


def _stops(n: int) -> NDArray[np.int64]:
    """Numbers of draws up to n at which a sweep may stop."""
    k = np.arange(1, n + 1)
    octave = 2 ** np.floor(np.log2(np.maximum(k // _FINE, 1))).astype(np.int64)
    return np.asarray(k[k % octave == 0], dtype=np.int64)


def _check_width(width: float | None) -> None:
    if width is not None and not (isinstance(width, int | float) and 0 < width < 1):
        raise InputError(f"the width of an interval lies between 0 and 1, not {brief(width)}")
