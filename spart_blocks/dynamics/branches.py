"""Solving with an inertia matrix of a branched tree, without fill-in.

Only a body's own path to the base couples with it, and L' D L, made from the tips, keeps
that so. Stuck rates drop out by an inverse pivot of zero, whatever sticks.

Source: R. Featherstone, "Efficient factorization of the joint-space inertia matrix for
branched kinematic trees", International J. Robotics Research 24 (2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spart_blocks.base.errors import SingularInertiaError

Row = dict[int, Any]  # of a sparse matrix: its entries by place


@dataclass(frozen=True)
class BranchFactor:
    """L, row by row without its unit diagonal, and 1 / D; above: as given to `factor`."""

    L: list[Row]
    inverse: list[Any]
    above: tuple[tuple[int, ...], ...]

    def half(self, b: Row) -> Row:
        """y with L' y = b, both sparse."""
        y = dict(b)
        for i in sorted({i for k in b for i in (k, *self.above[k])}, reverse=True):
            if i in y:
                for j in self.above[i]:
                    y[j] = y.get(j, 0.0) - self.L[i][j] * y[i]
        return y

    def whole(self, y: Row) -> list[Any]:
        """x with L x = D^-1 y."""
        x: list[Any] = []
        for i, inverse in enumerate(self.inverse):
            total = y[i] * inverse if i in y else 0.0
            for j in self.above[i]:
                total = total - self.L[i][j] * x[j]
            x.append(total)
        return x

    def product(self, a: Row, b: Row) -> Any:
        """a' D^-1 b of two halves."""
        total: Any = 0.0
        for i in a if len(a) < len(b) else b:
            if i in a and i in b:
                total = total + a[i] * self.inverse[i] * b[i]
        return total


def factor(
    rows: list[Row],
    diagonal: list[Any],
    above: tuple[tuple[int, ...], ...],
    free: list[Any] | None = None,
    what: str = "the inertia matrix",
) -> BranchFactor:
    """L' D L of a symmetric matrix.

    rows: its entries left of the diagonal, for those places only that are above a row:
    nearest first on its path to the base, so that the last place of a path has the lowest
    number. free: 0 where a rate is stuck, else 1. Raises SingularInertiaError for floats
    that are not positive definite.
    """
    rows, diagonal = [dict(row) for row in rows], list(diagonal)
    inverse: list[Any] = [0.0] * len(rows)
    whole = list(diagonal)
    for k in reversed(range(len(rows))):
        pivot = diagonal[k]
        if isinstance(pivot, float) and not pivot > 1e-13 * abs(whole[k]):
            raise SingularInertiaError(f"{what} is singular")
        inverse[k] = (1.0 if free is None or free[k] is None else free[k]) / pivot
        row, path = rows[k], above[k]
        for n, i in enumerate(path):
            gain = row[i] * inverse[k]
            diagonal[i] = diagonal[i] - gain * row[i]
            for j in path[n + 1 :]:
                rows[i][j] = rows[i][j] - gain * row[j]
        rows[k] = {i: row[i] * inverse[k] for i in path}
    return BranchFactor(rows, inverse, above)
