"""The C functions that the functions of a program call: tables, and solutions of loops."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from spart_blocks.export.functions import Argument, indented, vector
from spart_blocks.export.long_functions import long_function
from spart_blocks.program.c.scalar_code import Real, literal
from spart_blocks.program.c.table_code import table_texts
from spart_blocks.program.tracing.loops import MOST_STEPS, Solver, solvers_called_by


def called_texts(functions: Iterable[Any], real: Real = "double") -> list[str]:
    """The C that precedes that of these functions."""
    functions = list(functions)
    solvers = solvers_called_by(functions)
    tables = table_texts(functions, real)
    if solvers and real != "double":  # their steps are in double precision
        inner = table_texts([solver.step for solver in solvers])
        tables += [text for text in inner if text not in tables]
    elif solvers:
        tables = table_texts([*functions, *(solver.step for solver in solvers)])
    return [*tables, *(_text(solver) for solver in solvers)]


def _text(solver: Solver) -> str:
    """A solver: steps until one is the last."""
    size = len(solver.begin)
    given = (vector("state", size, "double"), vector("in", solver.inputs, "double"))
    step = long_function(solver.step.name(), solver.step, given, _out(size))
    lines = [
        f"double state[{size}] = {{{', '.join(map(literal, solver.begin))}}}, after[{size}];",
        f"for (int k = 0; k < {MOST_STEPS} && state[{solver.status}] <= 0; k++) {{",
        f"  {solver.step.name()}(state, in, after);",
        f"  for (int i = 0; i < {size}; i++) state[i] = after[i];",
        "}",
        f"for (int i = 0; i < {solver.n}; i++) z[i] = state[i];",
    ]
    head = f"static void {solver.name}(const double *in, double *z) {{"
    return "\n".join([step, "", head, *indented(lines), "}"])


def _out(size: int) -> Argument:
    return Argument(("double *after",), tuple(f"after[{k}]" for k in range(size)))
