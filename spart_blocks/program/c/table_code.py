"""Lookup tables that a program calls, as arrays and a search in C.

CasADi's interface does not give the points and values of an interpolant. They are read from the C
code that it generates, which contains them in full precision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.base.errors import DiagramError
from spart_blocks.program.c.scalar_code import Real, literal
from spart_blocks.program.tracing.lookup_tables import Floats, evenly_spaced, tables_called_by

_CALL = re.compile(r"casadi_interpn\(res\[0\], 1, (\w+), \w+, (\w+), arg\[0\], \w+, 1, iw, w\)")
_NUMBERS_A_LINE = 6
_LANES = ("SB_TABLE", "SB_FUNCTION", "SB_SCALAR")


def table_texts(
    functions: Iterable[Any], real: Real = "double", *, lanes: bool = False
) -> list[str]:
    """The C of each table that one of these Functions calls, once. It precedes their C.

    lanes: with the words of sb_numbers.h, and functions `NAME_lanes` of all lanes.
    """
    functions = list(functions)
    tables = {table.name(): table for f in functions for table in tables_called_by(f)}
    called = {g.name().partition("1_")[2] for f in functions for g in f.find_functions(0)}
    return [
        _text(name, *_data(table), real, slope=name in called, lanes=lanes)
        for name, table in sorted(tables.items())
    ]


def _data(table: Any) -> tuple[Floats, Floats]:
    """The points and the values of a table."""
    generator = ca.CodeGenerator("table", {"with_header": False})
    generator.add(table)
    text = generator.dump()
    call = _CALL.search(text)
    if call is None:
        raise DiagramError("a large table cannot become C: CasADi's code for it differs from 3.8's")
    points, values = (_array(text, name) for name in call.groups())
    return points, values


def _array(text: str, name: str) -> Floats:
    start = text.index("{", text.index(f"static const casadi_real {name}[")) + 1
    return np.array(text[start : text.index("}", start)].split(","), dtype=float)


def _text(
    name: str, points: Floats, values: Floats, real: Real, *, slope: bool, lanes: bool
) -> str:
    """The C functions of the value and of the slope at u, which is within the table."""
    search = _stride(points, real) if evenly_spaced(points) else _SEARCH
    kept, head, kind = _LANES if lanes else ("static const", "static", real)
    parts = [
        _constants(f"{kept} {kind} {name}_points", points, real),
        _constants(f"{kept} {kind} {name}_values", values, real),
        f"{head} long {name}_piece({kind} u) {{\n{search}\n}}",
        f"{head} {kind} {name}({kind} u) {{\n{_VALUE}\n}}",
    ]
    if slope:
        parts.append(f"{head} {kind} {name}_slope({kind} u) {{\n{_SLOPE}\n}}")
    if lanes:
        parts += [f"SB_TABLE_BY_LANE({name}{which})" for which in ("", "_slope")[: 1 + slope]]
    names = {"NAME": name, "LAST": str(len(points) - 1), "REAL": kind}
    text = "\n\n".join(parts)
    return re.sub("NAME|LAST|REAL", lambda word: names[word[0]], text)


def _stride(points: Floats, real: Real) -> str:
    step = (points[-1] - points[0]) / (len(points) - 1)
    return _EVEN.replace("FIRST", literal(points[0], real)).replace("STEP", literal(step, real))


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


def _constants(declared: str, numbers: Floats, real: Real) -> str:
    texts = [literal(number, real) for number in numbers.tolist()]
    rows = [texts[k : k + _NUMBERS_A_LINE] for k in range(0, len(texts), _NUMBERS_A_LINE)]
    lines = ",\n".join(f"  {', '.join(row)}" for row in rows)
    return f"{declared}[{len(texts)}] = {{\n{lines}\n}};"
