"""Evaluates functions of parameters with exact fractions, so that times in a file are not rounded.

A parameter is the number that the file means by it (`clocks.meant`): delay + 0.7 period with a
delay of 0.1 and a period of 0.2 is exactly 0.24, the same instant as a tick at 0.24.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import casadi as ca

from spart_blocks.diagram.network.clocks import Floats, meant

Exact = Fraction | float
"""A fraction; a float only if it is not finite or not rational, such as a root or a sine."""

_OPERATIONS: dict[int, Callable[..., Any]] = {
    ca.OP_ASSIGN: lambda a: a,
    ca.OP_ADD: lambda a, b: a + b,
    ca.OP_SUB: lambda a, b: a - b,
    ca.OP_MUL: lambda a, b: a * b,
    ca.OP_DIV: lambda a, b: a / b,
    ca.OP_NEG: lambda a: -a,
    ca.OP_INV: lambda a: 1 / a,
    ca.OP_SQ: lambda a: a * a,
    ca.OP_TWICE: lambda a: 2 * a,
    ca.OP_FABS: abs,
    ca.OP_FLOOR: math.floor,
    ca.OP_CEIL: math.ceil,
    ca.OP_FMIN: min,
    ca.OP_FMAX: max,
    ca.OP_FMOD: lambda a, b: a - b * int(a / b),
    ca.OP_SIGN: lambda a: (a > 0) - (a < 0),
    ca.OP_LT: lambda a, b: a < b,
    ca.OP_LE: lambda a, b: a <= b,
    ca.OP_EQ: lambda a, b: a == b,
    ca.OP_NE: lambda a, b: a != b,
    ca.OP_NOT: lambda a: not a,
    ca.OP_AND: lambda a, b: bool(a) and bool(b),
    ca.OP_OR: lambda a, b: bool(a) or bool(b),
    ca.OP_IF_ELSE_ZERO: lambda a, b: b if a else 0,
}

OPERATION_NAMES: dict[int, str] = {
    getattr(ca, name): name.removeprefix("OP_").lower()
    for name in dir(ca)
    if name.startswith("OP_")
}
"""By CasADi's number of an operation: add, sub, ..."""


def exact_values(function: Any, p: Floats) -> list[Exact]:
    """The entries of function(p), a Function of one vector, as exact fractions; as CasADi computes
    them if they depend on values that are not rational.
    """
    followed = _followed(function, p)
    if None not in followed:
        return [value for value in followed if value is not None]
    rounded: list[float] = function(p).full().ravel().tolist()
    pairs = zip(followed, rounded, strict=True)
    return [as_exact(near) if value is None else value for value, near in pairs]


def as_exact(value: Any) -> Exact:
    """The fraction that a number means; infinite and NaN values are returned unchanged."""
    if isinstance(value, Fraction):
        return value
    return meant(value) if math.isfinite(value) else float(value)


def _followed(function: Any, p: Floats) -> list[Fraction | None]:
    """The entries as fractions, None where they are not rational."""
    work: dict[int, Fraction | None] = {}
    result: dict[int, Fraction | None] = {}
    for operation, inputs, outputs, constant in instructions(function):
        if operation == ca.OP_OUTPUT:
            result[outputs[1]] = work[inputs[0]]
        elif operation == ca.OP_INPUT:
            value = float(p[inputs[1]])
            work[outputs[0]] = meant(value) if math.isfinite(value) else None
        elif operation == ca.OP_CONST:
            work[outputs[0]] = meant(constant) if math.isfinite(constant) else None
        else:
            work[outputs[0]] = _applied(operation, [work[i] for i in inputs])
    return [result.get(k, Fraction(0)) for k in range(function.nnz_out(0))]


def _applied(operation: int, values: Sequence[Fraction | None]) -> Fraction | None:
    apply = _OPERATIONS.get(operation)
    if apply is None or (values[0] is None):
        return None
    if operation == ca.OP_IF_ELSE_ZERO and not values[0]:
        return Fraction(0)
    if None in values:
        return None
    try:
        return Fraction(apply(*values))
    except ZeroDivisionError:
        return None


@lru_cache(maxsize=64)
def instructions(function: Any) -> list[tuple[int, list[int], list[int], float]]:
    """The instructions of a function: operation, inputs, outputs, constant."""
    steps = []
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        constant = function.instruction_constant(k) if operation == ca.OP_CONST else 0.0
        inputs, outputs = function.instruction_input(k), function.instruction_output(k)
        steps.append((operation, list(inputs), list(outputs), constant))
    return steps
