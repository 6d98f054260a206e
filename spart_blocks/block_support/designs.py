"""Low-pass filters by their designs: zeros, poles and gain of the filter of 1 rad/s."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import Array

HIGHEST_ORDER = 20
"""Highest order of a filter."""
_SCIPY_NORMS = {"magnitude": "mag", "delay": "delay", "phase": "phase"}
NORMS = tuple(_SCIPY_NORMS)
"""What the cut-off of a Bessel filter is."""
Roots = tuple[Array, Array, float]
"""Zeros, poles and gain."""


def _scipy(name: str) -> Callable[..., Roots]:
    """The prototype of 1 rad/s of this name in SciPy, which is imported when it is called."""

    def roots(order: int, *given: Any) -> Roots:
        import scipy.signal

        found: Roots = getattr(scipy.signal, name)(order, *given)
        return found

    return roots


def _critical(order: int) -> Roots:
    """The prototype of equal lags."""
    pole = 1 / math.sqrt(2 ** (1 / order) - 1)
    return np.zeros(0), np.full(order, -pole), pole**order


class _Design(NamedTuple):
    """A design: its prototype, and its parameter with the default."""

    roots: Callable[..., Roots]
    parameter: str | None = None
    default: Any = None


_DESIGNS = {
    "butterworth": _Design(_scipy("buttap")),
    "critical": _Design(_critical),
    "bessel": _Design(_scipy("besselap"), "norm", "magnitude"),
    "chebyshev1": _Design(_scipy("cheb1ap"), "ripple", 0.5),
    "chebyshev2": _Design(_scipy("cheb2ap"), "attenuation", 40.0),
}
DESIGNS = tuple(_DESIGNS)


def low_pass(design: Any, order: Any, **given: Any) -> Roots:
    """The zeros, poles and gain of a low-pass filter of 1 rad/s.

    given: the parameters of single designs, None where they have their defaults. Raises InputError
    for one that belongs to another design.
    """
    found = _DESIGNS[design]
    for name, value in given.items():
        if value is not None and name != found.parameter:
            (home,) = (key for key, other in _DESIGNS.items() if other.parameter == name)
            text = f"{name} is a parameter of the design {home}, not of {design}"
            raise InputError(Fault(text, hint=f"write design: {home}, or leave {name} out"))
    if found.parameter is None:
        return found.roots(order)
    value = given.get(found.parameter)
    value = found.default if value is None else value
    return found.roots(order, _SCIPY_NORMS.get(value, value))
