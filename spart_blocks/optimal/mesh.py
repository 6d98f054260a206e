"""Meshes of collocation: intervals with polynomials through Radau's points.

Source: D. Garg et al., "A unified framework for the numerical solution of optimal control problems
using pseudospectral methods", Automatica 46 (2010); J. T. Betts, "Practical Methods for Optimal
Control and Estimation Using Nonlinear Programming", 2nd ed., SIAM 2010, ch. 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

JUST = 1e-9
"""Fraction of an interval that is just before its end."""


@cache
def radau(degree: int) -> Floats:
    """Radau's points (degree,) in (0, 1], the last of which is 1."""
    # Zeros of P_{d-1} - P_d in [-1, 1]; 1 is one of them.
    series = np.zeros(degree + 1)
    series[degree - 1], series[degree] = 1.0, -1.0
    zeros = np.sort(np.real(np.polynomial.legendre.legroots(series)))
    zeros[-1] = 1.0
    return np.asarray(0.5 * (zeros + 1.0))


@cache
def gauss(count: int) -> tuple[Floats, Floats]:
    """Gauss' points and weights in (0, 1)."""
    at, weight = np.polynomial.legendre.leggauss(count)
    return np.asarray(0.5 * (at + 1.0)), np.asarray(0.5 * weight)


def lagrange(nodes: Floats, at: Floats) -> Floats:
    """The values (len(at), n) of the polynomials that are 1 at one of n nodes, 0 at the others."""
    found = np.ones((len(at), len(nodes)))
    for j, own in enumerate(nodes):
        for k, other in enumerate(nodes):
            if k != j:
                found[:, j] *= (at - other) / (own - other)
    return found


def slopes(nodes: Floats, at: Floats) -> Floats:
    """The derivatives (len(at), n) of the same polynomials."""
    found = np.zeros((len(at), len(nodes)))
    for j, own in enumerate(nodes):
        for k, other in enumerate(nodes):
            if k == j:
                continue
            term = np.full(len(at), 1.0 / (own - other))
            for i, third in enumerate(nodes):
                if i not in (j, k):
                    term *= (at - third) / (own - third)
            found[:, j] += term
    return found


@cache
def weights(degree: int) -> Floats:
    """The weights of Radau's points in an integral over an interval of length 1."""
    nodes = radau(degree)
    at, weight = gauss(degree)
    return np.asarray(weight @ lagrange(nodes, at))


@dataclass(frozen=True, eq=False)
class Mesh:
    """borders (n + 1,): of n intervals, as fractions of a phase. degree: of the polynomials."""

    borders: Floats
    degree: int

    @property
    def n(self) -> int:
        """The number of intervals."""
        return len(self.borders) - 1

    @property
    def lengths(self) -> Floats:
        """Of the intervals (n,)."""
        return np.diff(self.borders)

    @property
    def points(self) -> int:
        """The number of points of collocation."""
        return self.n * self.degree

    @cached_property
    def times(self) -> Floats:
        """The points (points,), as fractions of the phase."""
        return self.inside(radau(self.degree))

    @cached_property
    def times_before(self) -> Floats:
        """The same, with those at ends of intervals just before them: what switches there has not
        switched."""
        inside = self.times.reshape(self.n, self.degree).copy()
        inside[:, -1] -= JUST * np.maximum(self.lengths, JUST)
        return inside.ravel()

    @cached_property
    def weights(self) -> Floats:
        """The weights of the points in an integral over the phase."""
        return np.outer(self.lengths, weights(self.degree)).ravel()

    def inside(self, parts: Floats) -> Floats:
        """The fractions of the phase at these fractions of each interval, (n * len(parts),)."""
        return (self.borders[:-1, None] + self.lengths[:, None] * parts).ravel()

    @cached_property
    def nodes(self) -> Floats:
        """The nodes of the states within an interval: its start, and the points."""
        return np.concatenate([[0.0], radau(self.degree)])

    def states_at(self, states: Floats, parts: Floats) -> Floats:
        """States (points + 1, m) at these fractions of each interval, (n, len(parts), m)."""
        table = lagrange(self.nodes, parts)
        return np.asarray(np.einsum("pj,kjm->kpm", table, self._by_interval(states)))

    def rates_at(self, states: Floats, parts: Floats) -> Floats:
        """The derivatives of the states by the fraction of the phase, likewise."""
        table = slopes(self.nodes, parts)
        rates = np.einsum("pj,kjm->kpm", table, self._by_interval(states))
        return np.asarray(rates / self.lengths[:, None, None])

    def controls_at(self, controls: Floats, parts: Floats) -> Floats:
        """Controls (points, m) at these fractions of each interval, (n, len(parts), m)."""
        own = controls.reshape(self.n, self.degree, -1)
        table = lagrange(radau(self.degree), parts)
        return np.asarray(np.einsum("pj,kjm->kpm", table, own))

    def _by_interval(self, states: Floats) -> Floats:
        first = np.arange(self.n)[:, None] * self.degree
        return np.asarray(states[first + np.arange(self.degree + 1)])

    def resampled(self, states: Floats, controls: Floats, other: Mesh) -> tuple[Floats, Floats]:
        """The states and controls at the points of another mesh."""
        at = other.times
        return self.read(states, np.concatenate([[0.0], at])), self.read_controls(controls, at)

    def read_controls(self, controls: Floats, at: Floats) -> Floats:
        """The controls (k, m) at fractions of the phase (k,)."""
        k, parts = self._found(at)
        table = controls.reshape(self.n, self.degree, -1)[k]
        return np.asarray(np.einsum("pj,pjm->pm", lagrange(radau(self.degree), parts), table))

    def read(self, states: Floats, at: Floats) -> Floats:
        """The states (k, m) at fractions of the phase (k,)."""
        k, parts = self._found(at)
        table = lagrange(self.nodes, parts)
        return np.asarray(np.einsum("pj,pjm->pm", table, self._by_interval(states)[k]))

    def _found(self, at: Floats) -> tuple[NDArray[np.intp], Floats]:
        """The interval of each fraction of the phase, and the fraction of that."""
        k = np.clip(np.searchsorted(self.borders, at, side="left") - 1, 0, self.n - 1)
        return k, (at - self.borders[k]) / self.lengths[k]

    def divided(self, pieces: NDArray[np.intp]) -> Mesh:
        """The mesh with each interval divided into so many pieces."""
        parts = [
            np.linspace(a, b, int(n) + 1)[:-1]
            for a, b, n in zip(self.borders[:-1], self.borders[1:], pieces, strict=True)
        ]
        return Mesh(np.concatenate([*parts, self.borders[-1:]]), self.degree)

    @cached_property
    def differences(self) -> tuple[Floats, Floats, Floats]:
        """Rows, columns and entries of the matrix (points + 1, points) that maps the states at all
        points to their derivatives by the fraction of the phase, times the interval's length."""
        d = self.degree
        table = slopes(self.nodes, radau(d))  # (d, d + 1)
        first = np.arange(self.n)[:, None, None] * d
        rows = np.broadcast_to(first + np.arange(d + 1)[None, None, :], (self.n, d, d + 1))
        columns = np.broadcast_to(first + np.arange(d)[None, :, None], (self.n, d, d + 1))
        entries = np.broadcast_to(table, (self.n, d, d + 1))
        return rows.ravel(), columns.ravel(), entries.ravel()
