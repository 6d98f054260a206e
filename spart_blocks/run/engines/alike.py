"""Blocks that are alike: which need not all be compared with their program at every point.

Two blocks are alike if they have the same class, the same shapes of inputs and outputs, and equal
attributes, except for the values of floats. So the same lines of Python and the same lowering rule
compute them, with other numbers. What can be wrong for one of them alone is its place in the
program: that of its parameters, its state, its inputs. That is wrong at nearly every point, and all
blocks are compared at the first points. What needs more points are branches that few states take,
and these are of the rule: any block that is alike shows them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spart_blocks.diagram.network.nodes import Node
from spart_blocks.program.program import Slot
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.engines.held_outputs import Values
from spart_blocks.run.engines.interpreter import Interpreter
from spart_blocks.run.engines.native import Native

FEW = 10
"""Number of alike blocks that are compared at a further point."""
_OWN = frozenset(
    ("_bd", "_id", "_name", "_name_tex", "_parameters", "_x_view", "_output_values", "_pos")
) | {"_callsite"}
"""Attributes of a bdsim block that do not affect what it computes."""
_FACTS = (int, bool, str, type(None))


class Alike:
    """The nodes of a diagram in groups that are alike.

    values: outputs of each node, by index. Outputs that are held depend on which clocks tick, so
    that a diagram with such is evaluated as a whole.
    """

    def __init__(self, native: Native, blocks: Interpreter, values: Values) -> None:
        self.blocks = blocks
        order = (blocks.nodes[i] for i in blocks.wiring.schedule)
        self._nodes = [node for node in order if node.kind not in ("sink", "graphics")]
        self._numbers: list[tuple[int, slice]] = []
        self._arrays: list[tuple[int, list[Slot]]] = []
        for node in self._nodes:
            slots = [native.slot[node.output_name(k)] for k in range(len(node.out_ports))]
            if any(slot.shape for slot in slots):
                self._arrays.append((node.index, slots))
            elif slots:
                self._numbers.append((node.index, slice(slots[0].start, slots[-1].part.stop)))
        groups: dict[Any, list[Node]] = {}
        for node in self._nodes:
            groups.setdefault(structure_of(node, values), []).append(node)
        self._groups = list(groups.values())
        self._whole = bool(blocks.holds) or all(len(group) <= FEW for group in self._groups)

    def few(self, k: int, y: Floats) -> list[Node] | None:
        """At most FEW nodes of each group; others for each k, until all had their turn. None if all
        are to be evaluated, also where signals y of the program are not finite: blocks fail there.
        """
        if self._whole or not np.isfinite(y).all():
            return None
        chosen: list[Node] = []
        for group in self._groups:
            first = k * FEW % len(group)
            chosen += (group[first:] + group[:first])[:FEW]
        return chosen

    def known(self, y: Floats) -> Values:
        """The outputs of each node as the program gives them, in signals y."""
        values, flat = Values.none(len(self.blocks.nodes)), y.tolist()
        for i, part in self._numbers:
            values[i] = flat[part]
        for i, slots in self._arrays:
            values[i] = [y[slot.part].reshape(slot.shape)[()] for slot in slots]
        return values


def structure_of(node: Node, values: Values) -> Any:
    """What a node has in common with those that are alike."""
    outputs = [_structure(value) for value in values[node.index]]
    if node.part is not None or any(kind not in (float, np.ndarray) for kind, *_ in outputs):
        return node.index  # others would get its outputs as floats
    inputs = [np.shape(values[i][k]) for i, k in node.sources if values[i]]
    own = [
        (name, kind, value) if (kind := type(value)) in _FACTS else (name, *_structure(value))
        for name, value in vars(node.block).items()
        if name not in _OWN
    ]
    return type(node.block), node.kind, id(node.clock), *outputs, *inputs, *own


def _structure(value: Any) -> tuple[Any, ...]:
    """The type of a value, and what of it may decide how it is computed with."""
    kind = type(value)
    if kind is float:
        return kind, math.isfinite(value)
    if kind is np.ndarray and value.dtype == np.float64:
        return kind, value.shape, bool(np.isfinite(value).all())
    if kind in _FACTS:
        return kind, value
    if kind in (list, tuple):
        return kind, *map(_structure, value)
    return kind, id(value)
