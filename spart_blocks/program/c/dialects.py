"""Dialects of C for numbers: plain C99, or SB_REAL of sb_numbers.h."""

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
Turned = Literal["nothing", "pairs", "all"]

LARGEST = {"double": 1.7976931348623157e308, "float": 3.4028234663852886e38}

_FUNCTIONS = {
    getattr(ca, f"OP_{name.upper()}"): name
    for name in (
        *("exp", "log", "pow", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "fmod", "fabs"),
        *("copysign", "erf", "fmin", "fmax", "log1p", "expm1", "hypot", "remainder"),
    )
}
"""Operations that are functions of math.h, with their names there."""

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
"""Binary operators that accept a constant operand without conversion."""
MASKS = {ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR, ca.OP_NOT}
"""Operations with truth values as results."""
TRUTHS = {ca.OP_AND: 2, ca.OP_OR: 2, ca.OP_NOT: 1, ca.OP_IF_ELSE_ZERO: 1}
"""For each operation the number of its first operands that are truth values."""

_TABLE = re.compile(rf"({PREFIX}\w+)|(?:fwd|adj)1_({PREFIX}\w+)")


class UnknownOperationError(ValueError):
    """An operation of CasADi that has no equivalent in math.h."""


@dataclass(frozen=True)
class Dialect:
    """How numbers and functions are written.

    real, mask: C types of a number, and of a comparison. scalar: type of a number of one run.
    solved: type of numbers in a solver of a loop; cast: conversion from it to real. tables,
    static, apart: qualifiers of a constant array, of a function, and of a function that must not
    be inlined. pointer: how a pointer argument is declared. constant: writes a constant. Formats:
    number, a comparison as a number; truth, a number as a comparison; everywhere, a constant as a
    whole operand; function, the name of a function of math.h; table, that of a table; more,
    whether a comparison holds in any run; chosen, the choice by a comparison. operations: formats
    of operations that differ from C. loads: whether inputs are first read into constants. turned:
    which sines and cosines are computed together: of one angle by sb_sincos, or of all angles by
    sb_turns in vectors of `width` numbers. longest, piece: a function with more than `longest`
    statements is split into functions of `piece` statements at most, since compile time grows
    faster than length; they pass values in the array `room`. large: a function with more statements
    is ordered so that few values wait.
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
    chosen: str = "({} ? {} : {})"
    loads: bool = True
    turned: Turned = "nothing"
    width: int = 1
    room: str = "double *restrict room"
    longest: float = math.inf
    piece: int = 500
    large: float = math.inf

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
        """The call of a table at its operand, or its slope times the seed of a derivative. Raises
        UnknownOperationError for other functions.
        """
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
"""C99 in double precision; it needs only math.h."""
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
SEEDS = replace(
    DOUBLE,
    real="sb_seeds",
    apart="SB_SEEDS_APART static",
    pointer="*restrict ",
    everywhere="SB_ALL_SEEDS({})",
    operations={**DOUBLE.operations, ca.OP_IF_ELSE_ZERO: "SB_SEEDS_IF({}, {})"},
    loads=False,
    room="sb_seeds *restrict room",
    longest=5000,
    piece=2000,
)
"""Numbers of several seeds of a linear function, by sb_seeds.h; its coefficients are doubles."""
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
    chosen="SB_SELECT({}, {}, {})",
    loads=False,
    turned="pairs",
    room="SB_REAL *SB_RESTRICT room",
    longest=2000,
    piece=2000,
)
"""C or CUDA with SB_REAL of sb_numbers.h, which is the number of one run or a vector of those of
several. There are no branches, since the lanes can differ: a choice computes both sides. The
dynamics of an arm are not split.
"""
FLAGS = ("-ffp-contract=off", "-fno-tree-slp-vectorize", "-fno-math-errno", "-O2", "-Wno-psabi")
"""Compiler flags for C over lanes. With the first two, all lanes give the same bits as one lane
(gcc 12 fuses products and sums of neighbouring scalars in spite of the first). -fno-math-errno
allows square root instructions; -Wno-psabi is about vector arguments between libraries, which do
not occur.
"""


def numbers_header() -> str:
    """The text of sb_numbers.h, and of the elementary functions over its numbers."""
    names = ("sb_numbers.h", "sb_elementary.h", "sb_rarer.h")
    return with_headers("\n".join(f'#include "{name}"' for name in names))
