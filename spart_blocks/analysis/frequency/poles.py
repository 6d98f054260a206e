"""Poles of a linear system: how fast the slowest decays, and how well the worst is damped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eig

from spart_blocks.analysis.frequency.reading import Reading
from spart_blocks.analysis.frequency.response import Changes, Complex, Matrices
from spart_blocks.base.errors import RunError
from spart_blocks.run.engines.engine import Floats


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
        return Reading(float(-s[k].real), -self._change(k).real, abs(s[k].imag))

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
        size, ds = abs(s[k]), self._change(k)
        turned = (s[k].conj() * ds).real / size
        return Reading(float(ratios[k]), -ds.real / size + s[k].real * turned / size**2, size)

    def _none(self) -> Floats:
        return np.zeros(len(self.changes.dD))

    def _change(self, k: int) -> Complex:
        """How pole k moves in the s-plane (m,): y^H dA x / y^H x, with the eigenvectors of A.
        Source: P. Lancaster, "On eigenvalues of matrices dependent on a parameter" (1964).
        """
        if not len(self.changes.dA):
            return np.zeros(0, dtype=complex)
        pole = self.seen.poles[k]
        values, left, right = eig(self.of.A, left=True)
        j = int(np.argmin(np.abs(values - pole)))
        y, x = left[:, j].conj(), right[:, j]
        size = y @ x
        if abs(size) <= 1e-7:
            raise RunError(
                f"the pole {self.seen.s_poles[k]:.4g} rad/s is a double one, and has no derivative"
            )
        moves = np.einsum("i,mij,j->m", y, self.changes.dA, x) / size
        return np.asarray(moves / (values[j] * self.of.dt) if self.of.dt else moves)
