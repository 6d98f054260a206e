"""The motion by a polynomial of fifth order with zero acceleration at both ends.

    value = v0 s + c3 s^3 + c4 s^4 + c5 s^5,    s from 0 to 1

Source: B. Siciliano et al., "Robotics: Modelling, Planning and Control" (2009), sec. 4.2.1;
K. Lynch and F. Park, "Modern Robotics" (2017), sec. 9.2.2.1.
"""

from __future__ import annotations

from typing import Any


def quintic_coefficients(way: Any, v0: Any, v1: Any) -> tuple[Any, Any, Any]:
    """c3, c4 and c5 of a motion from 0 to way, with rates v0 and v1 per unit of s at its ends."""
    return (
        10 * way - 6 * v0 - 4 * v1,
        -15 * way + 8 * v0 + 7 * v1,
        6 * way - 3 * v0 - 3 * v1,
    )


def quintic(s: Any, way: Any = 1.0, v0: Any = 0.0, v1: Any = 0.0) -> tuple[Any, Any, Any]:
    """The value at s, and its first and second derivative there."""
    c3, c4, c5 = quintic_coefficients(way, v0, v1)
    return (
        v0 * s + (c3 + (c4 + c5 * s) * s) * (s * s * s),
        v0 + (3 * c3 + (4 * c4 + 5 * c5 * s) * s) * (s * s),
        (6 * c3 + (12 * c4 + 20 * c5 * s) * s) * s,
    )
