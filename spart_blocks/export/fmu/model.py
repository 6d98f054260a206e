"""The C header of a subdiagram for FMI's functions: sizes, tables, and the program's functions.

It is included once. All its functions are static, so that several FMUs can be linked into one
program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import lcm
from typing import Any, Literal

import casadi as ca
import numpy as np

from spart_blocks import __version__
from spart_blocks.diagram.network.clocks import Clock
from spart_blocks.export.fmu.stepping import Stepping, stepping_text
from spart_blocks.export.fmu.variables import Variable, row_of, variables_of
from spart_blocks.export.schedule import refuse_untraced_events, slides
from spart_blocks.program.c.dialects import DOUBLE, literal
from spart_blocks.program.c.functions import c_function
from spart_blocks.program.c.text import c_string, macros, table
from spart_blocks.program.c.writer import (
    Numbered,
    Writer,
    entries_named,
    firsts_of,
    handover_clocks,
    handovers_of,
    rates_of,
    selected,
    sizes_of,
    slide_sizes,
    stepped_entries,
    updates_of,
    with_start,
)
from spart_blocks.program.linearised import Linearised, linearised_for
from spart_blocks.program.program import Program
from spart_blocks.program.subdiagram import Subdiagram, entries_of
from spart_blocks.program.tracing.switching import KINDS

Version = Literal[2, 3]

EXACT = 2**53
"""Integers up to this are exact as doubles, so that their quotients are rounded only once."""
NEAREST = 1e-6
"""Largest difference between an importer's time and that of an event [s]."""
_ACCESS = {"input": "SB_INPUT", "tunable": "SB_TUNABLE", "fixed": "SB_FIXED"}


def model_header(part: Subdiagram, version: Version, stepping: Stepping) -> str:
    """The text of sb_fmu_model.h without the token.

    Raises DiagramError naming an EVENT block whose function could not be traced.
    """
    refuse_untraced_events(part.program, "be part of an FMU")
    linear = linearised_for(part.program, stepping.tableau)
    parts = [
        f'/* Made by spart_blocks {__version__}. */\n\n#include "sb_fmu_types.h"',
        _sizes(part),
        *_tables(part, version),
        stepping_text(stepping, linear),
        *_functions(part, version, linear),
    ]
    return "\n\n".join(parts) + "\n"


# --- tables ------------------------------------------------------------------------------


def _sizes(part: Subdiagram) -> str:
    program, row = part.program, row_of(part)
    sizes = {**sizes_of(program), "SB_NY": row.crossings - row.outputs}
    sizes["SB_SLIDES"] = int(slides(program))
    if slides(program):
        sizes |= slide_sizes(program)
    nearest = min([NEAREST, *(1e-3 * float(clock.period) for clock in program.clocks)])
    return macros({**sizes, "SB_NEAREST": literal(nearest)})


def _tables(part: Subdiagram, version: Version) -> list[str]:
    program = part.program
    slots = [_slot(rows) for rows in _by_reference(part, version)]
    crossings = [
        f"{{{KINDS.index(c.kind)}, {first}, {c.direction!r}, {c_string(c.block)}, "
        f"{c_string(c.text)}}}"
        for c, first in zip(program.crossings, firsts_of(program.crossings), strict=True)
    ]
    clocks = [_clock(clock) for clock in program.clocks]
    # For each state the index in p of its start value; -1 for zero.
    places = {slot.name: slot.start for slot in part.parameters}
    starts = [
        [place + k if place >= 0 else -1 for place, width in begins for k in range(width)]
        for begins in (
            [(places.get(program.start.get(slot.name, ""), -1), slot.shape[0]) for slot in slots_]
            for slots_ in (program.states, program.discrete)
        )
    ]
    return [
        table("sb_slot", "sb_slots", slots),
        table("sb_crossing", "sb_crossings", crossings, empty='{0, 0, 0, "", ""}'),
        table("sb_clock", "sb_clocks", clocks, empty="{0, 1, 1, 0, 0, 1}"),
        table("double", "sb_p", map(literal, program.p)),
        table("int", "sb_start_of_x", starts[0]),
        table("int", "sb_start_of_xd", starts[1]),
        table("int", "sb_stepped", stepped_entries(program)),
        table("int", "sb_handover_clocks", handover_clocks(program)),
    ]


def _by_reference(part: Subdiagram, version: Version) -> list[Variable | None]:
    """The variable that starts at each reference: arrays in FMI 3, scalars in FMI 2."""
    found: list[Variable | None] = [None] * row_of(part).end
    for variable in variables_of(part):
        for entry in [variable] if version == 3 else variable.scalars():
            found[entry.reference] = entry
    return found


def _slot(variable: Variable | None) -> str:
    if variable is None:
        return '{0, 0, 0, 0, ""}'
    kind = "input" if variable.causality == "input" else variable.variability
    access = _ACCESS.get(kind, "SB_READ_ONLY")
    low, high = (literal(bound) for bound in variable.bounds or (-np.inf, np.inf))
    return f"{{{variable.size}, {access}, {low}, {high}, {c_string(variable.name)}}}"


def _clock(clock: Clock) -> str:
    period, offset = clock.period, clock.offset
    common = lcm(period.denominator, offset.denominator)
    start, stride = int(offset * common), int(period * common)
    if max(common, start, stride) >= EXACT:
        start, stride, common = 0, 1, 0
    times = ", ".join(literal(float(time)) for time in (offset, period))
    return f"{{{start}, {stride}, {common}, {clock.first}, {times}}}"


# --- functions ---------------------------------------------------------------------------


FMU = replace(DOUBLE, longest=8000)
"""gcc 12 -O1 takes 14.5 s for an adjoint of 17 000 statements in one function, mostly for register
allocation, and 5 s for pieces of 500."""


def _functions(part: Subdiagram, version: Version, linear: Linearised | None) -> list[str]:
    """The functions of a program, and before them what they call."""
    program, writer = part.program, Writer(part.program, FMU)
    rows = entries_of(part.outputs)
    functions = {
        "rates": rates_of(program),
        "outputs": selected(program.outputs, rows, "outputs"),
        "watched": program.watched,
        "project": program.project or _nothing(program, "project"),
        "advance": program.advance or _nothing(program, "advance", "h"),
        "reach": program.reach or _nothing(program, "reach"),
        "forward": _derivative(part),
    }
    if version == 3:
        functions["backward"] = _derivative(part, adjoint=True)
    if linear is not None:
        functions["linearised"] = with_start(linear.function)
    texts = [
        *(writer.function(f"sb_model_{name}", f) for name, f in functions.items()),
        c_function("sb_model_edges", program.edges),
        *writer.numbered("sb_model_tick", updates_of(program)),
        *writer.numbered("sb_model_handover", handovers_of(program)),
        *writer.numbered("sb_model_reset", _resets(part)),
    ]
    return [*writer.called(), *texts]


def _nothing(program: Program, name: str, *more: str) -> Any:
    """A function that does nothing, of (t, x, xd, p) and more numbers."""
    rates = program.rates
    arguments = [*rates.sx_in(), *map(ca.SX.sym, more)]
    return ca.Function(name, arguments, [ca.SX(0, 1)], [*rates.name_in(), *more], ["y"])


def _resets(part: Subdiagram) -> Numbered:
    """The reset or mode switch of each block, at the block's first crossing; else None."""
    program = part.program
    whole = range(len(program.x0) + len(program.xd0))
    found: list[tuple[Any, Sequence[int]] | None] = []
    for k, (crossing, first) in enumerate(
        zip(program.crossings, firsts_of(program.crossings), strict=True)
    ):
        reset = program.resets.get(crossing.event)
        if first != k:
            found.append(None)
        elif crossing.kind == "mode":
            found.append((program.switched, entries_named(program.states, [crossing.block])))
        else:
            found.append((reset, whole) if reset is not None else None)
    return found


# --- derivatives -------------------------------------------------------------------------


def _all(part: Subdiagram) -> tuple[list[Any], Any]:
    """The symbols (t, x, xd, p, start), and the column vector of rates, outputs, crossings."""
    rates = rates_of(part.program)
    arguments = rates.sx_in()
    outputs = selected(part.program.outputs, entries_of(part.outputs), "outputs")
    functions = (outputs, part.program.watched)
    return arguments, ca.vertcat(rates(*arguments), *(f(*arguments[:4]) for f in functions))


def _derivative(part: Subdiagram, *, adjoint: bool = False) -> Any:
    """The derivative of this vector along seeds of t, x, xd and p, or the derivatives by these of
    its sum with weights of rates, outputs and crossings."""
    program = part.program
    sizes = {"s_t": 1, "s_x": len(program.x0), "s_d": len(program.xd0), "s_p": len(program.p)}
    if adjoint:
        outputs, crossings = len(entries_of(part.outputs)), len(program.crossings)
        sizes = {"s_x": len(program.x0), "s_y": outputs, "s_g": crossings}
    arguments, column = _all(part)
    seeds = [ca.SX.sym(name, size) for name, size in sizes.items()]
    change = ca.jtimes(column, ca.vertcat(*arguments[:4]), ca.vertcat(*seeds), adjoint)
    names = ["t", "x", "xd", "p", "start", *sizes]
    return ca.Function("change", [*arguments, *seeds], [ca.cse(ca.densify(change))], names, ["y"])


def dependencies(part: Subdiagram) -> dict[str, np.ndarray]:
    """The dependencies of rates, outputs and crossings: for each of 't', 'x', 'xd' and 'p' a
    boolean matrix with a row for each of these and a column for each entry."""
    arguments, column = _all(part)
    function = ca.Function("all", arguments, [column])
    found = {}
    for k, name in enumerate(("t", "x", "xd", "p")):
        pattern = function.jac_sparsity(0, k)
        found[name] = np.array(ca.DM(pattern, 1).full(), dtype=bool)
    return found
