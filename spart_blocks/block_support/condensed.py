"""Model predictive control as a quadratic program of the inputs over the horizon (condensed), and
steps of the alternating direction method of multipliers (ADMM) for it.

The inputs are u_k = c_k - K x_k with the gain of the regulator: predictions of an unstable plant
stay bounded, and the program well conditioned. All matrices are constant; only the steps run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base.spatial import Array

RELAXATION = 1.6
"""Of ADMM: Boyd et al. (2011), sec. 3.4.3, and OSQP."""


@dataclass(frozen=True)
class Predictions:
    """x_1 ... x_N as X = Xx x + Xc c, and u_0 ... u_(N-1) as U = Ux x + Uc c.

    Xx (N n, n), Xc (N n, N m), Ux (N m, n), Uc (N m, N m).
    """

    Xx: Array
    Xc: Array
    Ux: Array
    Uc: Array


def predictions(A: Array, B: Array, K: Array, N: int) -> Predictions:
    """The motion of x' = A x + B u with u = c - K x over N ticks.

    Source: J. Rossiter, B. Kouvaritakis and M. Rice, "A numerically robust state-space approach to
    stable-predictive control strategies", Automatica 34 (1998).
    """
    n, m = B.shape
    by_x, by_c = np.eye(n), np.zeros((n, N * m))
    rows: list[list[Array]] = [[], [], [], []]
    for k in range(N):
        picked = np.eye(m, N * m, k * m)
        u_x, u_c = -K @ by_x, picked - K @ by_c
        by_x, by_c = A @ by_x + B @ u_x, A @ by_c + B @ u_c
        for row, part in zip(rows, (by_x, by_c, u_x, u_c), strict=True):
            row.append(part)
    return Predictions(*(np.concatenate(row) for row in rows))


@dataclass(frozen=True)
class QuadraticProgram:
    """min c' H c / 2 + (F s)' c with G c + E s within bounds, of data s. H (k, k), F (k, d),
    G (r, k), E (r, d).
    """

    H: Array
    F: Array
    G: Array
    E: Array


@dataclass(frozen=True)
class Cost:
    """Weights of the state Q, the input R, its change S, and the last state P."""

    Q: Array
    R: Array
    S: Array
    P: Array


def condensed(
    ahead: Predictions, cost: Cost, N: int, rows: Mapping[str, Array]
) -> QuadraticProgram:
    """The program of c, of the data s = (x, xd, uff, the input before).

    rows: what is bounded, by name: "u" of the inputs and "rate" of their changes, each a matrix of
    m columns; "y" of the states, of n columns. Each is taken at all ticks of the horizon.
    Source: J. Maciejowski, "Predictive Control with Constraints" (2002), sec. 2.6 and 3.1.
    """
    n, m = ahead.Xx.shape[1], ahead.Ux.shape[0] // N
    change = np.eye(N * m) - np.eye(N * m, k=-m)
    before = np.vstack([-np.eye(m), np.zeros(((N - 1) * m, m))])
    wide = {"x": n, "xd": n, "uff": m, "before": m}

    def of(**parts: Array) -> Array:
        """Columns for s, of those for its parts."""
        size = len(next(iter(parts.values())))
        return np.hstack([parts.get(name, np.zeros((size, k))) for name, k in wide.items()])

    X = ahead.Xc, of(x=ahead.Xx, xd=-np.tile(np.eye(n), (N, 1)))
    U = ahead.Uc, of(x=ahead.Ux, uff=-np.tile(np.eye(m), (N, 1)))
    moved = change @ ahead.Uc, of(x=change @ ahead.Ux, before=before)
    Qs, Rs, Ss = (np.kron(np.eye(N), weight) for weight in (cost.Q, cost.R, cost.S))
    Qs[-n:, -n:] = cost.P
    H, F = (
        2 * (X[0].T @ Qs @ X[k] + U[0].T @ Rs @ U[k] + moved[0].T @ Ss @ moved[k]) for k in (0, 1)
    )
    bounded = {
        "u": (ahead.Uc, of(x=ahead.Ux)),
        "rate": moved,
        "y": (ahead.Xc, of(x=ahead.Xx)),
    }
    taken = [
        [np.kron(np.eye(N), matrix) @ bounded[name][k] for name, matrix in rows.items()]
        for k in (0, 1)
    ]
    G, E = (
        np.vstack([np.zeros((0, like.shape[1])), *parts])
        for like, parts in zip((ahead.Uc, F), taken, strict=True)
    )
    return QuadraticProgram(H, F, G, E)


@dataclass(frozen=True)
class AdmmSteps:
    """Steps of ADMM for a program: c = back (z - v) + free s minimises with G c + E s near z - v;
    w = G c + E s relaxed; z = the nearest to w + v within the bounds; v = v + w - z. v are the
    multipliers, divided by the penalty rho.

    back (k, r), free (k, d), W = G back (r, r), W0 = G free + E (r, d), rho (r,). Without the
    penalty the multipliers alone give w = alone s + dual v: dual (r, r), alone (r, d).
    """

    back: Array
    free: Array
    W: Array
    W0: Array
    dual: Array
    alone: Array
    rho: Array

    @classmethod
    def of(cls, program: QuadraticProgram, penalty: float) -> AdmmSteps:
        """The penalty of each row is relative to its curvature, 1/(g H^-1 g').

        Source: S. Boyd et al., "Distributed Optimization and Statistical Learning via the
        Alternating Direction Method of Multipliers" (2011), sec. 5.2; P. Giselsson and S. Boyd,
        "Diagonal Scaling in Douglas-Rachford Splitting and ADMM" (2014), on the penalty.
        """
        H, F, G, E = program.H, program.F, program.G, program.E
        bent = np.linalg.solve(H, G.T)
        curvature = np.einsum("ij,ji->i", G, bent)
        # A row that no input moves has none, and any penalty does.
        rho = penalty / np.maximum(curvature, 1e-9 * curvature.max(initial=1e-300))
        inner = H + G.T @ (rho[:, None] * G)
        back = np.linalg.solve(inner, G.T * rho)
        free = -np.linalg.solve(inner, F) - back @ E
        alone = E - G @ np.linalg.solve(H, F)
        return cls(back, free, G @ back, G @ free + E, -G @ bent * rho, alone, rho)


@dataclass(frozen=True)
class Horizon:
    """What a tick solves. steps: with `back` and `free` of the first tick only, (m, r) and (m, d).
    give (r,): how far each row yields outside its bounds. entry (r,): for each row the entry of the
    bounds (q,) that it has, which are the same at all ticks. count: number of steps.
    """

    steps: AdmmSteps
    give: Array
    entry: Array
    q: int
    count: int

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The numbers m of inputs, r of rows and d of data."""
        return *self.steps.back.shape, self.steps.free.shape[1]

    def nearest(self, w: Any, low: Any, high: Any) -> Any:
        """The nearest to w (r,) within the bounds of the rows."""
        inside = np.minimum(np.maximum(w, low), high)
        return inside + self.give * (w - inside)


def optimised(horizon: Horizon, given: Any) -> Any:
    """c_0 (m,), the residual, and the multipliers v (r,) after the steps, in one array.

    given: the data (d,), v before, the lower and the upper bounds (q,), in one array. The steps
    begin with the z that belongs to v: where no bound acts it is the solution. The residual is the
    largest distance of w from z. With symbols this is a call of one function with a loop, whose
    size does not depend on the number of steps.
    """
    if given.dtype == object:
        return given.__array_function__(optimised, (type(given),), (horizon, given), {})
    steps, (_, r, d) = horizon.steps, horizon.sizes
    data, v, low, high = np.split(given, [d, d + r, d + r + horizon.q])
    low, high = low[horizon.entry], high[horizon.entry]
    z = horizon.nearest(steps.alone @ data + steps.dual @ v + v, low, high)
    offset = steps.W0 @ data
    for _ in range(horizon.count):
        w = RELAXATION * (offset + steps.W @ (z - v)) + (1 - RELAXATION) * z
        z, v = (after := horizon.nearest(w + v, low, high)), v + w - after
    residual = np.max(np.abs(offset + steps.W @ (z - v) - z))
    return np.concatenate([steps.back @ (z - v) + steps.free @ data, [residual], v])
