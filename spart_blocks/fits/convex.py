"""The best physical bodies where errors are linear: a convex problem, solved by Newton's method.

The squares of linear errors and the divergence of each body from that at the start are least,

    1/2 |R (pi - pi0) + c|^2 + mu sum D(J, J0)      D = tr(J0^-1 J) - log det(J0^-1 J) - 4

The divergence keeps each pseudo-inertia J positive definite and decides what the errors leave open.
mu falls to a value below the noise, or to that of a prior. Source: T. Lee, P. M. Wensing, F. C.
Park, "Geometric Robot Dynamic Identification: A Convex Programming Approach", IEEE Trans. Robotics
36 (2020), section IV; the steps are those of S. Boyd, L. Vandenberghe, "Convex Optimization"
(2004), algorithm 9.5, with mu as the weight of their barrier.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spart_blocks.fits.inertial import UNITS
from spart_blocks.fits.regressor import Regressor
from spart_blocks.gradients.tangents import Floats

LEAST_WEIGHT = 1e-3
"""mu at the end without a prior: a divergence of 1 counts as so much of the noise's variance, which
is that of the errors."""
RESOLVED = 1e-16
"""Least mu, as a fraction of that at the start: errors without noise."""
FALL = 0.1
"""By which mu falls from round to round."""
SETTLED = 1e-8
"""Newton's decrement, relative to mu, at which a round ends."""
MOST_STEPS = 60
"""Largest number of steps in a round."""
ENOUGH = 0.25
"""Part of the fall that a step foresees, with which it is taken."""

Seen = Callable[[Floats], None]
"""Called with the values after each round."""


def best_bodies(
    regressor: Regressor, values: Floats, prior: float | None, moving: NDArray[np.intp], seen: Seen
) -> Floats:
    """The values (k,) with the least squares, from those at the start. prior: how far, as a
    fraction, the start may be wrong. moving: the entries that are searched, of which all those of
    links are.
    """
    space = regressor.space
    weight = LEAST_WEIGHT if prior is None else 0.25 / prior**2
    problem = _Convex.of(regressor, values, moving)
    u = np.zeros(len(values))
    mu = first = float(np.max(np.sum(problem.R**2, axis=0), initial=0.0))
    while True:
        u = problem.best(u, mu)
        found = space.of_linear(problem.start + problem.size * u)
        seen(found)
        errors = problem.R @ u + problem.c
        last = max(weight * float(errors @ errors) / regressor.count, RESOLVED * first)
        if mu <= last:
            return found
        mu = max(mu * FALL, last)


@dataclass(frozen=True)
class _Convex:
    """The problem in changes u (k,) of the linear parameters from `start`, relative to `size`.

    R (m, k), c (m,): errors R u + c. bodies: of each link its entries, its pseudo-inertia at the
    start, the inverse of that, and the directions (10, 4, 4) of its parameters.
    """

    start: Floats
    size: Floats
    R: Floats
    c: Floats
    moving: NDArray[np.intp]
    bodies: tuple[tuple[slice, Floats, Floats, Floats], ...]

    @staticmethod
    def of(regressor: Regressor, values: Floats, moving: NDArray[np.intp]) -> _Convex:
        space = regressor.space
        start = space.linear(values)
        size = abs(space.sizes(values))
        bodies: list[tuple[slice, Floats, Floats, Floats]] = []
        for body, part in space.bodies:
            size[part] = body.linear_sizes(values[part])
            J = np.tensordot(start[part], UNITS, 1)
            inverse: Floats = np.asarray(np.linalg.inv(J), float)
            bodies.append((part, J, inverse, size[part][:, None, None] * UNITS))
        c = regressor.part + regressor.R @ (start - regressor.origin)
        return _Convex(start, size, regressor.R * size, c, moving, tuple(bodies))

    def best(self, u: Floats, mu: float) -> Floats:
        """The best changes for this weight, from others."""
        for _ in range(MOST_STEPS):
            slope, bend = self.derivatives(u, mu)
            step = np.zeros(len(u))
            step[self.moving] = -np.linalg.lstsq(bend, slope, rcond=None)[0]
            fall = -float(slope @ step[self.moving])
            length, now = 1.0, self.value(u, mu)
            while self.value(u + length * step, mu) > now - ENOUGH * length * fall:
                length *= 0.5
                if length < 1e-10:
                    return u
            u = u + length * step
            if fall <= SETTLED * mu:
                return u
        return u

    def value(self, u: Floats, mu: float) -> float:
        """What is made small; infinite where a body is none."""
        errors = self.R @ u + self.c
        total = 0.5 * float(errors @ errors)
        for part, J0, inverse, turns in self.bodies:
            J = J0 + np.tensordot(u[part], turns, 1)
            try:
                factor = np.linalg.cholesky(J)
            except np.linalg.LinAlgError:
                return np.inf
            total += mu * float(np.sum(inverse * J) - 2 * np.log(np.diag(factor)).sum())
        return total

    def derivatives(self, u: Floats, mu: float) -> tuple[Floats, Floats]:
        """Its first (m,) and second (m, m) derivatives by the entries that move."""
        slope = self.R.T @ (self.R @ u + self.c)
        bend = self.R.T @ self.R
        for part, J0, inverse, turns in self.bodies:
            now = np.linalg.inv(J0 + np.tensordot(u[part], turns, 1))
            slope[part] += mu * np.tensordot(turns, inverse - now, 2)
            turned = now @ turns
            bend[part, part] += mu * np.einsum("iab,jba->ij", turned, turned)
        return slope[self.moving], bend[np.ix_(self.moving, self.moving)]
