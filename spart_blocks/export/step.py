"""A part as C99: a header with its structs, and the functions that step it.

Nothing is allocated and nothing is global: all that lasts is in the caller's state struct.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks import __version__
from spart_blocks.errors import DiagramError, Fault
from spart_blocks.export.expressions import LARGEST, Real, literal
from spart_blocks.export.functions import Argument, c_function, indented, selected, vector
from spart_blocks.export.header import c_comment, c_string, header_text
from spart_blocks.export.interface import Interface, interface_of, numbers_of
from spart_blocks.export.modes import modes_of, settle_text, switched, watched_by
from spart_blocks.export.schedule import (
    MOST_PIECES,
    NEARLY,
    Schedule,
    Ticking,
    schedule_of,
    stops_of,
)
from spart_blocks.export.tables import table_texts
from spart_blocks.program.part import Part, entries_of


@dataclass(frozen=True)
class StepCode:
    """The C of a part: the texts of NAME.h and NAME.c, and what they were made of."""

    part: Part
    schedule: Schedule
    real: Real
    interface: Interface
    header: str
    source: str

    @property
    def name(self) -> str:
        return self.interface.name


def step_code(
    part: Part,
    *,
    rate: float | None = None,
    method: str = "RK4",
    real: Real = "double",
    name: str | None = None,
) -> StepCode:
    """The C of a part.

    rate: steps per second [Hz], by default as `schedule_of` says. method: how states are
    integrated: euler, heun or RK4. real: double or float. name: what the C names begin
    with. Raises InputError and DiagramError as `schedule_of` does.
    """
    schedule = schedule_of(part, rate, method)
    if real == "float":
        _refuse_whole_numbers(part)
    interface = interface_of(part, name)
    header = header_text(part, schedule, interface, real)
    source = _Source(part, schedule, interface, real).text()
    return StepCode(part, schedule, real, interface, header, source)


def _refuse_whole_numbers(part: Part) -> None:
    """DiagramError naming blocks, such as NOISE, that count in their states beyond 2^24,
    where a float no longer holds every whole number."""
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
                f"block {name} counts in whole numbers that single precision does not hold",
                hint="export in double precision, or leave the block out of the part",
            )
            for name in found
        )


# --- the source --------------------------------------------------------------------------


class _Source:
    """Writes NAME.c: a static function for each function of the program, and those of the
    header, which call them."""

    def __init__(self, part: Part, schedule: Schedule, interface: Interface, real: Real) -> None:
        self.part, self.program = part, part.program
        self.schedule, self.interface, self.real = schedule, interface, real
        self.name = interface.name
        self.nx, self.nd = len(self.program.x0), len(self.program.xd0)
        self.modes = modes_of(self.program)
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
            *table_texts(self.written, self.real),
            *functions,
            self._table(),
            self._nominal(),
            self._check(),
            self._init(),
            self._output(),
            self._update(),
            self._whole(),
        ]
        return "\n\n".join(text for text in texts if text) + "\n"

    # --- the program's functions ------------------------------------------------------

    def _functions(self) -> list[str]:
        program, real = self.program, self.real
        out = self._result("out", max(self.nx, self.nd))
        rows = entries_of(self.part.outputs)
        members = tuple(f"y->{e}" for m in self.interface.outputs for e in m.entries)
        y = Argument((f"{self.name}_outputs *y",), members)
        texts = []
        if members:
            texts.append(self._c("outputs", selected(program.outputs, rows, "outputs"), y))
        for k, ticking in enumerate(self.schedule.clocks):
            if not ticking.states:
                continue
            update = program.updates[ticking.clock.name]
            texts.append(self._c(f"tick_{k}", selected(update, ticking.states, "tick"), out))
        for k, handing in enumerate(self.schedule.handovers):
            renewed = selected(handing.renewed, handing.states, "handover")
            texts.append(self._c(f"handover_{k}", renewed, out))
        stops = stops_of(self.part)
        if stops:
            watched = selected(program.watched, stops, "stops")
            texts.append(self._c("stops", watched, self._result("out", len(stops))))
        if self.nx:
            start = (vector("start", self.nx, real),) if program.held is not None else ()
            texts.append(self._c("rates", program.held or program.rates, out, *start))
            if program.advance is not None:
                h = Argument((f"{real} h",), ("h",))
                texts.append(self._c("advance", program.advance, out, h))
            if program.project is not None:
                texts.append(self._c("project", program.project, out))
            if program.switching:
                texts.append(self._edges())
        return [*texts, *self._settling()]

    def _settling(self) -> list[str]:
        """What lets blocks switch modes until they fit."""
        program, modes = self.program, self.modes
        if not modes:
            return []
        count = sum(len(mode.rows) for mode in modes)
        texts = [self._c("modes", watched_by(program, modes), self._result("out", count))]
        for k, mode in enumerate(modes):
            size = mode.states.stop - mode.states.start
            texts.append(
                self._c(f"switched_{k}", switched(program, mode), self._result("out", size))
            )
        head = (
            f"static void settle(double t, {self.real} *x, const {self.real} *xd,\n"
            f"    const {self.name}_inputs *u, const {self.name}_parameters *p) {{"
        )
        projects = self.nx if program.project is not None else 0
        return [*texts, settle_text(modes, head, self.real, projects)]

    def _c(self, name: str, function: Any, result: Argument, *more: Argument) -> str:
        self.written.append(function)
        return c_function(name, function, (*self.arguments, *more), result, self.real)

    def _result(self, pointer: str, size: int) -> Argument:
        entries = tuple(f"{pointer}[{k}]" for k in range(size))
        return Argument((f"{self.real} *{pointer}",), entries)

    def _edges(self) -> str:
        """(first, period) of each switching block; times are doubles always."""
        size = 2 * len(self.program.switching)
        result = Argument(("double *out",), tuple(f"out[{k}]" for k in range(size)))
        return c_function("edges", self.program.edges, self.arguments[3:], result, self.real)

    # --- what the header declares ----------------------------------------------------------

    def _table(self) -> str:
        rows = [
            f"{{{c_string(m.name)}, {m.place}, {m.size}, {self._bounds(m.name)}}},"
            for m in self.interface.parameters
        ]
        lines = rows or ['{"", 0, 0, 0, 0},']
        kind = f"const {self.name}_parameter {self.name}_table[]"
        return "\n".join([f"{kind} = {{", *indented(lines), "};"])

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
        lines = ["s->k = 0;"]
        members = {m.name: m for m in self.interface.parameters}
        used = False
        for letter, slots in (("x", self.program.states), ("xd", self.program.discrete)):
            for slot in slots:
                if slot.name not in self.program.start:  # an output, held from its first tick
                    zeros = range(slot.part.start, slot.part.stop)
                    lines += [f"s->{letter}[{k}] = 0;" for k in zeros]
                    continue
                member = members.get(self.program.start[slot.name])
                if member is None:  # a state without numbers
                    continue
                used = True
                lines += [
                    f"s->{letter}[{slot.start + k}] = p->{entry};"
                    for k, entry in enumerate(member.entries)
                ]
        if self.nx and self.program.project is not None:
            # A projection is one of x alone: it reads no input.
            lines += [
                f"{self.real} x[{self.nx}];",
                f"{self.name}_inputs none;",
                f"{self.name}_parameters nominal;",
                f"{self.name}_nominal(&none, &nominal);",
                self._call("project", "0.0", "s->x", self._xd("s"), "&none", "p", "x"),
                self._copy("s->x", "x", self.nx),
            ]
        elif not used:
            lines.insert(0, "(void)p;")
        return self._public("void", "init", ["*s", "const *p"], lines)

    def _output(self) -> str:
        name, nd = self.name, self.nd
        lines = [f"const double t = {self._time('s->k')};"]
        if self.interface.outputs:
            lines.append(f"{name}_outputs found;")
        lines.append(f"{self.real} sum = 0;")
        xd = "0"
        if nd:
            xd = "xd"
            lines += [f"{self.real} xd[{nd}];", self._copy("xd", "s->xd", nd)]
            before = "s->xd"
            for k, handing in enumerate(self.schedule.handovers):
                lines += self._moved(f"handover_{k}", handing.ticking, handing.states, "xd")
            if self.schedule.handovers:
                before = "before"
                lines += [f"{self.real} before[{nd}];", self._copy("before", "xd", nd)]
            for k, ticking in enumerate(self.schedule.clocks):
                lines += self._moved(f"tick_{k}", ticking, ticking.states, before)
            lines.append(f"for (int i = 0; i < {nd}; i++) sum += xd[i] - xd[i];")
        x = self._x("s")
        if self.modes:
            x = "x"
            lines += [
                f"{self.real} x[{self.nx}];",
                self._copy("x", "s->x", self.nx),
                self._call("settle", "t", x, xd, "u", "p"),
                f"for (int i = 0; i < {self.nx}; i++) sum += x[i] - x[i];",
            ]
        if self.interface.outputs:
            size = numbers_of(self.interface.outputs)
            lines += [
                self._call("outputs", "t", x, xd, "u", "p", "&found"),
                f"const {self.real} *values = (const {self.real} *)(const void *)&found;",
                f"for (int i = 0; i < {size}; i++) sum += values[i] - values[i];",
            ]
        lines.append(f"if (!(sum == 0)) return {name}_NOT_FINITE;")
        lines.append("*y = found;" if self.interface.outputs else "y->none = 0;")
        if nd:
            lines.append(self._copy("s->xd", "xd", nd))
        if self.modes:
            lines.append(self._copy("s->x", "x", self.nx))
        stops = stops_of(self.part)
        if stops:
            count = len(stops)
            lines += [
                f"{self.real} watched[{count}];",
                self._call("stops", "t", x, xd, "u", "p", "watched"),
                f"for (int i = 0; i < {count}; i++)",
                f"  if (watched[i] > 0) return {name}_STOPPED;",
            ]
        lines.append(f"return {name}_OK;")
        unused = self._unused(lines, "u", "p", "t")
        lines[1:1] = unused
        return self._public("int", "output", ["*s", "const *u", "const *p", "*y"], lines)

    def _moved(
        self, function: str, ticking: Ticking, states: Sequence[int], before: str
    ) -> list[str]:
        """These states of xd at a tick. before: what the function reads; all clocks due read
        the same."""
        if not states:
            return []
        conditions = []
        if ticking.start:
            conditions.append(f"s->k >= {ticking.start}")
        if ticking.period > 1:
            since = f"(s->k - {ticking.offset})" if ticking.offset else "s->k"
            conditions.append(f"{since} % {ticking.period} == 0")
        size, start = len(states), states[0]
        straight = tuple(states) == tuple(range(start, start + size))
        if straight:
            copies = [f"for (int i = 0; i < {size}; i++) xd[{start} + i] = after[i];"]
        else:
            copies = [f"xd[{state}] = after[{i}];" for i, state in enumerate(states)]
        return [
            f"if ({' && '.join(conditions)}) {{" if conditions else "{",
            f"  {self.real} after[{size}];",
            f"  {self._call(function, 't', self._x('s'), before, 'u', 'p', 'after')}",
            *indented(copies),
            "}",
        ]

    def _update(self) -> str:
        parameters = ["*s", "const *u", "const *p"]
        if not self.nx:
            lines = ["(void)u;", "(void)p;", "s->k++;", f"return {self.name}_OK;"]
            return self._public("int", "update", parameters, lines)
        nx, xd = self.nx, self._xd("s")
        lines = [
            f"double t = {self._time('s->k')};",
            f"const double end = {self._time('(s->k + 1)')};",
            f"{self.real} x[{nx}], sum = 0;",
            self._copy("x", "s->x", nx),
            *(self._pieces(xd) if self.program.switching else [f"piece(t, end, {xd}, u, p, x);"]),
            f"for (int i = 0; i < {nx}; i++) sum += x[i] - x[i];",
            f"if (!(sum == 0)) return {self.name}_NOT_FINITE;",
            self._copy("s->x", "x", nx),
            "s->k++;",
            f"return {self.name}_OK;",
        ]
        if not self.program.switching:
            lines[0] = f"const {lines[0]}"
        texts = [self._piece(), self._public("int", "update", parameters, lines)]
        if self.program.switching:
            texts.insert(1, self._next_switch())
        return "\n\n".join(texts)

    def _pieces(self, xd: str) -> list[str]:
        size = 2 * len(self.program.switching)
        return [
            f"double at[{size}];",
            "edges(u, p, at);",
            "for (int n = 0; t < end; n++) { /* the last of very many is all that is left */",
            f"  const double next = n < {MOST_PIECES - 1} ? next_switch(at, t, end) : end;",
            f"  piece(t, next, {xd}, u, p, x);",
            "  t = next;",
            "}",
        ]

    def _next_switch(self) -> str:
        """Of all series first + k period the first time that lies within (t, end)."""
        near = literal(NEARLY * float(self.schedule.step))
        return "\n".join(
            [
                "/* The first time within (t, end) at which a source switches, else end. */",
                "static double next_switch(const double *at, double t, double end) {",
                f"  const double near = {near};",
                "  double next = end;",
                f"  for (int i = 0; i < {len(self.program.switching)}; i++) {{",
                "    const double first = at[2 * i], period = at[2 * i + 1];",
                "    double found = first;",
                "    if (!isfinite(first) || !isfinite(period)) continue;",
                "    if (period > 0 && first <= t + near)",
                "      found = first + (floor((t + near - first) / period) + 1) * period;",
                "    if (found > t + near && found < next - near) next = found;",
                "  }",
                "  return next;",
                "}",
            ]
        )

    def _piece(self) -> str:
        """One step of the method from a to b, in which switching times lie at the ends only."""
        nx, real, method = self.nx, self.real, self.schedule.tableau
        stages = len(method.b)
        names = [f"k{s + 1}" for s in range(stages)]
        needs_z = stages > 1 or self.program.advance is not None or self.program.project is not None
        arrays = (*names, "z") if needs_z else names
        lines = [
            f"const {real} h = ({real})(b - a);",
            "/* A piece is seen from within: switching times are known to some last places. */",
            f"const double lo = {_inside('a', 'INFINITY', real)};",
            *([f"const double hi = {_inside('b', '-INFINITY', real)};"] if 1 in method.c else []),
            f"{real} {', '.join(f'{name}[{nx}]' for name in arrays)};",
        ]
        for s, name in enumerate(names):
            c = float(method.c[s])
            state = "z" if s else "x"
            if s:
                terms = _combined(method.A[s, :s], names, real)
                lines.append(f"for (int i = 0; i < {nx}; i++) z[i] = x[i] + h * {terms};")
            time = "lo" if c == 0 else "hi" if c == 1 else f"a + {literal(c)} * (b - a)"
            start = ("x",) if self.program.held is not None else ()
            lines.append(self._call("rates", time, state, "xd", "u", "p", *start, name))
        terms = _combined(method.b, names, real)
        if self.program.advance is not None:
            lines.append(self._call("advance", "a", "x", "xd", "u", "p", "h", "z"))
            own = self._own_entries()
            others = [i for i in range(nx) if i not in own]
            lines += [f"x[{i}] += h * {terms.replace('[i]', f'[{i}]')};" for i in others]
            lines += [f"x[{i}] = z[{i}];" for i in sorted(own)]
        else:
            lines.append(f"for (int i = 0; i < {nx}; i++) x[i] += h * {terms};")
        if self.program.project is not None:
            lines.append(self._call("project", "b", "x", "xd", "u", "p", "z"))
            lines.append(self._copy("x", "z", nx))
        declared = (
            f"double a, double b, const {real} *xd, const {self.name}_inputs *u,\n"
            f"    const {self.name}_parameters *p, {real} *x"
        )
        return "\n".join([f"static void piece({declared}) {{", *indented(lines), "}"])

    def _own_entries(self) -> set[int]:
        states = self.program.states
        return set(entries_of(slot for slot in states if slot.name in self.program.stepped))

    def _whole(self) -> str:
        name = self.name
        step = self._public(
            "int",
            "step",
            ["*s", "const *u", "const *p", "*y"],
            [
                f"const int status = {name}_output(s, u, p, y);",
                f"return status ? status : {name}_update(s, u, p);",
            ],
        )
        time = self._public("double", "time", ["const *s"], [f"return {self._time('s->k')};"])
        return f"{step}\n\n{time}"

    # --- small pieces of C -----------------------------------------------------------------

    def _time(self, k: str) -> str:
        step = self.schedule.step
        product = f"{k} * {step.numerator}" if step.numerator != 1 else k
        return f"(double)({product}) / {float(step.denominator)!r}"

    def _x(self, pointer: str) -> str:
        return f"{pointer}->x" if self.nx else "0"

    def _xd(self, pointer: str) -> str:
        return f"{pointer}->xd" if self.nd else "0"

    def _call(self, name: str, *arguments: str) -> str:
        return f"{name}({', '.join(arguments)});"

    def _copy(self, to: str, source: str, size: int) -> str:
        return f"for (int i = 0; i < {size}; i++) {to}[i] = {source}[i];"

    def _unused(self, lines: Sequence[str], *names: str) -> list[str]:
        """Casts of what these lines do not read."""
        text = "\n".join(lines).partition("\n")[2]
        return [f"(void){n};" for n in names if not re.search(rf"(?<!->)\b{n}\b", text)]

    def _public(self, kind: str, verb: str, parameters: Sequence[str], lines: Sequence[str]) -> str:
        """A function of the header. parameters: such as 'const *u', of the struct by letter."""
        structs = {"u": "inputs", "y": "outputs", "p": "parameters", "s": "state"}
        declared = [
            f"{'const ' if text.startswith('const') else ''}{self.name}_{structs[text[-1]]} "
            f"*{text[-1]}"
            for text in parameters
        ]
        head = f"{kind} {self.name}_{verb}({', '.join(declared)}) {{"
        return "\n".join([head, *indented(lines), "}"])


def _inside(end: str, towards: str, real: Real) -> str:
    """A time just behind or before an end of a piece, in the numbers that sources compare."""
    if real == "float":
        return f"nextafterf(nextafterf((float){end}, {towards}), {towards})"
    return f"{end} + 8 * (nextafter({end}, {towards}) - {end})"


def _combined(weights: Any, names: Sequence[str], real: Real) -> str:
    """A weighted sum of slopes."""
    terms = [
        f"{literal(float(weight), real)} * {name}[i]" if weight != 1 else f"{name}[i]"
        for weight, name in zip(weights, names, strict=False)
        if weight
    ]
    return f"({' + '.join(terms)})" if len(terms) > 1 else terms[0]
