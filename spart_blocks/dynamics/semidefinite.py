"""Solves that live with missing directions, for floats and symbols alike.

Planar robots have bodies without inertia about some axes, and Jacobians with rows of
zeros. Solutions here leave such directions alone; no branch on data is taken.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from spart_blocks.base.spatial import Array, eye, filled, kind, solve_spd, zeros

_NEGLIGIBLE = 1e-12
"""A pivot this far below the scale of its matrix is rounding."""
_TINY = 1e-200


def solve_semidefinite(a: Array, b: Array, scale: Array | None = None) -> Array:
    """x with a x = b for a symmetric positive semidefinite a (n,n) and b (n,) or (n,m) in
    its range.

    Pivots p of L D L' are inverted as p / (p^2 + d^2), d = 1e-12 scale: unknowns without a
    pivot stay zero, the others change by less than rounding where p > 1e-4 scale, and by
    d^2 / p^2 below. scale (1,): the size of what a was computed from, its trace by default.
    Source: Tikhonov's filter, applied to the pivots.
    """
    n, one_column = len(a), b.ndim == 1
    dtype = kind(a, b)
    a = a.astype(dtype)
    x: Array = (b.reshape(n, 1) if one_column else b).astype(dtype)
    size = _trace(a) if scale is None else scale
    floor = (_NEGLIGIBLE * size) ** 2 + _TINY
    inverses = []
    for k in range(n):
        pivot = a[k : k + 1, k : k + 1]
        inverses.append(pivot / (pivot * pivot + floor))
        factors = a[k + 1 :, k : k + 1] * inverses[k]
        a[k + 1 :, k:] = a[k + 1 :, k:] - factors * a[k : k + 1, k:]
        x[k + 1 :] = x[k + 1 :] - factors * x[k : k + 1]
    for k in reversed(range(n)):
        rest = a[k : k + 1, k + 1 :] @ x[k + 1 :] if k < n - 1 else zeros((1, x.shape[1]), x)
        x[k : k + 1] = (x[k : k + 1] - rest) * inverses[k]
    return x[:, 0] if one_column else x


def _trace(a: Array) -> Array:
    """(1,)"""
    return filled([sum(a[k, k] for k in range(len(a)))], a)


def least_squares(a: Array, b: Array, damping: Any = 0.0) -> Array:
    """The x (n,) nearest to a x = b, for a (m,n) and b (m,); the shortest where several are.

    damping: lambda of damped least squares, min |a x - b|^2 + lambda^2 |x|^2. Rows of a
    that are zero count for nothing. Where the rank of the others is below both their
    number and n, one of the nearest x, which need not be the shortest.
    Source: C. Wampler, "Manipulator inverse kinematic solutions based on vector
    formulations and damped least-squares methods", IEEE Trans. SMC 16 (1986).
    """
    rows = nonzero_rows(a)
    a, b = a[rows], b[rows]
    if len(a) <= a.shape[1]:
        return a.T @ solve_semidefinite(_gram(a, damping), b)
    return solve_semidefinite(_gram(a.T, damping), a.T @ b)


def _gram(a: Array, damping: Any) -> Array:
    return a @ a.T + damping**2 * eye(len(a))  # type: ignore[no-any-return]


def weighted_least_squares(a: Array, b: Array, weight: Array) -> Array:
    """The x of `least_squares` with the least x' weight x, weight (n,n) positive definite."""
    rows = nonzero_rows(a)
    a, b = a[rows], b[rows]
    if len(a) > a.shape[1]:
        return least_squares(a, b)
    share = solve_semidefinite(weight, a.T)
    return share @ solve_semidefinite(a @ share, b)


def nonzero_rows(a: Array) -> list[int]:
    """Which rows hold anything but zeros; of symbols, anything but the number zero."""
    return [k for k, row in enumerate(a.tolist()) if any(not _is_zero(x) for x in row)]


def _is_zero(x: Any) -> bool:
    return isinstance(x, Real) and x == 0


def row_space(samples: list[Array]) -> Array:
    """An orthonormal basis (k,m), one vector a row, of what matrices (m,n) reach together.

    A row of zeros in all of them is left out; unit vectors where all the others count.
    """
    whole = np.hstack(samples)
    sizes = np.linalg.norm(whole, axis=1)
    kept = np.flatnonzero(sizes > 1e-9 * sizes.max(initial=0.0))
    basis = np.eye(len(whole))[kept]
    if not len(kept):
        return basis
    U, s, _ = np.linalg.svd(whole[kept] / sizes[kept][:, None], full_matrices=False)
    rank = int(np.sum(s > 1e-9 * s[0]))
    return basis if rank == len(kept) else _spanned(U[:, :rank] * sizes[kept][:, None]) @ basis


def _spanned(columns: Array) -> Array:
    """An orthonormal basis (k,m) of the span of columns (m,k)."""
    return np.linalg.qr(columns)[0].T


_DAMPING = 1e-9
"""Of the solves, relative to the trace of B B'; the refinement takes it out again."""
_REFINEMENTS = 2
_LEVEL = 1e-9
"""A gradient smaller than this, relative to |w| and |B|, is rounding."""


def nonnegative_least_squares(B: Array, w: Array, steps: int) -> Array:
    """f (n,), nowhere negative, with the least |B f - w|, for B (m,n) of floats and w (m,).

    Lawson's and Hanson's method: a set of entries that may be positive grows by that with the
    steepest gradient, and loses those that a solve makes negative, which are met at zero. It ends
    after finitely many steps, mostly fewer than n; steps bounds them, and f is nowhere negative
    after any number. The solves have m unknowns whatever the set is, so symbols need no branch.

    Source: C. Lawson and R. Hanson, "Solving Least Squares Problems" (1974), ch. 23, NNLS.
    """
    (m, n), size = B.shape, float(np.sum(B * B))
    f, free = np.zeros(n) + 0.0 * w[0], np.zeros(n) + 0.0 * w[0]
    least = _LEVEL * np.sqrt(size * np.sum(w * w))
    for _ in range(steps):
        damped = (B * free) @ B.T + _DAMPING * size * np.eye(m)
        z = 0.0 * f
        for _ in range(_REFINEMENTS):
            z = z + free * (B.T @ solve_spd(damped, w - B @ z, "the matrix of the thrusters"))
        below = np.where(np.logical_and(free > 0.5, z <= 0.0), 1.0, 0.0)
        blocked = np.max(below) > 0.5
        reach = np.where(below > 0.5, f / np.where(below > 0.5, f - z + 1e-300, 1.0), np.inf)
        part = np.where(blocked, np.min(reach), 1.0)
        meets = np.logical_and(below > 0.5, reach <= part)
        f = np.where(meets, 0.0, f + part * (z - f))
        free = np.where(meets, 0.0, free)
        steep = np.where(free > 0.5, -1.0, B.T @ (w - B @ f))
        grows = np.logical_and(np.logical_not(blocked), np.max(steep) > least)
        if kind(f, w, B) is float and not (blocked or grows):
            break  # of numbers: nothing would change any more
        free = np.where(np.logical_and(_first_largest(steep), grows), 1.0, free)
    out: Array = np.maximum(f, 0.0)
    return out


def _first_largest(values: Array) -> Any:
    """True for the largest entry (n,), for the first of several."""
    most, out = np.max(values), []
    earlier: Any = 0.0
    for k in range(len(values)):
        here = np.where(values[k] >= most, 1.0, 0.0) * (1.0 - earlier)
        earlier = earlier + here
        out.append(here)
    return np.stack(out) > 0.5
