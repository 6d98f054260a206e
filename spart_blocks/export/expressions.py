"""CasADi functions of scalars as statements of C99.

CasADi's own C checks for each scalar whether its array is NULL, has unused arguments, and does
not support float. Here each entry of an argument or a result is a C expression given by the
caller, such as `u->plant_qm[2]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from spart_blocks.program.c.scalar_code import (
    Instruction,
    Real,
    instructions,
    literal,
    looked_up,
    name_of,
)
from spart_blocks.program.tracing.loops import PREFIX as SOLVES

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
    for one in instructions(function):
        operands = [at[slot] for slot in one.of]
        if one.called.startswith(SOLVES):
            lines.append(_solved(one, operands, real))
            given = [slot for slot in one.gives if slot >= 0]
            slots.update(given)
            at |= {slot: f"w{slot}" for slot in given}
        elif one.operation == ca.OP_OUTPUT:
            lines.append(f"{results[one.place[1]]} = {operands[0]};")
        elif one.operation == ca.OP_CONST:
            at[one.to] = literal(one.number, real)
        else:
            if one.operation == ca.OP_INPUT:
                value = arguments[one.place[0]][one.place[1]]
            elif one.operation == ca.OP_CALL:
                value = looked_up(one.called, operands)
            else:
                value = _applied(one.operation, operands, real)
            slots.add(one.to)
            at[one.to] = f"w{one.to}"
            lines.append(f"w{one.to} = {value};")
    return [*_declared(sorted(slots), real), *lines]


def _solved(one: Instruction, operands: Sequence[str], real: Real) -> str:
    """The call of a function that solves an algebraic loop, which is in double precision."""
    cast = "" if real == "double" else "(float)"
    taken = "".join(f"w{slot} = {cast}sb_z[{k}]; " for k, slot in enumerate(one.gives) if slot >= 0)
    given = ", ".join(operands)
    return (
        f"{{ const double sb_in[] = {{{given}}}; double sb_z[{len(one.gives)}]; "
        f"{one.called}(sb_in, sb_z); {taken}}}"
    )


def _declared(slots: Sequence[int], real: Real) -> list[str]:
    rows = [slots[k : k + 16] for k in range(0, len(slots), 16)]
    return [f"{real} {', '.join(f'w{slot}' for slot in row)};" for row in rows]


def _applied(operation: int, operands: Sequence[str], real: Real) -> str:
    if operation in _INFIX:
        return _INFIX[operation].format(*operands)
    if operation in _REPEATED:
        return _REPEATED[operation].format(*operands)
    return f"{name_of(operation)}{'f' if real == 'float' else ''}({', '.join(operands)})"
