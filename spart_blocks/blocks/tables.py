"""Functions given by tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.blocks._declared import Declared, PortSpec
from spart_blocks.blocks._tables import rising, table_numbers
from spart_blocks.blocks._values import chosen
from spart_blocks.curves.intervals import Intervals
from spart_blocks.curves.lines import INTERPOLATIONS, Line
from spart_blocks.spatial import Array

OUTSIDE = ("clip", "extrapolate", "refuse")
MOST_WATCHED = 32
"""Largest number of breakpoints at which steps end; with more, kinks are left to the solver's error
control.
"""


class Lookup(Declared, FunctionBlock):
    """A lookup table with one input.

    Arrays are looked up elementwise, unless the table contains vectors: then the input is a scalar.
    ``linear`` interpolates linearly, ``previous`` holds each value until the next breakpoint,
    ``nearest`` takes the value of the nearest breakpoint (the upper of two equally near), ``cubic``
    is the cubic spline with not-a-knot ends. Outside the table, ``clip`` holds the end values,
    ``extrapolate`` continues the first and the last line or cubic, ``refuse`` ends the run with an
    error.

    Steps end at the breakpoints of tables of up to 32, except of ``cubic``. Tables of more than 256
    are searched in O(1) if the breakpoints are evenly spaced, otherwise in O(log n).

    Source of the spline: C. de Boor, "A Practical Guide to Splines" (1978), ch. IV.

    :param x: breakpoints, increasing, two or more
    :type x: array_like(n)
    :param y: the values there, numbers or vectors
    :type y: array_like(n) or array_like(n, m)
    :param interpolation: linear, previous, nearest or cubic
    :type interpolation: str
    :param outside: clip, extrapolate or refuse
    :type outside: str
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "where to look"),)
    gives = (PortSpec("y", "any", "", "the value there"),)

    def __init__(
        self,
        x: Any,
        y: Any,
        interpolation: str = "linear",
        outside: str = "clip",
        **blockargs: Any,
    ) -> None:
        points, values = rising(x, "x"), table_numbers(y, "y")
        if values.ndim not in (1, 2) or len(values) != len(points):
            raise ValueError(
                f"y must have a number or a vector for each of the {len(points)} entries of x, "
                f"it has shape {values.shape}"
            )
        self.interpolation = chosen(interpolation, "interpolation", INTERPOLATIONS)
        self.outside = chosen(outside, "outside", OUTSIDE)
        self.points = points
        columns, extends = values.reshape(len(points), -1), self.outside == "extrapolate"
        self.line = Line(points, columns, self.interpolation, extends)
        self.vectors = values.ndim == 2
        shapes = {"u": (), "y": values.shape[1:]} if self.vectors else {}
        super().__init__(**self.resolve_ports(shapes=shapes), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        (u,) = inputs
        first, last = self.points[0], self.points[-1]
        where = u if self.outside == "extrapolate" else np.clip(u, first, last)
        out = self.line.at(where)
        if self.outside == "refuse":
            apart = _outside(u, first, last)
            out = [np.where(apart, np.nan, value) for value in out]
        return [np.array(out) if self.vectors else out[0]]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        """Zero-crossing functions for the kinks and jumps of the output."""
        bends = self.line.bends
        if self.interpolation == "cubic":
            bends = self.points[[0, -1]] if self.outside == "clip" else bends[:0]
        if len(bends) > MOST_WATCHED:
            return []
        return [value - bend for value in np.ravel(inputs[0]) for bend in bends]


class Lookup_2D(Declared, FunctionBlock):
    """A lookup table with two inputs.

    Bilinear: within each cell z = (1 - a)(1 - b) z00 + a (1 - b) z10 + (1 - a) b z01 + a b z11,
    with a and b from 0 to 1 across the cell. Outside the table, ``clip`` uses the nearest point of
    its edge, ``extrapolate`` continues the cells at the edge, ``refuse`` ends the run with an
    error.

    :param x: breakpoints of the rows, increasing, two or more
    :type x: array_like(n)
    :param y: breakpoints of the columns, increasing, two or more
    :type y: array_like(m)
    :param z: the values there, z[i][j] at x[i] and y[j]
    :type z: array_like(n, m)
    :param outside: clip, extrapolate or refuse
    :type outside: str
    """

    nin = 2
    nout = 1
    takes = (
        PortSpec("x", "", "", "position along the rows of the table"),
        PortSpec("y", "", "", "position along its columns"),
    )
    gives = (PortSpec("z", "", "", "the value there"),)

    def __init__(self, x: Any, y: Any, z: Any, outside: str = "clip", **blockargs: Any) -> None:
        self.rows, self.columns = rising(x, "x"), rising(y, "y")
        self.table = table_numbers(z, "z")
        shape = (len(self.rows), len(self.columns))
        if self.table.shape != shape:
            raise ValueError(
                f"z must have a row of {shape[1]} for each of the {shape[0]} entries of x, "
                f"it has shape {self.table.shape}"
            )
        self.outside = chosen(outside, "outside", OUTSIDE)
        super().__init__(**self.resolve_ports(), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        u, v = inputs
        ends = (self.rows[[0, -1]], self.columns[[0, -1]])
        if self.outside != "extrapolate":
            u, v = np.clip(u, *ends[0]), np.clip(v, *ends[1])
        i, a = _place(self.rows, u)
        j, b = _place(self.columns, v)
        cells = Intervals(np.arange((len(self.rows) - 1) * (len(self.columns) - 1), dtype=float))
        z = self.table
        corners = [z[:-1, :-1], z[1:, :-1], z[:-1, 1:], z[1:, 1:]]
        index = i * (len(self.columns) - 1) + j
        z00, z10, z01, z11 = cells.numbered(index, *(corner.ravel() for corner in corners))
        out = (1 - b) * ((1 - a) * z00 + a * z10) + b * ((1 - a) * z01 + a * z11)
        if self.outside == "refuse":
            apart = [_outside(value, *end) for value, end in zip(inputs, ends, strict=True)]
            out = np.where(np.logical_or(*apart), np.nan, out)
        return [out]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        """Zero-crossing functions for the kinks of the output."""
        pairs = zip(inputs, (self.rows, self.columns), strict=True)
        return [
            value - point
            for value, points in pairs
            if len(points) <= MOST_WATCHED
            for point in points
        ]


def _outside(u: Any, first: float, last: float) -> Any:
    return np.logical_or(u < first, u > last)


def _place(points: Array, u: Any) -> tuple[Any, Any]:
    """The index of the interval that contains u, and the relative position in it, from 0 to 1."""
    pieces = Intervals(points[:-1])
    count = np.arange(len(points) - 1, dtype=float)
    number, start, width = pieces.pick(u, count, points[:-1], np.diff(points))
    return number, (u - start) / width
