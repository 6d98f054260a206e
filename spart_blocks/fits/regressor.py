"""Errors that are linear in what is searched, as torques are in the inertial parameters of links.

Torques of a measured motion are Y(q, q', q'') pi, with pi the linear parameters of inertial.py.
From one factorisation of the regressor Y, a search needs no more of the measurements than a square
matrix. Source: M. Gautier, W. Khalil, "Exciting trajectories for the identification of base
inertial parameters of robots", Int. J. Robotics Research 11 (1992), section 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spart_blocks.fits.free import Space
from spart_blocks.fits.problem import Problem
from spart_blocks.gradients.stateless import is_stateless
from spart_blocks.gradients.tangents import Floats

LINEAR = 1e-9
"""Largest difference of linear errors, relative to their changes."""
AWAY = 0.01
"""How far from the start linearity is looked at, as a fraction of the values."""


@dataclass(frozen=True)
class Regressor:
    """Errors (m,) as R (m, k) times the changes of linear parameters (k,) from `origin`, and `part`
    (m,): as long as those of all `count` measurements, and only one more than there are parameters.
    """

    space: Space
    origin: Floats
    R: Floats
    part: Floats
    count: int

    def errors(self, values: Floats) -> tuple[Floats, Floats]:
        """Errors (m,) at some values, and their derivatives (m, k) by these."""
        errors = self.part + self.R @ (self.space.linear(values) - self.origin)
        return errors, self.R @ np.linalg.inv(self.space.by_linear(values))


def regressor_of(
    problem: Problem, values: Floats, residuals: Floats, slopes: Floats
) -> Regressor | None:
    """The regressor of a problem whose errors are linear, with the errors (n,) at some values and
    their derivatives (n, k); None for others, which have states or are not linear.
    """
    space = problem.space
    if not space.bodies or not all(is_stateless(trial.engine) for trial in problem.used):
        return None
    origin, whole = space.linear(values), slopes @ space.by_linear(values)
    other = np.clip(values + AWAY * abs(space.sizes(values)), space.low, space.high)
    for body, part in space.bodies:
        other[part] = body.values(body.searched(values[part]) + AWAY)
    errors, there = problem.residuals(other)
    moved, shift = whole @ (space.linear(other) - origin), errors - residuals
    size = float(np.linalg.norm(whole))
    again = there @ space.by_linear(other)
    if not (
        np.linalg.norm(moved - shift) <= LINEAR * np.linalg.norm(shift)
        and np.linalg.norm(again - whole) <= LINEAR * size
    ):
        return None
    R = np.asarray(np.linalg.qr(np.column_stack([whole, residuals]), mode="r"))
    return Regressor(space, origin, R[:, :-1], R[:, -1], len(residuals))
