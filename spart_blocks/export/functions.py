"""A CasADi function as a static function of C."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from spart_blocks.errors import DiagramError
from spart_blocks.export.expressions import Real, UnknownOperationError, statements


@dataclass(frozen=True)
class Argument:
    """Arguments of the C function that stand for one of CasADi's: how they are declared,
    such as `const double *x`, and the C of each entry."""

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
    """The text of `static void name(arguments..., result)`. Those that it does not read are
    cast to void, so that every compiler is content."""
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
    """A constant array; C has none of length zero, so one without entries holds `empty`."""
    lines = [str(entry) for entry in entries] or [empty]
    if kind in ("int", "double"):
        lines = [", ".join(lines[k : k + 8]) for k in range(0, len(lines), 8)]
    body = ",\n  ".join(lines)
    return f"static const {kind} {name}[] = {{\n  {body}\n}};"


def indented(lines: Iterable[str]) -> list[str]:
    """Lines of C within one more pair of braces."""
    return [f"  {line}" for line in lines]


def selected(function: Any, rows: Sequence[int], name: str) -> Any:
    """The function's result, of these rows alone."""
    import casadi as ca

    arguments = function.sx_in()
    column = function(*arguments)
    picked = ca.densify(column[list(rows)]) if rows else ca.SX(0, 1)
    names = [function.name_in(k) for k in range(function.n_in())]
    return ca.Function(name, arguments, [picked], names, ["y"])
