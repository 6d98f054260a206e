"""What the errors of a fit say of its estimates.

Near the best values the errors are linear in what is estimated: with the derivatives J of the
weighted errors, the covariance of the estimates is s^2 (J^T J)^-1. Source: G. A. F. Seber, C. J.
Wild, "Nonlinear Regression" (1989), sections 2.1.2 and 5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm
from scipy.stats import t as student

from spart_blocks.fits.base_parameters import BaseParameter, Regrouped, regrouped
from spart_blocks.fits.free import Space
from spart_blocks.fits.search import Found
from spart_blocks.gradients.tangents import Floats

RESOLVED = 1e-7
"""Least singular value, relative to the largest, that is told from the errors of the runs."""
SHOWN = 0.05
"""Least part in a combination that is named."""
UNKNOWN = 1e-3
"""Least part in combinations that are not known of an entry that is not known."""
AT_BOUND = 1e-6
MOST_LAGS = 20


@dataclass(frozen=True)
class Combination:
    """What the measurements do not tell apart: entries that can change together, each by its part
    of its own size, with hardly an effect. strength: the effect relative to the strongest.
    """

    parts: tuple[tuple[str, float], ...]
    strength: float

    def __str__(self) -> str:
        named = ", ".join(f"{label} {part:+.2f}" for label, part in self.parts)
        if len(self.parts) == 1:
            return f"{self.parts[0][0]}: no measured signal depends on it"
        return f"they may change together, relative to their sizes: {named}"


@dataclass(frozen=True)
class Statistics:
    """Of k estimated entries. errors (k,): standard errors, NaN where nothing is known, 0 at a
    bound. low, high (k,): the interval. covariance (k, k). held (k,): whether at a bound. scale:
    the weighted errors' standard deviation, about 1 if the noise was given. combinations: of
    links those of their base parameters, `base`.
    """

    labels: tuple[str, ...]
    values: Floats
    errors: Floats
    low: Floats
    high: Floats
    covariance: Floats
    held: NDArray[np.bool_]
    scale: float
    freedom: int
    singular: Floats
    combinations: tuple[Combination, ...]
    base: tuple[BaseParameter, ...] = ()

    @property
    def correlation(self) -> Floats:
        """Of the estimates (k, k), NaN where nothing is known."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.covariance / np.outer(self.errors, self.errors)


def statistics_of(found: Found, confidence: float) -> Statistics:
    """Those of the end of a search."""
    space, values, J, log = found.problem.space, found.values, found.slopes, found.problem.space.log
    held = _held(found)
    free = np.flatnonzero(~held)
    freedom = max(len(found.residuals) - len(free), 1)
    scale = float(np.sqrt(found.residuals @ found.residuals / freedom))
    size = space.sizes(values)
    told = Told.of(space, values, J, free)
    known = told.linear if told.groups is None else Linear.of(J[:, free], size[free])
    k = len(values)
    covariance = np.zeros((k, k))
    if len(free):
        covariance[np.ix_(free, free)] = scale**2 * known.covariance
        unknown = free[known.unknown]
        covariance[unknown, :] = covariance[:, unknown] = np.nan
    base = tuple[BaseParameter, ...]()
    if told.groups is not None:
        n, unknown = len(told.apart), told.linear.unknown
        base = told.groups.parameters(scale**2 * told.linear.covariance[n:, n:])
        base = tuple(
            replace(one, error=np.nan) if n + k in unknown else one for k, one in enumerate(base)
        )
    errors = np.sqrt(np.diag(covariance))
    wide = student.ppf(0.5 * (1 + confidence), freedom) * errors
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        ratio = np.exp(np.where(log, wide / np.where(log, values, 1.0), 0.0))
    least = np.where(log, values / ratio, values - wide)
    most = np.where(log, values * ratio, values + wide)
    return Statistics(tuple(space.labels), values, errors, least, most, covariance, held, scale,
                      freedom, known.singular, told.combinations, base)  # fmt: skip


def _held(found: Found) -> NDArray[np.bool_]:
    """Which values (k,) are at a bound: so near that the rest of the way is nothing beside their
    range, or beside the size at the start where there is no range, and moves no error. What no
    error depends on is at none of the latter.
    """
    space, values = found.problem.space, found.values
    ranged = np.isfinite(space.high - space.low)
    size = np.maximum(abs(values), abs(space.sizes(space.start)))
    span = np.where(ranged, space.high - space.low, size)
    way = np.minimum(abs(values - space.low), abs(values - space.high))
    effect = np.linalg.norm(found.slopes, axis=0)
    with np.errstate(invalid="ignore"):  # no bound is far away, whatever the effect
        faint = way * effect <= AT_BOUND * np.linalg.norm(found.residuals)
    return np.asarray((way <= AT_BOUND * span) & (ranged | (faint & (effect > 0))))


@dataclass(frozen=True)
class Linear:
    """Linear errors with derivatives by k values. singular, V (k, k): of the derivatives by the
    values relative to their sizes. lost (k,): the singular values that are not told from zero.
    covariance (k, k): for errors of variance 1, of what is known. unknown: the values that are not.
    """

    singular: Floats
    V: Floats
    lost: NDArray[np.bool_]
    covariance: Floats
    unknown: NDArray[np.intp]

    @staticmethod
    def of(slopes: Floats, size: Floats) -> Linear:
        """Of errors with derivatives `slopes` (n, k) by values of sizes (k,)."""
        _, singular, V = np.linalg.svd(np.linalg.qr(slopes * size, mode="r"))
        lost = singular <= RESOLVED * singular.max(initial=0.0)
        kept = V[: len(singular)][~lost] / singular[~lost][:, None]
        covariance = (kept.T @ kept) * np.outer(size, size)
        unknown = np.flatnonzero(np.linalg.norm(V[: len(singular)][lost], axis=0) > UNKNOWN)
        return Linear(singular, V, lost, covariance, unknown)


@dataclass(frozen=True)
class Told:
    """What measurements may tell: `apart`, values that are of no link, then the base parameters of
    links, `groups`. names (r,) and sizes (r,) of them. linear: the errors as they depend on these.
    """

    names: tuple[str, ...]
    sizes: Floats
    linear: Linear
    apart: NDArray[np.intp]
    groups: Regrouped | None

    @staticmethod
    def of(space: Space, values: Floats, slopes: Floats, free: NDArray[np.intp]) -> Told:
        """Of errors with derivatives `slopes` (n, k) by the values, of which some are free."""
        apart, labels = free[~space.of_bodies[free]], space.labels
        names, sizes = [labels[k] for k in apart], space.sizes(values)[apart]
        effects = slopes[:, apart]
        groups = None
        if space.bodies:
            groups = regrouped(space, values, slopes)
            names += [f"{groups.robots[k]}.{groups.names[k]}" for k in groups.kept]
            sizes = np.concatenate([sizes, groups.sizes])
            effects = np.hstack([effects, groups.effects])
        return Told(tuple(names), sizes, Linear.of(effects, sizes), apart, groups)

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """What cannot be told apart."""
        one = self.linear
        strongest = one.singular.max(initial=1e-300)
        return tuple(_combination(self.names, one.V[j], one.singular[j] / strongest)
                     for j in np.flatnonzero(one.lost))  # fmt: skip


def _combination(labels: Sequence[str], parts: Floats, strength: float) -> Combination:
    order = np.argsort(-abs(parts), kind="stable")
    parts = parts * np.sign(parts[order[0]])
    named = [(labels[k], float(parts[k])) for k in order if abs(parts[k]) > SHOWN]
    return Combination(tuple(named), float(strength))


@dataclass(frozen=True)
class Whiteness:
    """Whether errors look like independent noise. correlation (lags,): of errors that many samples
    apart. p: how likely noise has correlations as large (Ljung and Box). bound: within which a
    correlation of noise lies in 95 of 100 cases.

    Source: G. M. Ljung, G. E. P. Box, "On a measure of lack of fit in time series models",
    Biometrika 65 (1978), equation 1.
    """

    correlation: Floats
    p: float
    bound: float


def whiteness(errors: Floats) -> Whiteness | None:
    """Of errors (n,) in order of time; None for fewer than 10, and for none at all."""
    n = len(errors)
    centred = errors - errors.mean()
    power = float(centred @ centred)
    if n < 10 or power <= 0:
        return None
    lags = min(MOST_LAGS, n // 5)
    r = np.array([float(centred[k:] @ centred[:-k]) / power for k in range(1, lags + 1)])
    Q = n * (n + 2) * float(np.sum(r**2 / (n - np.arange(1, lags + 1))))
    return Whiteness(r, float(chi2.sf(Q, lags)), float(norm.ppf(0.975) / np.sqrt(n)))
