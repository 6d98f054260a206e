"""The surroundings of a spacecraft: time scales, frames, gravity, air, light and magnetic field.

Functions without blocks, over arrays of numbers or symbols. Positions are in metres from the
Earth's centre. ECI is the mean equator and equinox of J2000, ECEF turns with the Earth.
"""
