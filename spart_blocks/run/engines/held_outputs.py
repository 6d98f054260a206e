"""The interpreter's storage of outputs, and of outputs that are held between ticks."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from spart_blocks.diagram.check.first_values import output_shapes
from spart_blocks.diagram.network.flatten import FlatDiagram
from spart_blocks.program.tracing.holds import HeldOutput
from spart_blocks.run.engines.engine import Floats

Shape = tuple[int, ...]


class Values(list[Sequence[Any]]):
    """The outputs of each node, by index. after: by name, the states after the tick of nodes whose
    outputs depend on them.
    """

    after: dict[str, Floats]

    @classmethod
    def none(cls, count: int) -> Values:
        """Empty outputs for `count` nodes."""
        made = cls([()] * count)
        made.after = {}
        return made

    def copied(self) -> Values:
        """A copy with its own list, so that outputs can be replaced."""
        made = Values(self)
        made.after = dict(self.after)
        return made


class HeldOutputs:
    """Held outputs as discrete states, stored after those of the blocks.

    by_node: held outputs by index of their node. slices: the place of each in xd.
    """

    def __init__(
        self, wiring: FlatDiagram, holds: Sequence[HeldOutput], states: Mapping[str, slice]
    ) -> None:
        self.by_node = {one.index: one for one in holds}
        self.slices: dict[str, slice] = {}
        self._states = states
        self._shapes = _shapes_of(wiring, holds)
        start = max((part.stop for part in states.values()), default=0)
        for one in (one for one in holds if one.is_added):
            width = _size(self._shapes[one.index])
            if one.shows == "state":
                width = states[one.block].stop - states[one.block].start
            self.slices[one.name] = slice(start, start + width)
            start += width
        self.size = start

    def initial(self, states: Floats) -> Floats:
        """xd at the start: outputs are zero before their first tick, unless they depend on a state
        alone."""
        xd = np.concatenate([states, np.zeros(self.size - len(states))])
        for one in self.by_node.values():
            if one.shows == "state":
                xd[self.slices[one.name]] = states[self._states[one.block]]
        return xd

    def outputs(self, one: HeldOutput, xd: Floats) -> list[Any]:
        """Held values of the ports of a node."""
        shapes = self._shapes[one.index]
        ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
        parts = np.split(xd[self.slices[one.name]], ends)
        return [
            part.reshape(shape) if shape else part.item()
            for part, shape in zip(parts, shapes, strict=True)
        ]

    def renew(
        self, xd: Floats, before: Floats, values: Sequence[Sequence[Any]], due: Collection[str]
    ) -> None:
        """Write the outputs that are held from this tick on into xd.

        before: xd at the tick. values: outputs of each node there. due: names of the clocks.
        """
        for one in self.by_node.values():
            if one.clock not in due or not one.is_added:
                continue
            if one.shows == "state":
                xd[self.slices[one.name]] = before[self._states[one.block]]
            else:
                fresh = [np.ravel(value) for value in values[one.index]]
                xd[self.slices[one.name]] = np.concatenate(fresh)


def _shapes_of(wiring: FlatDiagram, holds: Sequence[HeldOutput]) -> dict[int, list[Shape]]:
    """The shapes of the outputs, from their evaluation at the initial time; () for a block that
    fails there, which the run reports.
    """
    shapes = output_shapes(wiring, {one.index for one in holds})
    return {
        one.index: [
            shapes.get((one.index, k), ()) for k in range(len(wiring.nodes[one.index].out_ports))
        ]
        for one in holds
    }


def _size(shapes: Iterable[Shape]) -> int:
    return sum(math.prod(shape) for shape in shapes)
