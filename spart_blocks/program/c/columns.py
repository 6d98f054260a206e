"""Writes derivatives that are found by columns as C: loops over groups of columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from spart_blocks.program.c.dialects import DOUBLE, SEEDS, Dialect
from spart_blocks.program.c.functions import c_of_values, defined, result, vector
from spart_blocks.program.c.text import table, with_headers
from spart_blocks.program.c.values import values_of
from spart_blocks.program.tracing.columns import LANES as GROUPS
from spart_blocks.program.tracing.columns import CalledColumns, Part

_SIDE_BY_SIDE = replace(SEEDS, longest=1000, piece=500)
"""These functions are long: in short pieces they take three quarters of the time to compile, and
nine tenths to run.
"""
_HEAD = f"""
#ifndef SB_SEEDS
#if defined(__GNUC__) || defined(__clang__)
#define SB_SEEDS {GROUPS}
#else
#define SB_SEEDS 1
#endif
#endif
#include "sb_seeds.h"
"""


def columns_texts(called: Iterable[CalledColumns], dialect: Dialect) -> list[str]:
    """The C of called functions. In double precision several groups are side by side; in lanes,
    where a number is of several runs already, they follow one another.
    """
    texts = [text for one in called for text in _texts(one, dialect)]
    head = [with_headers(_HEAD)] if dialect is DOUBLE and texts else []
    return [*head, *texts]


def _texts(called: CalledColumns, dialect: Dialect) -> list[str]:
    body = _SIDE_BY_SIDE if dialect is DOUBLE else dialect
    given = (vector("in", called.inputs, dialect), result(range(called.outputs), dialect))
    declared = [text for argument in given for text in argument.declared]
    zero = dialect.everywhere.format(dialect.constant(0.0))
    lines = [f"for (int k = 0; k < {called.outputs}; k++) out[k] = {zero};"]
    texts = []
    for part in called.parts:
        texts += [_along(part, body, dialect), *_tables(part, dialect)]
        lines += _rounds(part, body, dialect)
    return [*texts, defined(dialect.static, called.name, declared, lines)]


def _along(part: Part, body: Dialect, dialect: Dialect) -> str:
    sizes = (part.along.numel_in(k) for k in range(2))
    given = [vector(*one) for one in zip(("in", "v"), sizes, (dialect, body), strict=True)]
    found = result(range(part.along.numel_out(0)), body, "w")
    return c_of_values(part.along.name(), values_of(part.along), given, found, body, loops=False)


def _tables(part: Part, dialect: Dialect) -> list[str]:
    """The lists of all groups one after the other, and where each group's begin."""
    name = part.along.name()
    rows, to = ([[pair[k] for pair in group] for group in part.moved] for k in range(2))
    tables = {
        "seeds": _joined(part.seeds), "seeds_at": _starts(part.seeds),
        "rows": _joined(rows), "to": _joined(to), "rows_at": _starts(rows),
    }  # fmt: skip
    return [
        table("int", f"{name}_{which}", entries, head=dialect.tables)
        for which, entries in tables.items()
    ]


def _joined(lists: Iterable[Sequence[int]]) -> list[int]:
    return [entry for some in lists for entry in some]


def _starts(lists: Iterable[Sequence[int]]) -> list[int]:
    starts = [0]
    for some in lists:
        starts.append(starts[-1] + len(some))
    return starts


def _rounds(part: Part, body: Dialect, dialect: Dialect) -> list[str]:
    """The loop over the groups of one part."""
    name, count, real = part.along.name(), len(part.seeds), body.real
    none = body.everywhere.format(body.constant(0.0))
    columns, rows = part.along.numel_in(1), part.along.numel_out(0)
    width, lane = ("SB_SEEDS", "SB_LANE({}, l)") if body is _SIDE_BY_SIDE else ("1", "{}")
    one = dialect.everywhere.format(dialect.constant(1.0))
    each = f"  for (int l = 0; l < {width} && first + l < {count}; l++)"
    seeded, found = lane.format(f"v[{name}_seeds[k]]"), lane.format(f"w[{name}_rows[k]]")

    def entries(of: str) -> str:
        return (
            f"    for (int k = {name}_{of}_at[first + l]; k < {name}_{of}_at[first + l + 1]; k++)"
        )

    return [
        f"for (int first = 0; first < {count}; first += {width}) {{",
        f"  {real} v[{columns}], w[{rows}];",
        f"  for (int k = 0; k < {columns}; k++) v[k] = {none};",
        each,
        f"{entries('seeds')} {seeded} = {one};",
        f"  {name}(in, v, w);",
        each,
        f"{entries('rows')} out[{name}_to[k]] = {found};",
        "}",
    ]
