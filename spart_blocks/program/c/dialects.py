"""How numbers are written in C: plain numbers of C99, or SB_REAL of sb_numbers.h."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import casadi as ca
import numpy as np

from spart_blocks.program.c.text import with_headers
from spart_blocks.program.tracing.lookup_tables import PREFIX

Real = Literal["double", "float"]

LARGEST = {"double": 1.7976931348623157e308, "float": 3.4028234663852886e38}

_FUNCTIONS = {
    getattr(ca, f"OP_{name.upper()}"): name
    for name in (
        *("exp", "log", "pow", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "fmod", "fabs"),
        *("copysign", "erf", "fmin", "fmax", "log1p", "expm1", "hypot", "remainder"),
    )
}
"""The operations that math.h has, by their names there."""

_OPERATORS = {
    ca.OP_ADD: "{} + {}",
    ca.OP_SUB: "{} - {}",
    ca.OP_MUL: "{} * {}",
    ca.OP_DIV: "{} / {}",
    ca.OP_LT: "{} < {}",
    ca.OP_LE: "{} <= {}",
    ca.OP_EQ: "{} == {}",
    ca.OP_NE: "{} != {}",
    ca.OP_NEG: "-{}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "{0} + {0}",
}
BINARY = frozenset(list(_OPERATORS)[:8])
"""The operators of two numbers, of which one may be a constant as it stands."""
MASKS = {ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR, ca.OP_NOT}
"""The operations whose results are true or false."""
TRUTHS = {ca.OP_AND: 2, ca.OP_OR: 2, ca.OP_NOT: 1, ca.OP_IF_ELSE_ZERO: 1}
"""How many of the first operands of an operation are taken as true or false."""

_TABLE = re.compile(rf"({PREFIX}\w+)|(?:fwd|adj)1_({PREFIX}\w+)")


class UnknownOperationError(ValueError):
    """An operation of CasADi that has no equivalent in math.h."""


@dataclass(frozen=True)
class Dialect:
    """How numbers and functions are written.

    real, mask: the types of a number, and of a comparison. scalar: of a number of one run. solved:
    of the numbers of a function that solves a loop; cast: from it to real. tables, static, apart:
    what begins a constant array, a function, and one that is not to become a part of others.
    pointer: what precedes the name of an array.
    constant: a number in C. number, truth, everywhere, function, table, more are formats: of a
    comparison as a number, a number as a comparison, a constant where no operator takes it, the
    name of a function of math.h, that of a table, and whether a comparison holds in any run.
    operations: the formats of operations that differ. loads: inputs are read once, into
    constants. turned: sb_sincos gives both.
    longest, piece: a function of more statements is cut into pieces of so many, since a compiler's
    time grows faster than length; they pass values in `room`.
    """

    real: str
    mask: str
    scalar: str
    constant: Callable[[float], str]
    operations: Mapping[int, str]
    tables: str = "static const"
    static: str = "static"
    apart: str = "SB_APART static"
    pointer: str = "*"
    solved: str = "double"
    cast: str = ""
    number: str = "{}"
    truth: str = "{}"
    everywhere: str = "{}"
    function: str = "{}"
    table: str = "{}"
    more: str = "({})"
    loads: bool = True
    turned: bool = False
    room: str = "double *restrict room"
    longest: float = math.inf
    piece: int = 500

    def scalar_constant(self, number: float) -> str:
        """A number of one run in C."""
        return literal(number, "float" if self.scalar == "float" else "double")

    def applied(self, operation: int, operands: Sequence[str]) -> str:
        """An operation. Raises UnknownOperationError if C has none."""
        form = self.operations.get(operation) or _OPERATORS.get(operation)
        if form is not None:
            return form.format(*operands)
        name = _FUNCTIONS.get(operation)
        if name is None:
            text = f"CasADi's operation {operation} has no equivalent in math.h"
            raise UnknownOperationError(text)
        return f"{self.function.format(name)}({', '.join(operands)})"

    def looked_up(self, called: str, operands: Sequence[str]) -> str:
        """The value of a table at its operand, or its slope there times the seed of a derivative.
        Raises UnknownOperationError where another function is called."""
        found = _TABLE.fullmatch(called)
        if found is None:
            raise UnknownOperationError(f"the function {called} has no C code")
        table, of_derivative = found.groups()
        if table:
            return f"{self.table.format(table)}({operands[0]})"
        return f"{self.table.format(f'{of_derivative}_slope')}({operands[0]}) * {operands[-1]}"


def literal(value: float, real: Real = "double") -> str:
    """A number as a C constant, exact in double precision."""
    if math.isnan(value):
        return "NAN"
    if abs(value) > LARGEST[real]:
        return "INFINITY" if value > 0 else "(-INFINITY)"
    text = f"{np.float32(value)!s}f" if real == "float" else repr(float(value))
    return f"({text})" if text.startswith("-") else text


def _of_any_run(number: float) -> str:
    """A constant for sb_numbers.h."""
    if math.isnan(number):
        return "SB_NUMBER(NAN)"
    if math.isinf(number):
        return f"SB_NUMBER({'-' if number < 0 else ''}INFINITY)"
    if abs(number) > LARGEST["float"]:
        return f"SB_LARGE({number!r})"
    return f"SB_NUMBER({number!r})"


DOUBLE = Dialect(
    real="double",
    mask="double",
    scalar="double",
    constant=literal,
    operations={
        ca.OP_NOT: "!{}",
        ca.OP_AND: "{} && {}",
        ca.OP_OR: "{} || {}",
        ca.OP_IF_ELSE_ZERO: "{} ? {} : 0",
        ca.OP_INV: "1 / {}",
        ca.OP_SIGN: "{0} < 0 ? -1 : {0} > 0 ? 1 : {0}",
    },
)
"""C99 in double precision, which needs math.h alone."""
FLOAT = replace(
    DOUBLE,
    real="float",
    mask="float",
    scalar="float",
    constant=partial(literal, real="float"),
    cast="(float)",
    function="{}f",
)
"""C99 in single precision. Loops are solved in double precision."""
PLAIN = {"double": DOUBLE, "float": FLOAT}
LANES = Dialect(
    real="SB_REAL",
    mask="SB_MASK",
    scalar="SB_SCALAR",
    constant=_of_any_run,
    operations={
        ca.OP_NOT: "SB_NOT({})",
        ca.OP_AND: "{} & {}",
        ca.OP_OR: "{} | {}",
        ca.OP_IF_ELSE_ZERO: "sb_where_true({}, {})",
        ca.OP_INV: "SB_NUMBER(1) / {}",
        ca.OP_SIGN: "sb_sign({})",
    },
    tables="SB_TABLE",
    static="SB_FUNCTION",
    apart="SB_APART",
    pointer="*SB_RESTRICT ",
    solved="SB_REAL",
    number="sb_number({})",
    truth="({} != 0)",
    everywhere="SB_OF({})",
    function="sb_{}",
    table="{}_lanes",
    more="SB_ANY({})",
    loads=False,
    turned=True,
    room="SB_REAL *SB_RESTRICT room",
    longest=2000,
    piece=2000,
)
"""C or CUDA over SB_REAL of sb_numbers.h, which says what a number is: that of one run, or those
of several side by side. Nothing branches, since each lane goes its own way: a choice computes both
sides. The dynamics of an arm are one piece."""
FLAGS = ("-ffp-contract=off", "-fno-tree-slp-vectorize", "-fno-math-errno", "-O2", "-Wno-psabi")
"""For compilers of C over lanes. With the first two all lanes have the bits of one lane (gcc 12
fuses products and sums of neighbouring scalars whatever the first says). -fno-math-errno lets
square roots be instructions; -Wno-psabi is about vectors in calls between libraries, of which there
are none."""


def numbers_header() -> str:
    """The text of sb_numbers.h, and of the elementary functions over its numbers."""
    names = ("sb_numbers.h", "sb_elementary.h", "sb_rarer.h")
    return with_headers("\n".join(f'#include "{name}"' for name in names))
