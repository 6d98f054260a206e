"""Signals of a run at given times, with their changes along directions of the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.gradients.forward import Forward
from spart_blocks.gradients.stateless import is_stateless, stateless_changes
from spart_blocks.gradients.tangents import Directions, Floats
from spart_blocks.gradients.taped_run import taped
from spart_blocks.program.added_signals import entries
from spart_blocks.run.engines.native import Native


@dataclass(frozen=True)
class SignalChanges:
    """Signals of one run at n times: values (n, w), their changes (n, w, m) along m directions,
    and their rates (n, w) [1/s]. t_end [s]: the end of the run; later rows are those at the end.
    """

    values: Floats
    changes: Floats
    rates: Floats
    t_end: float


def signal_changes(
    engine: Native, signals: Sequence[str], changes: Floats, times: Floats
) -> SignalChanges:
    """Run an engine and follow signals.

    engine: of a program with an explicit solver. signals: names, whose elements stand side by side
    in the results. changes (np, m): directions of the parameters. times (n,) [s], ascending. Raises
    RunError for a run that fails, NoGradientError for one without a derivative. A program without
    states is not run, but read at the times.
    """
    directions, key = Directions(engine, changes), ("signals", tuple(signals))
    if is_stateless(engine):
        column = engine.derived(key, lambda: _column(engine, signals))
        read = stateless_changes(directions, key, column, times)
        return SignalChanges(*read, float(times[-1]))
    run = taped(engine)
    column = directions.tangent(key, lambda: _column(engine, signals))
    m, w, n = directions.m, column.n, len(times)
    found = SignalChanges(np.empty((n, w)), np.empty((n, w, m)), np.zeros((n, w)), float(run.t))
    row = {float(t): k for k, t in enumerate(times)}
    for time, looks in Forward(run, directions).looks(row, dense=True):
        at, k = looks[-1].at, row[time]
        found.values[k] = column.value(at.t, at.x, at.xd)
        found.changes[k] = column.along(at.t, at.x, at.xd, 0.0, at.dx, at.dxd)
        if time <= found.t_end:
            found.rates[k] = column.by_time(at.t, at.x, at.xd, looks[-1].slope)
    return found


def _column(engine: Native, signals: Sequence[str]) -> Any:
    """The Function (t, x, xd, p) -> column of signals."""
    program = engine.program
    arguments = program.outputs.sx_in()
    whole = program.outputs(*arguments)
    picked = [whole[entries(program, name).ravel().tolist()] for name in signals]
    column = ca.cse(ca.densify(ca.vertcat(*picked)))
    return ca.Function("signals", arguments, [column], ["t", "x", "xd", "p"], ["y"])
