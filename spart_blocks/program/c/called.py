"""The C functions that a program's functions call: lookup tables, solvers of algebraic loops and of
horizons, and derivatives by columns.

CasADi's interface does not give the points and values of an interpolant. They are read from the C
code that it generates, which has them in full precision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.base.errors import DiagramError
from spart_blocks.program.c.columns import columns_texts
from spart_blocks.program.c.dialects import DOUBLE, Dialect
from spart_blocks.program.c.functions import c_function, defined, result, vector
from spart_blocks.program.c.horizon import horizon_text
from spart_blocks.program.c.text import table
from spart_blocks.program.tracing.columns import columns_called_by
from spart_blocks.program.tracing.horizons import horizons_called_by
from spart_blocks.program.tracing.lookup_tables import Floats, evenly_spaced, tables_called_by
from spart_blocks.program.tracing.loops import MOST_STEPS, Solver, solvers_called_by

_CALL = re.compile(r"casadi_interpn\(res\[0\], 1, (\w+), \w+, (\w+), arg\[0\], \w+, 1, iw, w\)")


def called_texts(functions: Iterable[Any], dialect: Dialect = DOUBLE) -> list[str]:
    """The C of each lookup table and each solver that these functions call, without duplicates. It
    must come before their own code.
    """
    functions = list(functions)
    columns = columns_called_by(functions)
    functions += [part.along for one in columns for part in one.parts]
    solvers = solvers_called_by(functions)
    steps = [solver.step for solver in solvers]
    inner = (
        DOUBLE if dialect.solved == "double" else dialect
    )  # loops are solved in double precision
    if inner is dialect:
        tables = table_texts([*functions, *steps], dialect)
    else:
        tables = list(dict.fromkeys([*table_texts(functions, dialect), *table_texts(steps, inner)]))
    horizons = horizons_called_by([*functions, *steps])
    return [
        *tables,
        *(horizon_text(one, inner) for one in horizons),
        *(_solver(solver, inner) for solver in solvers),
        *columns_texts(columns, inner),
    ]


def _solver(solver: Solver, dialect: Dialect) -> str:
    """The C of a solver of an algebraic loop: it repeats steps until all lanes are done. A lane
    that is done does not change any more.
    """
    size, step = len(solver.begin), solver.step.name()
    begin = [dialect.everywhere.format(dialect.constant(value)) for value in solver.begin]
    goes_on = dialect.more.format(f"state[{solver.status}] <= 0")
    lines = [
        f"{dialect.real} state[{size}], after[{size}];",
        *(f"state[{k}] = {value};" for k, value in enumerate(begin)),
        f"for (int k = 0; k < {MOST_STEPS}; k++) {{",
        f"  if (!{goes_on}) break;",
        f"  {step}(state, in, after);",
        f"  for (int i = 0; i < {size}; i++) state[i] = after[i];",
        "}",
        f"for (int i = 0; i < {solver.n}; i++) out[i] = state[i];",
    ]
    given = (vector("in", solver.inputs, dialect), result(range(solver.n), dialect))
    declared = [text for argument in given for text in argument.declared]
    return "\n\n".join(
        [
            c_function(step, solver.step, dialect=dialect),
            defined(dialect.static, solver.name, declared, lines),
        ]
    )


# --- lookup tables ------------------------------------------------------------------------


def table_texts(functions: Iterable[Any], dialect: Dialect = DOUBLE) -> list[str]:
    """The C of each table that these functions call, without duplicates."""
    functions = list(functions)
    tables = {table.name(): table for f in functions for table in tables_called_by(f)}
    called = {g.name().partition("1_")[2] for f in functions for g in f.find_functions(0)}
    return [
        _table(name, *_data(one), dialect, slope=name in called)
        for name, one in sorted(tables.items())
    ]


def _data(interpolant: Any) -> tuple[Floats, Floats]:
    """The points and the values of a table."""
    generator = ca.CodeGenerator("table", {"with_header": False})
    generator.add(interpolant)
    text = generator.dump()
    call = _CALL.search(text)
    if call is None:
        raise DiagramError("a large table cannot become C: CasADi's code for it differs from 3.8's")
    points, values = (_array(text, name) for name in call.groups())
    return points, values


def _array(text: str, name: str) -> Floats:
    start = text.index("{", text.index(f"static const casadi_real {name}[")) + 1
    return np.array(text[start : text.index("}", start)].split(","), dtype=float)


def _table(name: str, points: Floats, values: Floats, dialect: Dialect, *, slope: bool) -> str:
    """The C functions for the value and the slope at u, which must be within the table. In lanes
    they are named NAME_lanes.
    """
    number, kind = dialect.scalar_constant, dialect.scalar
    search = _SEARCH
    if evenly_spaced(points):
        step = (points[-1] - points[0]) / (len(points) - 1)
        search = _EVEN.replace("FIRST", number(points[0])).replace("STEP", number(step))
    parts = [
        table(kind, f"{name}_points", map(number, points.tolist()), head=dialect.tables),
        table(kind, f"{name}_values", map(number, values.tolist()), head=dialect.tables),
        f"{dialect.static} long {name}_piece({kind} u) {{\n{search}\n}}",
        f"{dialect.static} {kind} {name}({kind} u) {{\n{_VALUE}\n}}",
    ]
    if slope:
        parts.append(f"{dialect.static} {kind} {name}_slope({kind} u) {{\n{_SLOPE}\n}}")
    if dialect.scalar != dialect.real:
        parts += [f"SB_TABLE_BY_LANE({name}{which})" for which in ("", "_slope")[: 1 + slope]]
    names = {"NAME": name, "LAST": str(len(points) - 1), "REAL": kind}
    text = "\n\n".join(parts)
    return re.sub("NAME|LAST|REAL", lambda word: names[word[0]], text)


_SEARCH = """\
  long low = 0, high = LAST;
  while (high - low > 1) {
    const long middle = (low + high) / 2;
    if (u < NAME_points[middle]) high = middle;
    else low = middle;
  }
  return low;"""

_EVEN = """\
  const REAL place = (u - FIRST) / STEP;
  const long low = place > 0 ? (long)place : 0;
  return low < LAST ? low : LAST - 1;"""

_VALUE = """\
  if (u != u) return u;
  const long k = NAME_piece(u);
  const REAL a = (u - NAME_points[k]) / (NAME_points[k + 1] - NAME_points[k]);
  return (1 - a) * NAME_values[k] + a * NAME_values[k + 1];"""

_SLOPE = """\
  if (u != u) return u;
  const long k = NAME_piece(u);
  return (NAME_values[k + 1] - NAME_values[k]) / (NAME_points[k + 1] - NAME_points[k]);"""
