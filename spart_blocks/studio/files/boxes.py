"""Boxes of blocks on a sheet, by the widths of texts in browsers [px]."""

from __future__ import annotations

from collections.abc import Sequence

from spart_blocks.drawing.boxes import BARE, LEAST_HEIGHT, look_of, sized_box
from spart_blocks.drawing.layout import Box
from spart_blocks.drawing.placed import GRID

NAME, SMALL = 13.0, 11.0
"""Font sizes: of block names, and of types, captions and port names."""
LETTER = 6.3
"""Width of one letter of a caption."""
_MOST_WIDTH = 40.0
_NARROW, _WIDE = set("iljtfrI.,:;|!'()[]{} -/"), set("mwMW@%")


def box_of(
    name: str, look: str, lines: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]
) -> Box:
    """The box of a block that its texts fit into. look: a key of LOOKS. lines: the texts
    under the name, the type first. inputs, outputs: the texts at its ports, empty for a port
    without a shown name."""
    left, right = (max((_width(text, SMALL) for text in side), default=0.0)
                   for side in (inputs, outputs))  # fmt: skip
    kinds, captions = lines[:1], lines[1:]  # these are of one width a letter
    under = [_width(line, SMALL) for line in kinds] + [LETTER * len(line) for line in captions]
    middle = max(_width(name, NAME) * 1.08, *under, 0.0)
    wide = (middle + sum(side + 16 if side else 10 * BARE for side in (left, right))) / GRID
    least = LEAST_HEIGHT + (2 if len(lines) > 1 else 0)
    ports = len(inputs), len(outputs)
    return sized_box(min(wide, _MOST_WIDTH), ports, least, look_of(look).cut)


def _width(text: str, size: float) -> float:
    """The approximate width of a text in common browser fonts."""
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
