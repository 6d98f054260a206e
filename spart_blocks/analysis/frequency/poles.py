"""Poles of a linear system: how fast the slowest decays, and how well the worst is damped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import schur

from spart_blocks.analysis.frequency.reading import Reading
from spart_blocks.analysis.frequency.response import Changes, Complex, Matrices
from spart_blocks.run.engines.engine import Floats

TOGETHER = 1e-5
"""Largest relative distance of poles that count as one: of three, rounding parts them by this."""


@dataclass(frozen=True, eq=False)
class Poles:
    """The poles that show between the inputs and outputs of a system."""

    of: Matrices
    changes: Changes

    @cached_property
    def seen(self) -> Matrices:
        return self.of.minimal

    def decay(self) -> Reading:
        """The smallest decay rate -Re s [1/s] of all poles: negative if one grows."""
        s = self.seen.s_poles
        if not np.isfinite(s).any():
            return Reading(math.inf, self._none(), math.nan)
        k = int(np.argmax(np.where(np.isfinite(s), s.real, -np.inf)))
        ds, kink = self._change(k)
        return Reading(float(-s[k].real), -ds.real, abs(s[k].imag), kink)

    def damping(self) -> Reading:
        """The smallest damping ratio -Re s / |s| of all poles: 1 without oscillation."""
        s = self.seen.s_poles
        moving = np.where(np.isfinite(s) & (s != 0), s, -1.0)
        ratios = -moving.real / np.abs(moving)
        if not len(s):
            return Reading(1.0, self._none(), math.nan)
        k = int(np.argmin(ratios))
        if abs(s[k].imag) <= 1e-12 * abs(s[k]) or not np.isfinite(s[k]):
            return Reading(float(ratios[k]), self._none(), abs(s[k].imag))
        size, (ds, kink) = abs(s[k]), self._change(k)
        turned = (s[k].conj() * ds).real / size
        changes = -ds.real / size + s[k].real * turned / size**2
        return Reading(float(ratios[k]), changes, size, kink)

    def _none(self) -> Floats:
        return np.zeros(len(self.changes.dD))

    def _change(self, k: int) -> tuple[Complex, str]:
        """How pole k moves in the s-plane (m,), and why it has no derivative. r poles that are one
        but for rounding move, on the mean, by tr(P dA) / r, with the projector P on their
        eigenvectors: T. Kato, Perturbation Theory for Linear Operators (1966), ch. 2, sec. 2.
        """
        A, dA = self.of.A, self.changes.dA
        pole = self.seen.poles[k]
        if not len(dA):
            return np.zeros(0, dtype=complex), ""
        near = TOGETHER * max(1e-3, abs(pole))
        right, left = (_subspace(one, to, near) for one, to in ((A, pole), (A.T, pole)))
        both = np.linalg.solve(left.T @ right, left.T)
        moved = both @ dA @ right
        r = right.shape[1]
        mean = np.trace(moved, axis1=1, axis2=2) / r
        off = np.abs(moved - mean[:, None, None] * np.eye(r)).max(initial=0.0)
        apart = r > 1 and off > TOGETHER * np.abs(moved).max(initial=0.0)
        kink = (
            f"{r} poles meet at {self.seen.s_poles[k]:.4g} rad/s, and move apart" if apart else ""
        )
        return np.asarray(mean / (pole * self.of.dt) if self.of.dt else mean), kink if apart else ""


def _subspace(A: Floats, pole: complex, near: float) -> Complex:
    """A basis (n, r) of the states that belong to the eigenvalues within a distance of a pole, at
    least to the nearest.
    """
    values = np.linalg.eigvals(A)
    distance = max(near, 1.000001 * float(np.abs(values - pole).min()))
    _, Q, r = schur(A.astype(complex), output="complex", sort=lambda s: abs(s - pole) <= distance)
    return np.asarray(Q[:, : max(r, 1)])
