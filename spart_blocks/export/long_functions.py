"""A very long CasADi function as a sequence of C functions.

Compile time grows faster than the length of a function. gcc 12 -O1 takes 14.5 s for an adjoint of
17 000 statements in one function, mostly for register allocation, and 5 s for functions of 500
statements. Values that one function computes for another are passed in an array.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from spart_blocks.base.errors import DiagramError
from spart_blocks.export.expressions import statements
from spart_blocks.export.functions import Argument, c_function, indented
from spart_blocks.program.c.scalar_code import UnknownOperationError

LONG = 8000
PIECE = 500
"""Number of statements from which a function is split, and of each of its functions."""

_LOCAL = re.compile(r"\bw(\d+)\b")


def long_function(name: str, function: Any, arguments: Sequence[Argument], result: Argument) -> str:
    """As `c_function` in double precision, but split into several functions if it is long."""
    if function.n_instructions() < LONG:
        return c_function(name, function, arguments, result)
    try:
        body = statements(function, [a.entries for a in arguments], result.entries)
    except UnknownOperationError as error:
        raise DiagramError(f"{name} cannot become C: {error}") from None
    lines = [line for line in body if not line.startswith("double ")]
    size = 1 + max(int(slot) for line in lines for slot in _LOCAL.findall(line))
    lines = [_LOCAL.sub(r"w[\1]", line) for line in lines]
    declared = [text for argument in (*arguments, result) for text in argument.declared]
    names = [text.split()[-1].lstrip("*") for text in declared]
    pieces, calls = [], []
    for first in range(0, len(lines), PIECE):
        piece = f"{name}_{first // PIECE}"
        head = f"SB_APART static void {piece}({', '.join(declared)}, double *restrict w) {{"
        ignored = [f"(void){text};" for text in (*names, "w")]
        pieces.append("\n".join([head, *indented([*ignored, *lines[first : first + PIECE]]), "}"]))
        calls.append(f"{piece}({', '.join(names)}, w);")
    head = f"static void {name}({', '.join(declared)}) {{"
    whole = "\n".join([head, *indented([f"double w[{size}];", *calls]), "}"])
    return "\n\n".join([*pieces, whole])
