"""Derivatives of a program's functions along directions of time, states and parameters.

Throughout, a direction is a column: arrays (n, m) hold those of m directions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from spart_blocks.program.c.machine_code import MachineCode, machine_code
from spart_blocks.run.engines.native import Called, Native

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Directions:
    """m directions in the space of an engine's parameters.

    engine: with the parameters at which derivatives are taken. entries: indices of the parameters
    that vary. dp (len(entries), m): their changes. size (m,): that of the parameters that change
    along each direction.
    """

    def __init__(self, engine: Native, changes: Floats) -> None:
        """changes (np, m): of all parameters."""
        self.engine = engine
        self.entries = tuple(np.flatnonzero(changes.any(axis=1)).tolist())
        self.changes = changes
        self.dp = changes[list(self.entries)]
        self.m = changes.shape[1]
        moved = np.where(changes != 0, engine.program.p[:, None], 0.0)  # others may be infinite
        sizes = np.abs(moved).max(axis=0, initial=0.0)
        self.size: Floats = np.where(sizes > 0, sizes, 1.0)
        self._made: dict[Any, Any] = {}

    def tangent(self, key: Any, make: Callable[[], Any], *, often: bool = False) -> Tangent:
        """The tangent of the function that `make` gives. key: one for each function. often: as
        for `Tangent`.
        """
        if key not in self._made:
            self._made[key] = Tangent(self, key, make, often)
        found: Tangent = self._made[key]
        return found


class Tangent:
    """A function (t, x, xd, p, ...) -> column (n,), and its derivatives along directions.

    often: whether it is called so often that compiling it pays.
    """

    def __init__(
        self, directions: Directions, key: Any, make: Callable[[], Any], often: bool
    ) -> None:
        self.directions = directions
        engine, entries = directions.engine, directions.entries
        self.function = engine.derived(("of tangent", key), make)
        self.n = self.function.numel_out(0)
        along = engine.derived(("along", key, entries), lambda: _along(self.function, entries))
        p = engine.program.p
        codes = (None, None)
        if often:
            functions = (self.function, along)
            codes = engine.derived(("code", key, entries), lambda: tuple(map(_code, functions)))
        self._value, self._along = map(Called, (self.function, along), (p, p), codes)

    def value(self, t: float, x: Floats, xd: Floats, *more: Floats) -> Floats:
        """Its value (n,)."""
        return self._value(t, x, xd, *more)

    def along(
        self,
        t: float,
        x: Floats,
        xd: Floats,
        dt: Floats | float,
        dx: Floats,
        dxd: Floats,
        *more: Floats,
    ) -> Floats:
        """Its derivatives (n, m) along the directions, with the changes dt (m,) of the time and
        dx (nx, m), dxd (nd, m) of the states.
        """
        call, dp = self._along, self.directions.dp
        now, states, held, _, by_t, by_x, by_xd, by_p, *others = call.arguments
        now[0], states[:], held[:] = t, x, xd
        for argument, value in zip(others, more, strict=True):
            argument[:] = value
        moves = np.broadcast_to(dt, self.directions.m)
        found = np.empty((self.n, self.directions.m))
        for k in range(self.directions.m):
            by_t[0], by_x[:], by_xd[:], by_p[:] = moves[k], dx[:, k], dxd[:, k], dp[:, k]
            call.evaluate()
            found[:, k] = call.result
        return found

    def by_time(self, t: float, x: Floats, xd: Floats, dx: Floats, *more: Floats) -> Floats:
        """Its change (n,) per second where the states change by dx (nx,)."""
        none = np.zeros(len(self.directions.entries))
        return self._along(t, x, xd, np.ones(1), dx, np.zeros(len(xd)), none, *more)


def _code(function: Any) -> MachineCode | None:
    return machine_code(function) if function.is_a("SXFunction") else None


def _along(function: Any, entries: Sequence[int]) -> Any:
    """The Function (t, x, xd, p, dt, dx, dxd, dp, ...) -> column of the derivative along one
    direction. dp: changes of these entries of p.
    """
    arguments = function.sx_in()
    t, x, xd, p = arguments[:4]
    column = ca.densify(function(*arguments))
    chosen = p[list(entries)] if entries else ca.SX(0, 1)
    seeds = [ca.SX.sym(name, v.numel()) for name, v in zip("txdp", (t, x, xd, chosen), strict=True)]
    whole, change = ca.veccat(t, x, xd, chosen), ca.veccat(*seeds)
    slope = ca.cse(ca.densify(ca.jtimes(column, whole, change)))
    return ca.Function("along", [t, x, xd, p, *seeds, *arguments[4:]], [slope])
