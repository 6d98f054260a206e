"""Keplerian elements, and the position and velocity that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.base.spatial import cross
from spart_blocks.environment.frames import turned_about

CIRCULAR = 1e-11
"""Eccentricity, and sine of the inclination, below which the angles that they define are 0."""


def state_of_elements(
    a: Any, e: Any, i: Any, raan: Any, argp: Any, nu: Any, mu: Any
) -> tuple[Any, Any]:
    """Position (3,) [m] and velocity (3,) [m/s] of the elements: semi-major axis a [m], negative
    for a hyperbola, eccentricity e, not 1, inclination i, right ascension of the ascending node,
    argument of perigee and true anomaly [rad]; mu [m^3/s^2]. Source: Vallado (2013), algorithm 10.
    """
    p = a * (1 - e * e)
    c, s = np.cos(nu), np.sin(nu)
    radius, speed = p / (1 + e * c), np.sqrt(mu / p)
    none = 0.0 * c
    R = (turned_about(2, argp) @ turned_about(0, i) @ turned_about(2, raan)).T
    r = R @ np.stack([radius * c, radius * s, none])
    return r, R @ np.stack([-speed * s, speed * (e + c), none])


def elements_of_state(r: Any, v: Any, mu: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
    """a [m], e, i, raan, argp, nu [rad] of a position r (3,) [m] and a velocity v (3,) [m/s]; the
    last three from 0 to one turn.

    On a circular orbit argp is 0 and nu counts from the node; on an equatorial one raan is 0 and
    argp counts from x. Not for motion along a line. Source: Vallado (2013), algorithm 9, its
    arc-cosines as arc-tangents.
    """
    radius, speed2 = np.sqrt(np.sum(r * r)), np.sum(v * v)
    h = cross(r, v)
    normal = h / np.sqrt(np.sum(h * h))
    perigee = ((speed2 - mu / radius) * r - np.sum(r * v) * v) / mu
    e = np.sqrt(np.sum(perigee * perigee))
    across = np.sqrt(normal[0] * normal[0] + normal[1] * normal[1])
    none = 0.0 * e
    ascending = np.stack([-normal[1], normal[0], none]) / np.maximum(across, CIRCULAR)
    node = np.where(across > CIRCULAR, ascending, np.array([1.0, 0.0, 0.0]))
    apse = np.where(e > CIRCULAR, perigee / np.maximum(e, CIRCULAR), node)
    return (
        1 / (2 / radius - speed2 / mu), e, np.arctan2(across, normal[2]),
        _turn(node[0], node[1]), _angle(node, apse, normal), _angle(apse, r, normal),
    )  # fmt: skip


def _angle(start: Any, end: Any, axis: Any) -> Any:
    """The angle from one vector to another about an axis."""
    return _turn(np.sum(start * end), np.sum(cross(axis, start) * end))


def _turn(x: Any, y: Any) -> Any:
    angle = np.arctan2(y, x)
    return angle + np.where(angle < 0, 2 * np.pi, 0.0)


def true_anomaly(mean: float, e: float) -> float:
    """The true anomaly [rad] of a mean anomaly [rad] on an ellipse, by Newton's iteration of
    Kepler's equation. Source: Vallado (2013), algorithm 2.
    """
    turns = np.round(mean / (2 * np.pi))
    part = mean - 2 * np.pi * turns
    E = part + np.copysign(e, part)
    for _ in range(50):
        step = (E - e * np.sin(E) - part) / (1 - e * np.cos(E))
        E -= step
        if abs(step) < 1e-15:
            break
    half = np.arctan2(np.sqrt(1 + e) * np.sin(E / 2), np.sqrt(1 - e) * np.cos(E / 2))
    return float(2 * half + 2 * np.pi * turns)
