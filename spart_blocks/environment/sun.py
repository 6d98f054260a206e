"""Positions of Sun and Moon, and the shadow of the Earth."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.base.spatial import cross
from spart_blocks.environment.constants import AU, EARTH_RADIUS, SUN_RADIUS

_DEGREE = np.pi / 180


def _equatorial(longitude: Any, latitude: Any, tilt: Any) -> Any:
    """The unit vector (3,) of ecliptic coordinates, equatorial axes."""
    c = np.cos(latitude)
    x, y, z = c * np.cos(longitude), c * np.sin(longitude), np.sin(latitude)
    return np.stack([x, np.cos(tilt) * y - np.sin(tilt) * z, np.sin(tilt) * y + np.cos(tilt) * z])


def sun_position(T: Any) -> Any:
    """The Sun (3,) [m] from the Earth's centre, mean equator and equinox of date, T Julian
    centuries of TT after J2000: within 0.013 degree from 1980 to 2050. Source: Vallado (2013),
    algorithm 29; Astronomical Almanac.
    """
    M = (357.5291092 + 35999.05034 * T) * _DEGREE
    mean = 280.460 + 36000.771285 * T
    longitude = mean + 1.914666471 * np.sin(M) + 0.019994643 * np.sin(2 * M)
    distance = 1.000140612 - 0.016708617 * np.cos(M) - 0.000139589 * np.cos(2 * M)
    tilt = (23.439291 - 0.0130042 * T) * _DEGREE
    return AU * distance * _equatorial(longitude * _DEGREE, 0.0 * M, tilt)


# amplitude [degree], phase [degree], rate [degree a century]
_LONGITUDE = np.array([
    (6.29, 134.9, 477198.85), (-1.27, 259.2, -413335.38), (0.66, 235.7, 890534.23),
    (0.21, 269.9, 954397.70), (-0.19, 357.5, 35999.05), (-0.11, 186.6, 966404.05),
])  # fmt: skip
_LATITUDE = np.array([
    (5.13, 93.3, 483202.03), (0.28, 228.2, 960400.87), (-0.28, 318.3, 6003.18),
    (-0.17, 217.6, -407332.20),
])  # fmt: skip
_PARALLAX = np.array([
    (0.0518, 134.9, 477198.85), (0.0095, 259.2, -413335.38), (0.0078, 235.7, 890534.23),
    (0.0028, 269.9, 954397.70),
])  # fmt: skip


def _series(terms: Any, T: Any, wave: Any) -> Any:
    """The sum of waves [degree]."""
    return np.sum(terms[:, 0] * wave((terms[:, 1] + terms[:, 2] * T) * _DEGREE))


def moon_position(T: Any) -> Any:
    """The Moon (3,) [m] from the Earth's centre, mean equator and equinox of date: within 0.3
    degree in ecliptic longitude, 0.2 degree in latitude, 0.3 % in distance. Source: Vallado (2013),
    algorithm 31; Astronomical Almanac.
    """
    longitude = 218.32 + 481267.8813 * T + _series(_LONGITUDE, T, np.sin)
    latitude = _series(_LATITUDE, T, np.sin)
    parallax = 0.9508 + _series(_PARALLAX, T, np.cos)
    tilt = (23.439291 - 0.0130042 * T) * _DEGREE
    distance = EARTH_RADIUS / np.sin(parallax * _DEGREE)
    return distance * _equatorial(longitude * _DEGREE, latitude * _DEGREE, tilt)


# --- the shadow of the Earth, a sphere -----------------------------------------------------------


def behind_cylinder(r: Any, sun: Any) -> Any:
    """Distance [m] outside the cylinder of the Earth's shadow of a position r (3,); negative in the
    shadow. sun (3,) [m]: position of the Sun. Continuous.
    """
    to_sun = sun / np.sqrt(np.sum(sun * sun))
    along = np.sum(r * to_sun)
    off = cross(to_sun, r)
    aside = np.sqrt(np.sum(off * off))
    return np.where(along < 0, aside, np.sqrt(np.sum(r * r))) - EARTH_RADIUS


def apparent_discs(r: Any, sun: Any) -> tuple[Any, Any, Any]:
    """Apparent radii [rad] of Sun and Earth, and the angle between their centres, seen from r (3,).

    On the Earth's surface and below, the Earth fills half the sky.
    """
    away = sun - r
    distance, height = np.sqrt(np.sum(away * away)), np.sqrt(np.sum(r * r))
    off = cross(away, r)
    apart = np.arctan2(np.sqrt(np.sum(off * off)), -np.sum(away * r))
    earth = np.arcsin(np.minimum(EARTH_RADIUS / height, 1.0))
    return np.arcsin(SUN_RADIUS / distance), earth, apart


def visible_fraction(sun: Any, earth: Any, apart: Any) -> Any:
    """The part of the Sun's disc that a disc of apparent radius `earth` leaves free, at the angle
    `apart` between the centres [rad]: 0 in the umbra, 1 in full light. Source: Montenbruck and
    Gill, "Satellite Orbits" (2000), 3.4.2.
    """
    c = np.maximum(apart, 1e-12)
    # x and c - x: from the centres to the line through the crossings of the edges; half: half of
    # its length, from factors, for squares would cancel at a contact.
    x = (c * c + (sun - earth) * (sun + earth)) / (2 * c)
    within = np.maximum((earth - c + sun) * (earth + c - sun), 0.0)
    half = np.sqrt(within * np.maximum((c + sun - earth) * (c + sun + earth), 0.0)) / (2 * c)
    lens = _segment(sun, half, x) + _segment(earth, half, c - x)
    partial = np.clip(1 - lens / (np.pi * sun * sun), 0.0, 1.0)
    inside = np.where(earth >= sun, 0.0, 1 - (earth / sun) * (earth / sun))
    overlapping = np.where(apart <= np.abs(earth - sun), inside, partial)
    return np.where(apart >= earth + sun, 1.0, overlapping)


def _segment(radius: Any, half: Any, distance: Any) -> Any:
    """The part of a disc beyond a chord of half the length `half` at a distance from its centre."""
    angle = np.arctan2(half, distance)
    return radius * radius * angle - half * distance
