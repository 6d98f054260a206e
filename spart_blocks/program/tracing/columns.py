"""The derivatives of a long function as a called function, of which code generators write a loop.

Written out, derivatives by n variables are up to n times as long as their function. The change of a
function along one direction is about twice as long, and linear in the direction: what it needs of
the point is computed once. It is repeated for each group of columns in which no row has two
entries (A. Curtis, M. Powell, J. Reid, J. Inst. Maths Applics 13 (1974) 117). Columns on which less
depends, as those of the rates of a robot's joints, get a shorter function of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

PREFIX = "columns_"
"""Prefix of the names of these functions."""
TABLES = "tables_of_columns_"
"""Prefix of the names of the functions that give their tables."""
ALONG = "along_"
"""Prefix of the names of the functions that they repeat."""
LANES = 4
"""Groups that are computed side by side where a compiler has vectors."""
_CODE = 4
"""A function of its own pays if it saves more than its length times this."""

Places = Mapping[tuple[int, int], int]
"""Where the derivative of a row by a column goes."""


def by_columns(column: Any, by: Any, given: Any, places: Places, size: int) -> Any:
    """The derivatives (size,) of a column of expressions by the symbols `by`, by a call; zero where
    nothing is placed. given: all symbols. places: of every derivative that is not zero.
    """
    direction = ca.SX.sym("direction", by.numel())
    along = ca.densify(ca.jtimes(column, by, direction))
    linear, *found = ca.extract_parametric(along, given, {"extract_trivial": True})
    symbols, values = (ca.vertcat(*some) for some in found)
    while ca.depends_on(values, symbols):  # those of a call are by themselves, too
        values = ca.substitute(values, symbols, values)
    return _function(ca.Function("along", [symbols, direction], [linear]), places, size)(values)


@dataclass(frozen=True)
class Part:
    """Groups of columns with one function (coefficients, direction) -> change.

    along: an SX function, of the entries of the direction that these groups have, to the rows that
    they have. seeds: of each group the entries that are 1. moved: of each group the pairs (row of
    the change, place of the derivative).
    """

    along: Any
    seeds: Sequence[Sequence[int]]
    moved: Sequence[Sequence[tuple[int, int]]]


@dataclass(frozen=True)
class CalledColumns:
    """A called function, for generators of code."""

    name: str
    inputs: int
    outputs: int
    parts: Sequence[Part]


def columns_called_by(functions: Iterable[Any]) -> list[CalledColumns]:
    """The functions of this kind that these functions call, without duplicates."""
    called = {f.name(): f for function in functions for f in function.find_functions(0)
              if f.name().startswith(PREFIX)}  # fmt: skip
    found = []
    for name, f in sorted(called.items()):
        inner = {g.name(): g for g in f.find_functions()}
        tables = next(g for n, g in inner.items() if n.startswith(TABLES))
        *seeds, places = (np.array(one.full()) for one in tables.call([0]))
        parts = []
        first = 0
        for k, one in enumerate(seeds):
            along = inner[f"{ALONG}{name.removeprefix(PREFIX)}_{k}"]
            rows, groups = along.numel_out(0), one.shape[1]
            last = first + rows * groups
            moved: list[list[tuple[int, int]]] = [[] for _ in range(groups)]
            for place, at in enumerate(places.ravel().astype(int).tolist()):
                if first <= at < last:
                    group, row = divmod(at - first, rows)
                    moved[group].append((row, place))
            parts.append(Part(along, [np.flatnonzero(c).tolist() for c in one.T], moved))
            first = last
        found.append(CalledColumns(name, f.numel_in(0), f.numel_out(0), parts))
    return found


def _function(along: Any, places: Places, size: int) -> Any:
    """The CasADi Function of coefficients -> derivatives."""
    groups = _groups(places)
    name = sha256(f"{along.serialize()} {sorted(places.items())}".encode()).hexdigest()[:16]
    point, direction = ca.SX.sym("point", along.numel_in(0)), ca.SX.sym("v", along.numel_in(1))
    parts, seeds = [], []
    at = dict.fromkeys(range(size), -1)
    first = 0
    for k, some in enumerate(_classes(_reached(along, groups), len(groups))):
        columns = sorted(j for g in some for j in groups[g])
        within = set(columns)
        rows = sorted({i for i, j in places if j in within})
        chosen = ca.SX.zeros(direction.numel())
        chosen[columns] = direction[columns]
        parts.append(
            ca.Function(
                f"{ALONG}{name}_{k}",
                [point, direction[columns]],
                [ca.densify(along(point, ca.densify(chosen))[rows])],
                ["in", "v"],
                ["w"],
            )
        )
        seeds.append(np.array([[float(j in groups[g]) for g in some] for j in columns]))
        group_of = {j: position for position, g in enumerate(some) for j in groups[g]}
        row_of = {i: position for position, i in enumerate(rows)}
        for (i, j), place in places.items():
            if j in within:
                at[place] = first + group_of[j] * len(rows) + row_of[i]
        first += len(rows) * len(some)
    places_of = [at[k] if at[k] >= 0 else first for k in range(size)]  # there is a zero
    tables = ca.Function(
        f"{TABLES}{name}",
        [ca.MX.sym("nothing")],  # without an argument a call gives numbers
        [ca.MX(ca.DM(value)) for value in (*seeds, np.array(places_of, float))],
        {"never_inline": True},
    )
    given = ca.MX.sym("point", along.numel_in(0))
    changes = [
        ca.vec(part.map(f"{part.name()}_each", "serial", one.shape[1], [0], [])(given, table))
        for part, one, table in zip(parts, seeds, tables.call([ca.MX(0)]), strict=False)
    ]
    found = ca.vertcat(*changes, ca.MX(ca.DM(0)))[places_of]
    options: Any = {"never_inline": True}
    return ca.Function(f"{PREFIX}{name}", [given], [found], ["in"], ["out"], options)


def _groups(places: Places) -> list[list[int]]:
    """The columns in groups in which no row has two entries."""
    rows: dict[int, int] = {}
    for i, j in places:
        rows[j] = rows.get(j, 0) | 1 << i
    groups: list[list[int]] = []
    taken: list[int] = []
    for j, found in sorted(rows.items()):
        k = next((k for k, others in enumerate(taken) if not others & found), len(groups))
        if k == len(groups):
            groups.append([])
            taken.append(0)
        groups[k].append(j)
        taken[k] |= found
    return groups


def _reached(along: Any, groups: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
    """Of each instruction, which groups it depends on (instructions, groups)."""
    seeded = np.zeros((along.numel_in(1), len(groups)), bool)
    for k, columns in enumerate(groups):
        seeded[columns, k] = True
    none = np.zeros(len(groups), bool)
    at: dict[int, NDArray[np.bool_]] = {}
    found = []
    for k in range(along.n_instructions()):
        operation, read = along.instruction_id(k), along.instruction_input(k)
        if operation == ca.OP_OUTPUT:
            continue
        if operation == ca.OP_INPUT:
            reached = seeded[read[1]] if read[0] == 1 else none
        else:
            reached = np.logical_or.reduce([none, *(at[slot] for slot in read)])
            found.append(reached)
        at.update(dict.fromkeys(along.instruction_output(k), reached))
    return np.array(found, bool).reshape(-1, len(groups))


def _classes(reached: NDArray[np.bool_], count: int) -> list[list[int]]:
    """The groups in classes, each of which is to have a function of its own: those that make the
    work least, with the length of each function counted as some repetitions.
    """
    order = np.argsort(reached.sum(axis=0), kind="stable").tolist()
    blocks = [order[k : k + LANES] for k in range(0, count, LANES)]
    touched = [reached[:, block].any(axis=1) for block in blocks]
    best: list[tuple[int, int]] = [(0, 0)]
    for last in range(1, len(blocks) + 1):
        together = np.zeros(len(reached), bool)
        costs = []
        for first in reversed(range(last)):
            together = together | touched[first]
            work = int(together.sum()) * (last - first + _CODE)
            costs.append((best[first][0] + work, first))
        best.append(min(costs))
    classes: list[list[int]] = []
    last = len(blocks)
    while last:
        first = best[last][1]
        classes.insert(0, [g for block in blocks[first:last] for g in block])
        last = first
    return classes
