"""CasADi functions of scalars as statements of C99.

CasADi's own C checks for each scalar whether its array is NULL, has unused arguments, and does
not support float. Here each entry of an argument or a result is a C expression given by the
caller, such as `u->plant_qm[2]`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Literal

import casadi as ca
import numpy as np

from spart_blocks.program.lookup_tables import PREFIX

Real = Literal["double", "float"]

LARGEST = {"double": 1.7976931348623157e308, "float": 3.4028234663852886e38}

_INFIX = {
    ca.OP_ADD: "{} + {}",
    ca.OP_SUB: "{} - {}",
    ca.OP_MUL: "{} * {}",
    ca.OP_DIV: "{} / {}",
    ca.OP_NEG: "-{}",
    ca.OP_LT: "{} < {}",
    ca.OP_LE: "{} <= {}",
    ca.OP_EQ: "{} == {}",
    ca.OP_NE: "{} != {}",
    ca.OP_NOT: "!{}",
    ca.OP_AND: "{} && {}",
    ca.OP_OR: "{} || {}",
    ca.OP_IF_ELSE_ZERO: "{} ? {} : 0",
    ca.OP_ASSIGN: "{}",
}
_REPEATED = {
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "{0} + {0}",
    ca.OP_INV: "1 / {0}",
    ca.OP_SIGN: "{0} < 0 ? -1 : {0} > 0 ? 1 : {0}",
}
_OF_MATH_H = {
    getattr(ca, f"OP_{name.upper()}"): name
    for name in (
        *("exp", "log", "pow", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "fmod", "fabs"),
        *("copysign", "erf", "fmin", "fmax", "log1p", "expm1", "hypot", "remainder"),
    )
} | {ca.OP_CONSTPOW: "pow"}


_TABLE = re.compile(rf"({PREFIX}\w+)|(?:fwd|adj)1_({PREFIX}\w+)")


class UnknownOperationError(ValueError):
    """An operation of CasADi that has no equivalent in math.h."""


def statements(
    function: Any, arguments: Sequence[Sequence[str]], results: Sequence[str], real: Real = "double"
) -> list[str]:
    """The statements that compute a function, an SX function with one dense result.

    arguments: for each argument the C expressions of its entries. results: the C expressions to
    which the entries of the result are assigned, which must not be those of an argument. Local
    variables are called w0, w1, ... Lookup tables are C functions with the names of the tables,
    and the suffix `_slope` for their derivatives (see table_code.py).
    """
    at: dict[int, str] = {}  # the C expression of each slot of CasADi's work vector
    slots: set[int] = set()
    lines: list[str] = []
    calls = function.instructions_sx() if function.find_functions(0) else []
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        inputs, outputs = function.instruction_input(k), function.instruction_output(k)
        if operation == ca.OP_OUTPUT:
            lines.append(f"{results[outputs[1]]} = {at[inputs[0]]};")
        elif operation == ca.OP_CONST:
            at[outputs[0]] = literal(function.instruction_constant(k), real)
        else:
            if operation == ca.OP_INPUT:
                value = arguments[inputs[0]][inputs[1]]
            elif operation == ca.OP_CALL:
                called = calls[k].which_function().name()
                value = _looked_up(called, [at[slot] for slot in inputs])
            else:
                value = _applied(operation, [at[slot] for slot in inputs], real)
            slots.add(outputs[0])
            at[outputs[0]] = f"w{outputs[0]}"
            lines.append(f"w{outputs[0]} = {value};")
    return [*_declared(sorted(slots), real), *lines]


def _declared(slots: Sequence[int], real: Real) -> list[str]:
    rows = [slots[k : k + 16] for k in range(0, len(slots), 16)]
    return [f"{real} {', '.join(f'w{slot}' for slot in row)};" for row in rows]


def _applied(operation: int, operands: Sequence[str], real: Real) -> str:
    if operation in _INFIX:
        return _INFIX[operation].format(*operands)
    if operation in _REPEATED:
        return _REPEATED[operation].format(*operands)
    name = _OF_MATH_H.get(operation)
    if name is None:
        raise UnknownOperationError(f"CasADi's operation {operation} has no equivalent in math.h")
    return f"{name}{'f' if real == 'float' else ''}({', '.join(operands)})"


def _looked_up(called: str, operands: Sequence[str]) -> str:
    """The value of a table at its operand, or its slope there times the seed of a derivative."""
    found = _TABLE.fullmatch(called)
    if found is None:
        raise UnknownOperationError(f"the function {called} has no C code")
    table, of_derivative = found.groups()
    if table:
        return f"{table}({operands[0]})"
    return f"{of_derivative}_slope({operands[0]}) * {operands[-1]}"


def literal(value: float, real: Real = "double") -> str:
    """A number as a C constant, exact in double precision."""
    if math.isnan(value):
        return "NAN"
    if abs(value) > LARGEST[real]:
        return "INFINITY" if value > 0 else "(-INFINITY)"
    text = f"{np.float32(value)!s}f" if real == "float" else repr(float(value))
    return f"({text})" if text.startswith("-") else text
