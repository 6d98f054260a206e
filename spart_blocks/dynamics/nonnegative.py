"""Nonnegative least squares by a fixed number of steps, for floats and symbols alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.base.spatial import Array, kind, solve_spd

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
