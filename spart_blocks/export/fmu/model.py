"""The C header of a subdiagram for FMI's functions: sizes, tables, and the program's functions.

It is included once. All its functions are static, so that several FMUs can be linked into one
program.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import Any, Literal

import numpy as np

from spart_blocks import __version__
from spart_blocks.base.errors import DiagramError, Fault
from spart_blocks.diagram.network.clocks import Clock
from spart_blocks.export.called import called_texts
from spart_blocks.export.fmu.stepping import Stepping, stepping_text
from spart_blocks.export.fmu.variables import Variable, row_of, variables_of
from spart_blocks.export.functions import Argument, array_text, c_function, selected, vector
from spart_blocks.export.header import c_string
from spart_blocks.export.long_functions import long_function
from spart_blocks.program.c.scalar_code import literal
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
    _check(part)
    writer = _Writer(part)
    parts = [
        f'/* Made by spart_blocks {__version__}. */\n\n#include "sb_fmu_types.h"',
        _sizes(part),
        *_tables(part, version),
        stepping_text(stepping),
        *writer.functions(version),
    ]
    return "\n\n".join(parts) + "\n"


def _check(part: Subdiagram) -> None:
    program = part.program
    events = {c.block for c in program.crossings if c.kind == "event"}
    faults = [
        Fault(
            f"block {name} (EVENT) cannot be part of an FMU: its function cannot be traced",
            hint="write it in NumPy without branches on values, or leave the block out",
        )
        for name in sorted(events - set(program.resets))
    ]
    if faults:
        raise DiagramError(faults)


# --- tables ------------------------------------------------------------------------------


def _sizes(part: Subdiagram) -> str:
    program = part.program
    row = row_of(part)
    sizes = {
        "SB_NX": len(program.x0),
        "SB_NXD": len(program.xd0),
        "SB_NP": len(program.p),
        "SB_NY": row.crossings - row.outputs,
        "SB_CROSSINGS": len(program.crossings),
        "SB_SWITCHES": sum(crossing.kind == "mode" for crossing in program.crossings),
        "SB_NC": len(program.clocks),
        "SB_NE": len(program.switching),
        "SB_HANDOVERS": len(program.handovers),
        "SB_PROJECTS": int(program.project is not None and bool(len(program.x0))),
        "SB_DRIFTS": int(bool(program.drifting)),
        "SB_REACHES": int(program.reach is not None),
        "SB_STEPPED": len(_stepped(part)),
        "SB_SLIDES": int(slides(part)),
    }
    if slides(part):
        sizes["SB_RESETS"] = sum(crossing.kind == "event" for crossing in program.crossings)
    nearest = min([NEAREST, *(1e-3 * float(clock.period) for clock in program.clocks)])
    lines = [f"#define {name} {value}" for name, value in sizes.items()]
    return "\n".join([*lines, f"#define SB_NEAREST {literal(nearest)}"])


def slides(part: Subdiagram) -> bool:
    """Whether states may slide along surfaces, and signals may rest at zero."""
    program = part.program
    asked = program.run.sliding == "filippov"
    return asked and bool(len(program.x0)) and bool(program.crossings)


def _stepped(part: Subdiagram) -> list[int]:
    """The states with a one-step map of their own."""
    states = part.program.states
    return entries_of(slot for slot in states if slot.name in part.program.stepped)


def _tables(part: Subdiagram, version: Version) -> list[str]:
    program = part.program
    slots = [_slot(rows) for rows in _by_reference(part, version)]
    crossings = [
        f"{{{KINDS.index(c.kind)}, {first}, {c.direction!r}, {c_string(c.block)}, "
        f"{c_string(c.text)}}}"
        for c, first in zip(program.crossings, _first_of_block(part), strict=True)
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
        array_text("sb_slot", "sb_slots", slots),
        array_text("sb_crossing", "sb_crossings", crossings, '{0, 0, 0, "", ""}'),
        array_text("sb_clock", "sb_clocks", clocks, "{0, 1, 1, 0, 0, 1}"),
        array_text("double", "sb_p", [literal(value) for value in program.p]),
        array_text("int", "sb_start_of_x", starts[0]),
        array_text("int", "sb_start_of_xd", starts[1]),
        array_text("int", "sb_stepped", _stepped(part)),
        array_text("int", "sb_handover_clocks", _handover_clocks(program)),
    ]


def _handover_clocks(program: Program) -> list[int]:
    """For each handover the number of its clock."""
    numbers = {clock.name: k for k, clock in enumerate(program.clocks)}
    return [numbers[one.clock] for one in program.handovers]


def _first_of_block(part: Subdiagram) -> list[int]:
    """For each crossing the first crossing of its block."""
    first: dict[str, int] = {}
    return [first.setdefault(c.block, k) for k, c in enumerate(part.program.crossings)]


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


class _Writer:
    """Writes the functions of a program in C."""

    def __init__(self, part: Subdiagram) -> None:
        self.part, self.program = part, part.program
        self.nx, self.nd = len(part.program.x0), len(part.program.xd0)
        self.written: list[Any] = []
        self.arguments = (
            Argument(("double t",), ("t",)),
            vector("x", self.nx, "double"),
            vector("xd", self.nd, "double"),
            vector("p", len(part.program.p), "double"),
        )
        self.start = vector("start", self.nx, "double")

    def functions(self, version: Version) -> list[str]:
        program = self.program
        h = Argument(("double h",), ("h",))
        texts = [
            self._c("rates", self.rates(), self.start),
            self._c("outputs", selected(program.outputs, entries_of(self.part.outputs), "outputs")),
            self._c("watched", program.watched),
            self._or_nothing("project", program.project),
            self._or_nothing("advance", program.advance, h),
            self._or_nothing("reach", program.reach),
            c_function(
                "sb_model_edges", program.edges, self.arguments[3:], self._out(program.edges)
            ),
            *self._switched("tick", "int clock", self._ticks()),
            *self._switched("handover", "int handover", self._handovers()),
            *self._switched("reset", "int crossing", self._resets()),
            self._forward(),
        ]
        if version == 3:
            texts.append(self._backward())
        return [*called_texts(self.written), *texts]

    def rates(self) -> Any:
        """xdot as a function of (t, x, xd, p, x_start)."""
        import casadi as ca

        if self.program.held is not None:
            return self.program.held
        arguments = [*self.program.rates.sx_in(), ca.SX.sym("start", self.nx)]
        names = ["t", "x", "xd", "p", "start"]
        return ca.Function("rates", arguments, [self.program.rates(*arguments[:4])], names, ["y"])

    def _c(self, name: str, function: Any, *more: Argument, out: Argument | None = None) -> str:
        result = out or self._out(function)
        self.written.append(function)
        return long_function(f"sb_model_{name}", function, (*self.arguments, *more), result)

    def _out(self, function: Any) -> Argument:
        size = function.numel_out(0)
        return Argument(("double *out",), tuple(f"out[{k}]" for k in range(size)))

    def _or_nothing(self, name: str, function: Any, *more: Argument) -> str:
        """The C of a function, or of one that does nothing if there is none."""
        if function is not None:
            return self._c(name, function, *more)
        return self._c(name, selected(self.program.rates, [], name), *self._ignored(more))

    def _ignored(self, more: Sequence[Argument]) -> list[Argument]:
        return [Argument(argument.declared, ()) for argument in more]

    def _ticks(self) -> list[str]:
        """For each clock the update of its states, written to their entries."""
        parts = {slot.name: slot.part for slot in self.program.discrete}
        texts = []
        for k, clock in enumerate(self.program.clocks):
            rows = [i for b in clock.blocks for i in range(parts[b].start, parts[b].stop)]
            function = selected(self.program.updates[clock.name], rows, "tick")
            out = Argument(("double *out",), tuple(f"out[{i}]" for i in rows))
            texts.append(self._c(f"tick_{k}", function, out=out))
        return texts

    def _handovers(self) -> list[str]:
        """For each handover the held outputs that it renews, written to their entries."""
        parts = {slot.name: slot.part for slot in self.program.discrete}
        texts = []
        for k, one in enumerate(self.program.handovers):
            rows = [i for name in one.slots for i in range(parts[name].start, parts[name].stop)]
            function = selected(one.renewed, rows, "handover")
            out = Argument(("double *out",), tuple(f"out[{i}]" for i in rows))
            texts.append(self._c(f"handover_{k}", function, out=out))
        return texts

    def _resets(self) -> list[str | None]:
        """The reset or mode switch of each block, at the block's first crossing; else None."""
        texts: list[str | None] = []
        firsts = _first_of_block(self.part)
        parts = {slot.name: slot.part for slot in self.program.states}
        for k, crossing in enumerate(self.program.crossings):
            if firsts[k] != k:
                texts.append(None)
            elif crossing.kind == "mode":
                rows = range(parts[crossing.block].start, parts[crossing.block].stop)
                out = Argument(("double *out",), tuple(f"out[{i}]" for i in rows))
                switched = selected(self.program.switched, rows, "switched")
                texts.append(self._c(f"reset_{k}", switched, out=out))
            else:
                function = self.program.resets.get(crossing.block)
                texts.append(self._c(f"reset_{k}", function) if function is not None else None)
        return texts

    def _switched(self, name: str, number: str, texts: Sequence[str | None]) -> list[str]:
        """The numbered functions, and the function that calls them by number."""
        which = number.split()[-1]
        pointers = ", ".join(f"const double *{v}" for v in ("x", "xd", "p"))
        cases = [
            f"  if ({which} == {k}) sb_model_{name}_{k}(t, x, xd, p, out);"
            for k, text in enumerate(texts)
            if text
        ]
        if not cases:
            cases = [f"  (void){v};" for v in (which, "t", "x", "xd", "p", "out")]
        head = f"static void sb_model_{name}({number}, double t, {pointers}, double *out) {{"
        return [*filter(None, texts), "\n".join([head, *cases, "}"])]

    # --- derivatives ---------------------------------------------------------------------

    def _all(self) -> tuple[list[Any], Any]:
        """The symbols (t, x, xd, p, start), and the column vector of rates, outputs, crossings."""
        import casadi as ca

        rates = self.rates()
        arguments = rates.sx_in()
        outputs = selected(self.program.outputs, entries_of(self.part.outputs), "outputs")
        functions = (outputs, self.program.watched)
        column = ca.vertcat(rates(*arguments), *(f(*arguments[:4]) for f in functions))
        return arguments, column

    def _forward(self) -> str:
        """The derivative of this vector along seeds of t, x, xd and p."""
        import casadi as ca

        arguments, column = self._all()
        known = ca.vertcat(*arguments[:4])
        seeds = [ca.SX.sym(f"s{k}", argument.numel()) for k, argument in enumerate(arguments[:4])]
        change = ca.jtimes(column, known, ca.vertcat(*seeds))
        result = ca.cse(ca.densify(change))
        function = ca.Function("forward", [*arguments, *seeds], [result])
        more = [vector(f"s_{n}", s.numel(), "double") for n, s in zip("txdp", seeds, strict=True)]
        return self._c("forward", function, self.start, *more)

    def _backward(self) -> str:
        """The derivatives of a weighted sum of this vector by t, x, xd and p."""
        import casadi as ca

        arguments, column = self._all()
        known = ca.vertcat(*arguments[:4])
        sizes = [self.nx, len(entries_of(self.part.outputs)), len(self.program.crossings)]
        weights = [ca.SX.sym(f"w{k}", size) for k, size in enumerate(sizes)]
        change = ca.jtimes(column, known, ca.vertcat(*weights), True)
        result = ca.cse(ca.densify(change))
        function = ca.Function("backward", [*arguments, *weights], [result])
        more = [vector(f"s_{n}", w.numel(), "double") for n, w in zip("xyg", weights, strict=True)]
        return self._c("backward", function, self.start, *more)


def dependencies(part: Subdiagram) -> dict[str, np.ndarray]:
    """The dependencies of rates, outputs and crossings: for each of 't', 'x', 'xd' and 'p' a
    boolean matrix with a row for each of these and a column for each entry."""
    import casadi as ca

    writer = _Writer(part)
    arguments, column = writer._all()
    function = ca.Function("all", arguments, [column])
    found = {}
    for k, name in enumerate(("t", "x", "xd", "p")):
        pattern = function.jac_sparsity(0, k)
        found[name] = np.array(ca.DM(pattern, 1).full(), dtype=bool)
    return found
