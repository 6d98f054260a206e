"""A box of uniform density with a body's mass and inertia, for bodies without visuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spart_blocks.animation.packed import Floats

THINNEST = 1e-3
"""Shortest side of a box relative to its longest, so that a rod or a plate still has faces."""


@dataclass(frozen=True)
class InertiaBox:
    """A box. sides (3,) [m]; R (3, 3): its columns are the principal axes, along the sides."""

    sides: Floats
    R: Floats


def inertia_box(mass: float, inertia: ArrayLike) -> InertiaBox | None:
    """The box with this mass [kg] and inertia (3,3) [kg m^2] about its centre of mass.

    The inertia of a box about its axis x is m (b^2 + c^2) / 12, so a^2 is 6 (Iy + Iz - Ix) / m. If
    this is negative, no body has the inertia, and 0 is used. None if mass or inertia is zero, as
    for a point.
    """
    if not mass > 0:
        return None
    moments, R = np.linalg.eigh(np.asarray(inertia, dtype=float))
    squares = 6 * (moments.sum() - 2 * moments) / mass
    sides = np.sqrt(np.maximum(squares, 0.0))
    longest = float(sides.max())
    if not 0 < longest < np.inf:
        return None
    if np.linalg.det(R) < 0:
        R[:, 2] *= -1
    return InertiaBox(np.maximum(sides, THINNEST * longest), R)
