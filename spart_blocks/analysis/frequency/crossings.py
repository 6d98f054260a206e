"""Frequencies at which a loop has gain 1, or is real and negative."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from spart_blocks.analysis.frequency.peaks import frequencies_at_gain
from spart_blocks.analysis.frequency.response import Complex, Matrices
from spart_blocks.run.engines.engine import Floats

_POINTS = 400
_BEYOND = 1e4
"""How far the frequencies that are looked at go beyond those of the poles."""
_AROUND = np.array([-10, -3, -1, -0.3, -0.1, 0.0, 0.1, 0.3, 1, 3, 10])
"""Points around a resonance, in half-widths of it."""


def grid(of: Matrices, level: float = 1.0) -> Floats:
    """Frequencies [rad/s] between which a response does nothing unforeseen, ascending, above 0.
    level: a gain that it may have at some of them.
    """
    s = of.s_poles[np.isfinite(of.s_poles)]
    s = s[np.abs(s) > of.parted / (of.dt or 1.0)]
    speeds = np.abs(s)
    low, high = (speeds.min(), speeds.max()) if len(speeds) else (1.0, 1.0)
    low, high = low / _BEYOND, min(high * _BEYOND, of.nyquist)
    if of.dt:
        low = min(low, high / _BEYOND)
    around = (s.imag[:, None] + _AROUND * np.abs(s.real)[:, None]).ravel()
    smooth = of.continuous
    regular = of.D.size and abs(np.linalg.norm(smooth.D, 2) - level) > 1e-9 * level
    gains = of.frequency(frequencies_at_gain(smooth, level)) if regular else np.zeros(0)
    middles = np.sqrt(gains[1:] * gains[:-1])
    near = np.concatenate([gains * (1 - 1e-6), gains * (1 + 1e-6), middles, around, np.abs(s)])
    found = np.unique(np.concatenate([np.geomspace(low, high, _POINTS), near]))
    return found[(found > 0) & (found < of.nyquist)]


def gain_crossings(of: Matrices, level: float = 1.0) -> Floats:
    """Where |G| of a system with one input and output passes a level."""
    return _roots(of, lambda G: np.log(np.abs(G) / level), level)


def real_crossings(of: Matrices) -> Floats:
    """Where G of a system with one input and output is real and negative, 0 and the highest
    frequency included, which is infinite without a period.
    """
    found = [w for w in _roots(of, lambda G: G.imag) if _negative(of, w)]
    ends = [w for w in (0.0, of.nyquist) if _regular(of, w) and _negative(of, w)]
    return np.unique([*found, *ends])


def _regular(of: Matrices, w: float) -> bool:
    """Whether no pole lies at a frequency."""
    if np.isinf(w):
        return True
    return bool(np.abs(of.variable(w) - of.poles).min(initial=np.inf) > of.parted)


def _negative(of: Matrices, w: float) -> bool:
    G = complex(of.at(np.array([w]))[0, 0, 0])
    return G.real < 0 and abs(G.imag) <= 1e-6 * abs(G.real)


def _roots(of: Matrices, function: Callable[[Complex], Floats], level: float = 1.0) -> Floats:
    """The zeros over the frequency of a real function of G, of one input and output."""

    def value(w: float) -> float:
        return float(function(of.at(np.array([w]))[:, 0, 0])[0])

    if not len(of.A):
        return np.zeros(0)
    w = grid(of, level)
    with np.errstate(divide="ignore"):
        values = function(of.at(w)[:, 0, 0])
    found = [float(w[k]) for k in np.flatnonzero(values == 0)]
    for k, (before, after) in enumerate(pairwise(values)):
        if before * after < 0:
            root = float(brentq(value, w[k], w[k + 1], xtol=1e-300, rtol=1e-14))
            if abs(value(root)) <= 1e-6 * max(abs(before), abs(after), 1e-300) + 1e-9:
                found.append(root)
    return np.array(sorted(found))
