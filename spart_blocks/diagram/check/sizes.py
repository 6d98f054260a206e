"""Limits on the sizes of signals, computed before a block is evaluated.

A file of a few lines can produce signals of any size: a MUX of a thousand wires gives a vector a
thousand times as long, and the product of a column and a row is a matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from spart_blocks.diagram.network.nodes import Node

MOST_NUMBERS = 1_000_000
"""Largest number of entries of all signals of a diagram together."""


def expected_size(node: Node, inputs: Sequence[Any]) -> int:
    """The number of entries of a block's output if it can be larger than the inputs;
    otherwise 0.
    """
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
    """The size of the largest matrix in the product of these shapes, multiplied one after the
    other.
    """
    pairs = [(a, b) for a, b in pairwise(shapes) if len(a) == len(b) == 2]
    return max((a[0] * b[1] for a, b in pairs), default=0)
