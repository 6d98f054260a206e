"""Notes and areas of a sheet: where they go, and their shapes. Lengths are in units of the grid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from spart_blocks.drawing.layout import Layout
from spart_blocks.drawing.picture import (
    INK,
    POINTS,
    Frame,
    Point,
    Shape,
    Text,
    text_width,
    widest,
)

NOTE_SIZE, TITLE_SIZE = 8.0, 8.0
LINE = 1.35
"""Height of a line in its size."""
PADDING, TITLE, NESTED = 2.0, 1.8, 1.2
"""Space between an area and its blocks, above them for the title, and for each area within."""
TINTS: Mapping[str, tuple[str, str]] = {
    "red": ("#FBE3E1", "#B3261E"),
    "orange": ("#FFE8D2", "#A8500F"),
    "yellow": ("#FFF6CC", "#7D6200"),
    "green": ("#DDF3E3", "#1B7F3B"),
    "blue": ("#E3EEFB", "#356399"),
    "violet": ("#EFE5FA", "#72489F"),
    "grey": ("#ECEEF1", "#5C6370"),
}
"""The fill and the line of each colour."""
_PALE = 0.55
"""How much of the fill of a block an area has."""
Rectangle = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True)
class Note:
    """A text with its upper left corner at x, y."""

    text: str
    x: float
    y: float

    def at(self, dx: float, dy: float) -> Note:
        """The same moved by dx, dy."""
        return replace(self, x=self.x + dx, y=self.y + dy)

    @property
    def lines(self) -> list[str]:
        """Its lines."""
        return self.text.splitlines() or [""]

    @property
    def bounds(self) -> Rectangle:
        """The rectangle that it fills."""
        height = len(self.lines) * LINE * NOTE_SIZE / POINTS
        return self.x, self.y, self.x + widest(self.lines, NOTE_SIZE), self.y + height

    def shapes(self) -> Iterator[Shape]:
        """One text for each line."""
        for k, line in enumerate(self.lines):
            if line:
                y = self.y + (k + 0.5) * LINE * NOTE_SIZE / POINTS
                yield Text(self.x, y, line, NOTE_SIZE, INK, align="left")


@dataclass(frozen=True)
class Area:
    """A rectangle with a title. colour: a key of TINTS."""

    title: str
    colour: str
    bounds: Rectangle

    def at(self, dx: float, dy: float) -> Area:
        """The same moved by dx, dy."""
        left, top, right, bottom = self.bounds
        return replace(self, bounds=(left + dx, top + dy, right + dx, bottom + dy))

    def shapes(self) -> Iterator[Shape]:
        """Its frame and its title."""
        left, top, right, bottom = self.bounds
        fill, edge = TINTS[self.colour]
        yield Frame(left, top, right - left, bottom - top, _paler(fill), edge, 0.7, radius=0.8)
        if self.title:
            yield Text(left + 0.8, top + 1.2, self.title, TITLE_SIZE, edge, True, "left")


def _paler(colour: str) -> str:
    parts = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 - _PALE * (255 - part)):02X}" for part in parts)


def around(boxes: Sequence[Rectangle], title: str, inner: int) -> Rectangle:
    """The rectangle of an area around boxes. inner: number of areas within it, one in another."""
    padding = PADDING + NESTED * inner
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    right, bottom = max(box[2] for box in boxes), max(box[3] for box in boxes)
    right = max(right, left + text_width(title, TITLE_SIZE, bold=True) - 2 * padding + 1.6)
    above = TITLE * (inner + 1) if title else 0.0
    return left - padding, top - padding - above, right + padding, bottom + padding


def depth_of(members: frozenset[str], others: Sequence[frozenset[str]]) -> int:
    """How many areas lie within one another in an area. others: the blocks of all areas."""
    return max((1 + depth_of(one, others) for one in others if one < members), default=0)


def with_room(layout: Layout, bounds: Sequence[Rectangle]) -> tuple[Layout, Point]:
    """A layout moved and grown so that rectangles lie in it too, and by how much it was moved."""
    dx, dy = (max(0.0, -min((one[k] for one in bounds), default=0.0)) for k in (0, 1))
    right = max([layout.width, *(one[2] for one in bounds)])
    bottom = max([layout.height, *(one[3] for one in bounds)])

    def moved(points: Sequence[Point]) -> tuple[Point, ...]:
        return tuple((x + dx, y + dy) for x, y in points)

    routes = tuple(moved(points) for points in layout.routes)
    grown = Layout(moved(layout.corners), routes, moved(layout.dots), right + dx, bottom + dy)
    return grown, (dx, dy)
