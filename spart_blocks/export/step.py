"""A subdiagram as C99: a header with its structs, and the functions that step it.

The code allocates no memory and has no global variables. The state is in the caller's struct.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

import numpy as np

from spart_blocks import __version__
from spart_blocks.base.errors import DiagramError, Fault
from spart_blocks.base.tableaus import RECOMMENDED
from spart_blocks.export.acting import MOST_SWITCHES, acting_of, faults_of
from spart_blocks.export.called import called_texts
from spart_blocks.export.functions import (
    Argument,
    array_text,
    c_function,
    indented,
    selected,
    vector,
)
from spart_blocks.export.header import c_comment, c_string, header_text
from spart_blocks.export.interface import Interface, interface_of, numbers_of
from spart_blocks.export.schedule import MOST_STEPS, NEARLY, Schedule, schedule_of
from spart_blocks.program.c.c_code import step_header
from spart_blocks.program.c.scalar_code import LARGEST, Real, literal
from spart_blocks.program.subdiagram import Subdiagram, entries_of
from spart_blocks.program.tracing.loops import solvers_called_by
from spart_blocks.program.tracing.switching import KINDS

FIXED_RATE, STEP = "sb_fixed_rate.h", "sb_step.h"
"""Headers that NAME.c includes, the same for every subdiagram."""


def included() -> dict[str, str]:
    """The texts of these headers."""
    part = resources.files("spart_blocks.export").joinpath("c", FIXED_RATE).read_text("utf-8")
    return {FIXED_RATE: part, STEP: step_header()}


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
        return {**own, **included()}

    def whole_source(self) -> str:
        """All files in one text."""
        text, files = self.source, self.files
        for name in (f"{self.name}.h", FIXED_RATE, STEP):
            text = text.replace(f'#include "{name}"', files[name], 1)
        return text


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
    header = header_text(part, schedule, interface, real)
    source = _Source(part, schedule, interface, real).text()
    return StepCode(part, schedule, real, interface, header, source)


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
        self.acting = acting_of(self.program)
        self.written: list[Any] = []
        structs = (f"const {self.name}_inputs *u", f"const {self.name}_parameters *p")
        time = Argument(("double t",), ("t" if real == "double" else "(float)t",))
        self.arguments = (
            time,
            vector("x", self.nx, real),
            vector("xd", self.nd, real),
            Argument(structs, tuple(interface.entries_of_p())),
        )

    def text(self) -> str:
        functions = self._functions()
        texts = [
            f"/* {c_comment(self.program.name)}. Made by spart_blocks {__version__}. */\n\n"
            f'#include "{self.name}.h"\n\n#include <math.h>',
            *called_texts(self.written, self.real),
            *functions,
            self._sizes(),
            *self._tables(),
            f"static double sb_time(long long k) {{ return {self._time('k')}; }}",
            f'#include "{FIXED_RATE}"',
            self._table(),
            self._nominal(),
            self._check(),
            self._init(),
            self._steps(),
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
            "SB_REAL": self.real,
            "SB_NX": self.nx,
            "SB_NXD": self.nd,
            "SB_NY": numbers_of(self.interface.outputs),
            "SB_NC": len(self.schedule.clocks),
            "SB_NE": len(program.switching) if self.nx else 0,
            "SB_CROSSINGS": len(self.acting.rows),
            "SB_SWITCHES": self.acting.switches,
            "SB_JUMPS": int(self.acting.jumps and self.nx > 0),
            "SB_FAULTS": len(faults_of(program)),
            "SB_HANDOVERS": len(self.schedule.handovers),
            "SB_PROJECTS": int(program.project is not None and self.nx > 0),
            "SB_REACHES": int(program.reach is not None),
            "SB_STEPPED": len(self._own_entries()),
            "SB_STAGES": len(self.schedule.tableau.b),
            "SB_MOST_SWITCHES": MOST_SWITCHES,
            "SB_MOST_STEPS": MOST_STEPS,
            "SB_NEAR": literal(NEARLY * float(self.schedule.step)),
        }
        if self.real == "float":  # sources compare times in single precision
            for macro, towards in (("AFTER", "INFINITY"), ("BEFORE", "-INFINITY")):
                values[f"SB_JUST_{macro}(t)"] = (
                    f"nextafterf(nextafterf((float)(t), {towards}), {towards})"
                )
        return "\n".join(f"#define {name} {value}" for name, value in values.items())

    def _tables(self) -> list[str]:
        method, acting, texts = self.schedule.tableau, self.acting, []
        if self.nx:
            for name, values in (("a", method.A.ravel()), ("b", method.b), ("c", method.c)):
                numbers = [literal(float(value), self.real) for value in values]
                texts.append(array_text(self.real, f"sb_rk_{name}", numbers))
        if self._own_entries():
            texts.append(array_text("int", "sb_stepped", sorted(self._own_entries())))
        if acting.rows:
            texts.append(array_text("int", "sb_kinds", [KINDS.index(c.kind) for c in acting.of]))
        if self.program.reach is not None:
            directions = [literal(c.direction, self.real) for c in acting.of]
            texts.append(array_text(self.real, "sb_directions", directions))
        if acting.switches:
            texts.append(array_text("int", "sb_first", acting.first))
        if self.nd:
            places = {ticking.clock.name: k for k, ticking in enumerate(self.schedule.clocks)}
            clocks = [places[one.ticking.clock.name] for one in self.schedule.handovers]
            texts.append(array_text("int", "sb_handover_clocks", clocks))
        return texts

    # --- the program's functions ------------------------------------------------------

    def _functions(self) -> list[str]:
        program, acting = self.program, self.acting
        rows = entries_of(self.part.outputs)
        members = tuple(f"y->{e}" for m in self.interface.outputs for e in m.entries)
        y = Argument((f"{self.name}_outputs *y",), members)
        texts = []
        if members:
            texts.append(self._c("sb_outputs", selected(program.outputs, rows, "outputs"), y))
        if self.nd:
            clocks, handing = self.schedule.clocks, self.schedule.handovers
            texts += self._numbered(
                "sb_tick",
                [
                    (selected(program.updates[one.clock.name], one.states, "tick"), one.states)
                    for one in clocks
                ],
            )
            texts += self._numbered(
                "sb_handover",
                [(selected(one.renewed, one.states, "handover"), one.states) for one in handing],
            )
            texts.append(self._is_due())
        if acting.rows:
            watched = selected(program.watched, acting.rows, "watched")
            texts.append(self._of_watch("sb_watched", watched, len(acting.rows)))
        if acting.switches:
            texts += self._numbered(
                "sb_switched_by",
                [
                    (selected(program.switched, acting.states[k], "switched"), acting.states[k])
                    if k in acting.states
                    else None
                    for k in range(len(acting.rows))
                ],
            )
        return [*texts, *self._of_states()] if self.nx else texts

    def _of_states(self) -> list[str]:
        """The functions of the continuous states."""
        program, all_x = self.program, self._result(range(self.nx))
        start = vector("start", self.nx, self.real)
        if program.held is not None:
            texts = [self._c("sb_rates", program.held, all_x, start)]
        else:
            texts = [self._c("sb_rates", program.rates, all_x, replace(start, entries=()))]
        if program.advance is not None:
            h = Argument((f"{self.real} h",), ("h",))
            texts.append(self._c("sb_advance", program.advance, all_x, h))
        if program.project is not None:
            texts.append(self._c("sb_model_project", program.project, all_x))
        if program.reach is not None:
            texts.append(self._of_watch("sb_model_reach", program.reach, 1))
        if program.switching:
            texts.append(self._edges())
        return texts

    def _numbered(
        self, name: str, functions: Sequence[tuple[Any, Sequence[int]] | None]
    ) -> list[str]:
        """Numbered functions, each of which writes its entries of a vector, and the function that
        calls them by number."""
        texts = [
            self._c(f"{name}_{k}", one[0], self._result(one[1])) if one is not None else None
            for k, one in enumerate(functions)
        ]
        declared = [text for argument in self.arguments for text in argument.declared]
        names = [text.split()[-1].lstrip("*") for text in declared]
        cases = [
            f"if (which == {k}) {name}_{k}({', '.join(names)}, out);"
            for k, text in enumerate(texts)
            if text is not None
        ] or [f"(void){argument};" for argument in ("which", *names, "out")]
        head = f"static void {name}(int which, {', '.join(declared)}, {self.real} *out) {{"
        return [*filter(None, texts), "\n".join([head, *indented(cases), "}"])]

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

    def _of_watch(self, name: str, function: Any, size: int) -> str:
        """A function that detects loops that lose rank. It is in double precision, because it takes
        differences over short distances."""
        loops = solvers_called_by([function])
        real = self.real if self.program.reach is None and not loops else "double"
        return self._c(name, function, self._result(range(size)), real=real)

    def _c(
        self, name: str, function: Any, result: Argument, *more: Argument, real: Real | None = None
    ) -> str:
        self.written.append(function)
        return c_function(name, function, (*self.arguments, *more), result, real or self.real)

    def _result(self, entries: Iterable[int]) -> Argument:
        """A result that is written to these entries of a vector."""
        return Argument((f"{self.real} *out",), tuple(f"out[{k}]" for k in entries))

    def _edges(self) -> str:
        """(first, period) of each switching block. Times are always doubles."""
        size = 2 * len(self.program.switching)
        result = Argument(("double *out",), tuple(f"out[{k}]" for k in range(size)))
        return c_function("sb_edges", self.program.edges, self.arguments[3:], result, self.real)

    # --- what the header declares ----------------------------------------------------------

    def _table(self) -> str:
        rows = [
            f"{{{c_string(m.name)}, {m.place}, {m.size}, {self._bounds(m.name)}}},"
            for m in self.interface.parameters
        ]
        lines = rows or ['{"", 0, 0, 0, 0},']
        kind = f"const {self.name}_parameter {self.name}_table[]"
        texts = ["\n".join([f"{kind} = {{", *indented(lines), "};"])]
        if faults := [f"{c_string(text)}," for text in faults_of(self.program)]:
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
        lines = ["s->k = 0;", *(["s->fault = 0;"] if faults_of(self.program) else [])]
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
                f"{self.real} x[{self.nx}];",
                f"{self.name}_inputs none;",
                f"{self.name}_parameters nominal;",
                f"{self.name}_nominal(&none, &nominal);",
                f"sb_model_project(0.0, s->x, {'s->xd' if self.nd else 'x'}, &none, p, x);",
                "sb_copy(s->x, x, SB_NX);",
            ]
        elif not used:
            lines.insert(0, "(void)p;")
        return self._public("void", "init", ["*s", "const *p"], lines)

    def _own_entries(self) -> set[int]:
        states = self.program.states
        return set(entries_of(slot for slot in states if slot.name in self.program.stepped))

    def _steps(self) -> str:
        name = self.name
        step = [
            f"const int status = {name}_output(s, u, p, y);",
            f"return status ? status : {name}_update(s, u, p);",
        ]
        given = ["*s", "const *u", "const *p"]
        texts = [
            self._public("int", "output", [*given, "*y"], ["return sb_output_at(s, u, p, y);"]),
            self._public("int", "update", given, ["return sb_update_to(s, u, p);"]),
            self._public("int", "step", [*given, "*y"], step),
            self._public("double", "time", ["const *s"], ["return sb_time(s->k);"]),
        ]
        return "\n\n".join(texts)

    # --- fragments of C --------------------------------------------------------------------

    def _time(self, k: str) -> str:
        step = self.schedule.step
        product = f"{k} * {step.numerator}" if step.numerator != 1 else k
        return f"(double)({product}) / {float(step.denominator)!r}"

    def _public(self, kind: str, verb: str, parameters: Sequence[str], lines: Sequence[str]) -> str:
        """A function of the header. parameters: such as 'const *u', with the letter of the
        struct."""
        structs = {"u": "inputs", "y": "outputs", "p": "parameters", "s": "state"}
        declared = [
            f"{'const ' if text.startswith('const') else ''}{self.name}_{structs[text[-1]]} "
            f"*{text[-1]}"
            for text in parameters
        ]
        head = f"{kind} {self.name}_{verb}({', '.join(declared)}) {{"
        return "\n".join([head, *indented(lines), "}"])
