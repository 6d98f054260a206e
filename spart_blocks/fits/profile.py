"""Profiles: how much worse the errors get as one estimate is moved and the others follow.

Where a model is far from linear, the interval of a profile is right and that of standard errors is
not. Source: D. M. Bates, D. G. Watts, "Nonlinear Regression Analysis and Its Applications" (1988),
section 6.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import t as student

from spart_blocks.base.errors import Fault, InputError, RunError, did_you_mean
from spart_blocks.diagram.sections.fit_section import FitSection
from spart_blocks.fits.free import Space
from spart_blocks.fits.search import Found, with_fixed
from spart_blocks.fits.statistics import Statistics
from spart_blocks.gradients.tangents import Floats

MOST_POINTS = 24
"""Largest number of values to each side."""
STRIDE = 0.5
"""The first step, in standard errors."""
BLIND = 0.1
"""The same as a fraction of the value where no standard error is known."""


@dataclass(frozen=True)
class Profile:
    """Of one estimate. values (n,): ascending. rise (n,): how much the cost rises, as a multiple of
    the variance of the errors; its square root is that of a Student variable. low, high: the
    interval; a side that the data leave open is infinite. limit: the rise at its ends.
    """

    label: str
    values: Floats
    rise: Floats
    low: float
    high: float
    limit: float

    def __str__(self) -> str:
        ends = (f"{end:.5g}" if np.isfinite(end) else "open" for end in (self.low, self.high))
        return f"{self.label}: {' to '.join(ends)}"


def check_profiles(space: Space, names: Sequence[str]) -> None:
    """Refuse names of no estimate, and of links' inertial parameters."""
    for name in names:
        if name not in space.labels:
            hint = did_you_mean(name, space.labels)
            raise InputError(Fault(f"the fit has no estimate {name!r}", hint=hint))
        if space.of_bodies[space.labels.index(name)]:
            text = f"{name} has no profile: the inertial parameters of a link are searched together"
            raise InputError(Fault(text, hint="the base parameters have standard errors"))


def profile_of(found: Found, statistics: Statistics, section: FitSection, k: int) -> Profile:
    """The profile of entry k."""
    best = float(found.residuals @ found.residuals)
    limit = float(student.ppf(0.5 * (1 + section.confidence), statistics.freedom)) ** 2
    here, error = float(found.values[k]), float(statistics.errors[k])
    stride = STRIDE * error if np.isfinite(error) and error > 0 else BLIND * (abs(here) or 1.0)
    level = best, limit, statistics.scale
    least, most = float(found.problem.space.low[k]), float(found.problem.space.high[k])
    below, low = _side(found, section, k, (here, -stride, least), level)
    above, high = _side(found, section, k, (here, stride, most), level)
    points = [*reversed(below), (here, 0.0), *above]
    values, rise = np.array(points).T
    return Profile(statistics.labels[k], values, rise, low, high, limit)


def _side(
    found: Found,
    section: FitSection,
    k: int,
    way: tuple[float, float, float],
    level: tuple[float, float, float],
) -> tuple[list[tuple[float, float]], float]:
    """The points to one side, and where the limit is met. way: the estimate, the first step and the
    bound. level: the least sum of squares, the limit, and the standard deviation of the errors.
    """
    here, step, bound = way
    best, limit, scale = level
    points: list[tuple[float, float]] = []
    last, end = found, here
    for _ in range(MOST_POINTS):
        at = end + step
        at = max(at, bound) if step < 0 else min(at, bound)
        if bool(found.problem.space.log[k]) and at <= 0:
            at = 0.5 * end
        try:
            last = with_fixed(replace(last, problem=found.problem), section, k, at)
        except RunError:
            return points, step * np.inf
        rise = max((float(last.residuals @ last.residuals) - best) / scale**2, 0.0)
        before = points[-1] if points else (here, 0.0)
        points.append((at, rise))
        if rise >= limit:  # the root of the rise is nearly a line
            low, high = np.sqrt(before[1]), np.sqrt(rise)
            part = (np.sqrt(limit) - low) / max(high - low, 1e-300)
            return points, float(before[0] + part * (at - before[0]))
        if at == bound:
            return points, bound
        end, step = at, step * (2.0 if rise < 0.25 * limit * len(points) / MOST_POINTS else 1.0)
    return points, step * np.inf
