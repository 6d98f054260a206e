"""CasADi functions as static C functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.errors import DiagramError
from spart_blocks.export.expressions import statements
from spart_blocks.program.c.scalar_code import Real, UnknownOperationError


@dataclass(frozen=True)
class Argument:
    """The C arguments for one CasADi argument. declared: their declarations, such as
    `const double *x`. entries: the C expression of each entry."""

    declared: tuple[str, ...]
    entries: tuple[str, ...]


def vector(pointer: str, size: int, real: Real) -> Argument:
    """Array of `size` numbers."""
    return Argument((f"const {real} *{pointer}",), tuple(f"{pointer}[{k}]" for k in range(size)))


def c_function(
    name: str,
    function: Any,
    arguments: Sequence[Argument],
    result: Argument,
    real: Real = "double",
) -> str:
    """The text of `static void name(arguments..., result)`. Unused arguments are cast to void, to
    avoid compiler warnings."""
    try:
        body = statements(function, [a.entries for a in arguments], result.entries, real)
    except UnknownOperationError as error:
        raise DiagramError(f"{name} cannot become C: {error}") from None
    declared = [text for argument in (*arguments, result) for text in argument.declared]
    text = "\n".join(body)
    variables = [declaration.split()[-1].lstrip("*") for declaration in declared]
    unused = [f"(void){name};" for name in variables if not re.search(rf"(?<!->)\b{name}\b", text)]
    lines = [f"static void {name}({', '.join(declared)}) {{", *indented((*unused, *body)), "}"]
    return "\n".join(lines)


def array_text(kind: str, name: str, entries: Sequence[Any], empty: str = "0") -> str:
    """A constant array. An array without entries contains `empty`, since C has no arrays of length
    zero."""
    lines = [str(entry) for entry in entries] or [empty]
    if kind in ("int", "double"):
        lines = [", ".join(lines[k : k + 8]) for k in range(0, len(lines), 8)]
    body = ",\n  ".join(lines)
    return f"static const {kind} {name}[] = {{\n  {body}\n}};"


def indented(lines: Iterable[str]) -> list[str]:
    """Lines of C, indented by one level."""
    return [f"  {line}" for line in lines]


def selected(function: Any, rows: Sequence[int], name: str) -> Any:
    """A function that returns only these rows of a function's result."""
    import casadi as ca

    arguments = function.sx_in()
    column = function(*arguments)
    picked = ca.densify(column[list(rows)]) if rows else ca.SX(0, 1)
    names = [function.name_in(k) for k in range(function.n_in())]
    return ca.Function(name, arguments, [picked], names, ["y"])
