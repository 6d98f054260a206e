"""Algebraic loops as expressions: the solution is a call of a function that iterates.

A program calls `solve_...`, a CasADi function that repeats a Newton step of scalars until it
converges; code generators write the step with their own loop around it. The iteration has no
derivatives. After it, one more Newton step, as an expression, has the derivatives of the solution,
by the implicit function theorem. A linear loop needs no iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.diagram.network.loop_block import AlgebraicLoop, Shape, corrected, whole
from spart_blocks.formulas import newton
from spart_blocks.program.tracing.symbol import (
    Symbol,
    SymbolArray,
    box,
    column_of,
    scalars,
    symbols,
)

PREFIX = "solve_"
"""Prefix of the names of the functions that iterate."""
STEP = "newton_"
"""Prefix of the names of their steps (state, inputs) -> state."""
_DOUBLINGS = 8
"""The largest number of steps is two to the power of this."""

Residual = Callable[[Sequence[Any]], list[Any]]


def solved(
    loop: AlgebraicLoop,
    shapes: Sequence[Shape],
    starts: Sequence[Any],
    residual: Residual,
    values: list[Sequence[Any]],
) -> list[Any]:
    """The unknowns of a loop as expressions, and the error of the solution.

    starts: initial guesses, numbers or symbols. residual: function of the unknowns that must be
    zero; it reads the outputs of other nodes from values.
    """
    start = column_of([_start(s, shape) for s, shape in zip(starts, shapes, strict=True)])
    z_column, z = symbols("z", (start.numel(),))
    stand_ins, inputs = _stand_ins(loop, values)
    try:
        g = column_of(residual(loop.parts(z, shapes)))
    finally:
        for (i, _), old in inputs.items():
            values[i] = old
    jacobian = ca.densify(ca.jacobian(g, z_column))
    own = ca.vertcat(z_column, *stand_ins)
    known = {s.element_hash() for s in ca.vertsplit(own)}
    others = [s for s in ca.symvar(ca.vertcat(g, ca.vec(jacobian)))
              if s.element_hash() not in known]  # fmt: skip
    begin_column = ca.SX.sym("start", start.numel())
    taken = ca.vertcat(begin_column, *stand_ins, *others)
    given = ca.vertcat(start, *(column_of([values[i][k]]) for i, k in inputs), *others)
    equations = ca.Function("equations", [z_column, taken], [g, jacobian])
    return _solution(loop, shapes, equations, given)


def _stand_ins(
    loop: AlgebraicLoop, values: list[Sequence[Any]]
) -> tuple[list[Any], dict[tuple[int, int], Sequence[Any]]]:
    """Replace the signals of other nodes that the loop reads by new symbols, so that the iteration
    does not compute them again. Returns the columns of symbols and the replaced values.
    """
    columns: list[Any] = []
    replaced: dict[tuple[int, int], Sequence[Any]] = {}
    originals: dict[int, Sequence[Any]] = {}
    for i, k in loop.outside:
        value = values[i][k]
        if not isinstance(value, (Symbol, SymbolArray)):
            continue
        originals.setdefault(i, values[i])
        column, fresh = symbols(f"w{i}_{k}_", np.shape(value))
        columns.append(column)
        replaced[i, k] = originals[i]
        row = list(values[i])
        row[k] = fresh if np.shape(value) else fresh[()]
        values[i] = row
    return columns, replaced


def _solution(
    loop: AlgebraicLoop, shapes: Sequence[Shape], equations: Any, given: Any
) -> list[Any]:
    n = equations.numel_in(0)
    z_column = ca.SX.sym("z", n)
    _, slope = equations(z_column, given)
    if ca.depends_on(slope, z_column):
        z = _iterated(equations, loop.absolute)(given)
    else:
        z = _corrected_by(equations, ca.DM.zeros(n), given)
    g, slope = equations(z, given)
    inverse = newton.inverted(_matrix(slope))
    at, off = scalars(z), scalars(g)
    error = newton.level(at, off, inverse, loop.absolute)
    z = corrected(at, -(inverse @ off))
    return [*loop.parts(z, shapes), error]


def _corrected_by(equations: Any, z: Any, given: Any) -> Any:
    """z (n,1) after one full Newton step."""
    g, slope = equations(z, given)
    return z - column_of([newton.inverted(_matrix(slope)) @ scalars(g)])


def _start(value: Any, shape: Shape) -> Any:
    if isinstance(value, (Symbol, SymbolArray)):
        return box(np.broadcast_to(box(value), shape))
    return whole(value, shape)


def _matrix(slope: Any) -> Any:
    n = slope.size1()
    return scalars(ca.vec(slope.T)).reshape(n, n)


def _iterated(equations: Any, absolute: bool) -> Any:
    """The function (start and other inputs,) -> z that repeats Newton steps."""
    n, size = equations.numel_in(0), equations.numel_in(1)
    places = newton.NewtonLayout(n)
    state_column, state = symbols("s", (places.size,))
    w = ca.SX.sym("w", size)
    trial = places.trial(state, scalars(w[:n]))
    g, slope = equations(column_of([trial]), w)
    after = places.step(state, trial, scalars(g), _matrix(slope), absolute)
    column = ca.cse(ca.densify(column_of([after])))
    name = sha256(ca.Function("f", [state_column, w], [column]).serialize().encode()).hexdigest()
    step = ca.Function(f"{STEP}{name[:16]}", [state_column, w], [column], ["s", "w"], ["after"])
    run = _guarded(step, places)
    for _ in range(_DOUBLINGS):
        s_, w_ = ca.MX.sym("s", places.size), ca.MX.sym("w", size)
        run = _guarded(ca.Function("twice", [s_, w_], [run(run(s_, w_), w_)]), places)
    w_ = ca.MX.sym("w", size)
    z = run(ca.DM(places.begin()), w_)[places.z]
    return _without_derivatives(ca.Function(f"{PREFIX}{name[:16]}", [w_], [z], ["w"], ["z"]))


@dataclass(frozen=True)
class Solver:
    """A function that iterates, for generators of code.

    step: SX function (state, inputs) -> state. begin: initial state. n: number of unknowns, the
    first entries of the state. status: index of the entry that is positive at the end.
    """

    name: str
    step: Any
    begin: tuple[float, ...]
    n: int
    status: int
    inputs: int


MOST_STEPS = 2**_DOUBLINGS


def solvers_called_by(functions: Iterable[Any]) -> list[Solver]:
    """The iterating functions that these functions call, without duplicates."""
    called = {f.name(): f for function in functions for f in function.find_functions(0)
              if f.name().startswith(PREFIX)}  # fmt: skip
    found = []
    for name, solver in sorted(called.items()):
        step = next(f for f in solver.find_functions() if f.name().startswith(STEP))
        places = newton.NewtonLayout(solver.numel_out(0))
        found.append(Solver(name, step, tuple(places.begin().tolist()), places.n, places.status,
                            solver.numel_in(0)))  # fmt: skip
    return found


def _without_derivatives(function: Any) -> Any:
    """The function with derivatives set to zero. CasADi's own option to omit derivatives gives NaN
    in forward mode.
    """
    name, size, n = function.name(), function.numel_in(0), function.numel_out(0)
    w, z = ca.MX.sym("w", size), ca.MX.sym("z", n)
    zeros: Any = ca.MX(ca.DM.zeros(n, size))
    slope = ca.Function(f"jac_{name}", [w, z], [zeros], ["w", "out_z"], ["jac_z_w"])
    options: Any = {
        "never_inline": True,
        "enable_forward": False,
        "enable_reverse": False,
        "custom_jacobian": slope,
    }
    return ca.Function(name, [w], [function(w)], ["w"], ["z"], options)


def is_derivative(called: str) -> bool:
    """Whether a called function is a derivative of an iterating one, which is zero."""
    return PREFIX in called and not called.startswith(PREFIX)


def _guarded(function: Any, places: newton.NewtonLayout) -> Any:
    """The function of (state, inputs), which does not change the state of a finished iteration."""
    s, w = (ca.MX.sym(name, function.numel_in(k)) for k, name in enumerate("sw"))
    same = ca.Function("same", [s, w], [s])
    either = ca.Function.if_else("either", same, function)
    return ca.Function("guarded", [s, w], [either(s[places.status] > 0, s, w)])
