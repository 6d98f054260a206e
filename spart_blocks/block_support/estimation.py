"""What estimators and optimal controllers share: gains, covariances, and corrections of filters.

A covariance is symmetric, so that a state holds the entries on and below its diagonal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.linear import Matrices, matrices, roots
from spart_blocks.block_support.values import numbers

MOST_ESTIMATED = 100
"""Largest number of states of an estimator: the work at a tick grows with its cube."""
_LEAST = 1e-30
_PLACED = 1e-6
"""Tolerance of the polynomial of the poles, relative to its largest coefficient."""


def plant(A: Any, B: Any, C: Any, D: Any) -> Matrices:
    """The matrices of a plant; without B there is one input, which does nothing."""
    n = len(np.atleast_2d(numbers(A, "A")))
    if n > MOST_ESTIMATED:
        raise InputError(f"A has {n} rows; an estimator takes at most {MOST_ESTIMATED}")
    return matrices(A, np.zeros((n, 1)) if B is None else B, C, D)


def scalar_or(size: int) -> Any:
    """The shape of a signal of a port "float or n"."""
    return () if size == 1 else size


def column(signal: Any) -> Any:
    """A number or a vector as a vector."""
    return np.reshape(signal, (-1,))


# --- gains of observers -----------------------------------------------------------------------


def observer_gain(A: Array, C: Array, L: Any, poles: Any) -> Array:
    """L (n, p) as given, or such that A - L C has these poles. One number is the pole of all.

    Repeated poles need one output: Ackermann's formula. Otherwise scipy.signal.place_poles.
    Source: G. F. Franklin et al., "Digital Control of Dynamic Systems" (1998), sec. 8.2.
    """
    n, p = len(A), len(C)
    if (L is None) == (poles is None):
        raise InputError(Fault("it takes L or poles", hint="give one of the two"))
    if poles is None:
        gain = numbers(L, "L")
        if gain.ndim < 2 and gain.size == n * p:
            gain = gain.reshape(n, p)
        if gain.shape != (n, p):
            raise InputError(f"L must have shape {(n, p)}, the sizes of x and y, not {gain.shape}")
        return gain
    wanted = roots(poles, "poles")
    wanted = np.repeat(wanted, n) if len(wanted) == 1 else wanted
    if len(wanted) != n:
        raise InputError(f"poles has {len(wanted)} entries, the observer has {n} states")
    return _placed(A, C, wanted)


def _placed(A: Array, C: Array, poles: Array) -> Array:
    import warnings

    from scipy.signal import place_poles

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what was reached is checked below
            if len(C) == 1:
                gain = _ackermann(A, C, poles)
            else:
                gain = place_poles(A.T, C.T, poles).gain_matrix.T
    except (ValueError, np.linalg.LinAlgError) as error:
        raise InputError(_not_placed(poles, str(error))) from None
    want, got = np.poly(poles), np.poly(A - gain @ C)
    if not np.abs(got - want).max() <= _PLACED * np.abs(want).max():
        raise InputError(_not_placed(poles, "not all states are seen in y"))
    return gain


def _not_placed(poles: Array, why: str) -> Fault:
    hint = "y must show all states; a pole is repeated at most as often as y has entries, or 1"
    return Fault(f"poles {brief([str(pole) for pole in poles])} cannot be placed: {why}", hint=hint)


def _ackermann(A: Array, C: Array, poles: Array) -> Array:
    """L = phi(A) O^-1 e_n, with phi the polynomial of the poles, O the observability matrix."""
    rows, value = [C[0]], np.zeros_like(A)
    for _ in range(len(A) - 1):
        rows.append(rows[-1] @ A)
    for coefficient in np.poly(poles).real:
        value = value @ A + coefficient * np.eye(len(A))
    last = np.eye(len(A))[:, -1:]
    gain: Array = value @ np.linalg.solve(np.array(rows), last)
    return gain


def regulated(system: Matrices, Q: Any, R: Any, sampled: bool) -> tuple[Array, Array, Array, Array]:
    """Q and R as matrices, the gain of the regulator, and its cost x' S x."""
    from spart_blocks.dynamics.riccati import Labels, regulator, weights

    n, m = system.B.shape
    states = Labels(tuple(f"x[{k}]" for k in range(n)), {})
    inputs = Labels(tuple(f"u[{k}]" for k in range(m)), {})
    Q, R, _ = weights(Q, R, None, states, inputs)
    found = regulator(system.A, system.B, Q, R, None, states, sampled)
    return Q, R, found.K, found.S


# --- covariances --------------------------------------------------------------------------------


def covariance(value: Any, name: str, n: int, definite: bool = False) -> Array:
    """A covariance (n, n): a number for all, n variances, or a matrix. InputError unless it is
    symmetric and positive semidefinite, or definite.
    """
    found = numbers(value, name)
    if found.ndim == 0:
        found = found * np.eye(n)
    elif found.shape == (n,):
        found = np.diag(found)
    if found.shape != (n, n):
        hint = f"a number, {n} variances, or a matrix {(n, n)}"
        raise InputError(Fault(f"{name} has shape {np.shape(value)}", hint=hint))
    size = np.abs(found).max()
    if np.abs(found - found.T).max() > 1e-9 * size:
        raise InputError(f"{name} is not symmetric")
    least = np.linalg.eigvalsh(found).min()
    if least <= 1e-14 * size if definite else least < -1e-9 * size:
        kind = "definite" if definite else "semidefinite"
        raise InputError(f"{name} is not positive {kind}: an eigenvalue is {least:.3g}")
    return (found + found.T) / 2


def intensity_at_ticks(A: Array, Q: Array, T: float) -> Array:
    """The covariance that noise of intensity Q adds in T [s] to the state of x' = A x + w.

    Source: C. Van Loan, IEEE Trans. Automatic Control 23 (1978), 395-404.
    """
    from scipy.linalg import expm

    n = len(A)
    moved = expm(T * np.block([[-A, Q], [np.zeros((n, n)), A.T]]))
    found = moved[n:, n:].T @ moved[:n, n:]
    return np.asarray((found + found.T) / 2)


def steady_covariance(A: Array, C: Array, Q: Array, R: Array, sampled: bool) -> Array:
    """The covariance of the prediction in the steady state: the solution of the Riccati equation.
    InputError where there is none.
    """
    from scipy.linalg import solve_continuous_are, solve_discrete_are

    try:
        P = (solve_discrete_are if sampled else solve_continuous_are)(A.T, C.T, Q, R)
        L = gain_of(A @ P @ C.T, C @ P @ C.T + R) if sampled else gain_of(P @ C.T, R)
        poles = np.linalg.eigvals(A - L @ C)
    except (ValueError, np.linalg.LinAlgError):
        poles = np.array([np.inf])
    if not (np.abs(poles) < 1 if sampled else poles.real < 0).all():
        hint = "y must show, and noise must reach, each mode that does not decay; or give P0"
        raise InputError(Fault("there is no steady filter for A, C, Q and R", hint=hint))
    return np.asarray((P + P.T) / 2)


def packed(P: Any) -> Any:
    """The entries of a symmetric matrix on and below its diagonal, row by row."""
    return P[np.tril_indices(len(P))]


def unpacked(entries: Any, n: int) -> Any:
    """The symmetric matrix (n, n) of its entries on and below the diagonal."""
    rows, columns = np.indices((n, n))
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    return entries[high * (high + 1) // 2 + low]


def covariance_near(P: Array, spread: float, rng: np.random.Generator) -> Array:
    """A random positive definite matrix (n, n) near a covariance."""
    variances = np.diagonal(P)
    size = np.where(variances > 0, variances, 1.0)
    turned = np.eye(len(P)) + rng.normal(scale=spread, size=P.shape) * np.sqrt(
        size[:, None] / size[None, :]
    )
    near: Array = turned @ P @ turned.T + spread * np.diag(size)
    return near


def triangle(n: int) -> int:
    """The number of entries that `packed` keeps."""
    return n * (n + 1) // 2


def gain_of(cross: Any, S: Any) -> Any:
    """K = cross S^-1 for the covariance S (p, p) of the innovation, cross (n, p), of numbers and of
    symbols.
    """
    return _solved(S, cross.T).T


def _solved(S: Any, right: Any) -> Any:
    """S^-1 right by elimination, without pivots, as S is positive definite."""
    pivot = S[0, 0]
    if len(S) == 1:
        return right / pivot
    factors = S[1:, :1] / pivot
    rest = _solved(S[1:, 1:] - factors @ S[:1, 1:], right[1:] - factors @ right[:1])
    return np.concatenate([(right[:1] - S[:1, 1:] @ rest) / pivot, rest])


def joseph(P: Any, K: Any, C: Any, R: Any) -> Any:
    """The covariance after a correction by the gain K, in Joseph's form.

    It stays symmetric and positive semidefinite for any K.
    Source: R. S. Bucy and P. D. Joseph, "Filtering for Stochastic Processes" (1968), ch. 16.
    """
    left = np.eye(len(P)) - K @ C
    return left @ P @ left.T + K @ R @ K.T


def corrected(x: Any, P: Any, e: Any, C: Any, R: Any) -> tuple[Any, Any]:
    """x and P after a measurement with the innovation e, its matrix C and its noise R."""
    K = gain_of(P @ C.T, C @ P @ C.T + R)
    return x + K @ e, joseph(P, K, C, R)


def where(condition: Any, yes: Any, no: Any) -> tuple[Any, ...]:
    """Arrays of one choice or of the other, one by one."""
    return tuple(np.where(condition, a, b) for a, b in zip(yes, no, strict=True))


def cholesky(P: Any) -> Any:
    """The lower factor of a positive semidefinite matrix, of numbers and of symbols."""
    root = np.sqrt(np.maximum(P[0, 0], 0.0))
    if len(P) == 1:
        return np.reshape(root, (1, 1))
    below = P[1:, :1] / np.maximum(root, _LEAST)
    left = np.concatenate([np.reshape(root, (1, 1)), below])
    rest = cholesky(P[1:, 1:] - below @ below.T)
    return np.concatenate([left, np.concatenate([np.zeros((1, len(rest))), rest])], axis=1)
