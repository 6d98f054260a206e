"""Zero-crossing functions, whose sign changes where a signal has a kink or a jump: the values of a
block's `watch`.

A solver step ends where one of them changes from at most zero to above zero, or back. The functions
work on numbers and symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np

COMPARISONS: dict[str, Any] = {
    "==": np.equal, "!=": np.not_equal,
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
LEVEL_BITS = 4
"""Bits of the Gray code of levels: a step that crosses fewer than 16 levels ends at the first."""


def flat(*values: Any) -> list[Any]:
    """All entries of scalars and arrays in one list."""
    return [entry for value in values for entry in np.ravel(value)]


def bare(value: Any) -> Any:
    """A zero-dimensional array as a scalar; other arrays unchanged."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def zero_or_one(condition: Any) -> Any:
    """1.0 where a condition holds, otherwise 0.0, in the shape of the condition."""
    return bare(np.where(condition, 1.0, 0.0))


def beyond(u: Any, above: Any) -> Any:
    """A zero-crossing function: positive if u is no longer on the side of zero that it was on."""
    return np.where(above, np.where(u <= 0, 1.0, -u), u)


def has_edge(edge: str, before: Any, above: Any) -> Any:
    """Whether a signal has an edge of a kind. before: 1 if it was above zero, 0 if not, 0.5 if that
    is not known. above: whether it is now."""
    rises = np.logical_and(before < 0.25, above)
    falls = np.logical_and(before > 0.75, np.logical_not(above))
    return {"rising": rises, "falling": falls, "either": np.logical_or(rises, falls)}[edge]


def comparison_crossings(a: Any, operator: str, b: Any) -> list[Any]:
    """The zero-crossing functions of `a operator b`: zero belongs to the same side as in the
    comparison.
    """
    difference = a - b
    if operator in (">", "<="):
        return flat(difference)
    if operator in ("<", ">="):
        return flat(-difference)
    return flat(difference, -difference)


def level_crossings(v: Any) -> list[Any]:
    """Zero-crossing functions, one of which changes its sign wherever v passes an integer.

    They are a cyclic Gray code of floor(v), each bit a smooth wave. A single wave would have its
    old sign after a step over two levels, and the step would not end there.
    """
    slowest = np.pi * v / 2 ** (LEVEL_BITS - 1)
    c, s = np.cos(slowest), np.sin(slowest)
    waves = [s, c]
    while len(waves) < LEVEL_BITS:  # of the double angle
        c, s = (c - s) * (c + s), 2 * s * c
        waves.append(c)
    return flat(*reversed(waves))


# --- instants as floats ---------------------------------------------------------------------------
# Instants as floats: edges that are sums of floats, on the right side of the instants of a run.
#
# The instants of a run are exact fractions, and a block gets each of them rounded once. An edge
# that a block computes from its parameters, such as delay + k period, is off by its own rounding:
# by a few units in the last place. Compared with a time that is later by a little more, it has come
# at its instant, and not before: a run evaluates what is before a stop sixteen units earlier
# (run/events/stops.py).


HAIR = 2.0**-50
"""Four units in the last place of 1."""
LOCATED_WITHIN = 1e-10
"""Tolerance [s] of a crossing's time."""


def settled(t: Any) -> Any:
    """The time t [s] at which edges are compared."""
    return t + HAIR * np.abs(t)
