"""Values whose sign changes where a signal bends or jumps: what a block's `watch` gives.

A step of a solver ends where one of them changes from at most zero to above zero, or back.
Numbers and symbols go the same way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.errors import Fault, InputError, brief

COMPARISONS: dict[str, Any] = {
    "==": np.equal, "!=": np.not_equal,
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
LEVEL_BITS = 4
"""Of the Gray code of levels: a step is cut where it crosses fewer than 16 of them."""


def flat(*values: Any) -> list[Any]:
    """All entries of scalars and arrays in one list."""
    return [entry for value in values for entry in np.ravel(value)]


def bare(value: Any) -> Any:
    """An array without dimensions as the scalar that it holds."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def zero_or_one(condition: Any) -> Any:
    """1 where a condition holds, otherwise 0; floats in its shape."""
    return bare(np.where(condition, 1.0, 0.0))


def comparison_crossings(a: Any, operator: str, b: Any) -> list[Any]:
    """The values that are watched for `a operator b`: zero counts as the side on which the
    comparison has it."""
    difference = a - b
    if operator in (">", "<="):
        return flat(difference)
    if operator in ("<", ">="):
        return flat(-difference)
    return flat(difference, -difference)


def level_crossings(v: Any) -> list[Any]:
    """Values of which one changes its sign wherever v passes a whole number.

    They are a cyclic Gray code of floor(v), each bit a smooth wave: one alone would be the
    same again after a step over two levels, and that step would not be cut.
    """
    waves = [np.cos(np.pi * v / 2 ** (bit + 1)) for bit in range(LEVEL_BITS - 1)]
    return flat(*waves, np.sin(np.pi * v / 2 ** (LEVEL_BITS - 1)))


# --- parameters of these blocks ------------------------------------------------------------


def common_shape(**values: Any) -> tuple[int, ...]:
    """The shape that numbers and vectors have together; InputError where lengths differ."""
    lengths = {name: len(v) for name, v in values.items() if np.ndim(v)}
    if len(set(lengths.values())) > 1:
        told = " and ".join(f"{name} has {n} entries" for name, n in lengths.items())
        raise InputError(Fault(told, hint="give vectors of one length, or numbers"))
    return (next(iter(lengths.values())),) if lengths else ()


def in_order(low: Any, high: Any, names: tuple[str, str]) -> None:
    """InputError where a low number is above its high one; None is no limit."""
    if low is not None and high is not None and np.any(np.asarray(low) > np.asarray(high)):
        raise InputError(f"{names[0]} is {brief(low)}, above {names[1]}, {brief(high)}")
