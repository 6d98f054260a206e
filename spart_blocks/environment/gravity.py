"""Gravity of the Earth with its zonal terms, of other bodies, and its gradient.

Positions may be stacked: arrays (..., 3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.base.spatial import cross


def _dot(a: Any, b: Any) -> Any:
    """Scalar products along the last axis, which is kept with length 1."""
    return np.sum(a * b, axis=-1, keepdims=True)


def central_acceleration(r: Any, mu: Any) -> Any:
    """-mu r / |r|^3 (..., 3) [m/s^2]."""
    square = _dot(r, r)
    return -mu / (square * np.sqrt(square)) * r


def zonal_acceleration(r: Any, mu: Any, radius: Any, J: Any, axis: Any) -> Any:
    """What the zonal terms J2, J3, ... in J (n,) add to the central attraction (..., 3) [m/s^2].

    radius [m] belongs to J; axis (3,) is the unit vector of the Earth's axis. From the potential
    mu/r (1 - sum J_n (R/r)^n P_n(u)), u = r . axis / |r|: the sum of J_n (R/r)^n (P'_(n+1) r/|r| -
    P'_n axis) mu/r^2. It has no singularity at the poles. Source: Vallado (2013), 8.6; its gradient
    with P'_(n+1) = (n + 1) P_n + u P'_n.
    """
    square = _dot(r, r)
    size = np.sqrt(square)
    up, ratio = r / size, radius / size
    u = _dot(up, axis)
    before, slope = 0.0 * u + 1.0, 3.0 * u  # P'_1, P'_2
    power, out = ratio, 0.0 * r
    for k in range(len(J)):
        n = k + 2
        before, slope = slope, ((2 * n + 1) * u * slope - (n + 1) * before) / n
        power = power * ratio
        out = out + J[k] * power * (slope * up - before * axis)
    return mu / square * out


def differential_attraction(r: Any, step: Any, mu: Any) -> Any:
    """The central attraction at r + step minus that at r (..., 3) [m/s^2], without cancellation.
    Source: Battin, "An Introduction to the Mathematics and Methods of Astrodynamics" (1999), 8.4.
    """
    moved = r + step
    square = _dot(moved, moved)
    q = _dot(step, step + 2.0 * r) / _dot(r, r)
    root = np.sqrt(1.0 + q)
    f = q * (3.0 + 3.0 * q + q * q) / (1.0 + (1.0 + q) * root)  # (1 + q)^(3/2) - 1
    return -mu / (square * np.sqrt(square)) * (step - f * r)


def third_body_acceleration(r: Any, body: Any, mu: Any) -> Any:
    """The attraction by a body at `body` (3,) on a spacecraft at r minus that on the Earth (..., 3)
    [m/s^2]; both positions from the Earth's centre [m]. Source: Battin (1999), 8.4.
    """
    return differential_attraction(-body, r, mu)


def gradient_torque(r: Any, inertia: Any, mu: Any) -> Any:
    """The torque of gravity on bodies at r (..., 3) about their centres of mass (..., 3) [N m]: 3
    mu / |r|^5 r x (I r), by the central attraction.

    r and inertia (..., 3, 3) [kg m^2] are in the same axes. Source: Markley and Crassidis,
    "Fundamentals of Spacecraft Attitude Determination and Control" (2014), eq. 3.155.
    """
    square = _dot(r, r)
    factor = 3.0 * mu / (square * square * np.sqrt(square))
    turned = np.sum(inertia * r[..., None, :], axis=-1)
    return factor * cross(r, turned)
