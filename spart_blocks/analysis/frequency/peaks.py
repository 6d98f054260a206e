"""The largest gain over all frequencies (H-infinity norm), by bisection with the eigenvalues of a
Hamiltonian.

The largest singular value of G(j w) is g at w exactly where j w is an eigenvalue of

    H = [[A + B R^-1 D' C,   B R^-1 B'],
         [-C' (I + D R^-1 D') C,   -(A + B R^-1 D' C)']],    R = g^2 I - D' D.

Between two such frequencies the gain may be larger; their middles give the next g. Sources: S.
Boyd, V. Balakrishnan, P. Kabamba, "A bisection method for computing the H-infinity norm of a
transfer matrix", Mathematics of Control, Signals and Systems 2 (1989); N. A. Bruinsma, M.
Steinbuch, "A fast algorithm to compute the H-infinity norm of a transfer function matrix", Systems
& Control Letters 14 (1990).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from spart_blocks.analysis.frequency.response import Complex, Matrices
from spart_blocks.base.errors import RunError
from spart_blocks.run.engines.engine import Floats

WITHIN = 1e-9
"""The relative accuracy of a norm by bisection."""
NEARLY_DIRECT = 1e-6
"""Above the gain of D alone, at which R is singular, the bisection begins this much higher."""
_MOST_ROUNDS = 60
_IMAGINARY = 1e-5
"""Relative real part of eigenvalues that count as imaginary: two that almost meet, where a gain is
almost a peak, are known to the root of rounding. Superfluous ones do no harm.
"""


def norm(of: Matrices) -> tuple[float, float]:
    """The largest gain, and its frequency [rad/s]: inf if it is only approached there. Raises
    RunError if a pole does not decay: the norm is infinite.
    """
    least = of.minimal
    if not least.stable:
        pole = least.s_poles[int(np.argmax(least.s_poles.real))]
        raise RunError(f"the norm is infinite: the pole {pole:.4g} rad/s does not decay")
    smooth = least.continuous
    best, at = _largest(smooth, _first_frequencies(smooth))
    direct = _gain(smooth.D)
    if direct > best:
        best, at = direct, np.inf
    for _ in range(_MOST_ROUNDS):
        apart = 2 * WITHIN if best > (1 + NEARLY_DIRECT) * direct else NEARLY_DIRECT
        crossed = frequencies_at_gain(smooth, best * (1 + apart))
        if not len(crossed):
            break
        middles = 0.5 * (crossed[1:] + crossed[:-1]) if len(crossed) > 1 else crossed
        found, where = _largest(smooth, np.concatenate([middles, crossed]))
        if found <= best * (1 + WITHIN):
            break
        best, at = found, where
    w = float(of.frequency(at)) if np.isfinite(at) else of.nyquist
    if np.isfinite(w):
        w = polished(lambda v: _slope_of_gain(of, v), w, of.nyquist)
        best = max(best, _gain(of.at(np.array([w]))[0]))
    return best, w


def _first_frequencies(smooth: Matrices) -> Floats:
    """Frequencies for a first bound from below: those of the poles, and some between."""
    speeds = np.abs(smooth.poles)
    low, high = (speeds.min(), speeds.max()) if len(speeds) else (1.0, 1.0)
    return np.array(
        [0.0, *speeds, *np.abs(smooth.poles.imag), *np.geomspace(low / 100, high * 100, 80)]
    )


def polished(slope: Callable[[float], float], w: float, most: float) -> float:
    """The frequency near w at which a gain is largest: where its slope is zero. most: the highest
    frequency.
    """
    for width in (1e-5, 1e-4, 1e-3):
        low, high = w * (1 - width), min(w * (1 + width), most)
        if w > 0 and slope(low) > 0 > slope(high):
            return float(brentq(slope, low, high, xtol=1e-14 * w, rtol=1e-14))
    return w


def frequencies_at_gain(smooth: Matrices, gain: float) -> Floats:
    """The frequencies, ascending, at which a continuous system may have a gain, as eigenvalues of
    the Hamiltonian: superfluous ones may be among them.
    """
    A, B, C, D = smooth.A, smooth.B, smooth.C, smooth.D
    R = gain**2 * np.eye(D.shape[1]) - D.T @ D
    back = np.linalg.solve(R, np.hstack([D.T @ C, B.T]))
    to_C, to_B = back[:, : len(A)], back[:, len(A) :]
    F = A + B @ to_C
    H = np.block([[F, B @ to_B], [-C.T @ (C + D @ to_C), -F.T]])
    found = np.linalg.eigvals(H)
    if not len(found):
        return np.zeros(0)
    size = np.abs(found)
    near = np.abs(found.real) <= _IMAGINARY * size + 1e-12 * size.max()
    return np.unique(found.imag[near & (found.imag >= 0)])


def _largest(smooth: Matrices, w: Floats) -> tuple[float, float]:
    gains = np.linalg.norm(smooth.at(w), 2, axis=(1, 2)) if smooth.D.size else np.zeros(len(w))
    k = int(np.argmax(gains))
    return float(gains[k]), float(w[k])


def _gain(G: Complex | Floats) -> float:
    return float(np.linalg.norm(G, 2)) if G.size else 0.0


def _slope_of_gain(of: Matrices, w: float) -> float:
    G = of.at(np.array([w]))[0]
    U, _, V = np.linalg.svd(G)
    return float((U[:, 0].conj() @ of.slope(w) @ V[0].conj()).real)
