"""The gain of a linear quadratic regulator for matrices A, B, and checks that it exists."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, LinAlgWarning, expm, solve_continuous_are, solve_discrete_are

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean

Floats = NDArray[np.float64]
_RANK = 1e-7
"""Smallest singular value of [A - s I, B], both scaled to 1, that counts as nonzero: a double
eigenvalue is known to half its digits only."""
_MARGIN = 1e-7
"""Distance to the border of stability, relative to |A|, within which an eigenvalue counts as on
it."""
_NOISE = 1e-12
_MOST = 1e100
"""The largest weight: products of them are still numbers."""


@dataclass(frozen=True)
class Labels:
    """The names of the entries of a vector. groups: names of several of them."""

    labels: tuple[str, ...]
    groups: Mapping[str, Sequence[int]]

    def find(self, name: str) -> Sequence[int] | None:
        """The entries of a name, or None."""
        if name in self.labels:
            return [self.labels.index(name)]
        return self.groups.get(name)


class Regulator(NamedTuple):
    """K (m, n): u = -K x. S (n, n): the cost from x is x' S x. poles (n,) of the loop."""

    K: Floats
    S: Floats
    poles: NDArray[np.complex128]


# --- weights --------------------------------------------------------------------------------


def weight(given: Any, labels: Labels, name: str) -> Floats:
    """The matrix that a weight means: a number for all, a list for the diagonal, a matrix;
    or largest values by name, each of which weighs 1/largest^2 (Bryson's rule) and a name
    that is missing nothing. Raises InputError whose message begins with name."""
    n = len(labels.labels)
    if isinstance(given, Mapping):
        return np.diag(_bryson(given, labels, name))
    try:
        out: Floats = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, not {brief(given)}") from None
    if out.ndim == 0:
        out = out * np.eye(n)
    elif out.shape == (n,):
        out = np.diag(out)
    if out.shape != (n, n):
        listed = ", ".join(labels.labels)
        hint = f"a number, {n} numbers or a matrix {(n, n)} for {listed}"
        raise InputError(Fault(f"{name} has shape {np.shape(given)}, takes {(n, n)}", hint=hint))
    if not np.isfinite(out).all():
        raise InputError(f"{name} holds a number that is not finite")
    if np.abs(out).max(initial=0.0) > _MOST:
        raise InputError(f"{name} holds a number that is larger than {_MOST:g}")
    if np.abs(out - out.T).max() > 1e-9 * np.abs(out).max():
        raise InputError(f"{name} is not symmetric")
    mean: Floats = (out + out.T) / 2
    return mean


def _bryson(given: Mapping[str, Any], labels: Labels, name: str) -> Floats:
    """1/largest^2 for each entry that is named."""
    out = np.zeros(len(labels.labels))
    faults = []
    for key, value in given.items():
        entries = labels.find(str(key))
        if entries is None:
            hint = did_you_mean(str(key), [*labels.groups, *labels.labels])
            faults.append(Fault(f"{name}: there is no {key!r}", hint=hint))
            continue
        try:
            largest = np.broadcast_to(np.asarray(value, dtype=float), (len(entries),))
        except (TypeError, ValueError):
            text = f"{name}: {key} takes a number, or {len(entries)}, not {brief(value)}"
            faults.append(Fault(text))
            continue
        if not (np.isfinite(largest) & (largest > 0)).all():
            faults.append(Fault(f"{name}: the largest {key} must be positive, not {brief(value)}"))
            continue
        with np.errstate(over="ignore"):
            out[list(entries)] = np.minimum(1 / largest**2, _MOST)
    if faults:
        raise InputError(faults)
    return out


def weights(
    Q: Any, R: Any, N: Any, states: Labels, inputs: Labels
) -> tuple[Floats, Floats, Floats | None]:
    """Q, R and N as matrices. Raises InputError where Q is not positive semidefinite, R not
    positive definite, or both with N not semidefinite."""
    Q, R = weight(Q, states, "Q"), weight(R, inputs, "R")
    if np.linalg.eigvalsh(Q).min() < -1e-9 * max(np.abs(Q).max(), 1e-300):
        raise InputError(f"Q is not positive semidefinite: {_at_worst(Q, states)}")
    if np.linalg.eigvalsh(R).min() <= 1e-12 * np.abs(R).max():
        raise InputError(f"R is not positive definite: {_at_worst(R, inputs)}")
    if N is None:
        return Q, R, None
    N = np.asarray(N, dtype=float)
    shape = (len(Q), len(R))
    if N.shape != shape or not np.isfinite(N).all():
        raise InputError(f"N has shape {N.shape}, takes finite numbers {shape}")
    whole = np.block([[Q, N], [N.T, R]])
    if np.linalg.eigvalsh(whole).min() < -1e-9 * np.abs(whole).max():
        raise InputError("N is too large: [[Q, N], [N', R]] is not positive semidefinite")
    return Q, R, N


def _at_worst(matrix: Floats, labels: Labels) -> str:
    values, vectors = np.linalg.eigh(matrix)
    return f"along {_largest(vectors[:, 0], labels)} it is {values[0]:.3g}"


def _largest(vector: Any, labels: Labels) -> str:
    """The names of the entries that make up most of a vector."""
    size = np.abs(vector)
    picked = [labels.labels[k] for k in np.flatnonzero(size > 0.3 * size.max())]
    return ", ".join(picked if len(picked) < 7 else [*picked[:6], "..."])


# --- the gain -------------------------------------------------------------------------------


def held(A: Floats, B: Floats, T: float) -> tuple[Floats, Floats]:
    """A and B from tick to tick, the input held for T [s].

    Source: Astrom and Wittenmark, Computer-Controlled Systems (1997), sec. 2.3.
    """
    n, m = B.shape
    with np.errstate(all="ignore"):
        moved = expm(T * np.vstack([np.hstack([A, B]), np.zeros((m, n + m))]))[:n]
    return moved[:, :n], moved[:, n:]


def regulator(
    A: Floats, B: Floats, Q: Floats, R: Floats, N: Floats | None, labels: Labels, sampled: bool
) -> Regulator:
    """The gain that minimises the integral (sampled: the sum) of x'Qx + u'Ru + 2 x'Nu.

    Raises InputError naming the states of a mode that does not decay and that no input
    moves, or that costs nothing.
    Source: Anderson and Moore, "Optimal Control: Linear Quadratic Methods" (1990), sec. 3.2.
    """
    if not np.isfinite(A).all() or not np.isfinite(B).all():
        raise InputError("T is too long: what the plant does until the next tick is not finite")
    # The cross term N vanishes for the inputs u + R^-1 N' x.
    mixed = np.zeros_like(B) if N is None else N
    turned = np.linalg.solve(R, mixed.T)
    _check(A, B, sampled, labels, "no input moves", "leave them out, or give an input that does")
    seen = Q - mixed @ turned
    _check((A - B @ turned).T, seen, sampled, labels, "costs nothing", "give them a weight in Q")
    solve = solve_discrete_are if sampled else solve_continuous_are
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", LinAlgWarning)  # the poles tell
            S = solve(A, B, Q, R, s=N)
        left, right = (R + B.T @ S @ B, B.T @ S @ A) if sampled else (R, B.T @ S)
        K = np.linalg.solve(left, right + mixed.T)
        poles = np.linalg.eigvals(A - B @ K).astype(complex)
    except (LinAlgError, ValueError) as error:
        raise InputError(f"no gain was found: {error}") from None
    if not (np.abs(poles) < 1 if sampled else poles.real < 0).all():
        raise InputError("no gain was found: the closed loop would not be stable")
    return Regulator(K, (S + S.T) / 2, poles[np.lexsort((-poles.imag, np.abs(poles)))])


def _check(A: Floats, B: Floats, sampled: bool, labels: Labels, what: str, hint: str) -> None:
    """Refuse eigenvalues that do not decay and that B does not reach.

    Source: the test of Popov, Belevitch and Hautus: Kailath, "Linear Systems" (1980), 6.2.
    """
    # The units of the inputs do not change what can be reached.
    sizes = np.abs(B).max(axis=0, initial=0.0)
    sizes[sizes <= _NOISE * sizes.max(initial=0.0)] = np.inf
    B = B / sizes
    scale = max(np.abs(A).max(initial=0.0), 1e-300)
    for s in np.linalg.eigvals(A):
        decays = abs(s) < 1 - _MARGIN if sampled else s.real < -_MARGIN * scale
        if decays or s.imag < 0:
            continue
        directions, found, _ = np.linalg.svd(np.hstack([(A - s * np.eye(len(A))) / scale, B]))
        if found[-1] <= _RANK:
            mode = _largest(directions[:, -1], labels)
            text = f"a mode of {mode} does not decay by itself and {what}"
            raise InputError(Fault(text, hint=hint))
