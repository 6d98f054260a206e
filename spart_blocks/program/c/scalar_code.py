"""CasADi functions of scalars, instruction by instruction, and what these are called in C."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import casadi as ca
import numpy as np

from spart_blocks.program.tracing.lookup_tables import PREFIX
from spart_blocks.program.tracing.loops import is_derivative

Real = Literal["double", "float"]

LARGEST = {"double": 1.7976931348623157e308, "float": 3.4028234663852886e38}

NAMES = {
    getattr(ca, f"OP_{name.upper()}"): name
    for name in (
        *("exp", "log", "pow", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "fmod", "fabs"),
        *("copysign", "erf", "fmin", "fmax", "log1p", "expm1", "hypot", "remainder"),
    )
} | {ca.OP_CONSTPOW: "pow"}
"""The operations that math.h has, by their names there."""

_TABLE = re.compile(rf"({PREFIX}\w+)|(?:fwd|adj)1_({PREFIX}\w+)")


class UnknownOperationError(ValueError):
    """An operation of CasADi that has no equivalent in math.h."""


@dataclass(frozen=True)
class Instruction:
    """One instruction of an SX function.

    to: the slot of the work vector that it writes, of: those that it reads. place: (argument,
    entry) of an input, (result, entry) of an output. number: of a constant. called: the name
    of the function of a call. gives: the slots of its results.
    """

    operation: int
    to: int = -1
    of: tuple[int, ...] = ()
    place: tuple[int, int] = (-1, -1)
    number: float = math.nan
    called: str = ""
    gives: tuple[int, ...] = ()


def instructions(function: Any) -> Iterator[Instruction]:
    """The instructions of an SX function, in their order."""
    calls = function.instructions_sx() if function.find_functions(0) else []
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        inputs, outputs = function.instruction_input(k), function.instruction_output(k)
        if operation == ca.OP_OUTPUT:
            yield Instruction(operation, of=tuple(inputs), place=tuple(outputs))
        elif operation == ca.OP_INPUT:
            yield Instruction(operation, outputs[0], place=tuple(inputs))
        elif operation == ca.OP_CONST:
            yield Instruction(operation, outputs[0], number=function.instruction_constant(k))
        elif operation == ca.OP_CALL:
            called = calls[k].which_function().name()
            if is_derivative(called):
                for slot in (slot for slot in outputs if slot >= 0):
                    yield Instruction(ca.OP_CONST, slot, number=0.0)
                continue
            gives = tuple(outputs)
            yield Instruction(operation, outputs[0], tuple(inputs), called=called, gives=gives)
        else:
            yield Instruction(operation, outputs[0], tuple(inputs))


def name_of(operation: int) -> str:
    """The function of math.h for an operation. Raises UnknownOperationError."""
    name = NAMES.get(operation)
    if name is None:
        raise UnknownOperationError(f"CasADi's operation {operation} has no equivalent in math.h")
    return name


def looked_up(called: str, operands: list[str], suffix: str = "") -> str:
    """The value of a table at its operand, or its slope there times the seed of a derivative.
    suffix: of the names of these functions. Raises UnknownOperationError where another function
    is called."""
    found = _TABLE.fullmatch(called)
    if found is None:
        raise UnknownOperationError(f"the function {called} has no C code")
    table, of_derivative = found.groups()
    if table:
        return f"{table}{suffix}({operands[0]})"
    return f"{of_derivative}_slope{suffix}({operands[0]}) * {operands[-1]}"


def literal(value: float, real: Real = "double") -> str:
    """A number as a C constant, exact in double precision."""
    if math.isnan(value):
        return "NAN"
    if abs(value) > LARGEST[real]:
        return "INFINITY" if value > 0 else "(-INFINITY)"
    text = f"{np.float32(value)!s}f" if real == "float" else repr(float(value))
    return f"({text})" if text.startswith("-") else text
