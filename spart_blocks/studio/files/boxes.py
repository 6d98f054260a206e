"""The sizes of blocks on a sheet, and where their ports are. Lengths are in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from spart_blocks.diagram.diagram_drawing import CUT
from spart_blocks.drawing.layout import Box

GRID = 10
"""Pixels of a unit of the layout."""
PITCH = 2
NAME, SMALL = 13.0, 11.0
"""Sizes of letters: of names, and of types, captions and ports."""
LETTER = 6.3
"""The width of a letter of a caption."""
_LEAST_WIDTH, _LEAST_HEIGHT = 8, 6
_MOST_WIDTH = 40
_NARROW, _WIDE = set("iljtfrI.,:;|!'()[]{} -/"), set("mwMW@%")


@dataclass(frozen=True)
class Size:
    """The size of a block, and how far below its upper edge its ports are."""

    width: float
    height: float
    inputs: tuple[float, ...]
    outputs: tuple[float, ...]


def size_of(name: str, lines: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]) -> Size:
    """The size of a block for its texts. lines: those under the name, its type first. inputs,
    outputs: the texts at its ports, empty where none is shown."""
    left, right = (max((_width(text, SMALL) for text in side), default=0.0)
                   for side in (inputs, outputs))  # fmt: skip
    kinds, captions = lines[:1], lines[1:]  # these are of one width a letter
    under = [_width(line, SMALL) for line in kinds] + [LETTER * len(line) for line in captions]
    middle = max(_width(name, NAME) * 1.08, *under, 0.0)
    wide = middle + sum(side + 16 if side else 14 for side in (left, right))
    width = min(max(ceil(wide / GRID), _LEAST_WIDTH), _MOST_WIDTH)
    least = _LEAST_HEIGHT + (2 if len(lines) > 1 else 0)
    height = max(least, PITCH * max(len(inputs), len(outputs)) + 2)
    return Size(
        width * GRID, height * GRID, _offsets(len(inputs), height), _offsets(len(outputs), height)
    )


def box_of(size: Size, look: str) -> Box:
    """A block as the layout takes it."""
    offsets = (tuple(int(y) // GRID for y in side) for side in (size.inputs, size.outputs))
    inputs, outputs = offsets
    return Box(int(size.width) // GRID, int(size.height) // GRID, inputs, outputs,
               CUT.get(look, 3.0))  # fmt: skip


def _offsets(count: int, height: int) -> tuple[float, ...]:
    return tuple(float(GRID * (height // 2 + PITCH * i - (count - 1))) for i in range(count))


def _width(text: str, size: float) -> float:
    """About how wide a text is in the fonts that browsers have."""
    ems = 0.0
    for letter in text:
        if letter in _NARROW:
            ems += 0.34
        elif letter in _WIDE:
            ems += 0.9
        elif letter.isupper() or ord(letter) > 0x2E80:
            ems += 0.7 if ord(letter) <= 0x2E80 else 1.0
        else:
            ems += 0.58
    return ems * size
