"""Replaces the parameters of a program's functions by functions of time and of a new vector p."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca

from spart_blocks.program.program import Program

_FUNCTIONS = ("rates", "held", "outputs", "watched", "switched", "project", "advance", "reach")


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
