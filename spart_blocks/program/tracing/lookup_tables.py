"""Large lookup tables as functions that an expression calls.

A choice in an expression evaluates all alternatives, so that each point of a table costs some
operations in every evaluation. A call of CasADi's interpolant costs a search only.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from spart_blocks.program.tracing.symbol_scalar import Symbol, TraceError, sx_of

LARGEST_TABLE = 256
"""Largest number of points of a table in an expression; each costs about five operations in every
evaluation."""
PREFIX = "table_"
"""Prefix of the names of table Functions; CasADi's derivatives of them have fwd1_table_ and
adj1_table_."""
_EVEN = 1e-13
"""Largest deviation of a point from even spacing, relative to the largest point."""

Floats = NDArray[np.float64]


def called_line(points: Floats, values: Floats) -> Callable[[Any], Any]:
    """np.interp of a Symbol or a number, by a call of a table.

    points (n,), ascending, and values (n,). The value at u is interpolated linearly between its
    neighbours, which are found in O(1) if the points are evenly spaced, otherwise in O(log n).
    """
    function = _line_function(points, values)
    first, last = float(points[0]), float(points[-1])

    def at(x: Any) -> Any:
        u = sx_of(x)
        inside = ca.if_else(u < first, first, ca.if_else(u > last, last, u))
        return Symbol(function(inside))

    return at


def _line_function(points: Floats, values: Floats) -> Any:
    """The CasADi Function from u, which must be within the table, to the value there."""
    if not (np.diff(points) > 0).all():
        raise TraceError("the points of its table are not in ascending order")
    name = PREFIX + sha256(points.tobytes() + values.tobytes()).hexdigest()[:16]
    mode = "exact" if evenly_spaced(points) else "binary"
    table = ca.interpolant(name, "linear", [points], values, {"lookup_mode": [mode]})
    u = ca.MX.sym("u")
    return ca.Function(name, [u], [table(u)], ["u"], ["v"], {"never_inline": True})


def evenly_spaced(points: Floats) -> bool:
    """Whether the points (n,) are evenly spaced up to rounding."""
    even = np.linspace(points[0], points[-1], len(points))
    return bool((np.abs(points - even) <= _EVEN * np.abs(points).max()).all())


def tables_called_by(function: Any) -> list[Any]:
    """The tables that a program's Function calls; not their derivatives."""
    return [f for f in function.find_functions(0) if f.name().startswith(PREFIX)]
