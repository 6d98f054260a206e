"""The frequency response of a linear system, with its changes along directions of parameters.

G = C (v I - A)^-1 B + D at v = j w, or v = exp(j w dt) for a sampled system. With X = (v I - A)^-1
the change of G along a direction is dG = dD + dC X B + C X dB + C X dA X B.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import RunError
from spart_blocks.run.engines.engine import Floats

Complex = NDArray[np.complex128]

HIDDEN = 1e-10
"""A direction of the states is not controllable, or not observable, whose coupling is below this
fraction of the largest entry of the balanced matrices.
"""
_SPLIT = 1e-7
"""Rounding parts equal poles by about its square root. Those at zero are taken to be there that are
no further away than this fraction of the norm of A.
"""
_BESIDE = 1e-7
"""Where (v I - A) is singular, derivatives are taken this far beside, relative to the poles."""


@dataclass(frozen=True, eq=False)
class Matrices:
    """A (n, n), B (n, q), C (k, n), D (k, q) of a linear system; sampled if dt > 0 [s]."""

    A: Floats
    B: Floats
    C: Floats
    D: Floats
    dt: float = 0.0

    @cached_property
    def poles(self) -> Complex:
        return np.asarray(np.linalg.eigvals(self.A), dtype=complex)

    @cached_property
    def parted(self) -> float:
        """How far rounding may part equal poles."""
        return _SPLIT * float(np.linalg.norm(self.A)) if self.A.size else 0.0

    def variable(self, w: Any) -> Any:
        """v at frequencies w [rad/s]."""
        return np.exp(1j * np.asarray(w) * self.dt) if self.dt else 1j * np.asarray(w)

    def at(self, w: Floats) -> Complex:
        """G at frequencies w (N,) [rad/s]: (N, k, q). Where they are infinite, it is D."""
        if np.isinf(w).any():
            return np.array([self.at(np.array([one]))[0] if np.isfinite(one) else self.D + 0j
                             for one in w])  # fmt: skip
        v = np.atleast_1d(self.variable(w))
        whole = v[:, None, None] * np.eye(len(self.A)) - self.A
        return np.asarray(self.C @ _solved(whole, self.B) + self.D)

    def slope(self, w: float) -> Complex:
        """dG/dw (k, q)."""
        if np.isinf(w):
            return np.zeros(self.D.shape, dtype=complex)
        v = complex(self.variable(w))
        whole = v * np.eye(len(self.A)) - self.A
        twice = _solved(whole, _solved(whole, self.B))
        return np.asarray(-(1j * self.dt * v if self.dt else 1j) * (self.C @ twice))

    @cached_property
    def minimal(self) -> Matrices:
        """The same response without states that are not controllable, or not observable."""
        scale = _scales(self)
        A = self.A * scale / scale[:, None]
        A, B, C = controllable(A, self.B / scale[:, None], self.C * scale)
        A, C, B = (one.T for one in controllable(A.T, C.T, B.T))
        return Matrices(A, B, C, self.D, self.dt)

    @cached_property
    def continuous(self) -> Matrices:
        """The same response over tan(w dt / 2): z = (1 + s) / (1 - s). Source: K. Zhou, J. C.
        Doyle, K. Glover, Robust and Optimal Control (1996), sec. 21.4.
        """
        if not self.dt:
            return self
        n = len(self.A)
        inverse = np.linalg.inv(self.A + np.eye(n))
        return Matrices(
            (self.A - np.eye(n)) @ inverse,
            np.sqrt(2.0) * inverse @ self.B,
            np.sqrt(2.0) * self.C @ inverse,
            self.D - self.C @ inverse @ self.B,
        )

    def frequency(self, continuous: Any) -> Any:
        """The frequencies [rad/s] that belong to some of `continuous`."""
        return 2 * np.arctan(continuous) / self.dt if self.dt else continuous

    @property
    def nyquist(self) -> float:
        """The highest frequency [rad/s]."""
        return np.pi / self.dt if self.dt else np.inf

    @cached_property
    def s_poles(self) -> Complex:
        """The poles in continuous time; -inf for z = 0."""
        if not self.dt:
            return self.poles
        gone = self.poles == 0
        s = np.log(np.where(gone, 1.0, self.poles)) / self.dt
        return np.asarray(np.where(gone, -np.inf, s))

    @property
    def stable(self) -> bool:
        """Whether all poles decay, but for rounding."""
        if not self.dt:
            return bool((self.poles.real < -_rounding(self.A)).all())
        return bool((np.abs(self.poles) < 1.0 - _rounding(self.A)).all())


@dataclass(frozen=True, eq=False)
class Changes:
    """The changes of A, B, C, D along m directions: dA (m, n, n), dB (m, n, q), and so on."""

    dA: Floats
    dB: Floats
    dC: Floats
    dD: Floats

    @staticmethod
    def none(of: Matrices) -> Changes:
        """Those along no direction."""
        return Changes(*(np.zeros((0, *one.shape)) for one in (of.A, of.B, of.C, of.D)))

    def at(self, of: Matrices, w: float) -> Complex:
        """The changes (m, k, q) of G of some matrices at a frequency w [rad/s]."""
        if np.isinf(w):
            return np.asarray(self.dD, dtype=complex)
        n = len(of.A)
        v = complex(of.variable(w))
        if n and np.abs(v - of.poles).min() <= _rounding(of.A):
            v = complex(of.variable(w + _BESIDE * max(1e-3, float(np.abs(of.poles).max()))))
        whole = v * np.eye(n) - of.A
        right = _solved(whole, of.B)
        left = _solved(whole.T, of.C.T).T
        return np.asarray(self.dD + self.dC @ right + left @ self.dB + left @ self.dA @ right)


def controllable(A: Floats, B: Floats, C: Floats) -> tuple[Floats, Floats, Floats]:
    """The controllable part of a system, by the staircase algorithm. Source: P. Van Dooren, "The
    generalized eigenstructure problem in linear system theory", IEEE Trans. Automatic Control 26
    (1981).
    """
    n = len(A)
    small = HIDDEN * max(np.abs(A).max(initial=0.0), np.abs(B).max(initial=0.0))
    T, done, step = np.eye(n), 0, B
    while done < n:
        U, s, _ = np.linalg.svd(step)
        rank = int((s > small).sum())
        if rank == 0:
            break
        turn = np.eye(n)
        turn[done:, done:] = U
        T = T @ turn
        moved = T.T @ A @ T
        step = moved[done + rank :, done : done + rank]
        done += rank
    if done == n:  # turned, its poles would be those of rounded matrices
        return A, B, C
    T = T[:, :done]
    return T.T @ A @ T, T.T @ B, C @ T


def _scales(of: Matrices) -> Floats:
    """Sizes of the states (n,) with which what acts on each is as large as what it acts on.
    Source: E. Osborne, "On pre-conditioning of matrices", J. ACM 7 (1960).
    """
    A = np.abs(of.A - np.diag(np.diag(of.A)))
    logs = np.zeros(len(A))
    for _ in range(50):
        scale = np.exp(logs)
        rows = np.linalg.norm(np.hstack([A * scale, np.abs(of.B)]), axis=1) / scale
        columns = np.linalg.norm(np.vstack([A / scale[:, None], np.abs(of.C)]), axis=0) * scale
        seen = (rows > 0) & (columns > 0)
        step = np.log(np.where(seen, rows, 1.0) / np.where(seen, columns, 1.0))
        logs = logs + 0.25 * step
    return np.exp(logs)


def _rounding(A: Floats) -> float:
    """The size of errors of eigenvalues."""
    return 1e-13 * max(float(np.abs(A).max(initial=0.0)), 1e-3)


def _solved(whole: Any, right: Any) -> Any:
    if not whole.shape[-1]:
        return np.zeros((*whole.shape[:-2], 0, right.shape[-1]), dtype=complex)
    try:
        return np.linalg.solve(whole, np.asarray(right, dtype=complex))
    except np.linalg.LinAlgError:
        raise RunError(
            "a pole lies exactly at a frequency at which the response is asked for"
        ) from None
