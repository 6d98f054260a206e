"""bdsim's blocks that are made of other blocks: which of these take their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """An argument of a block inside a composed one, which takes the value of an argument of that.

    block: its name inside. sign: of the value there. apart: values for which bdsim makes other
    blocks, so that they are no parameter's. alone: whether the value is a single number. unless: an
    argument that the value counts for as well, if it is given.
    """

    block: str
    argument: str
    sign: int = 1
    apart: frozenset[float] = frozenset()
    alone: bool = False
    unless: str = ""


_ZERO = frozenset({0.0})
_LIMITS = (Part("I", "max", alone=True), Part("I", "min", -1, alone=True))

COMPOSED: Mapping[str, Mapping[str, tuple[Part, ...]]] = {
    "DERIV": {
        "alpha": (Part("alpha", "K", unless="y0"),),
        "gain": (Part("K", "K", apart=frozenset({1.0})),),
        "x0": (Part("integrator.0", "x0", unless="y0"),),
    },
    "PID": {
        "P": (Part("P", "K"),),
        "I": (Part("I", "gain", apart=_ZERO),),
        "D": (Part("D/K", "K", apart=frozenset({0.0, 1.0})),),
        "D_pole": (Part("D/alpha", "K"),),
        "I_limit": _LIMITS,
    },
    "PID_S": {
        "P": (Part("gain.0", "K"),),
        "I": (Part("I", "gain", apart=_ZERO),),
        "D": (Part("deriv_s.0", "gain", apart=_ZERO),),
        "I_limit": _LIMITS,
    },
}
"""By type and argument. Other arguments are structural."""


def parts_of(kind: str, argument: str) -> tuple[Part, ...] | None:
    """The parts that take an argument of a block of a type, none if it is structural; None if the
    block is not composed."""
    found = COMPOSED.get(kind)
    return None if found is None else found.get(argument, ())
