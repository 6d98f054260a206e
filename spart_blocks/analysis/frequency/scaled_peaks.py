"""The largest scaled gain: min over diagonal D > 0 of |D M D^-1|, largest over all frequencies.

An upper bound of the structured singular value for a diagonal of complex disturbances, which it
equals up to three of them. Source: A. Packard, J. Doyle, "The complex structured singular value",
Automatica 29 (1993), sec. 8 and 9.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize

from spart_blocks.analysis.frequency.crossings import grid
from spart_blocks.analysis.frequency.peaks import polished
from spart_blocks.analysis.frequency.reading import Largest
from spart_blocks.analysis.frequency.response import Complex, Matrices
from spart_blocks.run.engines.engine import Floats

_EQUAL = 1e-6
"""Largest relative difference of singular values that count as equal."""


def scaled_norm(of: Matrices) -> tuple[float, float]:
    """The largest scaled gain, and its frequency [rad/s]; inf if it is only approached there."""
    w = np.array([0.0, *grid(of)]) if of.poles.size else np.zeros(1)
    if of.dt:
        w = np.append(w, of.nyquist)
    responses = of.at(w)
    bounds = _bounds(responses)
    best, k = -np.inf, 0
    for j in np.argsort(-bounds):  # the others are below their bounds
        if bounds[j] <= best * (1 + 1e-6):
            break
        size = _scaled(responses[j])[0]
        if size > best:
            best, k = size, int(j)
    at = float(w[k])
    if 0 < k < len(w) - 1:
        at = _turning(of, float(w[k - 1]), at, float(w[k + 1]))
        best = max(best, _scaled(of.at(np.array([at]))[0])[0])
    direct = _scaled(of.D.astype(complex))[0]
    return (best, at) if best >= direct or of.dt else (direct, np.inf)


def scaled_directions(of: Matrices, w: float) -> Largest:
    """The directions, at a frequency, along which the scaled gain changes."""
    M = of.at(np.array([w]))[0]
    d = _scaled(M)[1]
    found = Largest.of(d[:, None] * M / d, _EQUAL)
    return Largest(found.u * d[:, None], found.v / d[:, None])


def _turning(of: Matrices, low: float, middle: float, high: float) -> float:
    """Where the scaled gain is largest between two frequencies, around a middle one."""

    def slope(w: float) -> float:
        M = of.at(np.array([w]))[0]
        d = _scaled(M)[1]
        U, _, V = np.linalg.svd(d[:, None] * M / d)
        return float((U[:, 0].conj() @ (d[:, None] * of.slope(w) / d) @ V[0].conj()).real)

    if slope(low) > 0 > slope(high):
        middle = float(brentq(slope, low, high, xtol=1e-13 * middle, rtol=1e-13))
    return polished(slope, middle, of.nyquist)


def _scaled(M: Complex) -> tuple[float, Floats]:
    """The smallest gain of D M D^-1, and the diagonal of D (k,). It is convex in log D: M. Safonov,
    J. Doyle, "Minimizing conservativeness of robustness singular values" (1984).
    """
    k = len(M)
    if k == 1:
        return float(abs(M[0, 0])), np.ones(1)

    def gain(logs: Floats) -> tuple[float, Floats]:
        d = np.exp(np.append(logs, 0.0))
        U, s, V = np.linalg.svd(d[:, None] * M / d)
        slope = s[0] * (np.abs(U[:, 0]) ** 2 - np.abs(V[0]) ** 2)
        return float(s[0]), slope[:-1]

    found = minimize(gain, _balanced(M)[:-1], jac=True, method="BFGS", options={"gtol": 1e-8})
    d = np.exp(np.append(found.x, 0.0))
    return float(found.fun), d


def _balanced(M: Complex) -> Floats:
    """Logarithms of scales (..., k) that make rows of M (..., k, k) as large as columns (E.
    Osborne, 1960).
    """
    k = M.shape[-1]
    size = np.abs(M) * (1 - np.eye(k)) + 1e-12 * np.abs(M).max(initial=1e-300)
    logs = np.zeros(M.shape[:-1])
    for _ in range(20):
        scaled = size * np.exp(logs[..., :, None] - logs[..., None, :])
        rows, columns = np.linalg.norm(scaled, axis=-1), np.linalg.norm(scaled, axis=-2)
        logs = logs + 0.25 * np.log(columns / rows)
    return np.asarray(logs - logs[..., -1:])


def _bounds(responses: Complex) -> Floats:
    """Upper bounds of the scaled gains of some responses (N, k, k)."""
    scales = np.exp(_balanced(responses))
    scaled = scales[:, :, None] * responses / scales[:, None, :]
    return np.asarray(np.linalg.norm(scaled, 2, axis=(1, 2)))
