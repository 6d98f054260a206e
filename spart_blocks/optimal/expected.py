"""What measurements of an optimum's motion would tell: the expected errors of estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.optimal.functions import PhaseFunctions
from spart_blocks.optimal.information import Basis, upper
from spart_blocks.optimal.mesh import Floats, gauss
from spart_blocks.optimal.problem import Problem
from spart_blocks.optimal.transcription import Motion
from spart_blocks.sweeps.statistics.tables import TextTable

LEAST = 1e-12
"""Least eigenvalue of the information that is told from rounding, scaled to a diagonal of 1."""


@dataclass(frozen=True, eq=False)
class Expected:
    """What b values, of links their base parameters, could be estimated to from one run. names,
    values, sums: what they are, and of what base parameters are sums. covariance (b, b): the least
    of estimates. value: the logarithm of the determinant of the information of the values relative
    to their sizes.
    """

    names: tuple[str, ...]
    values: Floats
    sums: tuple[str, ...]
    covariance: Floats
    value: float

    @staticmethod
    def of(
        problem: Problem, basis: Basis, functions: Sequence[PhaseFunctions], motion: Motion
    ) -> Expected:
        """That of a motion with derivatives of its states."""
        M = sum(part.sum(axis=0) for part in parts_of(problem, functions, motion, fine=True))
        covariance = np.linalg.inv(M) * np.outer(basis.sizes, basis.sizes)
        value = float(np.linalg.slogdet(M)[1])
        return Expected(basis.names, basis.values, basis.sums, covariance, value)

    @property
    def errors(self) -> Floats:
        """The expected standard deviations (b,) of the estimates, in their units."""
        return np.sqrt(np.diag(self.covariance))

    def plain(self) -> dict[str, Any]:
        """What a file of an optimum has of it."""
        return {
            "value": self.value,
            "parameters": [
                {"name": name, "value": value, "error": error, **({"sum": text} if text else {})}
                for name, value, error, text in zip(
                    self.names, self.values.tolist(), self.errors.tolist(), self.sums, strict=True
                )
            ],
            "covariance": self.covariance.tolist(),
        }

    def table(self) -> TextTable:
        """Each value with its expected standard deviation."""
        rows = []
        several = any(self.sums)
        for name, value, error, text in zip(
            self.names, self.values, self.errors, self.sums, strict=True
        ):
            share = f"{100 * error / abs(value):.3g} %" if abs(value) > error else ""
            rows.append((name, f"{value:.7g}", f"{error:.2g}", share, *([text] if several else [])))
        head = ("estimated", "value", "expected error", "", *(["sum"] if several else []))
        return TextTable(head, rows)


Points = tuple[tuple[Floats, Floats, Floats, Floats], Floats]
"""The arguments (t, x, u, q) of a phase's functions at n points, and weights (n,) of an integral
over time."""


def at_points(problem: Problem, motion: Motion, *, fine: bool = False) -> list[Points]:
    """The arguments in each phase, at the points of its mesh or, fine, at more of each interval."""
    found = []
    for phase, one, t0 in zip(problem.phases, motion.phases, motion.starts, strict=True):
        mesh = one.mesh
        times, weights, x, u = mesh.times, mesh.weights, one.x[1:], one.u
        if fine:
            parts, weight = gauss(mesh.degree + 2)
            times = mesh.inside(parts)
            weights = np.outer(mesh.lengths, weight).ravel()
            x = mesh.states_at(one.x, parts).reshape(len(times), -1)
            u = mesh.controls_at(one.u, parts).reshape(len(times), -1)
            u = np.clip(u, phase.low, phase.high)
        q = np.tile(motion.q[:, None], (1, len(times)))
        found.append((((t0 + one.T * times)[None], x.T, u.T, q), one.T * weights))
    return found


def information_errors(
    problem: Problem, functions: Sequence[PhaseFunctions], motion: Motion
) -> list[Floats]:
    """By how much the points of the mesh miss the information of each interval, by phase, relative
    to the whole information along any sum of the parameters."""
    fine, coarse = (parts_of(problem, functions, motion, fine=one) for one in (True, False))
    whole = np.asarray(sum(part.sum(axis=0) for part in fine))
    size = np.sqrt(np.diag(whole))
    values, axes = np.linalg.eigh(whole / np.outer(size, size))
    to_unit = axes / np.sqrt(np.maximum(values, LEAST)) / size[:, None]
    return [np.linalg.norm(to_unit.T @ (a - b) @ to_unit, ord=2, axis=(1, 2))
            for a, b in zip(fine, coarse, strict=True)]  # fmt: skip


def parts_of(
    problem: Problem, functions: Sequence[PhaseFunctions], motion: Motion, *, fine: bool
) -> list[Floats]:
    """The Fisher information of each interval (n, b, b), by phase, from the points of the mesh or
    from more of them."""
    b = functions[0].slopes.size2_out(0)
    rows, columns = upper(b)
    found = []
    at = at_points(problem, motion, fine=fine)
    for f, one, (given, weights) in zip(functions, motion.phases, at, strict=True):
        values = np.array(f.information.map(len(weights))(*given)) * weights
        sums = values.reshape(len(values), one.mesh.n, -1).sum(axis=2)
        M = np.zeros((one.mesh.n, b, b))
        M[:, rows, columns] = M[:, columns, rows] = sums.T
        found.append(M)
    return found
