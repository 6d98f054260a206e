"""Writes the functions of a program in C, and the tables that the loops which run it read."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.base.tableaus import Tableau
from spart_blocks.program.c.called import called_texts
from spart_blocks.program.c.dialects import DOUBLE, LANES, Dialect
from spart_blocks.program.c.functions import (
    Argument,
    arguments_of,
    c_function,
    defined,
    names_of,
    result,
)
from spart_blocks.program.c.text import macros, table
from spart_blocks.program.linearised import Linearised
from spart_blocks.program.program import Program, Slot
from spart_blocks.program.tracing.switching import Crossing

Numbered = Sequence[tuple[Any, Sequence[int]] | None]
"""Numbered functions, each with the entries of a vector that it writes; None for a number without
a function.
"""


class Writer:
    """Writes the functions of a program, and records them to write what they call.

    arguments: C arguments for (t, x, xd, p); by default with these names.
    """

    def __init__(
        self, program: Program, dialect: Dialect, arguments: Sequence[Argument] | None = None
    ) -> None:
        self.dialect = dialect
        self.arguments = tuple(arguments or arguments_of(program.rates, dialect))
        self.written: list[Any] = []

    def called(self) -> list[str]:
        """The C of tables and solvers that the written functions call. It must come before their
        code.
        """
        return called_texts(self.written, self.dialect)

    def function(
        self,
        name: str,
        function: Any,
        out: Argument | None = None,
        dialect: Dialect | None = None,
    ) -> str:
        """Write a function of (t, x, xd, p) and further arguments, which keep their names.
        dialect: of its body.
        """
        self.written.append(function)
        given = (*self.arguments, *arguments_of(function, self.dialect)[4:])
        found = out or result(range(function.numel_out(0)), self.dialect)
        return c_function(name, function, given, found, dialect or self.dialect)

    def numbered(self, name: str, functions: Numbered) -> list[str]:
        """Write numbered functions, and a function that calls one of them by its number."""
        texts, cases = [], {}
        for k, one in enumerate(functions):
            if one is not None:
                chosen = selected(one[0], one[1], name)
                texts.append(self.function(f"{name}_{k}", chosen, result(one[1], self.dialect)))
                cases[k] = f"{name}_{k}"
        return [*texts, self.choice(name, cases)]

    def choice(self, name: str, functions: Mapping[int, str]) -> str:
        """A function that calls one of several functions of (t, x, xd, p) by its number."""
        out = result((), self.dialect)
        declared = [text for a in (*self.arguments, out) for text in a.declared]
        names = ", ".join(names_of(declared))
        calls = {k: f"{function}({names});" for k, function in functions.items()}
        if self.dialect is LANES:
            cases = [f"  case {k}: {call} break;" for k, call in calls.items()]
            lines = ["switch (which) {", *cases, "  default: break;", "}"]
        else:  # of a switch gcc makes a step of exported C with two clocks that takes 18 % longer
            lines = [f"if (which == {k}) {call}" for k, call in calls.items()]
        return defined(self.dialect.static, name, ["int which", *declared], lines)


def rates_of(program: Program) -> Any:
    """xdot as a function of (t, x, xd, p, start); start: x at the start of a step."""
    return with_start(program.held or program.rates)


def with_start(function: Any) -> Any:
    """A function of (t, x, xd, p) that also takes x at the start of a step, if it does not yet."""
    arguments = function.sx_in()
    if len(arguments) > 4:
        return function
    names = [*function.name_in(), "start"]
    start = ca.SX.sym("start", arguments[1].numel())
    return ca.Function(function.name(), [*arguments, start], [function(*arguments)], names, ["y"])


def selected(function: Any, rows: Sequence[int], name: str) -> Any:
    """A function that returns only these rows of another function's result."""
    arguments = function.sx_in()
    picked = ca.densify(function(*arguments)[list(rows)]) if rows else ca.SX(0, 1)
    return ca.Function(name, arguments, [picked], function.name_in(), ["y"])


# --- tables -------------------------------------------------------------------------------


def sizes_of(program: Program) -> dict[str, Any]:
    """The sizes of a program, and whether it has certain functions, by their names in C."""
    return {
        "SB_NX": len(program.x0),
        "SB_NXD": len(program.xd0),
        "SB_NP": len(program.p),
        "SB_CROSSINGS": len(program.crossings),
        "SB_SWITCHES": sum(crossing.kind == "mode" for crossing in program.crossings),
        "SB_NC": len(program.clocks),
        "SB_NE": len(program.switching),
        "SB_HANDOVERS(m)": len(program.handovers),
        "SB_PROJECTS": int(program.project is not None and len(program.x0) > 0),
        "SB_DRIFTS(m)": int(bool(program.drifting)),
        "SB_REACHES": int(program.reach is not None),
        "SB_STEPPED": len(stepped_entries(program)),
    }


def entries_named(slots: Iterable[Slot], names: Iterable[str]) -> list[int]:
    """The entries of a vector that belong to these names."""
    parts = {slot.name: slot.part for slot in slots}
    return [k for name in names for k in range(parts[name].start, parts[name].stop)]


def updates_of(program: Program) -> Numbered:
    """For each clock the update of its states."""
    return [
        (program.updates[clock.name], entries_named(program.discrete, clock.blocks))
        for clock in program.clocks
    ]


def handovers_of(program: Program) -> Numbered:
    """For each handover the held outputs that it renews."""
    return [(one.renewed, entries_named(program.discrete, one.slots)) for one in program.handovers]


def handover_clocks(program: Program) -> list[int]:
    """For each handover the number of its clock."""
    numbers = {clock.name: k for k, clock in enumerate(program.clocks)}
    return [numbers[one.clock] for one in program.handovers]


def stepped_entries(program: Program) -> list[int]:
    """The indices of the states that advance by a one-step map."""
    return entries_named(program.states, program.stepped)


def tableau_tables(
    method: Tableau, dialect: Dialect = DOUBLE, prefix: str = "sb_rk_", letters: str = "abcep"
) -> list[str]:
    """The tables of a Runge-Kutta method: a, b, c of its stages, error weights e, dense output p;
    zeros where it has none.
    """
    errors = np.zeros_like(method.b) if method.estimates is None else method.estimates
    dense = np.zeros(1) if method.P is None else method.P
    tables = {"a": method.A, "b": method.b, "c": method.c, "e": errors, "p": dense}
    return [
        table(
            dialect.scalar,
            f"{prefix}{letter}",
            map(dialect.scalar_constant, tables[letter].ravel().tolist()),
            head=dialect.tables,
        )
        for letter in letters
    ]


def implicit_text(
    method: Tableau, linear: Linearised | None, dialect: Dialect = DOUBLE, prefix: str = "sb_rk_"
) -> list[str]:
    """What linearly implicit steps need, as macros and tables for sb_implicit.h: the coefficients
    of a method, and the pattern of a program's factors. linear: None for explicit steps.
    """
    if method.implicit is None or linear is None:
        return [macros({"SB_IS_IMPLICIT": 0, "SB_ENTRIES(m)": 0})]
    sizes = {
        "SB_IS_IMPLICIT": 1,
        "SB_GAMMA(m)": dialect.scalar_constant(method.implicit.gamma),
        "SB_ENTRIES(m)": len(linear.columns),
    }
    places = {"GAMMAS": "gammas", "GAMMA_SUMS": "gamma_sums", "ROW_STATES": "order"}
    places |= {"ROW_STARTS": "starts", "COLUMNS": "columns", "DIAGONAL": "diagonal"}
    sizes |= {f"SB_{name}(m)": f"{prefix}{place}" for name, place in places.items()}
    rows = {"gammas": method.implicit.C.ravel().tolist(), "gamma_sums": method.implicit.d.tolist()}
    numbers = {name: map(dialect.scalar_constant, row) for name, row in rows.items()}
    tables = [(dialect.scalar, name, row) for name, row in numbers.items()]
    tables += [("int", name, map(str, row)) for name, row in linear.pattern.items()]
    texts = [table(kind, f"{prefix}{name}", row, head=dialect.tables) for kind, name, row in tables]
    return [macros(sizes), *texts]


def firsts_of(crossings: Iterable[Crossing]) -> list[int]:
    """For each crossing the index of the first one that does the same: of its block and kind, or
    the same event.
    """
    return firsts((crossing.event, crossing.kind) for crossing in crossings)


MOST_CONTACTS = 16
"""Most signals that rest at once in code of C."""


def slide_sizes(program: Program) -> dict[str, int]:
    """The sizes of motions along surfaces: the most surfaces of one, and of signals at rest."""
    resets = sum(crossing.kind == "event" for crossing in program.crossings)
    return {"SB_SURFACES": 2, "SB_CONTACTS": min(resets, MOST_CONTACTS), "SB_RESETS": resets}


def firsts(keys: Iterable[Hashable]) -> list[int]:
    """For each key the index of its first occurrence."""
    found: dict[Hashable, int] = {}
    return [found.setdefault(key, k) for k, key in enumerate(keys)]
