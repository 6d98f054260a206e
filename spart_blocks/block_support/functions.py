"""The functions of MATH, TRIG and ROUND by name, with their zero-crossing functions. They run on
numbers and symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.formulas.crossings import flat, level_crossings
from spart_blocks.formulas.reader import FUNCTIONS, Function


def _modulo(u: Any, v: Any) -> Any:
    return np.where(np.equal(v, 0.0), u, np.mod(u, v))


def _levels(u: Any, v: Any) -> list[Any]:
    return level_crossings(u / v)


def _to_nearest(u: Any) -> Any:
    """Halves away from zero."""
    return np.sign(u) * np.floor(np.abs(u) + 0.5)


def _half_levels(u: Any) -> list[Any]:
    return level_crossings(u + 0.5)


MATHEMATICS: dict[str, Function] = {
    **{name: FUNCTIONS[name] for name in ("exp", "log", "log10", "sqrt", "hypot")},
    "log2": Function(np.log2),
    "10^u": Function(lambda u: np.float_power(10.0, u)),
    "square": Function(np.square),
    "cube_root": Function(np.cbrt, crossings=flat),
    "signed_sqrt": Function(lambda u: np.sign(u) * np.sqrt(np.abs(u)), crossings=flat),
    "reciprocal_sqrt": Function(lambda u: 1.0 / np.sqrt(u)),
    "reciprocal": Function(lambda u: 1.0 / u),
    "pow": Function(np.float_power, 2, 2),
    "mod": Function(_modulo, 2, 2, _levels),
    "rem": Function(np.fmod, 2, 2, _levels),
}

TRIGONOMETRY: dict[str, Function] = {
    **{name: FUNCTIONS[name] for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh")},
    "asinh": Function(np.arcsinh), "acosh": Function(np.arccosh), "atanh": Function(np.arctanh),
}  # fmt: skip

ROUNDINGS: dict[str, Function] = {
    "floor": FUNCTIONS["floor"],
    "ceil": FUNCTIONS["ceil"],
    "fix": Function(np.trunc, crossings=level_crossings),
    "round": Function(_to_nearest, crossings=_half_levels),
}
