"""Writes CasADi functions of scalars as C functions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
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
from spart_blocks.program.c.repeats import (
    Item,
    Repeat,
    Room,
    operands_of,
    with_repeats,
)
from spart_blocks.program.c.text import indented, table
from spart_blocks.program.c.values import (
    PART,
    Step,
    Value,
    steps_of,
    steps_with_turns,
    values_of,
    with_few_waiting,
)

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
        printer, values = _Printer(name, dialect, given, found), values_of(function)
        return printer.with_loops(values) or printer.function(values)
    except UnknownOperationError as error:
        raise DiagramError(f"{name} cannot become C: {error}") from None


def c_function_where_it_pays(name: str, function: Any, dialect: Dialect = DOUBLE) -> str | None:
    """The text of `c_function`, with an array `outK` for each of any number of results, if it has
    loops, computes sines and cosines together, or is split. None for other functions, and for those
    that are not of scalars or that C lacks operations for.
    """
    if not function.is_a("SXFunction"):
        return None
    results = [
        result(range(function.numel_out(k)), dialect, f"out{k}") for k in range(function.n_out())
    ]
    out = Argument(
        tuple(text for one in results for text in one.declared),
        tuple(entry for one in results for entry in one.entries),
    )
    printer = _Printer(name, dialect, arguments_of(function, dialect), out)
    try:
        values = values_of(function)
        text = printer.with_loops(values, most=0.5) or printer.with_turns(values)
        return text or (printer.function(values) if len(values) > dialect.longest else None)
    except UnknownOperationError:
        return None


def c_of_values(
    name: str,
    values: Sequence[Value],
    arguments: Sequence[Argument],
    out: Argument,
    dialect: Dialect = DOUBLE,
    *,
    loops: bool = True,
) -> str:
    """The text of `c_function` for values in an order of evaluation. loops: whether steps that
    recur become loops. Raises UnknownOperationError for an operation that does not exist in C.
    """
    printer = _Printer(name, dialect, arguments, out)
    return (printer.with_loops(values) if loops else None) or printer.function(values)


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


_FREE = (ca.OP_CONST, ca.OP_INPUT)
_INDEXED = re.compile(r"(\w+)\[(\d+)\]")


@dataclass(frozen=True)
class _Printer:
    """Writes one function. out: where its results go. tables: the constant arrays that its loops
    read, with their texts by name. slots: places in `room` of values that pass between loops and
    other statements.
    """

    called: str
    dialect: Dialect
    arguments: Sequence[Argument]
    out: Argument
    tables: dict[str, str] = field(default_factory=dict)
    slots: dict[Value, int] = field(default_factory=dict)

    def function(self, values: Sequence[Value]) -> str:
        made, copied = self._apart(values)
        return self._long(steps_of(made, paired=self.dialect.turned == "pairs"), copied)

    def with_turns(self, values: Sequence[Value]) -> str | None:
        """The function with sines and cosines of several angles together; None if there are none,
        or the dialect has none.
        """
        made, copied = self._apart(values)
        steps = steps_with_turns(made) if self.dialect.turned == "all" else None
        return None if steps is None else self._long(steps, copied)

    def _long(self, steps: Sequence[Step], ahead: Sequence[str]) -> str:
        """The text of a function without loops."""
        large = len(steps) > self.dialect.large
        return self._text(with_few_waiting(steps) if large else steps, ahead)

    def _apart(self, values: Sequence[Value]) -> tuple[list[Value], list[str]]:
        """The values that are not free, and the statements that copy those that are to results."""
        free = [value for value in values if self._is_free(value)]
        for value in free:
            value.name = self._free(value)
        made = [value for value in values if not self._is_free(value)]
        return made, [line for value in free for line in self._results(value)]

    def with_loops(self, values: Sequence[Value], most: float = 1.0) -> str | None:
        """The function with steps that recur as loops; None if none do, or if more than `most` of
        the statements are left.
        """
        free = [value for value in values if value.operation in _FREE]
        for value in free:
            value.name = self._free(value)
        copies = [Value(ca.OP_ASSIGN, (v,), results=v.results) for v in free if v.results]
        copies.sort(key=lambda copy: copy.results)
        made = [*(value for value in values if value.operation not in _FREE), *copies]
        steps = steps_of(made, paired=self.dialect.turned == "pairs")
        items = with_repeats(steps, self._read, self._written)
        if len(items) == len(steps) or sum(map(_length, items)) > most * len(steps):
            return None
        self.slots.update(Room(items, self._has_index).slots)
        for value in (v for item in items if isinstance(item, Repeat) for v in item.made()):
            if value in self.slots:
                masked = value.operation in MASKS
                value.name = (self.dialect.truth if masked else "{}").format(self._kept(value))
        ahead = [f"{self._kept(v)} = {v.name};" for v in self.slots if v.operation in _FREE]
        return self._text(items, ahead)

    def _text(self, items: Sequence[Item], ahead: Sequence[str]) -> str:
        """The text of the function. ahead: its first statements."""
        values = (value for item in items if not isinstance(item, Repeat) for value in item)
        for k, value in enumerate(values):
            value.name = f"v{k}"
        declared = [text for argument in (*self.arguments, self.out) for text in argument.declared]
        dialect = self.dialect
        if sum(map(_length, items)) > dialect.longest:
            texts = self._in_pieces(declared, items, ahead)
        else:
            lines = [line for item in items for line in self._lines(item)]
            room = [f"{dialect.real} room[{len(self.slots)}];"] if self.slots else []
            texts = [defined(dialect.static, self.called, declared, [*room, *ahead, *lines])]
        return "\n\n".join([*self.tables.values(), *texts])

    def _is_free(self, value: Value) -> bool:
        """Whether a value is written where it is used, without a variable."""
        loaded = self.dialect.loads
        return value.operation == ca.OP_CONST or (value.operation == ca.OP_INPUT and not loaded)

    def _free(self, value: Value) -> str:
        if value.operation == ca.OP_CONST:
            return self.dialect.constant(value.number)
        argument, entry = value.place
        return self.arguments[argument].entries[entry]

    # --- loops ----------------------------------------------------------------------------

    def _read(self, operand: Value) -> str:
        """The array of an operand that is no step."""
        if operand.operation == ca.OP_CONST:
            return ""
        indexed = _INDEXED.fullmatch(operand.name)
        return indexed[1] if indexed else "room"

    def _has_index(self, value: Value) -> bool:
        return value.operation in _FREE and self._read(value) != "room"

    def _written(self, value: Value) -> tuple[str, ...]:
        """The arrays of the results that have a value."""
        if not value.results:
            return ()
        found = (self.out.entries[k] for k in value.results)
        return tuple(m[1] if (m := _INDEXED.fullmatch(entry)) else entry for entry in found)

    def _kept(self, value: Value) -> str:
        return f"room[{self.slots[value]}]"

    def _lines(self, item: Item) -> list[str]:
        """The C statements of a step, or a loop."""
        if isinstance(item, Repeat):
            return self._loop(item)
        kept = [f"{self._kept(v)} = {self._number(v)};" for v in item if v in self.slots]
        return self._statements(item) + kept

    def _loop(self, repeat: Repeat) -> list[str]:
        loads: list[str] = []
        given: dict[tuple[Value, ...], Value] = {}
        outside = operands_of(repeat)
        for operands in outside.values():
            if operands not in given:
                given[operands] = self._given(operands, loads)
        lines: list[str] = []
        own: dict[Value, Value] = {}
        for k, step in enumerate(repeat.body):
            for j, value in enumerate(step):
                of = [own.get(v) or given[outside[k, j, o]] for o, v in enumerate(value.of)]
                own[value] = Value(
                    *(value.operation, tuple(of), value.place, value.number, value.called),
                    width=value.width,
                    name=f"r{len(own)}",
                )
            lines += self._statements(tuple(own[value] for value in step))
            for j, value in enumerate(step):
                number = self._number(own[value])
                rounds = [steps[k][j] for steps in repeat.rounds]
                lines += [f"{to} = {number};" for to in map(self._at, self._targets(rounds))]
        head = f"for (int i = 0; i < {len(repeat.rounds)}; i++) {{"
        return [head, *indented([*loads, *lines]), "}"]

    def _targets(self, rounds: Sequence[Value]) -> Iterable[tuple[str, ...]]:
        """Where a value of each round goes: its results, and its place in `room` if it has one."""
        places = [[self.out.entries[k] for k in value.results] for value in rounds]
        if rounds[0] in self.slots:
            places = [[*row, self._kept(value)] for row, value in zip(places, rounds, strict=True)]
        return zip(*places, strict=True)

    def _given(self, operands: Sequence[Value], loads: list[str]) -> Value:
        """An operand of a loop from outside: that of each round. loads: the statements that read
        those that differ, to which its own is added.
        """
        first, dialect = operands[0], self.dialect
        if all(value is first for value in operands):
            return first
        if first.operation == ca.OP_CONST:
            numbers = [dialect.scalar_constant(value.number) for value in operands]
            return Value(ca.OP_CONST, name=f"{self._table(dialect.scalar, numbers)}[i]")
        at = self._at([v.name if self._has_index(v) else self._kept(v) for v in operands])
        if self._is_free(first):  # its array may be of another type than `real`
            return Value(ca.OP_ASSIGN, name=at)
        name = f"e{len(loads)}"
        if first.operation in MASKS:
            loads.append(f"const {dialect.mask} {name} = {dialect.truth.format(at)};")
            return Value(first.operation, name=name)
        loads.append(f"const {dialect.real} {name} = {at};")
        return Value(ca.OP_ASSIGN, name=name)

    def _at(self, entries: Sequence[str]) -> str:
        """The entry of an array in round i."""
        found = [match for match in map(_INDEXED.fullmatch, entries) if match]
        array, places = found[0][1], [int(match[2]) for match in found]
        first, step = places[0], places[1] - places[0]
        if any(place != first + step * k for k, place in enumerate(places)):
            return f"{array}[{self._table('int', places)}[i]]"
        terms = [str(first)] * (first != 0 or not step)
        terms += ["i" if step == 1 else f"{step} * i"] * (step != 0)
        return f"{array}[{' + '.join(terms)}]"

    def _table(self, kind: str, entries: Sequence[Any]) -> str:
        """The name of a constant array."""
        name = f"{self.called}_at{len(self.tables)}"
        text = table(kind, name, entries, head=self.dialect.tables)
        body = text.partition("=")[2]
        for other, known in self.tables.items():
            if known.partition("=")[2] == body and f" {kind} " in known:
                return other
        self.tables[name] = text
        return name

    # --- statements -----------------------------------------------------------------------

    def _statements(self, step: Step) -> list[str]:
        """The C statements of a step."""
        first, real = step[0], self.dialect.real
        if first.is_solution:
            lines = self._solution(first, step[1:])
        elif len(step) > 1 and self.dialect.turned == "all":
            lines = self._turns(step)
        elif len(step) == 2:
            sine, cosine = sorted(step, key=lambda value: value.operation != ca.OP_SIN)
            lines = [
                f"{real} {sine.name}, {cosine.name};",
                f"sb_sincos({self._number(first.of[0])}, &{sine.name}, &{cosine.name});",
            ]
        else:
            lines = [f"const {self._type(first)} {first.name} = {self._expression(first)};"]
        return lines + [line for value in step for line in self._results(value)]

    def _turns(self, step: Step) -> list[str]:
        """The C statements that compute sines and cosines of several angles."""
        name, width = step[0].name, self.dialect.width
        angles = list(dict.fromkeys(value.of[0] for value in step))
        given = [*map(self._number, angles), *["0"] * (-len(angles) % width)]
        vectors = [", ".join(given[k : k + width]) for k in range(0, len(given), width)]
        places = {angle: divmod(k, width) for k, angle in enumerate(angles)}
        for value in step:
            vector, lane = places[value.of[0]]
            kind = "sines" if value.operation == ca.OP_SIN else "cosines"
            value.name = f"{name}_{kind}[{vector}].of[{lane}]"
        count = len(vectors)
        return [
            f"const sb_real {name}_angles[] = {{{', '.join(f'{{{one}}}' for one in vectors)}}};",
            f"sb_lanes {name}_sines[{count}], {name}_cosines[{count}];",
            f"sb_turns({count}, {name}_angles, {name}_sines, {name}_cosines);",
        ]

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
        if operation == ca.OP_ASSIGN:
            return self._number(of[0])
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
        self, declared: Sequence[str], items: Sequence[Item], ahead: Sequence[str]
    ) -> list[str]:
        """A function that calls its pieces one after the other. They pass values in the array
        `room`.
        """
        dialect, name = self.dialect, self.called
        pieces = _pieces(items, dialect.piece)
        kept, size = _places(pieces, len(self.slots))
        names = names_of(declared)
        texts, calls = [], []
        for k, piece in enumerate(pieces):
            lines = []
            for item in piece:
                lines += self._lines(item)
                lines += [f"room[{kept[v]}] = {self._number(v)};" for v in _made(item) if v in kept]
            texts.append(defined(dialect.apart, f"{name}_{k}", [*declared, dialect.room], lines))
            calls.append(f"{name}_{k}({', '.join(names)}, room);")
            for value in (v for item in piece for v in _made(item) if v in kept):
                value.name = f"room[{kept[value]}]"  # for later pieces
                if value.operation in MASKS:
                    value.name = dialect.truth.format(value.name)
        whole = [f"{dialect.real} room[{size}];", *ahead, *calls]
        return [*texts, defined(dialect.static, name, declared, whole)]


def _length(item: Item) -> int:
    return len(item.body) if isinstance(item, Repeat) else 1


def _made(item: Item) -> Sequence[Value]:
    """The values of a step; those of loops are not variables of the function."""
    return () if isinstance(item, Repeat) else item


def _variables(item: Item) -> Iterable[Value]:
    """The variables that an item may read."""
    if isinstance(item, Repeat):
        return (v for operands in operands_of(item).values() for v in operands[:1])
    return chain.from_iterable(value.of for value in item)


def _pieces(items: Iterable[Item], most: int) -> list[list[Item]]:
    """The items in lists of about equally many statements, at most about `most`."""
    items = list(items)
    total = sum(map(_length, items))
    size = total / math.ceil(total / most)
    pieces: list[list[Item]] = [[]]
    length = 0
    for item in items:
        if pieces[-1] and length + _length(item) > size * len(pieces):
            pieces.append([])
        pieces[-1].append(item)
        length += _length(item)
    return pieces


def _places(pieces: Sequence[Sequence[Item]], size: int) -> tuple[dict[Value, int], int]:
    """The indices in `room` of the variables that later pieces read, from `size`, and its size
    with them. An index is reused after the last piece that reads its value.
    """
    made = {v: k for k, piece in enumerate(pieces) for item in piece for v in _made(item)}
    last = dict(made)
    for k, piece in enumerate(pieces):
        last.update({v: k for item in piece for v in _variables(item) if v in made})
    kept: dict[Value, int] = {}
    free: list[int] = []
    for k, piece in enumerate(pieces):
        for value in (v for item in piece for v in _made(item) if last[v] > k):
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
