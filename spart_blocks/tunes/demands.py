"""What is asked of a design: an objective and constraints of the numbers of its cases.

All of it is linear in the numbers M (r,) of the terms. The objective of case c is f_c = a_c M with
weights of metrics, and a constraint with a bound b says sign (M_i - b) <= 0 in each case. Over the
cases, `worst` takes each of these, `mean` their average. A quantile q of K cases takes the best
ceil(q K) of them: which these are is fixed in a search, and chosen anew after it. The largest of
the chosen cannot be less than the quantile, and equals it where they were chosen, so that each
search lowers the quantile or leaves it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spart_blocks.diagram.sections.tune_section import Aggregate, Quantile
from spart_blocks.gradients.tangents import Floats
from spart_blocks.tunes.terms import Row

TIGHTER = 1e-6
"""A search keeps this distance from each bound, relative to its scale, so that what it finds is
within the bound in spite of rounding. An equality holds if it is met within it."""

LEAST_UNIT = 1e-6
"""Least unit of the objective, relative to its size at the start."""

Sign = Literal[1, -1, 0]


@dataclass(frozen=True, eq=False)
class Demand:
    """One bound of an element of a metric. rows (K,): its numbers in M, one for each case. sign: 1
    if it is the greatest value, -1 the least, 0 the only one. scale: what counts as a unit.
    """

    name: str
    element: int
    rows: NDArray[np.intp]
    sign: Sign
    bound: float
    scale: float
    aggregate: Aggregate

    def excess(self, numbers: Floats) -> Floats:
        """By how much each case is beyond the bound, relative to the scale (..., K)."""
        off = (numbers[..., self.rows] - self.bound) / self.scale
        return np.asarray(abs(off) - TIGHTER if self.sign == 0 else self.sign * off)

    def over_cases(self, numbers: Floats) -> Floats:
        """By how much the aggregate is beyond the bound (...); at most 0 where it holds."""
        if self.aggregate == "mean":
            mean = numbers[..., self.rows].mean(axis=-1)
            off = (mean - self.bound) / self.scale
            return np.asarray(abs(off) - TIGHTER if self.sign == 0 else self.sign * off)
        return aggregated(self.excess(numbers), self.aggregate)

    def deciding(self, numbers: Floats) -> int:
        """The case that decides the aggregate. numbers (r,)."""
        excess = self.excess(numbers)
        return int(np.argmin(abs(excess - self.over_cases(numbers))))

    def aggregated(self, numbers: Floats) -> float:
        """The metric of the case that decides, or its mean. numbers (r,)."""
        values = numbers[self.rows]
        return float(values.mean() if self.aggregate == "mean" else values[self.deciding(numbers)])


def aggregated(values: Floats, aggregate: Aggregate) -> Floats:
    """The aggregate of values (..., K) of cases; NaN if one of those that count is NaN."""
    if aggregate == "mean":
        return np.asarray(values.mean(axis=-1))
    if aggregate == "worst":
        return np.asarray(values.max(axis=-1))
    assert isinstance(aggregate, Quantile)
    return np.asarray(np.sort(values, axis=-1)[..., chosen_of(aggregate, values.shape[-1]) - 1])


def chosen_of(aggregate: Quantile, count: int) -> int:
    """How many of the cases count."""
    return max(1, int(np.ceil(aggregate.quantile * count - 1e-9)))


@dataclass(frozen=True, eq=False)
class Linear:
    """What one search is asked: to make small the sum of the largest rows of A M of each group,
    none of which counts below its floor, with B M <= b and C M = c; all of about unit size.

    group (a,): of each row of A. floors (g,): of each group.
    """

    A: Floats
    group: NDArray[np.intp]
    floors: Floats
    B: Floats
    b: Floats
    C: Floats
    c: Floats

    @staticmethod
    def largest(A: Floats, group: NDArray[np.intp], floors: Floats) -> Linear:
        """Without constraints."""
        none, nothing = np.zeros((0, A.shape[1])), np.zeros(0)
        return Linear(A, group, floors, none, nothing, none, nothing)


@dataclass(frozen=True, eq=False)
class Demands:
    """All that is asked. weights (K, r): of the objective of each case; without rows if there is
    no objective. size: what counts as a unit of it.
    """

    weights: Floats
    aggregate: Aggregate
    demands: tuple[Demand, ...]
    size: float

    @property
    def all_worst(self) -> bool:
        """Whether only the worst case counts of each."""
        aggregates = (self.aggregate, *(one.aggregate for one in self.demands))
        return all(one == "worst" for one in aggregates)

    def part(self, cases: Collection[int]) -> Demands:
        """What is asked of some cases alone."""
        some = sorted(cases)
        weights = self.weights[some] if len(self.weights) else self.weights
        demands = tuple(replace(one, rows=one.rows[some]) for one in self.demands)
        return replace(self, weights=weights, demands=demands)

    def deciding(self, numbers: Floats) -> set[int]:
        """The cases that decide the objective and each of the constraints. numbers (r,)."""
        cases = {one.deciding(numbers) for one in self.demands}
        return cases | ({int(self.of_cases(numbers).argmax())} if len(self.weights) else set())

    def of_cases(self, numbers: Floats) -> Floats:
        """The objective of each case (..., K)."""
        parts = np.where(self.weights != 0, self.weights * numbers[..., None, :], 0.0)
        return np.asarray(parts.sum(axis=-1))

    def objective(self, numbers: Floats) -> Floats:
        """The objective (...); 0 if there is none."""
        if not len(self.weights):
            return np.zeros(numbers.shape[:-1])
        return aggregated(self.of_cases(numbers), self.aggregate)

    def unit(self, numbers: Floats) -> float:
        """What counts as a unit of the objective at a design, (r,): its size there."""
        return max(abs(float(self.objective(numbers))), LEAST_UNIT * self.size)

    def violation(self, numbers: Floats) -> Floats:
        """The largest excess of all constraints (...); not above 0 if all hold."""
        if not self.demands:
            return np.where(np.isfinite(numbers).all(axis=-1), -np.inf, np.nan)
        return np.asarray(np.max([one.over_cases(numbers) for one in self.demands], axis=0))

    def linear(self, numbers: Floats, slopes: Floats) -> Linear:
        """What a search is asked from here, with an objective. numbers (r,), slopes (r, k): a
        constraint that depends on nothing here may be met without a distance.
        """
        r = len(numbers)
        A = selection(self.of_cases(numbers), self.aggregate) @ self.weights / self.unit(numbers)
        B, b, C, c = [np.zeros((0, r))], [np.zeros(0)], [np.zeros((0, r))], [np.zeros(0)]
        for one in self.demands:
            rows = self._rows(one, numbers)
            bounds = np.full(len(rows), one.bound / one.scale)
            if one.sign == 0:
                C.append(rows)
                c.append(bounds)
            else:
                rows = one.sign * rows
                least = np.where((rows @ slopes).any(axis=1), -np.inf, rows @ numbers)
                high = one.sign * bounds
                B.append(rows)
                b.append(np.minimum(high, np.maximum(high - TIGHTER, least)))
        group, floors = np.zeros(len(A), dtype=np.intp), np.array([-np.inf])
        return Linear(A, group, floors, np.concatenate(B), np.concatenate(b), np.concatenate(C),
                      np.concatenate(c))  # fmt: skip

    def feasibility(self, numbers: Floats, *, each: bool) -> Linear:
        """What a search is asked that only makes excesses small: the sum of those of all demands
        that are above zero, or the largest of them, also below zero. The bounds become part of the
        numbers: M is followed by a 1.
        """
        parts = []
        for one in self.demands:
            rows = self._rows(one, numbers)
            off = np.column_stack([rows, np.full(len(rows), -one.bound / one.scale)])
            high, low = off.copy(), -off
            high[:, -1] += TIGHTER if one.sign else 0.0
            low[:, -1] += TIGHTER if one.sign else 0.0
            parts.append({1: high, -1: low, 0: np.concatenate([high, low])}[one.sign])
        if not each:
            A = np.concatenate(parts)
            return Linear.largest(A, np.zeros(len(A), dtype=np.intp), np.array([-np.inf]))
        group = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return Linear.largest(np.concatenate(parts), group, np.zeros(len(parts)))

    def _rows(self, one: Demand, numbers: Floats) -> Floats:
        """What counts of a demand, as rows of M in units of its scale."""
        units = np.zeros((len(one.rows), len(numbers)))
        units[np.arange(len(one.rows)), one.rows] = 1 / one.scale
        return np.asarray(selection(one.excess(numbers), one.aggregate) @ units)


def selection(values: Floats, aggregate: Aggregate) -> Floats:
    """What counts of K cases, as a matrix (m, K) of which the largest of the products with their
    numbers is the aggregate: each case, those of the quantile, or their mean. values (K,): by
    which the cases of a quantile are chosen.
    """
    count = len(values)
    if aggregate == "mean":
        return np.full((1, count), 1 / count)
    if aggregate == "worst":
        return np.eye(count)
    assert isinstance(aggregate, Quantile)
    order = np.argsort(values, kind="stable")
    return np.eye(count)[np.sort(order[: chosen_of(aggregate, count)])]


def rows_of(rows: Sequence[Row], name: str) -> dict[int, NDArray[np.intp]]:
    """The rows of a metric by element, each an array of numbers of M in the order of the cases."""
    found: dict[int, list[tuple[int, int]]] = {}
    for k, row in enumerate(rows):
        if row.name == name:
            found.setdefault(row.element, []).append((row.case, k))
    return {element: np.array([k for _, k in sorted(some)], dtype=np.intp)
            for element, some in found.items()}  # fmt: skip
