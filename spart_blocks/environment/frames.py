"""Frames: ECI, ECEF, geodetic coordinates, and those that follow an orbit.

ECI is the mean equator and equinox of J2000. It becomes ECEF by precession (IAU 1976), the four
largest terms of nutation, and apparent sidereal time (IAU 1982). Precession and nutation are those
at the epoch: they change by 0.16" a day. From 1980 to 2050 that is within 0.2" of IAU 2006/2000A;
the motion of the pole, up to 0.6", is left out: 20 m on a low orbit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base.spatial import Array, cross
from spart_blocks.environment.constants import EARTH_RADIUS, FLATTENING
from spart_blocks.environment.time import Epoch, mean_sidereal_time

ARCSEC = np.pi / 180 / 3600


def turned_about(axis: int, angle: Any) -> Any:
    """The matrix (3,3) that gives a vector's components in axes turned by an angle [rad] about
    axis 0, 1 or 2: R1, R2, R3 of the literature.
    """
    c, s = np.cos(angle), np.sin(angle)
    one, none = 0.0 * c + 1.0, 0.0 * c
    i, j = (axis + 1) % 3, (axis + 2) % 3
    entries = {(axis, axis): one, (i, i): c, (i, j): s, (j, i): -s, (j, j): c}
    return np.stack([entries.get((row, k), none) for row in range(3) for k in range(3)]).reshape(
        3, 3
    )


def precession(T: float) -> Array:
    """The matrix (3,3) from the mean equator and equinox of J2000 to those of date, T Julian
    centuries of TT after J2000. Source: IAU 1976; Vallado (2013), eq. 3-88.
    """
    zeta = (2306.2181 + (0.30188 + 0.017998 * T) * T) * T * ARCSEC
    theta = (2004.3109 - (0.42665 + 0.041833 * T) * T) * T * ARCSEC
    z = (2306.2181 + (1.09468 + 0.018203 * T) * T) * T * ARCSEC
    out: Array = turned_about(2, -z) @ turned_about(1, theta) @ turned_about(2, -zeta)
    return out


def obliquity(T: Any) -> Any:
    """Mean obliquity of the ecliptic [rad]. Source: IAU 1980; Vallado (2013), eq. 3-81."""
    return (84381.448 - (46.8150 + (0.00059 - 0.001813 * T) * T) * T) * ARCSEC


def nutation(T: float) -> tuple[float, float]:
    """Nutation in longitude and in obliquity [rad], within 0.5" and 0.1". Source: Meeus,
    "Astronomical Algorithms", 2nd ed. (1998), ch. 22.
    """
    node, sun, moon = np.deg2rad(
        [125.04452 - 1934.136261 * T, 280.4665 + 36000.7698 * T, 218.3165 + 481267.8813 * T]
    )
    angles = np.array([node, 2 * sun, 2 * moon, 2 * node])
    longitude = [-17.20, -1.32, -0.23, 0.21] @ np.sin(angles) * ARCSEC
    tilt = [9.20, 0.57, 0.10, -0.09] @ np.cos(angles) * ARCSEC
    return float(longitude), float(tilt)


@dataclass(frozen=True)
class EarthFrames:
    """The frames of the Earth at an epoch. mean (3,3): ECI to the mean equator and equinox of date.
    true (3,3): ECI to the true ones. equinoxes [rad]: apparent minus mean sidereal time.
    """

    epoch: Epoch
    mean: Array
    true: Array
    equinoxes: float

    @classmethod
    def at(cls, epoch: Epoch) -> EarthFrames:
        T = epoch.tt_centuries(0.0)
        mean, eps = precession(T), obliquity(T)
        longitude, tilt = nutation(T)
        nutating = turned_about(0, -eps - tilt) @ turned_about(2, -longitude) @ turned_about(0, eps)
        return cls(epoch, mean, nutating @ mean, longitude * np.cos(eps))

    @property
    def pole(self) -> Array:
        """The Earth's axis of rotation (3,) in ECI."""
        axis: Array = self.true[2]
        return axis

    def sidereal_time(self, t: Any) -> Any:
        """Greenwich apparent sidereal time [rad], without jumps."""
        return mean_sidereal_time(self.epoch, t) + self.equinoxes

    def rotation(self, t: Any) -> Any:
        """R (3,3) from ECEF to ECI at t [s] after the epoch."""
        return self.true.T @ turned_about(2, self.sidereal_time(t)).T


# --- geodetic coordinates: WGS84 ------------------------------------------------------------

_E2 = FLATTENING * (2 - FLATTENING)
_STEPS = 3
"""Bowring's iteration gains six digits a step; the third is for far away."""


def geodetic(r: Any) -> tuple[Any, Any, Any]:
    """Latitude, longitude [rad] and height [m] over WGS84 of a position r (3,) in ECEF.

    Exact to rounding from the surface to beyond the Moon, poles included, where the longitude is 0;
    not near the Earth's centre. Source: Bowring, Survey Review 23 (1976) 323.
    """
    a, b = EARTH_RADIUS, EARTH_RADIUS * (1 - FLATTENING)
    x, y, z = r[0], r[1], r[2]
    p = np.sqrt(x * x + y * y)
    c, s = p * b, z * a  # in the direction of the parametric latitude
    for _ in range(_STEPS):
        size = np.sqrt(c * c + s * s)
        c, s = c / size, s / size
        up, out = z + _E2 / (1 - _E2) * b * s * s * s, p - _E2 * a * c * c * c
        c, s = a * out, b * up
    length = np.sqrt(out * out + up * up)
    cosine, sine = out / length, up / length
    height = p * cosine + z * sine - a * np.sqrt(1 - _E2 * sine * sine)
    return np.arctan2(up, out), np.arctan2(y, x), height


def ecef_position(latitude: Any, longitude: Any, height: Any) -> Any:
    """The position (3,) [m] in ECEF of geodetic coordinates on WGS84. Source: Vallado (2013),
    eq. 3-14.
    """
    sine, cosine = np.sin(latitude), np.cos(latitude)
    C = EARTH_RADIUS / np.sqrt(1 - _E2 * sine * sine)
    across = (C + height) * cosine
    return np.stack(
        [
            across * np.cos(longitude),
            across * np.sin(longitude),
            ((1 - _E2) * C + height) * sine,
        ]
    )


def ned_rotation(latitude: Any, longitude: Any) -> Any:
    """R (3,3) from north, east, down to ECEF."""
    return (turned_about(1, -latitude - np.pi / 2) @ turned_about(2, longitude)).T


def ellipsoid_height(r: Any) -> Any:
    """Height [m] of r (3,) over the ellipsoid along the radius, z the Earth's axis. It exceeds the
    geodetic height by 6e-6 of it at most.
    """
    square = np.sum(r * r)
    stretched = square + (1 / (1 - FLATTENING) ** 2 - 1) * r[2] * r[2]
    return np.sqrt(square) - EARTH_RADIUS * np.sqrt(square / stretched)


# --- frames that follow an orbit ---------------------------------------------------------------


def orbit_frames(r: Any, v: Any) -> tuple[Any, Any, Any]:
    """R_lvlh, R_rsw (3,3), each from the frame to inertial axes, and their angular velocity (3,)
    [rad/s] in inertial axes, for a position r and a velocity v (3,).

    RSW: x radial, y along the track, z along the orbit's angular momentum. LVLH: z to the Earth's
    centre, y against the angular momentum, x along the track. The angular velocity is h / r^2; a
    force across the orbit's plane adds a rotation about r, which is left out. Where r and v are
    zero, as those of a sensor before it measures, r is taken as x and v as y, and the angular
    velocity is zero. Source: Vallado (2013), 3.3.
    """
    known = np.logical_or(np.any(np.abs(r) > 0), np.any(np.abs(v) > 0))
    r = np.where(known, r, np.array([1.0, 0.0, 0.0]))
    v = np.where(known, v, np.array([0.0, 1.0, 0.0]))
    h = cross(r, v)
    radial, normal = r / np.sqrt(np.sum(r * r)), h / np.sqrt(np.sum(h * h))
    along = cross(normal, radial)
    rsw = np.stack([radial, along, normal]).T
    lvlh = np.stack([along, -normal, -radial]).T
    return lvlh, rsw, np.where(known, h / np.sum(r * r), 0.0)
