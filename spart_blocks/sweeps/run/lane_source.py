"""The C of a sweep: the functions of a program over lanes, tables of it, and runs.h."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from spart_blocks.base.tableaus import Tableau
from spart_blocks.program import Program
from spart_blocks.program.c.c_code import step_header
from spart_blocks.program.c.lane_code import (
    lane_function,
    lane_tables,
    numbers_header,
    unsupported,
)
from spart_blocks.program.tracing.switching import KINDS
from spart_blocks.sweeps.run.lane_meters import FROM_START, Meters


@dataclass(frozen=True)
class Made:
    """What a library of lanes is made for. blocks: whose first events are wanted."""

    program: Program
    method: Tableau
    meters: Meters
    blocks: tuple[str, ...]


def functions_of(made: Made) -> dict[str, Any]:
    """The functions that a sweep of a program calls, by their names in C."""
    program = made.program
    found = {
        "rates": program.held or program.rates,
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
    """Why there is no C for lanes of a program; None if there is."""
    missing = [name for name in _events(made.program) if name not in made.program.resets]
    if missing:
        return f"the function of {missing[0]} is not traced"
    reasons = (unsupported(f) for f in functions_of(made).values())
    return next((reason for reason in reasons if reason), None)


def source(made: Made, lanes: int) -> str:
    """The library in C: an entry sb_go for a queue of runs, in `lanes` lanes at once."""
    head = ["#include <stddef.h>", "#include <string.h>", f"#define SB_LANES {lanes}"]
    return "\n".join([*head, _whole(made), _text("entry.c")])


def kernel_source(made: Made, *, single: bool = False) -> str:
    """The kernel sb_runs in CUDA C++, which compiles as C too: a run in each thread. single: with
    states of single precision; times and what is measured are double."""
    head = ["#define SB_SINGLE"] if single else []
    return "\n".join([*head, _whole(made), _text("kernel.cu")])


def _whole(made: Made) -> str:
    """The numbers, the program's functions, tables of it, and the loop over runs."""
    functions = functions_of(made)
    texts = [lane_function(name, f) for name, f in functions.items()]
    loop = (_text("meters.h") + _text("runs.h")).replace('#include "sb_step.h"', step_header())
    head = [numbers_header(), lane_tables(functions.values())]
    return "\n".join([*head, *texts, *_tables(made), loop])


def _text(name: str) -> str:
    return resources.files("spart_blocks.sweeps.run").joinpath(name).read_text("utf-8")


def _modes(program: Program) -> list[int]:
    return [k for k, c in enumerate(program.crossings) if c.kind == "mode"]


def _events(program: Program) -> list[str]:
    """The blocks whose events reset states."""
    return list(dict.fromkeys(c.block for c in program.crossings if c.kind == "event"))


def _tables(made: Made) -> list[str]:
    program, method, meters = made.program, made.method, made.meters
    width = 0 if not meters.names else program.selected(meters.names).numel_out(0)
    sizes = {
        "STATES": len(program.x0),
        "DISCRETE": len(program.xd0),
        "PARAMETERS": len(program.p),
        "WATCHED": len(program.crossings),
        "WIDTH": width,
        "METERS": len(meters.rows),
        "METER_NUMBERS": meters.numbers,
        "BLOCKS": len(made.blocks),
        "TICKING": len(program.clocks),
        "HANDOVERS": len(program.handovers),
        "PROJECTS": int(program.project is not None),
        "DRIFTS": int(bool(program.drifting)),
        "REACHES": int(program.reach is not None),
        "HELD": int(program.held is not None),
        "SWITCHES": len(_modes(program)),
        "RESETS": len(_events(program)),
        "STAGES_COUNT": len(method.b),
        "IS_CONTROLLED": int(method.e is not None),
        "ORDER": method.order,
        "DENSE": 0 if method.P is None else method.P.shape[1],
    }
    lines = [f"#define SB_{name} {value}" for name, value in sizes.items()]
    if meters.rows:
        lines.append(f"#define SB_METER_ROWS {', '.join(row.text() for row in meters.rows)}")
        lines.append(f"#define SB_METER_COLUMNS {', '.join(map(str, meters.columns))}")
    lines.append(_table("unsigned char", "sb_squared", _squared(meters, width)))
    lines += [*_tableau(method), *_own_steps(made), *_crossings(made), *_clocks(program)]
    return lines


def _squared(meters: Meters, width: int) -> list[int]:
    """Whether each measured number is part of a distance."""
    distances = (row for row in meters.rows if row.kind == FROM_START)
    columns = (meters.columns[row.column : row.column + row.count] for row in distances)
    chosen = {column for some in columns for column in some}
    return [int(k in chosen) for k in range(width)]


def _tableau(method: Tableau) -> list[str]:
    tables = {"a": method.A, "b": method.b, "c": method.c, "e": method.e, "p": method.P}
    return [
        _table("SB_SCALAR", f"sb_{name}", [0.0] if table is None else np.ravel(table).tolist())
        for name, table in tables.items()
    ]


def _table(kind: str, name: str, values: Sequence[Any]) -> str:
    return f"SB_TABLE {kind} {name}[] = {{{', '.join(map(repr, values)) or '0'}}};"


def _own_steps(made: Made) -> list[str]:
    program = made.program
    entries = [] if made.method.e is not None or program.advance is None else program.stepped
    parts = {slot.name: slot.part for slot in program.states}
    stepped = [k for name in entries for k in range(parts[name].start, parts[name].stop)]
    return [f"#define SB_STEPPED {len(stepped)}", _table("int", "sb_stepped", stepped)]


def _crossings(made: Made) -> list[str]:
    program, crossings = made.program, made.program.crossings
    first: dict[str, int] = {}
    for k, crossing in enumerate(crossings):
        if crossing.kind == "mode":
            first.setdefault(crossing.block, k)
    states = {slot.name: slot.part for slot in program.states}
    lines = [
        _table("int", "sb_kind", [KINDS.index(c.kind) for c in crossings]),
        _table("SB_SCALAR", "sb_direction", [float(c.direction) for c in crossings]),
        _table("int", "sb_first", [first.get(c.block, k) for k, c in enumerate(crossings)]),
        _table(
            "int",
            "sb_block_of",
            [made.blocks.index(c.block) if c.block in made.blocks else -1 for c in crossings],
        ),
    ]
    masks = [
        _mask([c.block] if c.kind == "mode" else [], states, len(program.x0)) for c in crossings
    ]
    lines.append(_masks("sb_mode_states", masks, len(program.x0)))
    events = _events(program)
    arguments = "SB_REAL t, const SB_REAL *x, const SB_REAL *xd, const SB_REAL *p, SB_REAL *out"
    cases = [
        f"  case {k}: program_reset_{events.index(c.block)}(t, x, xd, p, out); break;"
        for k, c in enumerate(crossings)
        if c.kind == "event"
    ]
    if cases:
        lines += _choice("sb_reset", arguments, cases)
    return lines


def _clocks(program: Program) -> list[str]:
    states = {slot.name: slot.part for slot in program.discrete}
    numbers = {clock.name: k for k, clock in enumerate(program.clocks)}
    count = len(program.xd0)
    arguments = "SB_REAL t, const SB_REAL *x, const SB_REAL *xd, const SB_REAL *p, SB_REAL *out"
    lines = [
        _masks("sb_clock_states", [_mask(c.blocks, states, count) for c in program.clocks], count),
        _masks(
            "sb_handover_states", [_mask(h.slots, states, count) for h in program.handovers], count
        ),
        _table("int", "SB_HANDOVER_CLOCKS", [numbers[h.clock] for h in program.handovers]),
    ]
    for name, function, many in (
        ("sb_moved", "tick", len(program.clocks)),
        ("sb_handed_over", "handover", len(program.handovers)),
    ):
        cases = [
            f"  case {k}: program_{function}_{k}(t, x, xd, p, out); break;" for k in range(many)
        ]
        if cases:
            lines += _choice(name, arguments, cases)
    return lines


def _choice(name: str, arguments: str, cases: Sequence[str]) -> list[str]:
    head = f"SB_FUNCTION void {name}(int k, {arguments}) {{"
    return [head, "  switch (k) {", *cases, "  default: break;", "  }", "}"]


def _mask(blocks: Iterable[str], parts: Mapping[str, slice], count: int) -> list[int]:
    chosen = {k for name in blocks for k in range(parts[name].start, parts[name].stop)}
    return [int(k in chosen) for k in range(count)]


def _masks(name: str, rows: Sequence[Sequence[int]], count: int) -> str:
    texts = ["{" + (", ".join(map(str, row)) or "0") + "}" for row in rows] or ["{0}"]
    return f"SB_TABLE unsigned char {name}[][{max(count, 1)}] = {{{', '.join(texts)}}};"
