"""Functions given by tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.curves.lines import INTERPOLATIONS, LineTable
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed
from spart_blocks.block_support.tables import (
    MOST_WATCHED,
    OUTSIDE,
    grid_axes,
    grid_kinks,
    grid_values,
    on_grid,
    outside_of,
    rising,
    table_numbers,
)


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

    :arg x: breakpoints, increasing, two or more
    :arg y: the values there, numbers or vectors
    :arg interpolation: linear, previous, nearest or cubic
    :arg outside: clip, extrapolate or refuse
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "where to look"),)
    gives = (PortSpec("y", "any", "", "the value there"),)
    x = fixed("n")
    y = fixed("n or n, m")
    interpolation = fixed("str", "", "linear", choices=INTERPOLATIONS)
    outside = fixed("str", "", "clip", choices=OUTSIDE)

    def build(self, x: Any, y: Any) -> dict[str, Any]:
        points, values = rising(x, "x"), table_numbers(y, "y")
        if values.ndim not in (1, 2) or len(values) != len(points):
            raise ValueError(
                f"y must have a number or a vector for each of the {len(points)} entries of x, "
                f"it has shape {values.shape}"
            )
        self.points = points
        columns, extends = values.reshape(len(points), -1), self.outside == "extrapolate"
        self.line = LineTable(points, columns, self.interpolation, extends)
        self.vectors = values.ndim == 2
        shapes = {"u": (), "y": values.shape[1:]} if self.vectors else {}
        return self.resolve_ports(shapes=shapes)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        (u,) = inputs
        first, last = self.points[0], self.points[-1]
        where = u if self.outside == "extrapolate" else np.clip(u, first, last)
        out = self.line.at(where)
        if self.outside == "refuse":
            apart = outside_of(u, first, last)
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

    :arg x: breakpoints of the rows, increasing, two or more
    :arg y: breakpoints of the columns, increasing, two or more
    :arg z: the values there, z[i][j] at x[i] and y[j]
    :arg outside: clip, extrapolate or refuse
    """

    nin = 2
    nout = 1
    takes = (
        PortSpec("x", "", "", "position along the rows of the table"),
        PortSpec("y", "", "", "position along its columns"),
    )
    gives = (PortSpec("z", "", "", "the value there"),)
    x = fixed("n")
    y = fixed("m")
    z = fixed("n, m")
    outside = fixed("str", "", "clip", choices=OUTSIDE)

    def build(self, x: Any, y: Any, z: Any) -> dict[str, Any]:
        self.rows, self.columns = rising(x, "x"), rising(y, "y")
        self.table = table_numbers(z, "z")
        shape = (len(self.rows), len(self.columns))
        if self.table.shape != shape:
            raise ValueError(
                f"z must have a row of {shape[1]} for each of the {shape[0]} entries of x, "
                f"it has shape {self.table.shape}"
            )
        return self.resolve_ports()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [on_grid((self.rows, self.columns), self.table, inputs, self.outside)]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        """Zero-crossing functions for the kinks of the output."""
        return grid_kinks((self.rows, self.columns), inputs)


class Lookup_ND(Declared, FunctionBlock):
    """A lookup table with one to five inputs.

    Multilinear: within each cell, linear along each axis. A node may have a number, a vector or a
    matrix. Outside the table, ``clip`` uses the nearest point of its edge, ``extrapolate``
    continues the cells at the edge, ``refuse`` ends the run with an error.

    Steps end at the breakpoints of axes of up to 32.

    :arg axes: breakpoints of each axis, increasing, two or more
    :arg values: the values there, values[i][j]... at axes[0][i], axes[1][j], ...
    :arg outside: clip, extrapolate or refuse
    """

    nin = 5
    nout = 1
    takes = (
        PortSpec("u1", "", "", "position along the first axis"),
        PortSpec("u2", "", "", "along the second axis, if there are two or more"),
        PortSpec("u3", "", "", "along the third"),
        PortSpec("u4", "", "", "along the fourth"),
        PortSpec("u5", "", "", "along the fifth"),
    )
    gives = (PortSpec("y", "any", "", "the value there"),)
    axes = fixed("list of lists")
    values = fixed("n_1, ..., n_d, ...")
    outside = fixed("str", "", "clip", choices=OUTSIDE)

    def build(self, axes: Any, values: Any) -> dict[str, Any]:
        self.axes = grid_axes(axes, "axes", len(self.takes))
        self.values = grid_values(values, "values", self.axes)
        depth = len(self.axes)
        ports = self.resolve_ports(
            without=" ".join(spec.name for spec in self.takes[depth:]),
            shapes={"y": self.values.shape[depth:]},
        )
        return ports

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [on_grid(self.axes, self.values, inputs, self.outside)]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        """Zero-crossing functions for the kinks of the output."""
        return grid_kinks(self.axes, inputs)
