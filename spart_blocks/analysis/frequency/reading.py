"""A quantity of a linear system, with its changes along directions of parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spart_blocks.analysis.frequency.response import Complex
from spart_blocks.run.engines.engine import Floats

_SAME = 1e-6
"""Largest relative difference of derivatives of several quantities that count as one."""


@dataclass(frozen=True)
class Reading:
    """value, and its changes (m,) along m directions. w [rad/s]: the frequency at which it is
    found; nan where it is of none. kink: why it has no derivative, "" if it has one; its changes
    are then the mean of those of the quantities that meet (a generalized gradient: F. H. Clarke,
    Optimization and Nonsmooth Analysis, 1983).
    """

    value: float
    changes: Floats
    w: float
    kink: str = ""


@dataclass(frozen=True, eq=False)
class Largest:
    """Directions u (k, r), v (q, r) of the r largest gains of a matrix, equal but for rounding."""

    u: Complex
    v: Complex

    @staticmethod
    def of(G: Complex, equal: float = 1e-9) -> Largest:
        """Those of a matrix. equal: largest relative difference of equal gains."""
        U, s, V = np.linalg.svd(G)
        r = int((s >= (1 - equal) * s[0]).sum())
        return Largest(U[:, :r], V[:r].conj().T)

    def changes(self, dG: Complex) -> tuple[Floats, str]:
        """How the largest gain changes with dG (m, k, q), and why it has no derivative: with one
        gain by Re(u^H dG v), with several by the eigenvalues of the Hermitian part of u^H dG v.
        """
        moved = self.u.conj().T @ dG @ self.v
        sides = np.linalg.eigvalsh(0.5 * (moved + moved.conj().transpose(0, 2, 1)))
        apart = np.ptp(sides, axis=1) > _SAME * np.abs(sides).max(axis=1, initial=0.0)
        kink = "several largest gains are equal here, and change apart" if apart.any() else ""
        return np.asarray(sides.mean(axis=1)), kink
