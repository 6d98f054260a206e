"""Random numbers by arithmetic that is exact in doubles, so they are the same on every platform.

L'Ecuyer's MRG32k3a combines two recurrences of order three. Its products stay below 2^53,
so that no rounding, no order of operations and no fused multiplication changes a number.
Everything is NumPy over arrays, so that it runs on symbols too.

Source: P. L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive
Random Number Generators", Operations Research 47 (1999), 159-164.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]

NUMBERS = 6
"""Size of a generator's state: the last three values of both recurrences, the newest last."""
M1, M2 = 4294967087.0, 4294944443.0
_A12, _A13, _A21, _A23 = 1403580.0, 810728.0, 527612.0, 1370589.0
_NORM = 2.328306549295728e-10
"""1 / (M1 + 1)."""


def seeded(seed: int, channels: int) -> Floats:
    """States (channels, 6), one per channel, by NumPy's SeedSequence. The probability of overlap is
    about 2^-128, since the period is 2^191.
    """
    words = [
        np.random.SeedSequence(seed, spawn_key=(channel,)).generate_state(NUMBERS)
        for channel in range(channels)
    ]
    return states_of(np.array(words, dtype=float).reshape(channels, NUMBERS))


def states_of(words: Floats) -> Floats:
    """States (..., 6) from random whole numbers of 32 bits."""
    # No recurrence may start from zeros only: values are at least 1.
    below = np.array([M1, M1, M1, M2, M2, M2]) - 1
    out: Floats = words % below + 1
    return out


def advanced(state: Any) -> Any:
    """The states (channels, 6) of the next number."""
    x0, x1, x2, y0, y1, y2 = state.T
    x3 = _modulo(_A12 * x1 - _A13 * x0, M1)
    y3 = _modulo(_A21 * y2 - _A23 * y0, M2)
    return np.stack([x1, x2, x3, y1, y2, y3], axis=1)


def _modulo(p: Any, m: float) -> Any:
    """p modulo m for integers, where the quotient may have been rounded up."""
    rest = p - np.floor(p / m) * m
    return np.where(rest < 0, rest + m, np.where(rest >= m, rest - m, rest))


def uniform(state: Any) -> Any:
    """The numbers (channels,) of the states, each above 0 and below 1, a multiple of
    1 / (M1 + 1)."""
    difference = state[:, 2] - state[:, 5]
    return _NORM * np.where(difference <= 0, difference + M1, difference)


_CENTRE = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
     5.2264952788528545610e3),
)  # fmt: skip
_TAIL = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9),
)  # fmt: skip


def normal(u: Any) -> Any:
    """The inverse of the normal distribution function, to about 1e-15, for u in (1e-11, 1 -
    1e-11).

    Source: M. J. Wichura, "Algorithm AS 241: The Percentage Points of the Normal
    Distribution", Applied Statistics 37 (1988), 477-484, PPND16 without its far tail.
    """
    q = u - 0.5
    centre = q * _ratio(_CENTRE, 0.180625 - q * q)
    r = np.sqrt(-np.log(np.minimum(u, 1.0 - u))) - 1.6
    tail = np.where(q < 0, -1.0, 1.0) * _ratio(_TAIL, r)
    return np.where(np.abs(q) <= 0.425, centre, tail)


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], r: Any) -> Any:
    above, below = (_polynomial(c, r) for c in coefficients)
    return above / below


def _polynomial(coefficients: tuple[float, ...], r: Any) -> Any:
    value: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = value * r + c
    return value
