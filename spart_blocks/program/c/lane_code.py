"""CasADi functions of scalars as C over SB_REAL: for one run, several side by side, or CUDA.

The text is the same for all of them; sb_numbers.h says what a number is. Nothing branches, since
each lane goes its own way: a choice computes both sides. A long function is cut into pieces,
since a compiler's time grows faster than length; values that one piece computes for another are
passed in an array.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import casadi as ca

from spart_blocks.program.c.scalar_code import (
    LARGEST,
    UnknownOperationError,
    instructions,
    looked_up,
    name_of,
)
from spart_blocks.program.c.table_code import table_texts
from spart_blocks.program.tracing.loops import MOST_STEPS, Solver, solvers_called_by
from spart_blocks.program.tracing.loops import PREFIX as SOLVES

FLAGS = ("-ffp-contract=off", "-fno-tree-slp-vectorize", "-fno-math-errno", "-O2", "-Wno-psabi")
"""For compilers of C. With the first two all lanes have the bits of one lane (gcc 12 fuses products
and sums of neighbouring scalars whatever the first says). -fno-math-errno lets square roots be
instructions; -Wno-psabi is about vectors in calls between libraries, of which there are none."""
PIECE = 2000
"""Largest number of statements in a C function: the dynamics of an arm are one piece."""

BY_VALUE = ("t", "h")
"""Arguments that are one number each; the others are arrays."""

_INFIX = {ca.OP_ADD: "+", ca.OP_SUB: "-", ca.OP_MUL: "*", ca.OP_DIV: "/"}
_COMPARED = {ca.OP_LT: "<", ca.OP_LE: "<=", ca.OP_EQ: "==", ca.OP_NE: "!="}
_LOGICAL = {ca.OP_AND: "&", ca.OP_OR: "|"}
_MASKS = {*_COMPARED, *_LOGICAL, ca.OP_NOT}
_PART = -1
"""The operation of one entry of a call's results; its place is (entry, -1)."""
_TURNED = {ca.OP_SIN: ca.OP_COS, ca.OP_COS: ca.OP_SIN}


def numbers_header() -> str:
    """The text of sb_numbers.h, and of the elementary functions over its numbers."""
    folder = resources.files("spart_blocks.program.c")
    names = ("sb_numbers.h", "sb_elementary.h", "sb_rarer.h")
    return "\n".join(folder.joinpath(name).read_text("utf-8") for name in names)


def unsupported(function: Any) -> str | None:
    """Why a function cannot become a lane function; None if it can."""
    if not function.is_a("SXFunction"):
        return f"{function.name()} is no function of scalars"
    try:
        for one in instructions(function):
            if one.operation == ca.OP_CALL:
                if one.called.startswith(SOLVES):
                    continue
                looked_up(one.called, [""])
            elif not _is_written(one.operation):
                name_of(one.operation)
    except UnknownOperationError as error:
        return str(error)
    return None


def _is_written(operation: int) -> bool:
    others = (ca.OP_NEG, ca.OP_SQ, ca.OP_TWICE, ca.OP_INV, ca.OP_IF_ELSE_ZERO, ca.OP_SIGN)
    plain = (ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_ASSIGN, *others)
    return operation in plain or operation in _INFIX or operation in _MASKS


def lane_tables(functions: Iterable[Any]) -> str:
    """The C of the lookup tables that these functions call. It precedes theirs."""
    functions = list(functions)
    solvers = solvers_called_by(functions)
    tables = table_texts([*functions, *(solver.step for solver in solvers)], lanes=True)
    return "\n\n".join([*tables, *(_solver(one) for one in solvers)])


def _solver(solver: Solver) -> str:
    """The solution of an algebraic loop: steps until all lanes are done. A lane that is done stays
    as it is."""
    size = len(solver.begin)
    begin = [f"state[{k}] = SB_OF({_constant(value)});" for k, value in enumerate(solver.begin)]
    lines = [
        f"SB_REAL state[{size}], after[{size}];",
        *begin,
        f"for (int k = 0; k < {MOST_STEPS}; k++) {{",
        f"  if (!SB_ANY(state[{solver.status}] <= 0)) break;",
        f"  {solver.step.name()}(state, in, after);",
        f"  for (int i = 0; i < {size}; i++) state[i] = after[i];",
        "}",
        f"for (int i = 0; i < {solver.n}; i++) out[i] = state[i];",
    ]
    step = lane_function(solver.step.name(), solver.step)
    return f"{step}\n\n{_c_function('SB_FUNCTION', solver.name, _declared(['in']), lines)}"


def lane_function(name: str, function: Any) -> str:
    """The text of `SB_FUNCTION void name(SB_REAL t, const SB_REAL *x, ..., SB_REAL *out)`.

    function: an SX function with one dense result. Its arguments keep their names; those of
    BY_VALUE are numbers, the others arrays, which `out` must not overlap. Raises
    UnknownOperationError where `unsupported` gives a reason.
    """
    arguments = function.name_in()
    values = _values(function)
    for value in values:
        if value.is_free:
            value.name = _free(value, arguments)
    steps = _steps(values)
    for k, value in enumerate(value for step in steps for value in step):
        value.name = f"v{k}"
    declared = _declared(arguments)
    if len(steps) <= PIECE:
        lines = [line for step in steps for line in _statements(step)]
        return _c_function("SB_FUNCTION", name, declared, [*_copied(values), *lines])
    pieces = [steps[k : k + PIECE] for k in range(0, len(steps), PIECE)]
    return _in_pieces(name, declared, pieces, _copied(values))


# --- values ---------------------------------------------------------------------------


@dataclass(eq=False)
class _Value:
    """One value of a function, computed once. of: its operands. place: (argument, entry) of an
    input. results: the entries of the result that it is. width: how many numbers a call gives."""

    operation: int
    of: tuple[_Value, ...] = ()
    place: tuple[int, int] = (-1, -1)
    number: float = math.nan
    called: str = ""
    results: list[int] = field(default_factory=list)
    width: int = 1
    name: str = ""

    @property
    def is_free(self) -> bool:
        """Whether it is written where it is used."""
        return self.operation in (ca.OP_CONST, ca.OP_INPUT)


def _values(function: Any) -> list[_Value]:
    """The values of a function in an order of evaluation, each once, and only those needed."""
    at: dict[int, _Value] = {}
    known: dict[Any, _Value] = {}
    for one in instructions(function):
        of = tuple(at[slot] for slot in one.of)
        if one.operation == ca.OP_OUTPUT:
            of[0].results.append(one.place[1])
        elif one.operation == ca.OP_ASSIGN:
            at[one.to] = of[0]
        elif one.called.startswith(SOLVES):
            key = (one.operation, *map(id, of), one.called)
            call = known.setdefault(
                key, _Value(one.operation, of, called=one.called, width=len(one.gives))
            )
            for k, slot in enumerate(one.gives):
                if slot < 0:
                    continue
                part = _Value(_PART, (call,), (k, -1))
                at[slot] = known.setdefault((_PART, id(call), k), part)
        else:
            operation = ca.OP_POW if one.operation == ca.OP_CONSTPOW else one.operation
            key = (operation, *map(id, of), one.place, one.number.hex(), one.called)
            value = _Value(operation, of, one.place, one.number, one.called)
            at[one.to] = known.setdefault(key, value)
    return _needed(list(known.values()))


def _needed(values: list[_Value]) -> list[_Value]:
    needed: set[int] = set()
    for value in reversed(values):
        if value.results or id(value) in needed:
            needed.update(map(id, value.of))
            needed.add(id(value))
    return [value for value in values if id(value) in needed]


# --- statements -----------------------------------------------------------------------


Step = tuple[_Value, ...]
"""What one statement computes: a value, or the sine and the cosine of one angle, or the solution of
a loop: the call, and its parts."""


def _steps(values: Sequence[_Value]) -> list[Step]:
    """The values that need a statement, in their order."""
    turned = {(v.operation, v.of[0]): v for v in values if v.operation in _TURNED}
    steps: list[Step] = []
    done: set[_Value] = set()
    parts: dict[_Value, list[_Value]] = {}
    for value in values:
        if value.operation == _PART:
            parts.setdefault(value.of[0], []).append(value)
    for value in values:
        if value.is_free or value in done:
            continue
        if value in parts:
            done.update(parts[value])
            steps.append((value, *parts[value]))
            continue
        other = None
        if value.operation in _TURNED:
            other = turned.get((_TURNED[value.operation], value.of[0]))
        step = (value,) if other is None else (value, other)
        done.update(step)
        steps.append(step)
    return steps


def _statements(step: Step) -> list[str]:
    """A step as C, with its results."""
    if step[0].called.startswith(SOLVES):
        call, *parts = step
        lines = _call(call, parts)
        return lines + [f"out[{k}] = {_real(v)};" for v in parts for k in v.results]
    if len(step) == 2:
        lines = _sine_and_cosine(*step)
    else:
        lines = [f"const {_type(step[0])} {step[0].name} = {_expression(step[0])};"]
    return lines + [f"out[{k}] = {_real(value)};" for value in step for k in value.results]


def _call(call: _Value, parts: Sequence[_Value]) -> list[str]:
    """The solution of a loop."""
    given = ", ".join(_real(v) for v in call.of)
    return [
        f"const SB_REAL {call.name}_in[] = {{{given}}};",
        f"SB_REAL {call.name}[{call.width}];",
        f"{call.called}({call.name}_in, {call.name});",
        *(f"const SB_REAL {part.name} = {call.name}[{part.place[0]}];" for part in parts),
    ]


def _copied(values: Iterable[_Value]) -> list[str]:
    """The results that are inputs or constants."""
    free = [value for value in values if value.is_free]
    return [f"out[{k}] = {_real(value)};" for value in free for k in value.results]


def _type(value: _Value) -> str:
    return "SB_MASK" if value.operation in _MASKS else "SB_REAL"


def _sine_and_cosine(one: _Value, other: _Value) -> list[str]:
    sine, cosine = (one, other) if one.operation == ca.OP_SIN else (other, one)
    return [
        f"SB_REAL {sine.name}, {cosine.name};",
        f"sb_sincos({_real(one.of[0])}, &{sine.name}, &{cosine.name});",
    ]


def _free(value: _Value, arguments: Sequence[str]) -> str:
    if value.operation == ca.OP_CONST:
        return _constant(value.number)
    name = arguments[value.place[0]]
    return name if name in BY_VALUE else f"{name}[{value.place[1]}]"


def _constant(number: float) -> str:
    if math.isnan(number):
        return "SB_NUMBER(NAN)"
    if math.isinf(number):
        return f"SB_NUMBER({'-' if number < 0 else ''}INFINITY)"
    if abs(number) > LARGEST["float"]:
        return f"SB_LARGE({number!r})"
    return f"SB_NUMBER({number!r})"


def _expression(value: _Value) -> str:
    operation, of = value.operation, value.of
    if operation in _INFIX:
        return f" {_INFIX[operation]} ".join(_operands(of))
    if operation in _COMPARED:
        return f" {_COMPARED[operation]} ".join(_operands(of))
    if operation in _LOGICAL:
        return f" {_LOGICAL[operation]} ".join(_mask(v) for v in of)
    if operation == ca.OP_NOT:
        return f"SB_NOT({_mask(of[0])})"
    if operation == ca.OP_IF_ELSE_ZERO:
        return f"sb_where_true({_mask(of[0])}, {_real(of[1])})"
    reals = [_real(v) for v in of]
    if operation == ca.OP_NEG:
        return f"-{reals[0]}"
    if operation == ca.OP_SQ:
        return f"{reals[0]} * {reals[0]}"
    if operation == ca.OP_TWICE:
        return f"{reals[0]} + {reals[0]}"
    if operation == ca.OP_INV:
        return f"SB_NUMBER(1) / {reals[0]}"
    if operation == ca.OP_SIGN:
        return f"sb_sign({reals[0]})"
    if operation == ca.OP_CALL:
        return looked_up(value.called, reals, "_lanes")
    return f"sb_{name_of(operation)}({', '.join(reals)})"


def _operands(of: Sequence[_Value]) -> list[str]:
    """Operands of an operator: at most one of them is a constant, which needs no lanes."""
    first, second = of
    left = first.name if first.operation == ca.OP_CONST else _real(first)
    both = first.operation == second.operation == ca.OP_CONST
    right = second.name if second.operation == ca.OP_CONST and not both else _real(second)
    return [left, right]


def _real(value: _Value) -> str:
    """A value as SB_REAL."""
    if value.operation == ca.OP_CONST:
        return f"SB_OF({value.name})"
    return f"sb_number({value.name})" if value.operation in _MASKS else value.name


def _mask(value: _Value) -> str:
    """A value as SB_MASK: whether it is not zero."""
    if value.operation in _MASKS:
        return value.name
    return f"({_real(value)} != 0)"


# --- functions ------------------------------------------------------------------------


def _declared(arguments: Sequence[str]) -> list[str]:
    given = [
        f"SB_REAL {name}" if name in BY_VALUE else f"const SB_REAL *SB_RESTRICT {name}"
        for name in arguments
    ]
    return [*given, "SB_REAL *SB_RESTRICT out"]


def _c_function(head: str, name: str, declared: Sequence[str], lines: Sequence[str]) -> str:
    text = "\n".join(lines)
    names = [declaration.split()[-1].lstrip("*") for declaration in declared]
    unused = [f"(void){name};" for name in names if not re.search(rf"\b{name}\b", text)]
    body = [f"  {line}" for line in (*unused, *lines)]
    return "\n".join([f"{head} void {name}({', '.join(declared)}) {{", *body, "}"])


def _in_pieces(
    name: str, declared: Sequence[str], pieces: Sequence[Sequence[Step]], first: Sequence[str]
) -> str:
    """A function that calls one after the other its pieces; w: what they compute for each other."""
    kept, size = _places(pieces)
    names = [text.split()[-1].lstrip("*") for text in declared]
    texts, calls = [], []
    for k, piece in enumerate(pieces):
        own = {value for step in piece for value in step}
        taken = {v: None for step in piece for value in step for v in value.of}
        lines = [_loaded(v, kept[v]) for v in taken if not v.is_free and v not in own]
        for step in piece:
            lines += _statements(step)
            lines += [f"w[{kept[value]}] = {_real(value)};" for value in step if value in kept]
        called = f"{name}_{k}"
        texts.append(_c_function("SB_APART", called, [*declared, "SB_REAL *SB_RESTRICT w"], lines))
        calls.append(f"{called}({', '.join(names)}, w);")
    whole = [f"SB_REAL w[{size}];", *first, *calls]
    return "\n\n".join([*texts, _c_function("SB_FUNCTION", name, declared, whole)])


def _loaded(value: _Value, place: int) -> str:
    of = f"w[{place}] != 0" if value.operation in _MASKS else f"w[{place}]"
    return f"const {_type(value)} {value.name} = {of};"


def _places(pieces: Sequence[Sequence[Step]]) -> tuple[dict[_Value, int], int]:
    """The places in w of the values that later pieces take, and their number. A place is used again
    after the last piece that takes its value."""
    made = {v: k for k, piece in enumerate(pieces) for step in piece for v in step}
    last = dict(made)
    for k, piece in enumerate(pieces):
        last.update({v: k for step in piece for value in step for v in value.of if v in made})
    kept: dict[_Value, int] = {}
    free: list[int] = []
    size = 0
    for k, piece in enumerate(pieces):
        for value in (v for step in piece for v in step if last[v] > k):
            size += not free
            kept[value] = free.pop() if free else size - 1
        free += [place for value, place in kept.items() if last[value] == k]
    return kept, max(size, 1)
