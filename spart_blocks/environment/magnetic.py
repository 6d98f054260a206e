"""The Earth's magnetic field: IGRF-14.

The potential and its gradient are computed by a recursion in Cartesian coordinates (Cunningham),
which has no singularity at the poles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.base.errors import InputError
from spart_blocks.base.spatial import Array
from spart_blocks.environment.time import DAY, Epoch

REFERENCE_RADIUS = 6371200.0
"""Radius of the spherical harmonics [m]."""
MOST_DEGREE = 13
YEAR = 365.25 * DAY


@lru_cache(maxsize=1)
def coefficients() -> tuple[Array, Array]:
    """The years (k,) of the model, and its Schmidt semi-normalised coefficients (k,14,14) [nT]:
    g_nm at [n, m], h_nm at [m - 1, n], as they are published.
    """
    file = Path(__file__).with_name("igrf14.txt")
    lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
    years = np.array(lines[0].split()[1:], dtype=float)
    table = np.zeros((len(years), MOST_DEGREE + 1, MOST_DEGREE + 1))
    for line in lines[1:]:
        kind, degree, order, *values = line.split()
        n, m = int(degree), int(order)
        place = (n, m) if kind == "g" else (m - 1, n)
        table[(slice(None), *place)] = np.array(values, dtype=float)
    return years, table


@dataclass(frozen=True)
class FieldModel:
    """The field at an epoch: weights (3,k) of the harmonics [T], and their rates [T/s]."""

    degree: int
    weights: Array
    rates: Array

    def field(self, r: Any, t: Any) -> Any:
        """B (3,) [T] at r (3,) [m] in ECEF, t [s] after the epoch."""
        return (self.weights + t * self.rates) @ harmonics(r, self.degree + 1)


def field_model(epoch: Epoch, degree: int = MOST_DEGREE) -> FieldModel:
    """IGRF-14 at an epoch: its coefficients are linear between its years, which are 5 apart; the
    line at the epoch holds for the whole run. Raises InputError after 2030.
    """
    years, table = coefficients()
    at = epoch.year
    if not years[0] <= at <= years[-1]:
        span = f"{years[0]:.0f} to {years[-1]:.0f}"
        raise InputError(f"IGRF-14 holds from {span}, the epoch is in {at:.2f}")
    k = min(int(np.searchsorted(years, at, side="right")) - 1, len(years) - 2)
    slope = (table[k + 1] - table[k]) / (years[k + 1] - years[k])
    now = table[k] + (at - years[k]) * slope
    return FieldModel(degree, 1e-9 * _weights(now, degree), 1e-9 / YEAR * _weights(slope, degree))


def harmonics(r: Any, degree: int) -> Any:
    """The solid harmonics (a/r)^(n+1) P_nm cos(m lambda), then those of the sine, for n from 2 to
    the degree and m from 0 to n, unnormalised, in one vector. Source: Cunningham, Celestial
    Mechanics 2 (1970) 207; Montenbruck and Gill (2000), eq. 3.29 to 3.31.
    """
    scale = REFERENCE_RADIUS / np.sum(r * r)
    x, y, z = scale * r[0], scale * r[1], scale * r[2]
    far = scale * REFERENCE_RADIUS
    first = np.reshape(np.sqrt(far), (1,))
    V, W = [first], [0.0 * first]
    for n in range(1, degree + 1):
        m = np.arange(n)
        above, twice = (2 * n - 1) / (n - m) * z, (n + m - 1) / (n - m) * far
        corner = (2 * n - 1) * (x * V[-1][-1:] - y * W[-1][-1:])
        other = (2 * n - 1) * (x * W[-1][-1:] + y * V[-1][-1:])
        sides = []
        for row in (V, W):
            inner = above * row[-1]
            if n > 1:
                inner = inner - np.concatenate([twice[:-1] * row[-2], 0.0 * first])
            sides.append(inner)
        V.append(np.concatenate([sides[0], corner]))
        W.append(np.concatenate([sides[1], other]))
    return np.concatenate([*V[2:], *W[2:]])


def _weights(table: Array, degree: int) -> Array:
    """The weights (3,k) of the harmonics up to degree + 1 in the field, for the coefficients
    (14,14) [nT]. Source: Montenbruck and Gill (2000), eq. 3.33, for B = -grad V.
    """
    starts = np.cumsum([0, *range(3, degree + 2)])  # of the degrees from 2 on
    half = int(starts[-1]) + degree + 2
    out = np.zeros((3, 2 * half))
    for n in range(1, degree + 1):
        at = int(starts[n - 1])
        for m in range(n + 1):
            norm = np.sqrt((1 if m == 0 else 2) * factorial(n - m) / factorial(n + m))
            C = norm * table[n, m]
            S = norm * table[m - 1, n] if m else 0.0
            V, W = at, half + at  # of degree n + 1 and order 0
            out[2, [V + m, W + m]] += np.array([C, S]) * (n - m + 1)
            if m == 0:
                out[0, V + 1] += C
                out[1, W + 1] += C
                continue
            both = (n - m + 2) * (n - m + 1)
            out[0, [V + m + 1, W + m + 1]] += np.array([C, S]) / 2
            out[0, [V + m - 1, W + m - 1]] -= np.array([C, S]) / 2 * both
            out[1, [W + m + 1, V + m + 1]] += np.array([C, -S]) / 2
            out[1, [W + m - 1, V + m - 1]] += np.array([C, -S]) / 2 * both
    return out
