"""Density of the air over height, and its drag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base.curves.intervals import Floats, Intervals

VALLADO = np.array([
    (0, 1.225, 7.249), (25, 3.899e-2, 6.349), (30, 1.774e-2, 6.682), (40, 3.972e-3, 7.554),
    (50, 1.057e-3, 8.382), (60, 3.206e-4, 7.714), (70, 8.770e-5, 6.549), (80, 1.905e-5, 5.799),
    (90, 3.396e-6, 5.382), (100, 5.297e-7, 5.877), (110, 9.661e-8, 7.263), (120, 2.438e-8, 9.473),
    (130, 8.484e-9, 12.636), (140, 3.845e-9, 16.149), (150, 2.070e-9, 22.523),
    (180, 5.464e-10, 29.740), (200, 2.789e-10, 37.105), (250, 7.248e-11, 45.546),
    (300, 2.418e-11, 53.628), (350, 9.518e-12, 53.298), (400, 3.725e-12, 58.515),
    (450, 1.585e-12, 60.828), (500, 6.967e-13, 63.822), (600, 1.454e-13, 71.835),
    (700, 3.614e-14, 88.667), (800, 1.170e-14, 124.64), (900, 5.245e-15, 181.05),
    (1000, 3.019e-15, 268.00),
])  # fmt: skip
"""Height [km], density [kg/m^3] and scale height [km]. Source: Vallado (2013), table 8-4, which is
the U.S. Standard Atmosphere (1976) below and CIRA-72 above.
"""


@dataclass(frozen=True)
class Bands:
    """The density over height as exponentials: from heights[k] [m] on, densities[k] [kg/m^3] falls
    with scale heights scales[k] [m]. Above the last band its law goes on; below the first height
    the first density holds.
    """

    heights: Floats
    densities: Floats
    scales: Floats

    def density(self, h: Any) -> Any:
        """The density [kg/m^3] at the height h [m]."""
        pieces = Intervals(self.heights)
        start, value, scale = pieces.pick(h, self.heights, self.densities, self.scales)
        return value * np.exp(-np.maximum(h - start, 0.0) / scale)


EXPONENTIAL = Bands(1e3 * VALLADO[:, 0], VALLADO[:, 1], 1e3 * VALLADO[:, 2])


def tabulated(heights: Floats, densities: Floats) -> Bands:
    """The density of a table (n,): its logarithm is linear between two heights, and goes on beyond
    the last. heights rise, densities are positive and fall.
    """
    scales = np.diff(heights) / -np.diff(np.log(densities))
    return Bands(heights[:-1], densities[:-1], scales)


def relative_wind(r: Any, v: Any, rate: Any) -> Any:
    """The velocity (3,) [m/s] relative to air that turns at a rate [rad/s] about z."""
    return np.stack([v[0] + rate * r[1], v[1] - rate * r[0], v[2]])
