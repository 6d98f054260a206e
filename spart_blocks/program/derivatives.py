"""Values and exact derivatives of a program's functions at a point."""

from __future__ import annotations

from dataclasses import dataclass
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


class Rowwise:
    """Selected rows of a function (t, x, xd, p) -> column, with their derivatives."""

    def __init__(self, function: Any, rows: Rows) -> None:
        symbolic = function.sx_in if function.is_a("SXFunction") else function.mx_in
        arguments = symbolic()
        column = ca.densify(function(*arguments))[[int(row) for row in rows]]
        derivatives = [ca.jacobian(column, argument) for argument in arguments[1:]]
        self._function = ca.Function("derivatives", arguments, [column, *derivatives])
        self._shapes = [(len(rows), argument.numel()) for argument in arguments[1:]]

    def __call__(self, point: Point) -> Derivatives:
        value, *found = self._function(point.t, point.x, point.xd, point.p)
        derivatives = [
            np.array(d.full()).reshape(shape) for d, shape in zip(found, self._shapes, strict=True)
        ]
        return Derivatives(np.array(value.full()).ravel(), *derivatives)
