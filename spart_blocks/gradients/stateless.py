"""Signals of a program that has no states: functions of time and parameters, read without a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.gradients.tangents import Directions, Floats
from spart_blocks.program.c.machine_code import machine_code
from spart_blocks.run.engines.native import Called, Native

AT_ONCE = 4096
"""Times whose derivatives by all parameters are held at once."""


def is_stateless(engine: Native) -> bool:
    """Whether nothing in a program remembers, ticks or ends its run: each instant is on its own."""
    program = engine.program
    return not (len(program.x0) or len(program.xd0) or program.clocks or program.crossings)


def stateless_changes(
    directions: Directions, key: Any, column: Any, times: Floats
) -> tuple[Floats, Floats, Floats]:
    """Values (n, w) at n times, their changes (n, w, m) along m directions, and their rates (n, w).

    column: a Function (t, x, xd, p) -> w numbers. key: its own.
    """
    engine, entries = directions.engine, directions.entries
    made = engine.derived(("stateless", key, entries), lambda: _with_slopes(column, entries))
    code = machine_code(made) if made.is_a("SXFunction") else None
    call = Called(made, engine.program.p, code)
    w, n, m = column.numel_out(0), len(times), directions.m
    values, rates, changes = np.empty((n, w)), np.empty((n, w)), np.empty((n, w, m))
    rows, now = np.empty((min(n, AT_ONCE), made.numel_out(0))), call.arguments[0]
    for first in range(0, n, AT_ONCE):
        part = slice(first, first + AT_ONCE)
        for k, time in enumerate(times[part].tolist()):
            now[0] = time
            call.evaluate()
            rows[k] = call.result
        some = rows[: len(times[part])]
        values[part], rates[part] = some[:, :w], some[:, w : 2 * w]
        slopes = some[:, 2 * w :].reshape(len(some), len(entries), w)
        with np.errstate(
            invalid="ignore", over="ignore"
        ):  # what is not finite is refused by others
            changes[part] = np.einsum("new,em->nwm", slopes, directions.dp, optimize=True)
    return values, changes, rates


def _with_slopes(column: Any, entries: Sequence[int]) -> Any:
    """The Function (t, x, xd, p) -> the column, its derivative by time, and those by these entries
    of p, one after the other.
    """
    arguments = column.sx_in()
    t, p = arguments[0], arguments[3]
    values = ca.densify(column(*arguments))
    rates = ca.jtimes(values, t, ca.SX(1.0))
    slopes = ca.jacobian(values, p)[:, list(entries)] if entries else ca.SX(values.numel(), 0)
    whole = ca.veccat(values, ca.densify(rates), ca.densify(slopes))
    return ca.Function("with_slopes", arguments, [ca.cse(whole)], ["t", "x", "xd", "p"], ["y"])
