"""The C header of a subdiagram: its structs, and the declarations of its functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spart_blocks import __version__
from spart_blocks.export.acting import faults_of
from spart_blocks.export.interface import Interface, Member
from spart_blocks.export.schedule import Schedule
from spart_blocks.program.c.dialects import Real
from spart_blocks.program.c.text import c_comment, indented
from spart_blocks.program.subdiagram import Subdiagram

OK, STOPPED, NOT_FINITE, FAULT = range(4)
"""The status that a step returns."""
_FAULT = ("long long fault; /* its place in the table of faults */",)


def header_text(part: Subdiagram, schedule: Schedule, interface: Interface, real: Real) -> str:
    name, guard = interface.name, f"{interface.name.upper()}_H"
    units = part.program.display.units
    faults = faults_of(part.program)
    states = [*_state_members(part, real), *(_FAULT if faults else ())]
    structs = [
        _struct(f"{name}_inputs", interface.inputs, real, units),
        _struct(f"{name}_outputs", interface.outputs, real, units),
        _struct(f"{name}_parameters", interface.parameters, real, units),
        "\n".join(["typedef struct {", *indented(states), f"}} {name}_state;"]),
    ]
    rate = f"{float(schedule.rate):g}"
    method = f", {schedule.method}" if part.program.states else ""
    return f"""/* {c_comment(part.program.name)}: {rate} steps per second{method}, {real}.
   Made by spart_blocks {__version__}. */

#ifndef {guard}
#define {guard}

#ifdef __cplusplus
extern "C" {{
#endif

#define {name}_RATE {float(schedule.rate)!r} /* steps per second [Hz] */
#define {name}_PERIOD {float(schedule.step)!r} /* [s] */
#define {name}_PARAMETERS {len(interface.parameters)} /* in the table of parameters */
#define {name}_FAULTS {len(faults)} /* that blocks may report */

/* What a step returns. */
enum {{
  {name}_OK = {OK},
  {name}_STOPPED = {STOPPED}, /* a STOP block asks for the end */
  {name}_NOT_FINITE = {NOT_FINITE}, /* a result is not a number; nothing was changed */
  {name}_FAULT = {FAULT} /* a block reports a fault */
}};

/* Matrices are stored row by row. */

{chr(10).join(f"{text}{chr(10)}" for text in structs)}
/* A parameter: the name it has in the diagram, where it begins in the struct of parameters,
   counted in numbers, how many numbers it has, and what each must lie between. */
typedef struct {{
  const char *name;
  int start, size;
  {real} min, max;
}} {name}_parameter;

extern const {name}_parameter {name}_table[];
{_faults(name, faults)}
/* The inputs at the start of the diagram, and the parameters as they are in it. */
void {name}_nominal({name}_inputs *u, {name}_parameters *p);

/* The first parameter that is out of its bounds or not a number, by its place in the table;
   -1 where all are right. */
int {name}_check(const {name}_parameters *p);

/* The state at t = 0. */
void {name}_init({name}_state *s, const {name}_parameters *p);

/* Step k, at t = k / rate. First _output: the clocks due tick, and the outputs are computed.
   Send them. Then _update: the states move to the next step, with the inputs held. Each is
   called once a step; _step calls both. */
int {name}_output({name}_state *s, const {name}_inputs *u, const {name}_parameters *p,
    {name}_outputs *y);
int {name}_update({name}_state *s, const {name}_inputs *u, const {name}_parameters *p);
int {name}_step({name}_state *s, const {name}_inputs *u, const {name}_parameters *p,
    {name}_outputs *y);

/* The time of the next step [s]. */
double {name}_time(const {name}_state *s);

#ifdef __cplusplus
}}
#endif

#endif
"""


def _struct(name: str, members: Sequence[Member], real: Real, units: Any) -> str:
    lines = []
    for member in members:
        size = f"[{member.size}]" if member.shape else ""
        shape = f"({', '.join(map(str, member.shape))})" if len(member.shape) > 1 else ""
        unit = f"[{units[member.name]}]" if member.name in units else ""
        note = " ".join(filter(None, (c_comment(member.name), shape, c_comment(unit))))
        lines.append(f"{real} {member.field}{size}; /* {note} */")
    return "\n".join(["typedef struct {", *indented(lines or ["char none;"]), f"}} {name};"])


def _state_members(part: Subdiagram, real: Real) -> list[str]:
    lines = ["long long k; /* number of the next step */"]
    for letter, slots in (("x", part.program.states), ("xd", part.program.discrete)):
        size = slots[-1].part.stop if slots else 0
        if size:
            where = ", ".join(f"{slot.name} at {slot.start}" for slot in slots)
            lines.append(f"{real} {letter}[{size}]; /* {c_comment(where)} */")
    return lines


def _faults(name: str, faults: Sequence[str]) -> str:
    if not faults:
        return ""
    return f"""
/* The faults: the block, and what is wrong. With {name}_FAULT, `fault` of the state is the place
   in this table. */
extern const char *const {name}_faults[];
"""
