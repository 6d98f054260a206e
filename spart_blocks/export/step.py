"""A subdiagram as C99: a header with its structs, and the functions that step it.

The code allocates no memory and has no global variables. The state is in the caller's struct.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks import __version__
from spart_blocks.base.errors import DiagramError, Fault
from spart_blocks.base.tableaus import RECOMMENDED
from spart_blocks.export.header import filled, header_text
from spart_blocks.export.interface import Interface, interface_of, numbers_of
from spart_blocks.export.schedule import (
    MOST_EVENTS,
    MOST_STEPS,
    MOST_SWITCHES,
    NEARLY,
    Schedule,
    acting_of,
    crossing_blocks,
    eventful,
    faults_of,
    schedule_of,
    slides,
)
from spart_blocks.program.c.dialects import DOUBLE, LARGEST, PLAIN, Real, literal
from spart_blocks.program.c.functions import Argument, c_function, result, vector
from spart_blocks.program.c.text import (
    c_comment,
    c_string,
    header,
    indented,
    macros,
    step_headers,
    table,
    with_headers,
)
from spart_blocks.program.c.writer import (
    Writer,
    handover_clocks,
    handovers_of,
    implicit_text,
    rates_of,
    selected,
    sizes_of,
    slide_sizes,
    stepped_entries,
    tableau_tables,
    updates_of,
    with_start,
)
from spart_blocks.program.linearised import linearised_for
from spart_blocks.program.program import Program
from spart_blocks.program.subdiagram import Subdiagram, entries_of
from spart_blocks.program.tracing.loops import solvers_called_by
from spart_blocks.program.tracing.switching import KINDS

FIXED_RATE, EVENTFUL = "sb_fixed_rate.h", "sb_eventful.h"


def included(program: Program, method: str) -> dict[str, str]:
    """The headers that NAME.c includes, by name. They are the same for every subdiagram; those of
    crossings within a step, and of sliding modes, only where it has them.
    """
    names = [FIXED_RATE, *([EVENTFUL] if eventful(program, method) else [])]
    own = {name: header(f"export/c/{name}") for name in names}
    return {**own, **step_headers(slides(program))}


@dataclass(frozen=True)
class StepCode:
    """The C code of a subdiagram: the texts of NAME.h and NAME.c, and their sources."""

    part: Subdiagram
    schedule: Schedule
    real: Real
    interface: Interface
    header: str
    source: str

    @property
    def name(self) -> str:
        return self.interface.name

    @property
    def files(self) -> Mapping[str, str]:
        """All files of the step, by name."""
        own = {f"{self.name}.h": self.header, f"{self.name}.c": self.source}
        return {**own, **included(self.part.program, self.schedule.method)}

    def whole_source(self) -> str:
        """All files in one text."""
        return with_headers(self.source, self.files)


def step_code(
    part: Subdiagram,
    *,
    rate: float | None = None,
    method: str = RECOMMENDED,
    real: Real = "double",
    name: str | None = None,
) -> StepCode:
    """The C code of a subdiagram.

    rate: steps per second [Hz], by default that of `schedule_of`. method: integration method of the
    states, a name of FIXED_STEP. real: double or float. name: prefix of the C names. Raises
    InputError and DiagramError as `schedule_of` does.
    """
    schedule = schedule_of(part, rate, method)
    if real == "float":
        _refuse_whole_numbers(part)
    interface = interface_of(part, name)
    declared = header_text(part, schedule, interface, real)
    source = _Source(part, schedule, interface, real).text()
    return StepCode(part, schedule, real, interface, declared, source)


def _refuse_whole_numbers(part: Subdiagram) -> None:
    """Raise DiagramError naming blocks, such as NOISE, whose states are integers beyond 2^24, which
    single precision cannot represent exactly."""
    program = part.program
    found = [
        slot.name
        for slot in program.discrete
        if (np.rint(program.xd0[slot.part]) != np.float32(program.xd0[slot.part])).any()
        and (program.xd0[slot.part] % 1 == 0).all()
    ]
    if found:
        raise DiagramError(
            Fault(
                f"the state of block {name} has integers that single precision cannot represent",
                hint="export in double precision, or leave the block out of the subdiagram",
            )
            for name in found
        )


# --- the source --------------------------------------------------------------------------


def number_type(program: Program, method: str, real: Real) -> Real:
    """The type of the states and of what is computed from them. Where crossings act they are
    located to picoseconds, and rates are differences over as little: that takes double precision.
    """
    return "double" if eventful(program, method) else real


class _Source:
    """Writes NAME.c: a static function for each function of the program, and the functions of the
    header, which call them."""

    def __init__(
        self, part: Subdiagram, schedule: Schedule, interface: Interface, real: Real
    ) -> None:
        self.part, self.program = part, part.program
        self.schedule, self.interface, self.real = schedule, interface, real
        self.name = interface.name
        self.nx, self.nd = len(self.program.x0), len(self.program.xd0)
        self.acting = acting_of(self.program, schedule.method)
        self.eventful = eventful(self.program, schedule.method)
        self.faults = faults_of(self.program, schedule.method)
        self.number = number_type(self.program, schedule.method, real)
        self.linear = linearised_for(self.program, schedule.tableau)
        dialect = PLAIN[self.number]
        structs = (f"const {self.name}_inputs *u", f"const {self.name}_parameters *p")
        time = Argument(("double t",), ("t" if self.number == "double" else "(float)t",))
        p = Argument(structs, tuple(interface.entries_of_p()))
        vectors = (vector("x", self.nx, dialect), vector("xd", self.nd, dialect))
        self.writer = Writer(self.program, dialect, (time, *vectors, p))

    def text(self) -> str:
        functions = self._functions()
        texts = [
            f"/* {c_comment(self.program.name)}. Made by spart_blocks {__version__}. */\n\n"
            f'#include "{self.name}.h"\n\n#include <math.h>',
            *self.writer.called(),
            *functions,
            self._sizes(),
            *self._tables(),
            f"static double sb_time(long long k) {{ return {self._time('k')}; }}",
            f'#include "{FIXED_RATE}"',
            self._table(),
            self._nominal(),
            self._check(),
            self._init(),
            filled("steps.c", self.name).rstrip(),
        ]
        return "\n\n".join(text for text in texts if text) + "\n"

    def _sizes(self) -> str:
        """Types and sizes for sb_fixed_rate.h."""
        program = self.program
        types = {"STATE": "state", "INPUTS": "inputs", "PARAMETERS": "parameters"}
        types["OUTPUTS"] = "outputs"
        status = {"GOES_ON": "OK", "STOPPED": "STOPPED", "NOT_A_NUMBER": "NOT_FINITE"}
        status["FAULTY"] = "FAULT"
        values = {
            **{f"SB_{macro}": f"{self.name}_{kind}" for macro, kind in types.items()},
            **{f"SB_{macro}": f"{self.name}_{kind}" for macro, kind in status.items()},
            "SB_REAL": self.number,
            "SB_EVENTFUL": int(self.eventful),
            **sizes_of(program),
            "SB_NY": numbers_of(self.interface.outputs),
            "SB_NE": len(program.switching) if self.nx else 0,
            "SB_CROSSINGS": len(self.acting.rows),
            "SB_JUMPS": int(self.acting.jumps and self.nx > 0),
            "SB_FAULTS": len(self.faults),
            "SB_STAGES": len(self.schedule.tableau.b),
            "SB_MOST_SWITCHES": MOST_SWITCHES,
            "SB_MOST_STEPS": MOST_STEPS,
            "SB_NEAR": literal(NEARLY * float(self.schedule.step)),
        }
        if self.eventful:
            values |= self._sizes_of_events()
        if self.number == "float":  # sources compare times in single precision
            for macro, towards in (("AFTER", "INFINITY"), ("BEFORE", "-INFINITY")):
                values[f"SB_JUST_{macro}(t)"] = (
                    f"nextafterf(nextafterf((float)(t), {towards}), {towards})"
                )
        return macros(values)

    def _sizes_of_events(self) -> dict[str, Any]:
        """What sb_eventful.h needs in addition."""
        kept = {"SB_KEPT": f"{self.name}_kept", "SB_MEMBER": self.real}
        if slides(self.program):
            kept |= {
                f"sb_{kind}": f"{self.name}_{kind}"
                for kind in ("surface", "touch", "bounce", "holds")
            }
        return {
            **kept,
            **slide_sizes(self.program),
            "SB_SLIDES": int(slides(self.program)),
            "SB_NE": len(self.program.switching),
            "SB_STEP": literal(float(self.schedule.step)),
            "SB_OWN_FAULTS": len(self.acting.kinds("fault")),
            "SB_BLOCKS": len(crossing_blocks(self.program)),
            "SB_MOST_EVENTS": MOST_EVENTS,
        }

    def _tables(self) -> list[str]:
        acting, dialect, texts = self.acting, self.writer.dialect, []
        if self.nx or self.eventful:
            texts += tableau_tables(self.schedule.tableau, dialect, letters="abc")
        texts += implicit_text(self.schedule.tableau, self.linear, dialect)
        if stepped := stepped_entries(self.program):
            texts.append(table("int", "sb_stepped", stepped))
        if acting.rows:
            texts.append(table("int", "sb_kinds", [KINDS.index(c.kind) for c in acting.of]))
        if self.program.reach is not None or self.eventful:
            directions = [literal(c.direction, self.number) for c in acting.of]
            texts.append(table(self.number, "sb_directions", directions))
        if self.eventful:
            blocks = crossing_blocks(self.program)
            texts.append(table("int", "sb_block", [blocks.index(c.block) for c in acting.of]))
        if acting.switches or slides(self.program):
            texts.append(table("int", "sb_first", acting.first))
        if self.nd:
            texts.append(table("int", "sb_handover_clocks", handover_clocks(self.program)))
        return texts

    # --- the program's functions ------------------------------------------------------

    def _functions(self) -> list[str]:
        program, acting, writer = self.program, self.acting, self.writer
        rows = entries_of(self.part.outputs)
        members = tuple(f"y->{e}" for m in self.interface.outputs for e in m.entries)
        texts = []
        if members:
            y = Argument((f"{self.name}_outputs *y",), members)
            texts.append(
                writer.function("sb_model_outputs", selected(program.outputs, rows, "y"), y)
            )
        if self.nd:
            texts += writer.numbered("sb_model_tick", updates_of(program))
            texts += writer.numbered("sb_model_handover", handovers_of(program))
            texts.append(self._is_due())
        if acting.rows:
            watched = selected(program.watched, acting.rows, "watched")
            texts.append(self._of_watch("sb_model_watched", watched))
        if acting.switches:
            switched = [
                (program.switched, acting.states[k]) if k in acting.states else None
                for k in range(len(acting.rows))
            ]
            texts += writer.numbered("sb_model_switched", switched)
        if acting.kinds("event"):
            whole = range(self.nx + self.nd)
            resets = [
                (program.resets[c.event], whole) if c.kind == "event" else None for c in acting.of
            ]
            texts += writer.numbered("sb_model_reset", resets)
        if program.switching and (self.nx or self.eventful):
            # (first, period) of each block; times are always doubles
            out = result(range(2 * len(program.switching)))
            p = writer.arguments[3:]
            texts.append(c_function("sb_model_edges", program.edges, p, out, writer.dialect))
        return [*texts, *self._of_states()] if self.nx else texts

    def _of_states(self) -> list[str]:
        """The functions of the continuous states."""
        program, function = self.program, self.writer.function
        texts = [function("sb_model_rates", rates_of(program))]
        if self.linear is not None:
            texts.append(function("sb_model_linearised", with_start(self.linear.function)))
        if program.advance is not None:
            texts.append(function("sb_model_advance", program.advance))
        if program.project is not None:
            texts.append(function("sb_model_project", program.project))
        if program.reach is not None:
            texts.append(self._of_watch("sb_model_reach", program.reach))
        return texts

    def _is_due(self) -> str:
        """The C function that says whether a clock ticks at step k."""
        lines = []
        for number, ticking in enumerate(self.schedule.clocks):
            since = f"(k - {ticking.offset})" if ticking.offset else "k"
            conditions = [f"k >= {ticking.start}"] if ticking.start else []
            conditions += [f"{since} % {ticking.period} == 0"] if ticking.period > 1 else []
            lines.append(f"if (clock == {number}) return {' && '.join(conditions) or '1'};")
        head = "static int sb_is_due(int clock, long long k) {"
        return "\n".join(
            [head, "  (void)clock;", "  (void)k;", *indented(lines), "  return 0;", "}"]
        )

    def _of_watch(self, name: str, function: Any) -> str:
        """A zero-crossing function. Those that detect loops that lose rank are in double
        precision, because they take differences over short distances.
        """
        precise = self.program.reach is not None or solvers_called_by([function])
        return self.writer.function(name, function, dialect=DOUBLE if precise else None)

    # --- what the header declares ----------------------------------------------------------

    def _table(self) -> str:
        rows = [
            f"{{{c_string(m.name)}, {m.place}, {m.size}, {self._bounds(m.name)}}},"
            for m in self.interface.parameters
        ]
        lines = rows or ['{"", 0, 0, 0, 0},']
        kind = f"const {self.name}_parameter {self.name}_table[]"
        texts = ["\n".join([f"{kind} = {{", *indented(lines), "};"])]
        if faults := [f"{c_string(text)}," for text in self.faults]:
            kind = f"const char *const {self.name}_faults[]"
            texts.append("\n".join([f"{kind} = {{", *indented(faults), "};"]))
        return "\n\n".join(texts)

    def _bounds(self, parameter: str) -> str:
        low, high = self.part.bounds.get(parameter, (-math.inf, math.inf))
        largest = LARGEST[self.real]
        return f"{literal(max(low, -largest), self.real)}, {literal(min(high, largest), self.real)}"

    def _nominal(self) -> str:
        lines = []
        for pointer, members in (("u", self.interface.inputs), ("p", self.interface.parameters)):
            if not members:
                lines.append(f"{pointer}->none = 0;")
            for m in members:
                values = self.program.p[m.start : m.start + m.size]
                lines += [
                    f"{pointer}->{entry} = {literal(value, self.real)};"
                    for entry, value in zip(m.entries, values, strict=True)
                ]
        return self._public("void", "nominal", ["*u", "*p"], lines)

    def _check(self) -> str:
        if not self.interface.parameters:
            return self._public("int", "check", ["const *p"], ["(void)p;", "return -1;"])
        lines = [
            f"const {self.real} *values = (const {self.real} *)(const void *)p;",
            f"for (int k = 0; k < {self.name}_PARAMETERS; k++) {{",
            f"  const {self.name}_parameter *row = &{self.name}_table[k];",
            "  for (int i = row->start; i < row->start + row->size; i++)",
            "    if (!(values[i] >= row->min && values[i] <= row->max)) return k;",
            "}",
            "return -1;",
        ]
        return self._public("int", "check", ["const *p"], lines)

    def _init(self) -> str:
        lines = ["s->k = 0;", *(["s->fault = 0;"] if self.faults else [])]
        lines += ["sb_forget(&s->kept);"] if self.eventful else []
        members = {m.name: m for m in self.interface.parameters}
        used = False
        for letter, slots in (("x", self.program.states), ("xd", self.program.discrete)):
            for slot in slots:
                if (
                    slot.name not in self.program.start
                ):  # an output that is held from its first tick
                    zeros = range(slot.part.start, slot.part.stop)
                    lines += [f"s->{letter}[{k}] = 0;" for k in zeros]
                    continue
                member = members.get(self.program.start[slot.name])
                if member is None:  # a state without elements
                    continue
                used = True
                lines += [
                    f"s->{letter}[{slot.start + k}] = p->{entry};"
                    for k, entry in enumerate(member.entries)
                ]
        if self.nx and self.program.project is not None:
            # A projection depends on x only: it reads no input.
            lines += [
                f"{self.number} x[{self.nx}];",
                f"{self.name}_inputs none;",
                f"{self.name}_parameters nominal;",
                f"{self.name}_nominal(&none, &nominal);",
                f"sb_model_project(0.0, s->x, {'s->xd' if self.nd else 'x'}, &none, p, x);",
                "sb_copy(s->x, x, SB_NX);",
            ]
        elif not used:
            lines.insert(0, "(void)p;")
        return self._public("void", "init", ["*s", "const *p"], lines)

    # --- fragments of C --------------------------------------------------------------------

    def _time(self, k: str) -> str:
        step = self.schedule.step
        product = f"{k} * {step.numerator}" if step.numerator != 1 else k
        return f"(double)({product}) / {float(step.denominator)!r}"

    def _public(self, kind: str, verb: str, parameters: Sequence[str], lines: Sequence[str]) -> str:
        """A function of the header. parameters: such as 'const *u', with the letter of the
        struct."""
        structs = {"u": "inputs", "p": "parameters", "s": "state"}
        declared = [
            f"{'const ' if text.startswith('const') else ''}{self.name}_{structs[text[-1]]} "
            f"*{text[-1]}"
            for text in parameters
        ]
        head = f"{kind} {self.name}_{verb}({', '.join(declared)}) {{"
        return "\n".join([head, *indented(lines), "}"])
