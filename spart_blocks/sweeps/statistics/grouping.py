"""Groups of runs, independent draws and successes, read from a sweep's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.measures.work import FAILED
from spart_blocks.sweeps.storage.columns import FALSE, TRUE, UNKNOWN, Columns

Table = Mapping[str, NDArray[Any]]
"""Columns by name, in the form that users read. Those of `Columns` are read as numbers, which is
faster."""
Codes = NDArray[np.int64]


def coded(table: Table, name: str) -> tuple[Codes, list[Any]]:
    """A column as numbers (n,), and the values that these stand for."""
    if name not in table:
        raise InputError(Fault(f"the sweep has no column {name!r}", hint=did_you_mean(name, table)))
    if isinstance(table, Columns) and table.names(name):
        return table.kept(name).astype(np.int64), list(table.names(name))
    values, codes = np.unique(np.asarray(table[name]), return_inverse=True)
    return codes.astype(np.int64), values.tolist()


def groups_by(table: Table, names: Sequence[str]) -> list[tuple[dict[str, Any], NDArray[np.intp]]]:
    """Groups of rows with equal values in the columns: the values, and the rows in order."""
    code: Codes = np.zeros(len(table["run"]), dtype=np.int64)
    values: list[list[Any]] = []
    for name in names:
        own, known = coded(table, name)
        code = code * len(known) + own
        values.append(known)
    order = np.argsort(code, kind="stable")
    firsts = np.flatnonzero(np.diff(code[order], prepend=-1))
    found = []
    for rows in np.split(order, firsts[1:]) if len(order) else []:
        rest, chosen = int(code[rows[0]]), []
        for known in reversed(values):
            rest, place = divmod(rest, len(known))
            chosen.append(known[place])
        found.append((dict(zip(names, reversed(chosen), strict=True)), rows))
    return found


def draws_of(table: Table, rows: NDArray[np.intp], together: int = 1) -> NDArray[Any] | None:
    """The independent draw of each row as a number; None if each row is a draw of its own.
    together: number of consecutive draws that share values, such as the d + 2 of a base point of a
    saltelli design for d quantities."""
    draws = np.asarray(table["draw"])[rows] // together
    ordered = np.sort(draws)
    return draws if len(draws) > 1 and bool((ordered[1:] == ordered[:-1]).any()) else None


def about_draws(design: str, together: int = 1) -> list[str]:
    """A note on intervals and tests if the draws of a design depend on each other."""
    if design == "random":
        return []
    found = [f"the {together} draws of each base point count together"] if together > 1 else []
    text = f"the points of a {design} design depend on each other: intervals and p, which are for"
    return [*found, f"{text} independent draws, are only a guide"]


def verdicts(table: Table) -> NDArray[np.int8]:
    """Whether each run met its claims: TRUE, FALSE, or UNKNOWN without claims."""
    if isinstance(table, Columns):
        return table.kept("passed").astype(np.int8)
    given = np.asarray(table["passed"])
    if given.dtype == object:
        known = given == given  # not NaN
        known &= given != np.array(None)
    else:
        known = ~np.isnan(given.astype(float))
    told = np.full(len(given), UNKNOWN, dtype=np.int8)
    told[known] = np.where(given[known].astype(bool), TRUE, FALSE)
    return told


def succeeded(table: Table) -> NDArray[np.bool_]:
    """Whether each run met its claims; without claims, whether no error ended it."""
    status, names = coded(table, "status")
    failed = status == names.index(FAILED) if FAILED in names else np.zeros(len(status), bool)
    return np.asarray(~failed & (verdicts(table) != FALSE))


def numbers(table: Table, name: str) -> NDArray[np.float64]:
    """A column of numbers. Raises InputError for any other column."""
    if name not in table:
        raise InputError(Fault(f"the sweep has no column {name!r}", hint=did_you_mean(name, table)))
    try:
        return np.asarray(table[name], dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} is not a number of each run") from None
