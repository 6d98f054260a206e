"""The C header of a subdiagram: its structs, and the declarations of its functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from spart_blocks import __version__
from spart_blocks.export.interface import Interface, Member
from spart_blocks.export.schedule import Schedule, eventful, faults_of, slides
from spart_blocks.program.c.dialects import Real
from spart_blocks.program.c.text import c_comment, header, indented
from spart_blocks.program.c.writer import slide_sizes
from spart_blocks.program.subdiagram import Subdiagram

# --- Files that exports share ---------------------------------------------------------------------


def runtime_file(name: str) -> str:
    """The text of a file of the C runtime."""
    return header(f"export/c/{name}")


def filled(file: str, name: str, **words: object) -> str:
    """The text of `export/c/FILE.in` with its words in capitals replaced: NAME by the name of the
    subdiagram in C, others as given. A word alone in its line stands for any number of lines, each
    with its end."""
    values = {"NAME": name, **{word: str(value) for word, value in words.items()}}
    known = "|".join(sorted(values, key=len, reverse=True))
    pattern = rf"^({known})\n|(?<![A-Z_])({known})(?![A-Z])"
    text = runtime_file(f"{file}.in")
    return re.sub(pattern, lambda found: values[found[1] or found[2]], text, flags=re.MULTILINE)


OK, STOPPED, NOT_FINITE, FAULT = range(4)
"""The status that a step returns, as in step.h.in."""
_FAULT = ("long long fault; /* its place in the table of faults */",)
_FAULT_TABLE = """
/* The faults: the block, and what is wrong. With {name}_FAULT, `fault` of the state is the place
   in this table. */
extern const char *const {name}_faults[];
"""


def header_text(part: Subdiagram, schedule: Schedule, interface: Interface, real: Real) -> str:
    """The text of NAME.h."""
    name, units = interface.name, part.program.display.units
    faults = faults_of(part.program, schedule.method)
    located = eventful(part.program, schedule.method)
    number = "double" if located else real
    kept = _kept(part, name) if located else []
    states = [
        *_state_members(part, number),
        *([f"{name}_kept kept; /* what crossings leave to the next step */"] if kept else []),
        *(_FAULT if faults else ()),
    ]
    structs = [
        _struct(f"{name}_inputs", interface.inputs, real, units),
        _struct(f"{name}_outputs", interface.outputs, real, units),
        _struct(f"{name}_parameters", interface.parameters, real, units, part.docs),
        *(_typedef(members, kind) for kind, members in kept),
        _typedef(states, f"{name}_state"),
    ]
    method = f", {schedule.method}" if part.program.states else ""
    return filled(
        "step.h",
        name,
        NAME_H=f"{name.upper()}_H",
        TITLE=c_comment(part.program.name),
        SPEED=f"{float(schedule.rate):g} steps per second{method}",
        REAL=real,
        VERSION=__version__,
        RATE=repr(float(schedule.rate)),
        PERIOD=repr(float(schedule.step)),
        PARAMETERS=len(interface.parameters),
        FAULTS=len(faults),
        STRUCTS="".join(f"{text}\n\n" for text in structs),
        FAULT_TABLE=f"{_FAULT_TABLE.format(name=name) if faults else ''}\n",
    )


NO_DOCS: Mapping[str, str] = {}


def _struct(
    name: str, members: Sequence[Member], real: Real, units: Any, docs: Mapping[str, str] = NO_DOCS
) -> str:
    lines = []
    for member in members:
        size = f"[{member.size}]" if member.shape else ""
        shape = f"({', '.join(map(str, member.shape))})" if len(member.shape) > 1 else ""
        unit = f"[{units[member.name]}]" if member.name in units else ""
        doc = f": {docs[member.name]}" if member.name in docs else ""
        words = (c_comment(member.name), shape, c_comment(unit))
        note = " ".join(filter(None, words)) + c_comment(doc)
        lines.append(f"{real} {member.field}{size}; /* {note} */")
    return "\n".join(["typedef struct {", *indented(lines or ["char none;"]), f"}} {name};"])


def _typedef(members: Sequence[str], name: str) -> str:
    return "\n".join(["typedef struct {", *indented(members), f"}} {name};"])


def _kept(part: Subdiagram, name: str) -> list[tuple[str, list[str]]]:
    """The structs of what crossings leave to the next step: the name of each, and its members."""
    program = part.program
    sizes = slide_sizes(program)
    crossings, resets = len(program.crossings), sizes["SB_RESETS"]
    kept = [f"double g[{crossings}]; /* values of the zero-crossing functions */"]
    if resets:
        kept.append(f"double bounced[{crossings}]; /* when resets last turned a signal back */")
    kept += ["double limit; /* of the next integration step [s] */", "int staged;"]
    if not slides(program):
        return [(f"{name}_kept", kept)]
    jump = f"double jump[{len(program.x0)}];"
    holds = [
        "int surfaces, contacts, met;",
        "double recent[3]; /* times of the last crossings, of which there are `met` */",
        f"{name}_surface surface[{sizes['SB_SURFACES']}];",
        f"{name}_touch contact[{max(1, sizes['SB_CONTACTS'])}];",
        f"{name}_bounce bounce[{max(1, resets)}];",
    ]
    return [
        (f"{name}_surface", ["int k;", f"unsigned char along[{crossings}];"]),
        (f"{name}_touch", ["int k;", jump]),
        (f"{name}_bounce", [jump, "double hardest;"]),
        (f"{name}_holds", holds),
        (
            f"{name}_kept",
            [*kept, f"{name}_holds holds; /* what holds the states */"],
        ),
    ]


def _state_members(part: Subdiagram, real: Real) -> list[str]:
    lines = ["long long k; /* number of the next step */"]
    for letter, slots in (("x", part.program.states), ("xd", part.program.discrete)):
        size = slots[-1].part.stop if slots else 0
        if size:
            where = ", ".join(f"{slot.name} at {slot.start}" for slot in slots)
            lines.append(f"{real} {letter}[{size}]; /* {c_comment(where)} */")
    return lines
