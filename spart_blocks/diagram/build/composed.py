"""bdsim's blocks that are made of other blocks, and which of these use their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ComposedArgument:
    """An argument of an inner block that gets the value of an argument of the composed block.

    block: name of the inner block. sign: +1 or -1, the factor of the value there. apart: values
    for which bdsim makes different inner blocks, so that they cannot be values of a parameter.
    alone: whether the value must be a single number. unless: if this argument is given too, the
    value has a further effect and is not a parameter.
    """

    block: str
    argument: str
    sign: int = 1
    apart: frozenset[float] = frozenset()
    alone: bool = False
    unless: str = ""


_ZERO = frozenset({0.0})
_LIMITS = (ComposedArgument("I", "max", alone=True), ComposedArgument("I", "min", -1, alone=True))

COMPOSED: Mapping[str, Mapping[str, tuple[ComposedArgument, ...]]] = {
    "DERIV": {
        "alpha": (ComposedArgument("alpha", "K", unless="y0"),),
        "gain": (ComposedArgument("K", "K", apart=frozenset({1.0})),),
        "x0": (ComposedArgument("integrator.0", "x0", unless="y0"),),
    },
    "PID": {
        "P": (ComposedArgument("P", "K"),),
        "I": (ComposedArgument("I", "gain", apart=_ZERO),),
        "D": (ComposedArgument("D/K", "K", apart=frozenset({0.0, 1.0})),),
        "D_pole": (ComposedArgument("D/alpha", "K"),),
        "I_limit": _LIMITS,
    },
    "PID_S": {
        "P": (ComposedArgument("gain.0", "K"),),
        "I": (ComposedArgument("I", "gain", apart=_ZERO),),
        "D": (ComposedArgument("deriv_s.0", "gain", apart=_ZERO),),
        "I_limit": _LIMITS,
    },
}
"""By type and argument. Arguments that are not listed are structural."""


def parts_of(kind: str, argument: str) -> tuple[ComposedArgument, ...] | None:
    """The inner arguments that get the value of an argument; empty if it is structural, None if
    the block is not composed.
    """
    found = COMPOSED.get(kind)
    return None if found is None else found.get(argument, ())
