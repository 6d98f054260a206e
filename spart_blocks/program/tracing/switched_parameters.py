"""Parameters that change at a given time of the run, for example because of a fault.

Each has a second value, `after.NAME`. All change at one time, `fault.at` [s], which is a known
switching time of the program. These are parameters too, so that one program runs every fault, and
also no fault, with an infinite time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.program.program import Program, Slot

# --- Parameters replaced by functions -------------------------------------------------------------


_FUNCTIONS = ("rates", "held", "outputs", "watched", "switched", "restarted", "project", "advance",
              "reach")  # fmt: skip


def substituted(program: Program, size: int, effective: Callable[[Any, Any], Any]) -> Program:
    """The program with functions that use effective(t, p) instead of p.

    size: of the new p. effective: function of the symbols t and p that returns a column of the old
    size. The fields p, edges and the layout of parameters are not changed.
    """

    def of(function: Any) -> Any:
        if function is None or "t" not in function.name_in():
            return function
        arguments = dict(zip(function.name_in(), function.sx_in(), strict=True))
        arguments["p"] = ca.SX.sym("p", size)
        p = effective(arguments["t"], arguments["p"])
        given = [p if name == "p" else value for name, value in arguments.items()]
        results = function.call(given)
        return ca.Function(
            function.name(),
            list(arguments.values()),
            [ca.cse(ca.densify(value)) for value in results],
            function.name_in(),
            function.name_out(),
        )

    return replace(
        program,
        **{name: of(getattr(program, name)) for name in _FUNCTIONS},
        updates={name: of(function) for name, function in program.updates.items()},
        resets={name: of(function) for name, function in program.resets.items()},
        handovers=tuple(replace(one, renewed=of(one.renewed)) for one in program.handovers),
    )


AFTER = "after."
"""Prefix of the name of a parameter's second value."""
AT = "fault.at"
"""The parameter that is the switching time [s]."""
SWITCHING = "fault"
"""The name, among the blocks with known switching times, under which the fault switches."""


def switched_parameters(program: Program, names: Iterable[str]) -> Program:
    """The program in which these parameters have a second value from a time on.

    By default the second value equals the first, and the time is infinite. Raises InputError for a
    parameter that is an initial state, which cannot change.
    """
    known = {slot.name: slot for slot in program.parameters}
    names = tuple(dict.fromkeys(names))
    _check(program, names, known)
    size = len(program.p)
    after: list[Slot] = []
    for name in names:
        slot = known[name]
        after.append(Slot(f"{AFTER}{name}", size, slot.shape))
        size = after[-1].part.stop
    at = Slot(AT, size, ())
    pairs = [(known[name].part, slot.part) for name, slot in zip(names, after, strict=True)]
    old = len(program.p)

    def effective(t: Any, p: Any) -> Any:
        column = ca.SX(p[:old])
        for nominal, later in pairs:
            column[nominal] = ca.if_else(t >= p[at.start], p[later], p[nominal])
        return column

    edges, switching = _edges(program, pairs, size + 1)
    return replace(
        substituted(program, size + 1, effective),
        parameters=(*program.parameters, *after, at),
        p=np.concatenate([program.p, *(program.p[nominal] for nominal, _ in pairs), [np.inf]]),
        edges=edges,
        switching=switching,
    )


def _check(program: Program, names: tuple[str, ...], known: dict[str, Slot]) -> None:
    starts = set(program.start.values())
    faults = []
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            faults.append(Fault(f"no parameter {name!r}", hint=hint))
        elif name in starts:
            text = f"{name} is an initial state, which cannot change during a run"
            faults.append(Fault(text, hint="change it at the start of the run"))
    if AT in known:
        faults.append(Fault(f"the program {program.name} already has parameters that switch"))
    if faults:
        raise InputError(faults)


def _edges(
    program: Program, pairs: list[tuple[slice, slice]], size: int
) -> tuple[Any, tuple[str, ...]]:
    """The switching times, p -> (first, period), and their names: those for the first values,
    those for the second values where they differ, and the change itself.
    """
    p = ca.SX.sym("p", size)
    old = p[: len(program.p)]
    later = ca.SX(old)
    for nominal, after in pairs:
        later[nominal] = p[after]
    moved = [k for nominal, _ in pairs for k in range(nominal.start, nominal.stop)]
    rows = ca.densify(program.edges(old))
    count = len(program.switching)
    again: list[int] = []
    if count and moved:
        reads = np.array(ca.DM(program.edges.jac_sparsity(0, 0), 1).full(), dtype=bool)
        again = [k for k in range(count) if reads[2 * k : 2 * k + 2, moved].any()]
    second = ca.densify(program.edges(later)) if again else ca.SX(0, 1)
    taken = [second[2 * k : 2 * k + 2] for k in again]
    column = ca.vertcat(rows, *taken, p[size - 1], 0)
    switching = (*program.switching, *(program.switching[k] for k in again), SWITCHING)
    return ca.Function("edges", [p], [ca.densify(column)], ["p"], ["edges"]), switching
