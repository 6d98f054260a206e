"""Margins of a loop with negative feedback: L is what returns of a signal that is cut, turned by
-1; the closed loop is stable for S = (I + L)^-1 stable.

Gain and phase margins: K. J. Astrom, R. M. Murray, Feedback Systems (2nd ed.), sec. 10.3. Disk
margins: P. Seiler, A. Packard, P. Gahinet, "An Introduction to Disk Margins", IEEE Control Systems
Magazine 40 (2020): all gains f = (2 + d (1 - s)) / (2 - d (1 + s)) with complex |d| < a keep the
loop stable, where a = 1 / ||S + (s - 1) / 2 I|| and s is the skew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spart_blocks.analysis.frequency.crossings import gain_crossings, real_crossings
from spart_blocks.analysis.frequency.peaks import norm
from spart_blocks.analysis.frequency.reading import Largest, Reading
from spart_blocks.analysis.frequency.response import Changes, Complex, Matrices
from spart_blocks.analysis.frequency.scaled_peaks import scaled_directions, scaled_norm
from spart_blocks.base.errors import RunError
from spart_blocks.run.engines.engine import Floats

NOT_STABLE = "the closed loop is not stable, and has no margins"


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop L of k signals, with its changes along m directions."""

    L: Matrices
    changes: Changes

    @cached_property
    def minimal(self) -> Matrices:
        return self.L.minimal

    def value(self, w: float) -> Complex:
        found: Complex = self.minimal.at(np.array([w]))[0]
        return found

    def change(self, w: float) -> Complex:
        """dL (m, k, k)."""
        return self.changes.at(self.L, w)

    @cached_property
    def closed(self) -> Matrices:
        """S = (I + L)^-1. Raises RunError if it is not stable."""
        S = _closed(self.minimal)
        if not S.stable:
            pole = S.s_poles[int(np.argmax(S.s_poles.real))]
            raise RunError(
                f"{NOT_STABLE}: its pole {pole:.4g} rad/s does not decay",
                hint="is the loop cut where the feedback is negative?",
            )
        return S

    def closed_with_changes(self) -> tuple[Matrices, Changes]:
        """S with all states of L, and its changes, whether it is stable or not: with F = (I +
        D)^-1, A - B F C, B F, -F C, F, where dF = -F dD F.
        """
        L, d = self.L, self.changes
        F = np.asarray(np.linalg.inv(np.eye(len(L.D)) + L.D), dtype=float)
        dF = -F @ d.dD @ F
        dA = d.dA - d.dB @ F @ L.C - L.B @ dF @ L.C - L.B @ F @ d.dC
        changes = Changes(dA, d.dB @ F + L.B @ dF, -dF @ L.C - F @ d.dC, dF)
        return _closed(L), changes

    # --- one signal ---------------------------------------------------------------------------

    def _one(self) -> None:
        if self.L.D.shape != (1, 1):
            raise RunError(
                f"gain and phase margins are of one signal, and this loop cuts {len(self.L.D)}",
                hint="cut them one at a time, or take the disk margin, which is of all together",
            )
        _ = self.closed

    def gain_margin(self) -> Reading:
        """The factor above 1 by which the gain may rise or fall, whichever is smaller; inf if any.
        At w the loop is real, and changes its frequency by dw = -Im(dL / L) / Im(L' / L).
        """
        self._one()
        crossings = real_crossings(self.minimal)
        if not len(crossings):
            return Reading(math.inf, self._none(), math.nan)
        sizes = np.abs(self.minimal.at(crossings)[:, 0, 0])
        k = int(np.argmin(np.abs(np.log(sizes))))
        w, way = float(crossings[k]), 1.0 if sizes[k] > 1 else -1.0
        rate, change = self._relative(w)
        moves = -change.imag / rate.imag if rate.imag and 0 < w < self.L.nyquist else 0.0
        logs = way * (change.real + rate.real * moves)
        margin = float(sizes[k] ** way)
        return Reading(margin, margin * logs, w)

    def phase_margin(self) -> Reading:
        """The phase [rad] by which the loop may lag or lead; inf if any. At w the loop has gain 1,
        and dw = -Re(dL / L) / Re(L' / L).
        """
        self._one()
        crossings = gain_crossings(self.minimal)
        if not len(crossings):
            return Reading(math.inf, self._none(), math.nan)
        phases = np.angle(-self.minimal.at(crossings)[:, 0, 0])
        k = int(np.argmin(np.abs(phases)))
        w, way = float(crossings[k]), math.copysign(1.0, phases[k])
        rate, change = self._relative(w)
        moves = self._moves(rate, change)
        return Reading(abs(float(phases[k])), way * (change.imag + rate.imag * moves), w)

    def crossover(self) -> Reading:
        """The highest frequency [rad/s] at which the loop has gain 1."""
        self._one()
        crossings = gain_crossings(self.minimal)
        if not len(crossings):
            raise RunError("the loop has gain 1 at no frequency, and no crossover")
        w = float(crossings[-1])
        return Reading(w, self._moves(*self._relative(w)), w)

    def delay_margin(self) -> Reading:
        """The delay [s] by which the loop may lag; inf if any."""
        self._one()
        crossings = gain_crossings(self.minimal)
        if not len(crossings):
            return Reading(math.inf, self._none(), math.nan)
        phases = np.mod(np.angle(-self.minimal.at(crossings)[:, 0, 0]), 2 * np.pi)
        k = int(np.argmin(phases / crossings))
        w, phase = float(crossings[k]), float(phases[k])
        rate, change = self._relative(w)
        moves = self._moves(rate, change)
        turned = change.imag + rate.imag * moves
        return Reading(phase / w, turned / w - phase / w**2 * moves, w)

    def _relative(self, w: float) -> tuple[complex, Complex]:
        """L' / L, and dL / L (m,)."""
        L = complex(self.value(w)[0, 0])
        return complex(self.minimal.slope(w)[0, 0]) / L, self.change(w)[:, 0, 0] / L

    @staticmethod
    def _moves(rate: complex, change: Complex) -> Floats:
        """How a frequency of gain 1 moves."""
        if len(change) and abs(rate.real) <= 1e-9 * abs(rate):
            raise RunError("the loop grazes gain 1, where its crossover has no derivative")
        return np.asarray(-change.real / rate.real)

    def _none(self) -> Floats:
        return np.zeros(len(self.changes.dD))

    # --- several ------------------------------------------------------------------------------

    def disk_margin(self, skew: float = 0.0) -> Reading:
        """The disk margin a of all signals together: each has a disturbance of its own. With one
        signal it is 1 / ||S + (skew - 1) / 2||; with several the norm is that of D M D^-1 with the
        best diagonal D at each frequency, an upper bound of the structured singular value, which
        it equals for up to three signals.
        """
        k = len(self.L.D)
        S = self.closed
        M = Matrices(S.A, S.B, S.C, S.D + 0.5 * (skew - 1.0) * np.eye(k), S.dt)
        largest, w = norm(M) if k == 1 else scaled_norm(M)
        at = Largest.of(M.at(np.array([w]))[0]) if k == 1 else scaled_directions(M, w)
        changes, kink = at.changes(self._change_of_S(w))
        return Reading(1.0 / largest, -changes / largest**2, w, kink)

    def sensitivity_peak(self) -> Reading:
        """The largest gain of S = (I + L)^-1."""
        return self._peak(self.closed)

    def complementary_peak(self) -> Reading:
        """The largest gain of T = L (I + L)^-1 = I - S."""
        S = self.closed
        return self._peak(Matrices(S.A, S.B, -S.C, np.eye(len(S.D)) - S.D, S.dt), -1.0)

    def _peak(self, of: Matrices, sign: float = 1.0) -> Reading:
        largest, w = norm(of)
        G = of.at(np.array([w]))[0]
        changes, kink = Largest.of(G).changes(sign * self._change_of_S(w))
        return Reading(largest, changes, w, kink)

    def _change_of_S(self, w: float) -> Complex:
        """dS = -S dL S (m, k, k)."""
        S = self.closed.at(np.array([w]))[0]
        return np.asarray(-S @ self.change(w) @ S)


def _closed(L: Matrices) -> Matrices:
    """S = (I + L)^-1."""
    F = np.asarray(np.linalg.inv(np.eye(len(L.D)) + L.D), dtype=float)
    return Matrices(L.A - L.B @ F @ L.C, L.B @ F, -F @ L.C, F, L.dt)


def gains_of_disk(margin: float, skew: float = 0.0) -> tuple[float, float]:
    """The factors between which the gain may be, in the disk of a margin."""
    low = (2 - margin * (1 - skew)) / (2 + margin * (1 + skew))
    below = 2 - margin * (1 + skew)
    return max(low, 0.0), (2 + margin * (1 - skew)) / below if below > 0 else math.inf


def phase_of_disk(margin: float, skew: float = 0.0) -> float:
    """The phase [rad] by which the loop may be turned, in the disk of a margin."""
    low = (2 - margin * (1 - skew)) / (2 + margin * (1 + skew))
    below = 2 - margin * (1 + skew)
    if below <= 0:
        return math.pi / 2 if low <= 0 else math.acos(max(-1.0, min(1.0, low)))
    high = (2 + margin * (1 - skew)) / below
    cosine = (1 + low * high) / (low + high)
    return math.pi if abs(cosine) > 1 else math.acos(cosine)
