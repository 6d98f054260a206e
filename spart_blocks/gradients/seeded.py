"""C of linear functions of seeds, in lanes of seeds.

The derivative of a function along a direction, or its transpose along a cotangent, is linear in
the direction, the seed. What does not depend on the seed is computed once, as scalars; the rest is
written over SB_SEEDS lanes, the numbers of as many seeds.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from spart_blocks.program.c.called import called_texts
from spart_blocks.program.c.dialects import DOUBLE, SEEDS, UnknownOperationError
from spart_blocks.program.c.functions import Argument, c_of_values, result, vector
from spart_blocks.program.c.values import Value, needed, values_of

_POINT = replace(DOUBLE, pointer="*restrict ", longest=5000, piece=2000)
_LINEAR = {
    *(ca.OP_ADD, ca.OP_SUB, ca.OP_NEG, ca.OP_TWICE, ca.OP_MUL, ca.OP_DIV, ca.OP_IF_ELSE_ZERO),
    *(ca.OP_CALL, ca.OP_ASSIGN, ca.OP_INPUT),
}
_SUMS = {ca.OP_ADD, ca.OP_SUB}
_LONG = 20_000
"""Number of values from which steps that recur are looked for, since compiling takes long."""


@dataclass(frozen=True)
class Seeded:
    """C text of two functions, `NAME_point(primal arguments..., value, w)` and `NAME_seeds(w,
    seeds..., out)`. room: numbers in w, what the second needs of the first.
    """

    text: str
    called: tuple[str, ...]
    room: int


def seeded(name: str, function: Any, seeds: Collection[int]) -> Seeded:
    """The C of a Function of named arguments -> (value, out). value must not depend on the seeds,
    the arguments with these numbers, and out must be linear in them.

    Raises LookupError for a function that cannot become C.
    """
    try:
        return _seeded(name, function, seeds)
    except UnknownOperationError as error:
        raise LookupError(str(error)) from None


def _seeded(name: str, function: Any, seeds: Collection[int]) -> Seeded:
    if not function.is_a("SXFunction"):
        raise LookupError("no function of scalars")
    sizes = [(text, function.numel_in(k)) for k, text in enumerate(function.name_in())]
    primal = [k for k in range(len(sizes)) if k not in seeds]
    along = [k for k in range(len(sizes)) if k in seeds]
    values, count = values_of(function), function.numel_out(0)
    fixed, varying, room = _parted(values, count, primal, along)
    given = [*(vector(*sizes[k], SEEDS) for k in along), vector("w", room, _POINT)]
    to = [result(range(count), _POINT, "value"), result(range(room), _POINT, "w")]
    out = Argument(
        tuple(text for one in to for text in one.declared),
        tuple(entry for one in to for entry in one.entries),
    )
    changed = result(range(function.numel_out(1)), SEEDS)
    point = [vector(*sizes[k], _POINT) for k in primal]
    loops = len(values) > _LONG
    texts = [
        c_of_values(f"{name}_point", fixed, point, out, _POINT, loops=loops),
        c_of_values(f"{name}_seeds", varying, given, changed, SEEDS, loops=loops),
    ]
    return Seeded("\n\n".join(texts), tuple(called_texts([function])), room)


def _parted(
    values: Sequence[Value], count: int, primal: Sequence[int], along: Sequence[int]
) -> tuple[list[Value], list[Value], int]:
    """The values that do not depend on seeds, with those that others need as further results, the
    others, which read them as the argument after the seeds, and the number of these results.

    count: number of results that do not depend on seeds. primal, along: numbers of the arguments.
    """
    varying = _varying(values, along)
    kept: dict[Value, int] = {}
    outside: dict[Value, Value] = {}
    copies: dict[Value, Value] = {}
    inverses: dict[Value, Value] = {}

    def of(value: Value, operand: Value) -> Value:
        if operand in copies:
            return copies[operand]
        if value.operation == ca.OP_DIV:  # one division of scalars in place of many lanes
            operand = inverses.setdefault(operand, Value(ca.OP_INV, (operand,)))
        if operand not in outside:
            outside[operand] = replace(operand, results=[])
            if operand.operation != ca.OP_CONST:
                place = len(along), kept.setdefault(operand, len(kept))
                outside[operand] = Value(ca.OP_INPUT, place=place)
        return outside[operand]

    for value in (v for v in values if v in varying or (v.results and max(v.results) >= count)):
        _refuse_nonlinear(value, varying)
        place = value.place
        if value.operation == ca.OP_INPUT:
            place = along.index(place[0]), place[1]
        operands = tuple(of(value, operand) for operand in value.of)
        operation = ca.OP_MUL if value.operation == ca.OP_DIV else value.operation
        rows = [k - count for k in value.results if k >= count]
        copies[value] = replace(value, operation=operation, of=operands, results=rows, place=place)
    fixed = [*(value for value in values if value not in varying), *inverses.values()]
    for value in fixed:
        value.results = [k for k in value.results if k < count]
        value.results += [count + kept[value]] if value in kept else []
        if value.operation == ca.OP_INPUT:
            value.place = primal.index(value.place[0]), value.place[1]
    return needed(fixed), [*outside.values(), *copies.values()], len(kept)


def _varying(values: Sequence[Value], seeds: Collection[int]) -> set[Value]:
    """The values that depend on seeds."""
    found: set[Value] = set()
    for value in values:
        of_seeds = value.operation == ca.OP_INPUT and value.place[0] in seeds
        if of_seeds or any(v in found for v in value.of):
            found.add(value)
    return found


def _refuse_nonlinear(value: Value, varying: set[Value]) -> None:
    """Raise LookupError for an operation that is not linear in the seeds."""
    count = sum(v in varying for v in value.of)
    if value not in varying:  # a result
        if value.operation != ca.OP_CONST or value.number:
            raise LookupError("not linear in its seeds")
        return
    linear = value.operation in _LINEAR and (value.operation in _SUMS) == (count == 2)
    if value.operation == ca.OP_DIV:
        linear = value.of[1] not in varying
    if value.operation == ca.OP_IF_ELSE_ZERO:
        linear = value.of[0] not in varying
    if not linear:
        raise LookupError(f"operation {value.operation} of {count} seeds is not linear")
