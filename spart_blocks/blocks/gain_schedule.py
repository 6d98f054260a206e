"""Gains that depend on scheduling variables."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.curves.lines import weighted
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.tables import OUTSIDE, grid_axes, grid_kinks, grid_values, on_grid

MOST_GAINS = 10_000
"""Largest count of numbers in a schedule; each is a parameter of the program."""


class Gain_Schedule(Declared, FunctionBlock):
    """A gain that is scheduled. y = K(s) u, with K interpolated in a table over s.

    K is multilinear between its points, in one to three scheduling variables. A number multiplies
    u of any shape, a vector multiplies it entry by entry, and a matrix acts on the vector u: with
    the gains of linear designs at several operating points this is a scheduled state feedback. u
    is a number if the matrices have one column, y if they have one row.

    Outside the table, ``clip`` uses the nearest gain of its edge, ``extrapolate`` continues the
    cells at the edge, ``refuse`` ends the run with an error. Steps end at the breakpoints of axes
    of up to 32.

    Source: W. J. Rugh and J. S. Shamma, "Research on gain scheduling", Automatica 36 (2000) 1401.

    :arg axes: breakpoints of each scheduling variable, increasing, two or more
    :arg K: the gains there, K[i][j]... at axes[0][i], axes[1][j], ...
    :arg outside: clip, extrapolate or refuse
    """

    nin = 4
    nout = 1
    takes = (
        PortSpec("u", "any", "", "what the gain multiplies"),
        PortSpec("s1", "", "", "first scheduling variable"),
        PortSpec("s2", "", "", "second, if there are two or more"),
        PortSpec("s3", "", "", "third"),
    )
    gives = (PortSpec("y", "any", "", "K(s) u"),)
    axes = fixed("list of lists")
    K = tunable("n_1, ..., n_d, ...")
    outside = fixed("str", "", "clip", choices=OUTSIDE)

    def build(self, axes: Any, K: Any) -> dict[str, Any]:
        self.axes = grid_axes(axes, "axes", len(self.takes) - 1)
        self.K = grid_values(K, "K", self.axes)
        if self.K.size > MOST_GAINS:
            text = f"K has {self.K.size:,} numbers, a schedule takes up to {MOST_GAINS:,}"
            raise InputError(Fault(text, hint="LOOKUP_ND takes larger tables"))
        depth = len(self.axes)
        gain = self.K.shape[depth:]
        if len(gain) > 2:
            raise InputError(f"a gain must be a number, a vector or a matrix, not of shape {gain}")
        self.by_matrix = len(gain) == 2
        sides = [_side(gain[-1]), _side(gain[0])] if self.by_matrix else [gain, gain]
        shapes = dict(zip("uy", sides, strict=True)) if gain else {}
        without = " ".join(spec.name for spec in self.takes[1 + depth :])
        return self.resolve_ports(without=without, shapes=shapes)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        u, *at = inputs
        gain = on_grid(self.axes, self.K, at, self.outside, weighted)
        if not self.by_matrix:
            return [gain * u]
        y = gain @ np.reshape(u, (-1,))
        return [y if self.out_ports[0].shape else y[0]]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        """Zero-crossing functions for the kinks of the gain."""
        return grid_kinks(self.axes, inputs[1:])


def _side(n: int) -> tuple[int, ...]:
    return () if n == 1 else (n,)
