"""Low-pass filters by their designs: zeros, poles and gain of the filter of 1 rad/s."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.values import chosen, counted, positive_number

HIGHEST_ORDER = 20
"""Highest order of a filter."""
NORMS = {"magnitude": "mag", "delay": "delay", "phase": "phase"}
"""What the cut-off of a Bessel filter is, and SciPy's name of it."""

Roots = tuple[Array, Array, float]
"""Zeros, poles and gain."""


def _butterworth(order: int) -> Roots:
    from scipy.signal import buttap

    roots: Roots = buttap(order)
    return roots


def _critical(order: int) -> Roots:
    """Equal real poles; the gain is 1/sqrt(2) at 1."""
    pole = 1 / math.sqrt(2 ** (1 / order) - 1)
    return np.zeros(0), np.full(order, -pole), pole**order


def _bessel(order: int, norm: Any) -> Roots:
    from scipy.signal import besselap

    roots: Roots = besselap(order, norm=NORMS[chosen(norm, "norm", tuple(NORMS))])
    return roots


def _chebyshev1(order: int, ripple: Any) -> Roots:
    from scipy.signal import cheb1ap

    roots: Roots = cheb1ap(order, positive_number(ripple, "ripple", "dB"))
    return roots


def _chebyshev2(order: int, attenuation: Any) -> Roots:
    from scipy.signal import cheb2ap

    roots: Roots = cheb2ap(order, positive_number(attenuation, "attenuation", "dB"))
    return roots


class _Design(NamedTuple):
    """The roots for an order, and for the parameter that only this design has."""

    roots: Callable[..., Roots]
    parameter: str | None = None
    default: Any = None


_DESIGNS = {
    "butterworth": _Design(_butterworth),
    "critical": _Design(_critical),
    "bessel": _Design(_bessel, "norm", "magnitude"),
    "chebyshev1": _Design(_chebyshev1, "ripple", 0.5),
    "chebyshev2": _Design(_chebyshev2, "attenuation", 40.0),
}


def low_pass(design: Any, order: Any, **given: Any) -> Roots:
    """The zeros, poles and gain of a low-pass filter of 1 rad/s.

    given: the parameters of single designs, None where they have their defaults. Raises InputError
    for one that belongs to another design.
    """
    found = _DESIGNS[chosen(design, "design", tuple(_DESIGNS))]
    order = counted(order, "order", HIGHEST_ORDER)
    for name, value in given.items():
        if value is not None and name != found.parameter:
            (home,) = (key for key, other in _DESIGNS.items() if other.parameter == name)
            text = f"{name} is a parameter of the design {home}, not of {design}"
            raise InputError(Fault(text, hint=f"write design: {home}, or leave {name} out"))
    if found.parameter is None:
        return found.roots(order)
    value = given.get(found.parameter)
    return found.roots(order, found.default if value is None else value)
