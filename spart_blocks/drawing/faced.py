"""Boxes whose ports are at other sides than usual: inputs at the left and outputs at the right.

The order of ports stays: from the top down, or from the left to the right.
"""

from __future__ import annotations

from typing import Literal

from spart_blocks.drawing.layout import Box

Facing = Literal["right", "down", "left", "up"]
"""The side to which the outputs of a box lead."""
Way = tuple[int, int]
WAYS: dict[str, Way] = {"right": (1, 0), "down": (0, 1), "left": (-1, 0), "up": (0, -1)}
"""The direction of signals through a box that faces a side."""


def is_upright(facing: str) -> bool:
    """Whether the ports are above and below the box."""
    return WAYS[facing][0] == 0


def port_of(box: Box, output: bool, offset: float) -> tuple[float, float]:
    """The place of a port from the upper left corner of its box, in units of the box. offset:
    along the side of the port."""
    x, y = WAYS[box.facing]
    far = (x + y > 0) == output  # at the right, or below
    if x:
        return (box.width if far else 0, offset)
    return (offset, box.height if far else 0)


def for_layout(box: Box) -> Box:
    """A box with its ports at the usual sides, of the same size or higher, for the layout."""
    if not is_upright(box.facing):
        return box
    most = max(len(box.inputs), len(box.outputs))
    height = max(box.height, 2 * most + 2)
    inputs, outputs = (
        tuple(height // 2 + 2 * k - (count - 1) for k in range(count))
        for count in (len(box.inputs), len(box.outputs))
    )
    return Box(box.width, height, inputs, outputs, box.cut)
