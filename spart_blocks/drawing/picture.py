"""A picture as a list of shapes.

Lengths are in units of the grid from the upper left, y down; the widths of lines and the sizes of
texts are in points.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

GRID = 0.1
"""Inches in a unit of the grid."""
POINTS = 72 * GRID
"""Points in a unit of the grid."""
MARGIN = 3
INK, MUTED, DARK = "#3B4252", "#6B7280", "#1F2530"
"""The colours of wires, of notes and of names."""
TITLE_SIZE = 10.0
HEAD = 0.95
"""The length of an arrow's head."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """A line through points. dashes: lengths of ink and gaps, in widths of the line. name: its
    identifier in the file."""

    points: Sequence[Point]
    colour: str = INK
    width: float = 0.9
    dashes: tuple[float, ...] = ()
    name: str = ""


@dataclass(frozen=True)
class Area:
    """A filled polygon."""

    points: Sequence[Point]
    colour: str = INK


@dataclass(frozen=True)
class Frame:
    """A box with round corners, with its upper left corner at x, y."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    edge: str
    line: float = 1.1
    dashes: tuple[float, ...] = ()
    radius: float = 0.9
    name: str = ""


@dataclass(frozen=True)
class Dot:
    """A disc. line: the width of its edge."""

    x: float
    y: float
    radius: float
    fill: str = INK
    edge: str = INK
    line: float = 0.0
    name: str = ""


@dataclass(frozen=True)
class Text:
    """A line of text. align: left, center or right of it is at x; its middle is at y."""

    x: float
    y: float
    text: str
    size: float
    colour: str = DARK
    bold: bool = False
    align: str = "center"


Shape = Line | Area | Frame | Dot | Text


@dataclass(frozen=True)
class Picture:
    """Shapes in the order in which they are painted, on a white sheet of width and height, with a
    margin around. top: the margin above."""

    width: float
    height: float
    shapes: Sequence[Shape]
    top: float = MARGIN


def arrow_head(tip: Point, way: float = 1.0, half: float = 0.38, colour: str = INK) -> Area:
    """The head of an arrow that points right, or left with a way of -1."""
    return arrow_to(tip, (way, 0.0), half, colour)


def arrow_to(tip: Point, way: tuple[float, float], half: float = 0.38, colour: str = INK) -> Area:
    """The head of an arrow that points the way (x, y)."""
    (x, y), (dx, dy) = tip, way
    back = x - HEAD * dx, y - HEAD * dy
    sides = [(back[0] - half * dy * k, back[1] + half * dx * k) for k in (-1, 1)]
    return Area([tip, *sides], colour)


def title(text: str, y: float) -> Text:
    """A title at the left."""
    return Text(0, y, text, TITLE_SIZE, INK, bold=True, align="left")


def title_width(text: str) -> float:
    """The width of a title."""
    return text_width(text, TITLE_SIZE, bold=True)


def row_of_texts(
    texts: Iterable[tuple[str, str]], y: float, size: float, gap: float = 2.0
) -> list[Text]:
    """Texts beside each other, given with their colours."""
    shapes, x = [], 0.0
    for colour, text in texts:
        shapes.append(Text(x, y, text, size, colour, align="left"))
        x += text_width(text, size) + gap
    return shapes


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
