"""Constants of Earth, Sun and Moon, in SI units."""

from __future__ import annotations

import numpy as np

MU_EARTH = 3.986004415e14
"""Gravitational parameter of the Earth [m^3/s^2]: EGM96."""
GRAVITY_RADIUS = 6378136.3
"""Reference radius of the zonal coefficients [m]: EGM96."""
ZONALS = -np.sqrt([5.0, 7.0, 9.0, 11.0, 13.0]) * [
    -0.484165371736e-3, 0.957254173792e-6, 0.539873863789e-6, 0.685323475630e-7, -0.149957994714e-6
]  # fmt: skip
"""J2 to J6, from EGM96's normalised coefficients: J_n = -sqrt(2n + 1) C_n0."""

MU_SUN = 1.32712440018e20
"""Gravitational parameter of the Sun [m^3/s^2]: DE405."""
MU_MOON = 4.902800076e12
"""Gravitational parameter of the Moon [m^3/s^2]: DE421."""
AU = 149597870700.0
"""Astronomical unit [m]: IAU 2012."""
SUN_RADIUS = 6.957e8
"""Radius of the Sun [m]: IAU 2015, resolution B3."""
IRRADIANCE = 1361.0
"""Irradiance of the Sun at 1 au [W/m^2]: Kopp and Lean, Geophys. Res. Lett. 38 (2011)."""
LIGHT_SPEED = 299792458.0

EARTH_RADIUS = 6378137.0
"""Equatorial radius of the Earth [m]: WGS84."""
FLATTENING = 1.0 / 298.257223563
"""Flattening of the Earth's ellipsoid: WGS84."""
EARTH_RATE = 7.292115e-5
"""Rate of the Earth's rotation [rad/s]: WGS84."""
