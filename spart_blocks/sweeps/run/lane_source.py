"""The C code of a sweep: the functions of a program over lanes, its tables, and runs.h."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

from spart_blocks.base.tableaus import Tableau
from spart_blocks.program import Program
from spart_blocks.program.c.dialects import LANES, numbers_header
from spart_blocks.program.c.functions import unsupported
from spart_blocks.program.c.text import header, listed, macros, table, with_headers
from spart_blocks.program.c.writer import (
    Writer,
    entries_named,
    firsts,
    handover_clocks,
    implicit_text,
    sizes_of,
    stepped_entries,
    tableau_tables,
)
from spart_blocks.program.linearised import Linearised, linearised_for
from spart_blocks.program.program import Slot
from spart_blocks.program.tracing.switching import KINDS
from spart_blocks.sweeps.run.lane_meters import FROM_START, Meters

_table = partial(table, head=LANES.tables)


@dataclass(frozen=True)
class Made:
    """What a library of lanes is made for. blocks: those whose first event is recorded."""

    program: Program
    method: Tableau
    meters: Meters
    blocks: tuple[str, ...]

    @cached_property
    def linear(self) -> Linearised | None:
        """The derivatives of the rates, for linearly implicit steps."""
        return linearised_for(self.program, self.method)


def functions_of(made: Made) -> dict[str, Any]:
    """The functions that a sweep calls, by their names in C; None for those that a program does
    not need.
    """
    program = made.program
    found = {
        "rates": program.held or program.rates,
        "linearised": None if made.linear is None else made.linear.function,
        "cross": program.watched if program.crossings else None,
        "switched": program.switched if _modes(program) else None,
        "project": program.project,
        "reach": program.reach,
        "advance": program.advance if made.method.e is None else None,
        "measured": program.selected(made.meters.names) if made.meters.names else None,
    }
    found |= {f"tick_{k}": f for k, f in enumerate(program.updates.values())}
    found |= {f"handover_{k}": one.renewed for k, one in enumerate(program.handovers)}
    found |= {f"reset_{k}": program.resets[name] for k, name in enumerate(_events(program))}
    return {f"program_{name}": f for name, f in found.items() if f is not None}


def refused(made: Made) -> str | None:
    """Why no C code for lanes can be made of a program; None if it can."""
    missing = [name for name in _events(made.program) if name not in made.program.resets]
    if missing:
        return f"the function of {missing[0]} is not traced"
    reasons = (unsupported(f, LANES) for f in functions_of(made).values())
    return next((reason for reason in reasons if reason), None)


def source(
    made: Made,
    lanes: int,
    more: Mapping[str, Any] = MappingProxyType({}),
    entry: str = "sweeps/run/entry.c",
) -> str:
    """The library as C code: by default a function sb_go that takes runs from a queue, `lanes` at
    once. more: further functions of (t, x, xd, p), by their names in C; entry: the file with what
    is exported.
    """
    head = ["#include <stddef.h>", "#include <string.h>", f"#define SB_LANES {lanes}"]
    return "\n".join([*head, _whole(made, more), header(entry)])


def kernel_source(made: Made, *, single: bool = False) -> str:
    """The kernel sb_runs as CUDA C++, which also compiles as C: each thread executes one run.
    single: states in single precision; times and measurements stay double.
    """
    head = ["#define SB_SINGLE"] if single else []
    return "\n".join([*head, _whole(made), header("sweeps/run/kernel.cu")])


def _whole(made: Made, more: Mapping[str, Any] = MappingProxyType({})) -> str:
    """The number types, the program's functions, its tables, and the loop over runs."""
    writer = Writer(made.program, LANES)
    written = {**functions_of(made), **more}
    functions = [writer.function(name, f) for name, f in written.items()]
    loop = header("sweeps/run/meters.h") + header("sweeps/run/runs.h")
    parts = [*functions, *_sizes(made), *_tables(made), *_choices(made.program, writer)]
    return "\n".join([numbers_header(), *writer.called(), *parts, with_headers(loop)])


def _modes(program: Program) -> list[int]:
    return [k for k, c in enumerate(program.crossings) if c.kind == "mode"]


def _events(program: Program) -> list[str]:
    """The names of the events that reset states."""
    return list(dict.fromkeys(c.event for c in program.crossings if c.kind == "event"))


def _choices(program: Program, writer: Writer) -> list[str]:
    """Functions that call one of several numbered functions: resets, ticks, handovers."""
    events = _events(program)
    numbered = {
        "sb_reset_by": {
            k: f"program_reset_{events.index(c.event)}"
            for k, c in enumerate(program.crossings)
            if c.kind == "event"
        },
        "sb_moved": {k: f"program_tick_{k}" for k in range(len(program.clocks))},
        "sb_handed_over": {k: f"program_handover_{k}" for k in range(len(program.handovers))},
    }
    return [writer.choice(name, functions) for name, functions in numbered.items() if functions]


def _width(made: Made) -> int:
    """The number of measured entries."""
    names = made.meters.names
    return made.program.selected(names).numel_out(0) if names else 0


def _steps_of_their_own(made: Made) -> list[int]:
    """The indices of the states that advance by a one-step map of their blocks."""
    fixed = made.method.e is None and made.program.advance is not None
    return stepped_entries(made.program) if fixed else []


def _sizes(made: Made) -> list[str]:
    program, method, meters = made.program, made.method, made.meters
    sizes = {
        **sizes_of(program),
        "SB_WIDTH": _width(made),
        "SB_METERS": len(meters.rows),
        "SB_METER_NUMBERS": meters.numbers,
        "SB_BLOCKS": len(made.blocks),
        "SB_HELD": int(program.held is not None),
        "SB_RESETS": len(_events(program)),
        "SB_STEPPED": len(_steps_of_their_own(made)),
        "SB_STAGES_COUNT": len(method.b),
        "SB_STAGES_IN_ALL": len(method.c),
        "SB_ESTIMATES_COUNT": 1 if method.e2 is None else 2,
        "SB_BORDER_OF_STEPS": method.border or 0,
        "SB_IS_CONTROLLED": int(method.e is not None),
        "SB_ORDER": method.order,
        "SB_DENSE": 0 if method.P is None else method.P.shape[1],
    }
    lines = [macros(sizes)]
    if meters.rows:
        rows, columns = ", ".join(row.text() for row in meters.rows), listed(meters.columns)[1:-1]
        lines.append(macros({"SB_METER_ROWS": rows, "SB_METER_COLUMNS": columns}))
    return lines


def _tables(made: Made) -> list[str]:
    program, crossings = made.program, made.program.crossings
    modes = [c.block if c.kind == "mode" else None for c in crossings]
    numbers = {
        "sb_stepped": _steps_of_their_own(made),
        "sb_kind": [KINDS.index(c.kind) for c in crossings],
        "sb_first": firsts(block or k for k, block in enumerate(modes)),
        "sb_block_of": [
            made.blocks.index(c.block) if c.block in made.blocks else -1 for c in crossings
        ],
        "SB_HANDOVER_CLOCKS": handover_clocks(program),
    }
    directions = (LANES.scalar_constant(c.direction) for c in crossings)
    return [
        _table("unsigned char", "sb_squared", _squared(made.meters, _width(made))),
        *tableau_tables(made.method, LANES, "sb_"),
        *implicit_text(made.method, made.linear, LANES, "sb_"),
        _table("SB_SCALAR", "sb_direction", directions),
        *(_table("int", name, values) for name, values in numbers.items()),
        _masks("sb_mode_states", [[b] if b else [] for b in modes], program.states),
        _masks("sb_clock_states", [c.blocks for c in program.clocks], program.discrete),
        _masks("sb_handover_states", [h.slots for h in program.handovers], program.discrete),
    ]


def _squared(meters: Meters, width: int) -> list[int]:
    """For each measured entry 1 if it is part of a distance, otherwise 0."""
    distances = (row for row in meters.rows if row.kind == FROM_START)
    columns = (meters.columns[row.column : row.column + row.count] for row in distances)
    chosen = {column for some in columns for column in some}
    return [int(k in chosen) for k in range(width)]


def _masks(name: str, rows: Sequence[Sequence[str]], slots: Sequence[Slot]) -> str:
    """A C table: for each row of names, and each entry of a vector, whether the entry belongs to
    one of the names.
    """
    count = slots[-1].part.stop if slots else 0
    chosen = [set(entries_named(slots, names)) for names in rows]
    texts = [listed([int(k in entries) for k in range(count)]) for entries in chosen]
    return _table("unsigned char", f"{name}[]", texts, empty="{0}", size=max(count, 1))
