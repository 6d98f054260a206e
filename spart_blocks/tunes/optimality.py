"""How good the end of a search is: what holds it there, and what each bound costs.

At the best design the slopes of what is largest of the objective, of the constraints without slack
and of the bounds of the parameters balance with multipliers that are not negative (Karush, Kuhn,
Tucker). They are found as non-negative least squares, and what is left of the balance tells how far
the design is from one that cannot be improved nearby. Source: J. Nocedal, S. J. Wright, "Numerical
Optimization" (2006), sections 12.3 and 12.8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from spart_blocks.gradients.tangents import Floats
from spart_blocks.tunes.demands import Demands, selection
from spart_blocks.tunes.problem import Point, Problem

ACTIVE = 1e-4
"""Slack, relative to the scale of a bound, below which a constraint is active. The search keeps a
part of it from each bound."""
HELD = 1e-6
"""Distance from a bound of a parameter, relative to that of its bounds, within which it is at it.
"""


@dataclass(frozen=True)
class Optimality:
    """What holds a design. prices: by the number of a demand, how much the objective changes with
    a unit of its bound. residual: what is left of the balance: how fast, in
    units of the objective, a unit of the parameters would make it fall; relative to its slope where
    that is larger than 1.
    """

    prices: Mapping[int, float]
    residual: float


def held(problem: Problem, values: Floats) -> Floats:
    """For each parameter -1 at its least value, 1 at its greatest, 0 between."""
    space = problem.space
    span = np.where(np.isfinite(space.high - space.low), space.high - space.low,
                    np.maximum(abs(values), 1e-300))  # fmt: skip
    low, high = values - space.low <= HELD * span, space.high - values <= HELD * span
    return np.where(high, 1.0, np.where(low, -1.0, 0.0))


def optimality(problem: Problem, demands: Demands, point: Point) -> Optimality | None:
    """That of a design with derivatives of all cases; None without these or an objective."""
    if point.slopes is None or not point.whole or not len(demands.weights):
        return None
    numbers = point.numbers
    slopes = point.slopes * _unit(problem, point.values)
    picked = selection(demands.of_cases(numbers), demands.aggregate) @ demands.weights
    heights = picked @ numbers
    tops = picked[heights >= heights.max() - ACTIVE * demands.size] @ slopes / demands.size
    pushes = [*_constraints(demands, numbers, slopes), *_bounds(problem, point.values)]
    columns = np.array([*tops, *(push for _, push in pushes)]).T
    multipliers, left = _balance(columns, len(tops))
    prices: dict[int, float] = {}
    for (number, _), multiplier in zip(pushes, multipliers[len(tops) :], strict=True):
        if number is not None:
            one = demands.demands[abs(number) - 1]
            price = -multiplier * np.sign(number) * demands.size / one.scale
            prices[abs(number) - 1] = prices.get(abs(number) - 1, 0.0) + float(price)
    return Optimality(prices, left)


def _constraints(demands: Demands, numbers: Floats, slopes: Floats) -> Iterator[tuple[int, Floats]]:
    """The slopes of active constraints, each with the number of its demand from 1 on, negative for
    the side of a least value."""
    for number, one in enumerate(demands.demands):
        picked = selection(one.excess(numbers), one.aggregate)
        off = picked @ (numbers[one.rows] - one.bound) / one.scale
        rows = picked @ slopes[one.rows] / one.scale
        for sign in (1, -1) if one.sign == 0 else (one.sign,):
            for row in rows[sign * off > -ACTIVE]:
                yield sign * (number + 1), sign * row


def _bounds(problem: Problem, values: Floats) -> Iterator[tuple[None, Floats]]:
    sides = held(problem, values)
    for k in np.flatnonzero(sides):
        yield None, sides[k] * np.eye(len(values))[k]


def _balance(columns: Floats, tops: int) -> tuple[Floats, float]:
    """The multipliers of columns (k, m), of which those of the first `tops` add up to 1; and what
    is left, relative to the slope of the objective."""
    weight = 1e3 * max(float(abs(columns).max(initial=0.0)), 1.0)
    row = np.where(np.arange(columns.shape[1]) < tops, weight, 0.0)
    whole, target = np.vstack([columns, row]), np.append(np.zeros(len(columns)), weight)
    multipliers, _ = nnls(whole, target)
    left = float(np.linalg.norm(columns @ multipliers))
    slope = float(np.linalg.norm(columns[:, :tops] @ multipliers[:tops]))
    return np.asarray(multipliers), left / max(slope, 1.0)


def _unit(problem: Problem, values: Floats) -> Floats:
    """What counts as a unit of each parameter."""
    span = problem.space.high - problem.space.low
    size = np.where(values != 0, abs(values), 1.0)
    return np.where(problem.space.log | ~np.isfinite(span), size, span)
