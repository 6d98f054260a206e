"""CasADi functions of scalars as lists of values in the order of evaluation, without common
subexpressions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.program.tracing.columns import PREFIX as DIFFERENTIATES
from spart_blocks.program.tracing.horizons import PREFIX as OPTIMISES
from spart_blocks.program.tracing.loops import PREFIX as SOLVES
from spart_blocks.program.tracing.loops import is_derivative

PART = -1
"""The operation of one entry of a solution; its place is (entry, -1)."""
TURNED = {ca.OP_SIN: ca.OP_COS, ca.OP_COS: ca.OP_SIN}


@dataclass(eq=False)
class Value:
    """One value in a function.

    of: its operands. place: (argument, entry) of an input. number: of a constant. called: name of
    the function of a call. results: indices of the results that have this value. width: number of
    values of a call. name: in C.
    """

    operation: int
    of: tuple[Value, ...] = field(default=(), repr=False)
    place: tuple[int, int] = (-1, -1)
    number: float = math.nan
    called: str = ""
    width: int = 1
    results: list[int] = field(default_factory=list)
    name: str = ""

    @property
    def is_solution(self) -> bool:
        """Whether it is a call with several results: of a solver, of an algebraic loop or of a
        horizon, or of derivatives by columns.
        """
        return self.called.startswith((SOLVES, OPTIMISES, DIFFERENTIATES))


Step = tuple[Value, ...]
"""The values of one statement: a single value; sines and cosines, of one angle or of several; or
the solution of a solver, as its call followed by its entries.
"""


def values_of(function: Any) -> list[Value]:
    """The values that an SX function with dense results needs, without duplicates. The indices of
    results count the entries of all results, one after the other.
    """
    at: dict[int, Value] = {}
    first = np.cumsum([0, *(function.numel_out(k) for k in range(function.n_out()))]).tolist()
    known: dict[Any, Value] = {}

    def once(value: Value) -> Value:
        key = (value.operation, *map(id, value.of), value.place, value.number.hex(), value.called)
        return known.setdefault(key, value)

    for operation, inputs, outputs, detail in instructions(function):
        if operation == ca.OP_INPUT:
            at[outputs[0]] = once(Value(operation, place=(inputs[0], inputs[1])))
            continue
        if operation == ca.OP_CONST:
            at |= {slot: once(Value(operation, number=detail)) for slot in outputs}
            continue
        of = tuple(at[slot] for slot in inputs)
        if operation == ca.OP_OUTPUT:
            of[0].results.append(first[outputs[0]] + outputs[1])
        elif operation == ca.OP_ASSIGN:
            at[outputs[0]] = of[0]
        elif operation == ca.OP_CALL:
            call = once(Value(operation, of, called=detail, width=len(outputs)))
            parts = {slot: (k, -1) for k, slot in enumerate(outputs) if slot >= 0}
            if call.is_solution:
                at |= {slot: once(Value(PART, (call,), place)) for slot, place in parts.items()}
            else:
                at[outputs[0]] = call
        else:
            same = ca.OP_POW if operation == ca.OP_CONSTPOW else operation
            at[outputs[0]] = once(Value(same, of))
    return needed(list(known.values()))


def instructions(function: Any) -> Iterator[tuple[int, list[int], list[int], Any]]:
    """The instructions of an SX function: operation, slots that it reads, slots that it writes,
    and the number of a constant or the name of a called function. For an input, (argument, entry)
    replaces the slots read; for an output, (result, entry) those written.
    """
    calls = function.instructions_sx() if function.find_functions(0) else []
    for k in range(function.n_instructions()):
        operation: int = function.instruction_id(k)
        inputs, outputs = function.instruction_input(k), function.instruction_output(k)
        detail: Any = None
        if operation == ca.OP_CONST:
            detail = function.instruction_constant(k)
        elif operation == ca.OP_CALL:
            detail = calls[k].which_function().name()
            if is_derivative(detail):
                yield ca.OP_CONST, [], [slot for slot in outputs if slot >= 0], 0.0
                continue
        yield operation, inputs, outputs, detail


def needed(values: Sequence[Value]) -> list[Value]:
    """The values that results depend on, in their order."""
    found: set[int] = set()
    for value in reversed(values):
        if value.results or id(value) in found:
            found.update(map(id, value.of))
            found.add(id(value))
    return [value for value in values if id(value) in found]


def steps_with_turns(values: Sequence[Value]) -> list[Step] | None:
    """The values as steps; sines and cosines are one step if their angles depend on equally many
    others, one after the other. What their angles need comes before. None if no two angles meet.
    """
    depth: dict[Value, int] = {}
    groups: dict[int, list[Value]] = {}
    for value in values:
        depth[value] = max((depth.get(operand, 0) for operand in value.of), default=0)
        if value.operation in TURNED:
            groups.setdefault(depth[value], []).append(value)
            depth[value] += 1
    together = [tuple(group) for group in groups.values() if len({v.of[0] for v in group}) > 1]
    if not together:
        return None
    step_of = {value: step for step in steps_of(values, paired=False) for value in step}
    step_of |= {value: group for group in together for value in group}
    return _depth_first(values, step_of)


def with_few_waiting(steps: Sequence[Step]) -> list[Step]:
    """The steps in an order in which fewer values wait until they are read: of those that a step
    reads the one first that itself needs most. This is best for values that are read once (R. Sethi
    and J. Ullman, "The generation of optimal code for arithmetic expressions", J. ACM 17 (1970)).
    """
    step_of = {value: step for step in steps for value in step}
    need: dict[Value, int] = {}
    for step in steps:
        read = {step_of[v][0] for v in _read(step, step_of)}
        most = sorted((need[first] for first in read), reverse=True)
        size = max([1, *(count + k for k, count in enumerate(most))])
        need |= dict.fromkeys(step, size)
    turns = [step[0] for step in steps if len(step) > 1]
    results = [value for step in steps for value in step if value.results]
    return _depth_first([*turns, *results], step_of, need)


def _depth_first(
    values: Sequence[Value],
    step_of: Mapping[Value, Step],
    need: Mapping[Value, int] | None = None,
) -> list[Step]:
    """The steps of these values, each after those that it reads. need: of several that are read,
    the one with most comes first; by default they come in their order.
    """
    steps: list[Step] = []
    done: set[Value] = set()
    waiting = list(reversed(values))
    while waiting:
        step = step_of[waiting[-1]]
        if waiting[-1] in done:
            waiting.pop()
            continue
        missing = [v for v in _read(step, step_of) if v not in done]
        if not missing:
            waiting.pop()
            steps.append(step)
            done.update(step)
        else:
            waiting += sorted(missing, key=need.__getitem__) if need else reversed(missing)
    return steps


def _read(step: Step, step_of: Mapping[Value, Step]) -> Iterator[Value]:
    """The values of other steps that a step reads."""
    reads = (v for value in step for v in value.of)
    return (v for v in reads if v in step_of and step_of[v] is not step)


def steps_of(values: Sequence[Value], *, paired: bool) -> list[Step]:
    """The values as steps, in order. paired: combine a sine and a cosine of the same angle."""
    pairs = {(v.operation, v.of[0]): v for v in values if paired and v.operation in TURNED}
    parts: dict[Value, list[Value]] = {}
    for value in values:
        if value.operation == PART:
            parts.setdefault(value.of[0], []).append(value)
    steps: list[Step] = []
    done: set[Value] = set()
    for value in values:
        if value in done:
            continue
        others = parts.get(value, [])
        if value.operation in TURNED:
            other = pairs.get((TURNED[value.operation], value.of[0]))
            others = [other] if other is not None else []
        steps.append((value, *others))
        done.update(steps[-1])
    return steps
