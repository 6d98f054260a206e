"""How wide texts are, by the font of the pictures."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import lru_cache

GRID = 0.1
"""Inches in a unit of the grid."""
POINTS = 72 * GRID
"""Points in a unit of the grid."""


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """The width of a text of a size in points [grid]."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / POINTS


def widest(texts: Iterable[str], size: float) -> float:
    """The width of the widest of some texts; 0 of none."""
    return max((text_width(text, size) for text in texts), default=0.0)
