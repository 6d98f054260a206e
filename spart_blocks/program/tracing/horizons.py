"""Steps of model predictive control as a called function, of which code generators write a loop.

The function is CasADi's, with the forward derivative of all its steps, so that derivatives are
those of the numbers that a tick computes, however few its steps are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.block_support.condensed import RELAXATION, Horizon, optimised
from spart_blocks.program.tracing.array_functions import implements
from spart_blocks.program.tracing.symbol_array import box
from spart_blocks.program.tracing.symbol_scalar import Symbol, sx_of

PREFIX = "admm_"
"""Prefix of the names of these functions."""
TABLES = "tables_of_"
"""Prefix of the names of the functions that give their matrices."""
_NAMES = ("W", "W0", "dual", "alone", "back", "free", "give", "entry", "count")


@implements(optimised)
def _called(horizon: Horizon, given: Any) -> Any:
    """`optimised` of symbols, by a call."""
    column = ca.vertcat(*(sx_of(value) for value in box(given).flat))
    found = ca.vertsplit(_function(horizon)(column))
    return box([Symbol(value) for value in found])


@dataclass(frozen=True)
class CalledHorizon:
    """A called function, for generators of code. matrices: by their names in Horizon, 2-D."""

    name: str
    inputs: int
    outputs: int
    matrices: dict[str, np.ndarray[Any, Any]]


def horizons_called_by(functions: Iterable[Any]) -> list[CalledHorizon]:
    """The functions of this kind that these functions call, without duplicates."""
    called = {f.name(): f for function in functions for f in function.find_functions(0)
              if f.name().startswith(PREFIX)}  # fmt: skip
    found = []
    for name, f in sorted(called.items()):
        tables = next(g for g in f.find_functions() if g.name().startswith(TABLES))
        matrices = dict(zip(_NAMES, (np.array(m.full()) for m in tables.call([0])), strict=True))
        found.append(CalledHorizon(name, f.numel_in(0), f.numel_out(0), matrices))
    return found


def _function(horizon: Horizon) -> Any:
    """The CasADi Function of `optimised`."""
    steps, (_, r, d) = horizon.steps, horizon.sizes
    values = [steps.W, steps.W0, steps.dual, steps.alone, steps.back, steps.free]
    values += [horizon.give, horizon.entry, np.array([horizon.count])]
    digest = sha256(b"".join(np.ascontiguousarray(value).tobytes() for value in values))
    name = digest.hexdigest()[:16]
    tables = ca.Function(
        f"{TABLES}{name}",
        [ca.MX.sym("nothing")],  # without an argument a call gives numbers
        [ca.MX(ca.DM(value)) for value in values],
        ["nothing"],
        list(_NAMES),
        {"never_inline": True},
    )
    given = ca.MX.sym("given", d + r + 2 * horizon.q)
    matrices = dict(zip(_NAMES, tables.call([ca.MX(0)]), strict=True))
    data, v, low, high = ca.vertsplit(given, [0, d, d + r, d + r + horizon.q, given.numel()])
    rows = horizon.entry.tolist()
    low, high = (ca.reshape(bound[rows], r, 1) for bound in (low, high))
    offset = matrices["W0"] @ data
    z = _nearest(matrices["alone"] @ data + matrices["dual"] @ v + v, low, high, matrices["give"])
    more = ca.vertcat(offset, low, high)
    state = _repeated(_step(tables, r), horizon.count)(ca.vertcat(z, v), more)
    z, v = state[:r], state[r:]
    residual = ca.mmax(ca.fabs(offset + matrices["W"] @ (z - v) - z))
    c = matrices["back"] @ (z - v) + matrices["free"] @ data
    options: Any = {"never_inline": True}
    return ca.Function(
        f"{PREFIX}{name}", [given], [ca.vertcat(c, residual, v)], ["given"], ["found"], options
    )


def _nearest(w: Any, low: Any, high: Any, give: Any) -> Any:
    inside = ca.fmin(ca.fmax(w, low), high)
    return inside + give * (w - inside)


def _step(tables: Any, r: int) -> Any:
    """The Function ((z, v), (offset, low, high)) -> (z, v) of one step."""
    s, w = ca.MX.sym("s", 2 * r), ca.MX.sym("w", 3 * r)
    matrices = dict(zip(_NAMES, tables.call([ca.MX(0)]), strict=True))
    z, v = s[:r], s[r:]
    offset, low, high = w[:r], w[r : 2 * r], w[2 * r :]
    moved = RELAXATION * (offset + matrices["W"] @ (z - v)) + (1 - RELAXATION) * z
    after = _nearest(moved + v, low, high, matrices["give"])
    return ca.Function("step", [s, w], [ca.vertcat(after, v + moved - after)])


def _repeated(step: Any, count: int) -> Any:
    """The Function of (state, inputs) that applies a step `count` times, by doublings."""
    whole, power = None, step
    size, more = step.numel_in(0), step.numel_in(1)

    def after(first: Any, second: Any) -> Any:
        s, w = ca.MX.sym("s", size), ca.MX.sym("w", more)
        return ca.Function("steps", [s, w], [second(first(s, w), w)])

    while count:
        if count % 2:
            whole = power if whole is None else after(whole, power)
        count //= 2
        power = after(power, power) if count else power
    return whole
