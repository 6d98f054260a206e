"""Crossings of a level: located in time, and on a clock."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.errors import InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable

DIRECTIONS = ("rising", "falling", "either")
MOST_WIDE = 10_000


class Hit_Crossing(Declared, ContinuousBlock):
    """Tells when a signal crosses a level.

    A step ends at the crossing, located as other zero-crossings. There `count` increases by one,
    and y becomes 1 for the time of the pulse; a later crossing begins it anew. An instant has no
    duration in continuous time, so that y is no single 1 as at a step of Simulink; at a fixed rate,
    in exported C and in real time, a pulse lasts at least one step. u rises where it comes from the
    level or below to above it; a signal that touches the level from below does not cross it. The
    side on which u starts is no crossing.

    :arg level: the level, in the unit of u
    :arg direction: rising, falling or either
    :arg pulse: how long y is 1 after a crossing
    """

    nin = 1
    nout = 2
    takes = (PortSpec("u", "", "", "any signal"),)
    gives = (
        PortSpec("y", "", "", "1 from a crossing on for the time of the pulse, otherwise 0"),
        PortSpec("count", "", "", "the number of crossings so far"),
    )
    level = tunable("float", "", 0.0)
    direction = fixed("str", "", "either", choices=DIRECTIONS)
    pulse = tunable("float", "s", 1e-3, above=0)

    def build(self) -> dict[str, Any]:
        # The side (1 above, 0 below, 0.5 not known yet), the pulse (1 or 0), its start, the count.
        start = [0.5, 0.0, 0.0, 0.0]
        return {"x0": start, **self.resolve_ports()}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [np.where(x[1] > 0.5, 1.0, 0.0), x[3]]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Array:
        return np.zeros(4)

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        above = inputs[0] - self.level
        left = np.where(x[0] > 0.5, -above, above)
        return [
            np.where(np.abs(x[0] - 0.5) < 0.25, 1.0, left),
            np.where(x[1] > 0.5, t - (x[2] + self.pulse), -1.0),
        ]

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        above = inputs[0] > self.level
        rises = np.logical_and(x[0] < 0.25, above)
        # On the level it has not left the upper side yet.
        falls = np.logical_and(x[0] > 0.75, inputs[0] < self.level)
        hit = {"rising": rises, "falling": falls, "either": np.logical_or(rises, falls)}
        found = np.where(hit[self.direction], 1.0, 0.0)
        kept = np.logical_and(x[0] > 0.75, np.logical_not(falls))
        side = np.where(np.logical_or(above, kept), 1.0, 0.0)
        goes_on = np.where(np.logical_and(x[1] > 0.5, t <= x[2] + self.pulse), 1.0, 0.0)
        return np.array(
            [
                side,
                np.maximum(found, goes_on),
                np.where(found > 0.5, t, x[2]),
                x[3] + found,
            ]
        )

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random side, pulse, time of its start and count."""
        side, pulse = rng.choice([0.0, 0.5, 1.0]), rng.choice([0.0, 1.0])
        return np.array([side, pulse, rng.uniform(0.0, self.pulse), float(rng.integers(4))])


class Edge(Declared, SampledBlock):
    """Tells at the ticks of a clock whether a signal has crossed a level since the tick before.

    y = 1 from a tick until the next if u > level at this tick, and not at the one before
    (``rising``), the other way round (``falling``), or one of both (``either``); otherwise 0.
    Crossings there and back between two ticks are not seen.

    :arg direction: rising, falling or either
    :arg level: the level, in the unit of u
    :arg initial: whether u counts as above the level before the first tick: 1 or 0
    :arg width: length of u, if the other parameters are scalars; by default u is a scalar then
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "float or n", "", "any signal"),)
    gives = (PortSpec("y", "float or n", "", "1 where u has crossed, otherwise 0"),)
    direction = fixed("str", "", "rising", choices=DIRECTIONS)
    level = tunable("float or n", "", 0.0)
    initial = fixed("float or n", "", 0.0)
    width = fixed("int", "", None)

    def build(self, initial: Any, width: Any) -> dict[str, Any]:
        if np.any((np.asarray(initial) != 0) & (np.asarray(initial) != 1)):
            raise InputError(f"initial must be 1 or 0, not {brief(initial)}")
        shape = self.shared_shape(width, initial=initial)
        begin = np.broadcast_to(initial, shape or (1,)).copy()
        return {"x0": begin, "feedthrough": True, **self.resolve_ports(n=shape)}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        above, before = self._above(inputs, x), x > 0.5
        rises = np.logical_and(above, np.logical_not(before))
        falls = np.logical_and(before, np.logical_not(above))
        crossed = {"rising": rises, "falling": falls, "either": np.logical_or(rises, falls)}
        y = np.where(crossed[self.direction], 1.0, 0.0)
        return [y if self.in_ports[0].shape else y[0]]

    def next(self, t: float, inputs: list[Any], x: Array) -> Any:
        return np.where(self._above(inputs, x), 1.0, 0.0)

    def _above(self, inputs: list[Any], x: Array) -> Any:
        return np.reshape(inputs[0], (len(x),)) > self.level
