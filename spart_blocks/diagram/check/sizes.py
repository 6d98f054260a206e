"""Limits on the sizes of signals, and the expected sizes of a block's outputs.

A file of a few lines can ask for any size: a MUX of a thousand wires makes a vector a
thousand times as long, the product of a column and a row is a matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from spart_blocks.diagram.network.nodes import Node

MOST_NUMBERS = 1_000_000
"""Entries of all signals of a diagram together."""


def expected_size(node: Node, inputs: Sequence[Any]) -> int:
    """The entries that a block's output will have, where it can have more than its inputs;
    otherwise 0."""
    kind, shapes = node.block.type.upper(), [np.shape(value) for value in inputs]
    if kind == "MUX":
        return sum(prod(shape) for shape in shapes)
    if kind == "GAIN":
        gain = np.shape(node.block.K)
        return _of_product([gain, *shapes] if node.block.premul else [*shapes, gain])
    if kind in ("SUM", "PROD"):
        try:
            together = prod(np.broadcast_shapes(*shapes))
        except ValueError:
            together = 0
        return max(together, _of_product(shapes) if kind == "PROD" else 0)
    return 0


def _of_product(shapes: Sequence[tuple[int, ...]]) -> int:
    """The largest matrix that arises when these are multiplied one after the other."""
    pairs = [(a, b) for a, b in pairwise(shapes) if len(a) == len(b) == 2]
    return max((a[0] * b[1] for a, b in pairs), default=0)
