"""Compiled loops over the steps of a tape, and the derivatives of equations that they call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import casadi as ca

from spart_blocks.base.tableaus import Tableau
from spart_blocks.gradients.seeded import Seeded, seeded
from spart_blocks.program.c.compiler import loaded_library
from spart_blocks.program.c.text import header, macros, with_headers
from spart_blocks.run.constants import INSIDE, LENGTHEN, SAFETY_OF_STEPS, SHORTEN
from spart_blocks.run.engines.native import Native
from spart_blocks.run.tape import HEAD

Kind = Literal["tangent", "adjoint"]

FLAGS = ("-fno-math-errno", "-Wno-psabi")
ALLOWED = 10.0
"""The error of changes in a step that is not repeated in shorter parts, relative to their
tolerance: run and changes have errors of one kind, and only changes that need shorter steps than
the run, as those of a fast mode at rest, exceed it."""
LEAST = 1e-6
"""Shortest part of a step, as a fraction of it."""
MOST_PARTS = 1000
"""Most parts of a step backwards."""
UNCHECKED = 3
"""Rows backwards between two at which the error of adjoints is checked,"""
ALIKE = 1.1
"""as long as their steps are alike, within this factor."""
SMALL = 0.1
"""Fraction of the largest adjoint of a state of which others may be off by the same tolerance."""
ROUNDED = 1e-13
"""Differences from the run's states that are due to rounding."""
MOST_ROWS = 5000
"""Most rows in a call of compiled code, between which Python sees Ctrl-C."""
SAME_ULPS = 64
"""Times that differ by fewer units in the last place are the same."""
_PLAIN = 4
"""Arguments of a function that limits do not act in: t, x, xd, p."""


@dataclass(frozen=True)
class Equations:
    """What acts in steps and at ticks: a method, the Functions of the rates, of the integrands and
    of the projection, None without any, and the entries of p that vary. drifting: whether each
    step is projected, not only stops. ticks: Functions (t, x, xd, p) -> xd of the sets of clocks
    that tick together, None for no clock; names: theirs. random: the discrete states that are
    random sequences, which nothing changes.
    """

    method: Tableau
    rates: Any
    summed: Any
    project: Any
    entries: tuple[int, ...]
    drifting: bool = False
    ticks: tuple[Any, ...] = ()
    names: tuple[tuple[str, ...], ...] = ()
    random: tuple[int, ...] = ()

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The numbers of states, of discrete states and of integrals."""
        k = 0 if self.summed is None else self.summed.numel_out(0)
        return self.rates.numel_in(1), self.rates.numel_in(2), k

    @property
    def holds(self) -> bool:
        """Whether limits act by the state at the start of a step."""
        return bool(self.rates.n_in() > _PLAIN)


@dataclass(frozen=True)
class Loop:
    """A compiled loop. rooms: numbers in w of the rates, and of projection and ticks."""

    loaded: ctypes.CDLL
    rooms: tuple[int, int]

    def function(self, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
        """A function of the library."""
        found = self.loaded[name]
        found.restype, found.argtypes = result, arguments
        return found


def loop_of(kind: Kind, equations: Equations, engine: Native, lanes: int) -> Loop:
    """The loop of a kind over an engine's equations. Raises LookupError where there is no machine
    code.
    """
    solver = engine.program.run.solver
    key = (f"{kind} rows", solver, equations.entries, lanes, equations.names)
    found: Loop | None = engine.derived(key, lambda: _compiled(kind, equations, lanes))
    if found is None:
        raise LookupError("not compiled")
    return found


def _compiled(kind: Kind, equations: Equations, lanes: int) -> Loop | None:
    derivative = tangent_of if kind == "tangent" else adjoint_of
    rates, summed = equations.rates, equations.summed
    varying = equations.entries, equations.random
    try:
        made = [_seeded(kind, rates, derivative(rates, summed, *varying))]
        if equations.project is not None:
            project = equations.project
            made.append(_seeded("project", project, derivative(project, None, *varying)))
        for k, tick in enumerate(equations.ticks):
            if tick is not None:
                made.append(_seeded(f"tick_{k}", tick, derivative(tick, None, *varying)))
    except LookupError:
        return None
    loaded = loaded_library(_source(kind, equations, made, lanes), FLAGS)
    if loaded is None:
        return None
    return Loop(loaded, (made[0].room, max((one.room for one in made[1:]), default=0)))


def _seeded(name: str, function: Any, derivative: Any) -> Seeded:
    return seeded(name, derivative, range(function.n_in(), derivative.n_in()))


def _source(kind: Kind, equations: Equations, made: Sequence[Seeded], lanes: int) -> str:
    nx, nd, k = equations.sizes
    start = ", start" if equations.holds else ""
    defined = {
        "SB_SEEDS": lanes,
        "SB_NX": nx,
        "SB_ND": nd,
        "SB_NE": len(equations.entries),
        "SB_NK": k,
        "SB_ROOM": made[0].room,
        "SB_STAGES": len(equations.method.b),
        "SB_HEAD": HEAD,
        "SB_HOLDS": int(equations.holds),
        "SB_PROJECTS": int(equations.project is not None and nx > 0),
        "SB_DRIFTS": int(equations.drifting),
        "SB_SAME": SAME_ULPS,
        "SB_LAST": int(equations.method.P is not None),
        "SB_ALLOWED": ALLOWED,
        "SB_LEAST": LEAST,
        "SB_MOST_PARTS": MOST_PARTS,
        "SB_UNCHECKED": UNCHECKED,
        "SB_ALIKE": ALIKE,
        "SB_SMALL": SMALL,
        "SB_ROUNDED": ROUNDED,
        "SB_SHORTEN": SHORTEN,
        "SB_LENGTHEN": LENGTHEN,
        "SB_SAFETY": SAFETY_OF_STEPS,
        "SB_INSIDE": INSIDE,
        "SB_POINT(t, x, xd, p, start, value, w)": f"{kind}_point(t, x, xd, p{start}, value, w)",
    }
    called = dict.fromkeys(text for one in made for text in one.called)
    texts = [*called, *(one.text for one in made), *_choices(kind, equations)]
    names = ("seeds", f"{kind}_rows")
    around = [with_headers(header(f"gradients/c/{name}.h")) for name in names]
    return "\n".join([macros(defined), around[0], *texts, around[1]])


def _choices(kind: Kind, equations: Equations) -> list[str]:
    """Functions that call those of a set of ticks by its number."""
    seeds = ("dx", "dxd", "dp") if kind == "tangent" else ("v",)
    given = {
        "point": [*((f"const double *{one}", one) for one in ("t", "x", "xd", "p")),
                  ("double *value", "value"), ("double *w", "w")],
        "seeds": [*((f"const sb_seeds *{one}", one) for one in seeds),
                  ("const double *w", "w"), ("sb_seeds *out", "out")],
    }  # fmt: skip
    texts = []
    for name, arguments in given.items():
        declared, call = (", ".join(parts) for parts in zip(*arguments, strict=True))
        cases = [
            f"  if (which == {k}) tick_{k}_{name}({call});"
            for k, tick in enumerate(equations.ticks)
            if tick is not None
        ]
        unused = [f"  (void){one};" for _, one in [("", "which"), *arguments]]
        head = f"static void sb_tick_{name}(long long which, {declared}) {{"
        texts.append("\n".join([head, *unused, *cases, "}"]))
    return texts


# --- derivatives ----------------------------------------------------------------------------------


def tangent_of(function: Any, summed: Any, entries: Sequence[int], random: Sequence[int]) -> Any:
    """The Function (t, x, xd, p, ..., dx, dxd, dp) -> the values of a function, and the changes of
    these and of the integrands `summed` along a direction. dp: changes of these entries of p.
    random: entries of xd whose changes do not count.
    """
    arguments, value, column, given = _columns(function, summed, entries)
    names = ("dx", "dxd", "dp")
    seeds = [ca.SX.sym(name, one.numel()) for name, one in zip(names, given, strict=True)]
    counted = [seeds[0], _without(seeds[1], random), seeds[2]]
    change = ca.jtimes(column, ca.veccat(*given), ca.veccat(*counted))
    return _derivative(arguments, (value, change), dict(zip(names, seeds, strict=True)))


def adjoint_of(function: Any, summed: Any, entries: Sequence[int], random: Sequence[int]) -> Any:
    """The Function (t, x, xd, p, ..., v) -> the values of a function, and the derivatives of the
    product of v with these and with the integrands `summed` by (x, xd, entries of p). random:
    entries of xd by which it is zero.
    """
    arguments, value, column, given = _columns(function, summed, entries)
    v = ca.SX.sym("v", column.numel())
    change = ca.densify(ca.jtimes(column, ca.veccat(*given), v, True))
    begin = arguments[1].numel()
    change = _without(change, [begin + k for k in random])
    return _derivative(arguments, (value, change), {"v": v})


def _without(column: Any, rows: Sequence[int]) -> Any:
    """A column with zeros in these rows."""
    found = ca.SX(column)
    for row in rows:
        found[row] = 0
    return found


def _columns(
    function: Any, summed: Any, entries: Sequence[int]
) -> tuple[list[Any], Any, Any, list[Any]]:
    """Arguments of a function, its column, that with the integrands, and what varies."""
    arguments = function.sx_in()
    t, x, xd, p = arguments[:_PLAIN]
    value = ca.densify(function(*arguments))
    column = value if summed is None else ca.vertcat(value, ca.densify(summed(t, x, xd, p)))
    return arguments, value, column, [x, xd, p[list(entries)] if entries else ca.SX(0, 1)]


def _derivative(arguments: Sequence[Any], found: tuple[Any, Any], seeds: dict[str, Any]) -> Any:
    value, change = ca.cse([found[0], ca.densify(found[1])])
    names = [*("t", "x", "xd", "p", "start")[: len(arguments)], *seeds]
    given = [*arguments, *seeds.values()]
    return ca.Function("derivative", given, [value, change], names, ["value", "out"])
