"""Values and exact derivatives of a program's functions at a point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Point:
    """t [s], continuous states x, discrete states xd, parameters p."""

    t: float
    x: Floats
    xd: Floats
    p: Floats


class Derivatives(NamedTuple):
    """value (m,), and its derivatives by x, xd and p, each (m, size)."""

    value: Floats
    x: Floats
    xd: Floats
    p: Floats


@dataclass(frozen=True, eq=False)
class Moves:
    """How a point moves along m directions: dx (nx, m), dxd (nd, m), dp (np, m)."""

    dx: Floats
    dxd: Floats
    dp: Floats


class Rowwise:
    """Selected rows of a function (t, x, xd, p) -> column, with their derivatives.

    of_p: the parameters by which derivatives are taken, by default all.
    """

    def __init__(self, function: Any, rows: Rows, of_p: Rows | None = None) -> None:
        self._arguments = arguments = (
            function.sx_in() if function.is_a("SXFunction") else function.mx_in()
        )
        self._column = ca.densify(function(*arguments))[[int(row) for row in rows]]
        self._of_p = None if of_p is None else [int(k) for k in of_p]

    @cached_property
    def _matrices(self) -> list[Any]:
        """The derivatives by x, xd and p."""
        x, xd, p = (ca.jacobian(self._column, one) for one in self._arguments[1:])
        return [ca.densify(one) for one in (x, xd, p if self._of_p is None else p[:, self._of_p])]

    @cached_property
    def _function(self) -> Any:
        return ca.Function("derivatives", self._arguments, [self._column, *self._matrices])

    def __call__(self, point: Point) -> Derivatives:
        value, *found = self._function(point.t, point.x, point.xd, point.p)
        return Derivatives(np.array(value.full()).ravel(), *self._shaped(found))

    def value(self, point: Point) -> Floats:
        """The value alone (m,)."""
        found = self._value(point.t, point.x, point.xd, point.p)
        return np.array(found.full()).ravel()

    def moved(self, point: Point, moves: Moves) -> Floats:
        """The changes of the value as the point moves, one row for each direction."""
        found = [np.array(one[0].full()).ravel() for one in self._each(self._along, point, moves)]
        return np.array(found).reshape(-1, self._column.numel())

    def changes(self, point: Point, moves: Moves) -> list[Derivatives]:
        """The changes of the value and of its derivatives, for each direction."""
        return [
            Derivatives(np.array(value.full()).ravel(), *self._shaped(found))
            for value, *found in self._each(self._twice, point, moves)
        ]

    def _shaped(self, found: Sequence[Any]) -> list[Floats]:
        pairs = zip(found, self._matrices, strict=True)
        return [np.array(one.full()).reshape(like.shape) for one, like in pairs]

    @staticmethod
    def _each(function: Any, point: Point, moves: Moves) -> Iterator[Any]:
        for dx, dxd, dp in zip(moves.dx.T, moves.dxd.T, moves.dp.T, strict=True):
            found = function(point.t, point.x, point.xd, point.p, dx, dxd, dp)
            yield found if isinstance(found, tuple) else (found,)

    @cached_property
    def _value(self) -> Any:
        return ca.Function("value", self._arguments, [self._column])

    @cached_property
    def _along(self) -> Any:
        return self._differentiated([self._column])

    @cached_property
    def _twice(self) -> Any:
        return self._differentiated([self._column, *self._matrices])

    def _differentiated(self, columns: Sequence[Any]) -> Any:
        """The Function (t, x, xd, p, dx, dxd, dp) of the changes of columns along a direction."""
        states = self._arguments[1:]
        new = type(self._column)
        seeds = [new.sym(f"d{k}", one.numel()) for k, one in enumerate(states)]
        whole, change = ca.veccat(*states), ca.veccat(*seeds)
        found = []
        for one in columns:
            moved = ca.jtimes(ca.vec(one), whole, change)
            found.append(ca.densify(ca.reshape(moved, *one.shape)))
        return ca.Function("along", [*self._arguments, *seeds], found)
