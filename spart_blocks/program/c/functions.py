"""Writes CasADi functions of scalars as C functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from spart_blocks.base.errors import DiagramError
from spart_blocks.program.c.dialects import (
    BINARY,
    DOUBLE,
    MASKS,
    TRUTHS,
    Dialect,
    UnknownOperationError,
)
from spart_blocks.program.c.text import indented
from spart_blocks.program.c.values import PART, Step, Value, steps_of, values_of

BY_VALUE = ("t", "h")
"""Arguments that are passed as single numbers; the others are arrays."""


@dataclass(frozen=True)
class Argument:
    """The C arguments for one CasADi argument. declared: their declarations, such as
    `const double *x`. entries: the C expression of each entry."""

    declared: tuple[str, ...]
    entries: tuple[str, ...]


def vector(name: str, size: int, dialect: Dialect = DOUBLE) -> Argument:
    """Array of `size` numbers."""
    entries = tuple(f"{name}[{k}]" for k in range(size))
    return Argument((f"const {dialect.real} {dialect.pointer}{name}",), entries)


def result(entries: Iterable[int], dialect: Dialect = DOUBLE, name: str = "out") -> Argument:
    """A result that is written to these entries of an array. No argument may overlap the array."""
    places = tuple(f"{name}[{k}]" for k in entries)
    return Argument((f"{dialect.real} {dialect.pointer}{name}",), places)


def arguments_of(function: Any, dialect: Dialect = DOUBLE) -> tuple[Argument, ...]:
    """The C arguments of a function, with its own argument names: numbers for BY_VALUE, arrays for
    the others.
    """
    names = function.name_in()
    return tuple(
        Argument((f"{dialect.real} {name}",), (name,))
        if name in BY_VALUE
        else vector(name, function.numel_in(k), dialect)
        for k, name in enumerate(names)
    )


def c_function(
    name: str,
    function: Any,
    arguments: Sequence[Argument] | None = None,
    out: Argument | None = None,
    dialect: Dialect = DOUBLE,
) -> str:
    """The C text of `static void name(arguments..., out)` for an SX function with one dense
    result.

    arguments: by default those of `arguments_of`. out: by default an array `out`. Raises
    DiagramError for an operation that does not exist in C.
    """
    given = arguments_of(function, dialect) if arguments is None else arguments
    found = result(range(function.numel_out(0)), dialect) if out is None else out
    try:
        return _Printer(dialect, given, found).function(name, values_of(function))
    except UnknownOperationError as error:
        raise DiagramError(f"{name} cannot become C: {error}") from None


def unsupported(function: Any, dialect: Dialect) -> str | None:
    """Why a function cannot be written in C; None if it can."""
    if not function.is_a("SXFunction"):
        return f"{function.name()} is no function of scalars"
    try:
        for value in values_of(function):
            if value.operation == ca.OP_CALL and not value.is_solution:
                dialect.looked_up(value.called, [""])
            elif value.operation not in _NO_OPERATIONS:
                dialect.applied(value.operation, ["", ""])
    except UnknownOperationError as error:
        return str(error)
    return None


_NO_OPERATIONS = {ca.OP_INPUT, ca.OP_CONST, ca.OP_CALL, PART}


@dataclass(frozen=True)
class _Printer:
    """Writes one function. out: where its results go."""

    dialect: Dialect
    arguments: Sequence[Argument]
    out: Argument

    def function(self, name: str, values: Sequence[Value]) -> str:
        free = [value for value in values if self._is_free(value)]
        for value in free:
            value.name = self._free(value)
        steps = steps_of(
            [value for value in values if not self._is_free(value)], turned=self.dialect.turned
        )
        for k, value in enumerate(value for step in steps for value in step):
            value.name = f"v{k}"
        copied = [line for value in free for line in self._results(value)]
        declared = [text for argument in (*self.arguments, self.out) for text in argument.declared]
        if len(steps) > self.dialect.longest:
            return self._in_pieces(name, declared, steps, copied)
        lines = [line for step in steps for line in self._statements(step)]
        return defined(self.dialect.static, name, declared, [*copied, *lines])

    def _is_free(self, value: Value) -> bool:
        """Whether a value is written where it is used, without a variable."""
        loaded = self.dialect.loads
        return value.operation == ca.OP_CONST or (value.operation == ca.OP_INPUT and not loaded)

    def _free(self, value: Value) -> str:
        if value.operation == ca.OP_CONST:
            return self.dialect.constant(value.number)
        argument, entry = value.place
        return self.arguments[argument].entries[entry]

    # --- statements -----------------------------------------------------------------------

    def _statements(self, step: Step) -> list[str]:
        """The C statements of a step."""
        first, real = step[0], self.dialect.real
        if first.is_solution:
            lines = self._solution(first, step[1:])
        elif len(step) == 2:
            sine, cosine = sorted(step, key=lambda value: value.operation != ca.OP_SIN)
            lines = [
                f"{real} {sine.name}, {cosine.name};",
                f"sb_sincos({self._number(first.of[0])}, &{sine.name}, &{cosine.name});",
            ]
        else:
            lines = [f"const {self._type(first)} {first.name} = {self._expression(first)};"]
        return lines + [line for value in step for line in self._results(value)]

    def _results(self, value: Value) -> list[str]:
        return [f"{self.out.entries[k]} = {self._number(value)};" for k in value.results]

    def _solution(self, call: Value, parts: Sequence[Value]) -> list[str]:
        """The C statements that call a solver."""
        dialect, name = self.dialect, call.name
        given = ", ".join(map(self._number, call.of))
        return [
            f"const {dialect.solved} {name}_in[] = {{{given}}};",
            f"{dialect.solved} {name}[{call.width}];",
            f"{call.called}({name}_in, {name});",
            *(
                f"const {dialect.real} {part.name} = {dialect.cast}{name}[{part.place[0]}];"
                for part in parts
            ),
        ]

    # --- expressions ----------------------------------------------------------------------

    def _type(self, value: Value) -> str:
        return self.dialect.mask if value.operation in MASKS else self.dialect.real

    def _expression(self, value: Value) -> str:
        operation, of = value.operation, value.of
        if operation == ca.OP_INPUT:
            return self._free(value)
        if operation == ca.OP_CALL:
            return self.dialect.looked_up(value.called, [self._number(v) for v in of])
        truths = TRUTHS.get(operation, 0)
        operands = [self._truth(v) if k < truths else self._number(v) for k, v in enumerate(of)]
        if operation in BINARY:  # one constant as it stands is taken for all runs
            left, right = (v.operation == ca.OP_CONST for v in of)
            if left or right:
                operands[not left] = of[not left].name
        return self.dialect.applied(operation, operands)

    def _number(self, value: Value) -> str:
        if value.operation == ca.OP_CONST:
            return self.dialect.everywhere.format(value.name)
        return self.dialect.number.format(value.name) if value.operation in MASKS else value.name

    def _truth(self, value: Value) -> str:
        if value.operation in MASKS:
            return value.name
        return self.dialect.truth.format(self._number(value))

    # --- pieces ---------------------------------------------------------------------------

    def _in_pieces(
        self, name: str, declared: Sequence[str], steps: Sequence[Step], copied: Sequence[str]
    ) -> str:
        """A function that calls its pieces one after the other. They pass values in the array
        `room`.
        """
        dialect = self.dialect
        pieces = [steps[k : k + dialect.piece] for k in range(0, len(steps), dialect.piece)]
        kept, size = _places(pieces)
        names = names_of(declared)
        texts, calls = [], []
        for k, piece in enumerate(pieces):
            lines = []
            for step in piece:
                lines += self._statements(step)
                lines += [f"room[{kept[v]}] = {self._number(v)};" for v in step if v in kept]
            texts.append(defined(dialect.apart, f"{name}_{k}", [*declared, dialect.room], lines))
            calls.append(f"{name}_{k}({', '.join(names)}, room);")
            for value in (v for step in piece for v in step if v in kept):
                value.name = f"room[{kept[value]}]"  # for later pieces
                if value.operation in MASKS:
                    value.name = dialect.truth.format(value.name)
        whole = [f"{dialect.real} room[{size}];", *copied, *calls]
        return "\n\n".join([*texts, defined(dialect.static, name, declared, whole)])


def _places(pieces: Sequence[Sequence[Step]]) -> tuple[dict[Value, int], int]:
    """The indices in `room` of the values that later pieces read, and its size. An index is reused
    after the last piece that reads its value.
    """
    made = {v: k for k, piece in enumerate(pieces) for step in piece for v in step}
    last = dict(made)
    for k, piece in enumerate(pieces):
        last.update({v: k for step in piece for value in step for v in value.of if v in made})
    kept: dict[Value, int] = {}
    free: list[int] = []
    size = 0
    for k, piece in enumerate(pieces):
        for value in (v for step in piece for v in step if last[v] > k):
            size += not free
            kept[value] = free.pop() if free else size - 1
        free += [place for value, place in kept.items() if last[value] == k]
    return kept, max(size, 1)


def names_of(declared: Iterable[str]) -> list[str]:
    """The names of declared arguments."""
    return [text.split()[-1].lstrip("*") for text in declared]


def defined(head: str, name: str, declared: Sequence[str], lines: Sequence[str]) -> str:
    """The text of a function without a result. Unused arguments are cast to void, to avoid
    compiler warnings.
    """
    text = "\n".join(lines)
    unused = [n for n in names_of(declared) if not re.search(rf"(?<!->)\b{n}\b", text)]
    body = indented([*(f"(void){n};" for n in unused), *lines])
    return "\n".join([f"{head} void {name}({', '.join(declared)}) {{", *body, "}"])
