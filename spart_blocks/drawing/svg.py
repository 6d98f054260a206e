"""A picture as SVG, with its texts as texts. Its unit is the point."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from spart_blocks.drawing.picture import (
    MARGIN,
    POINTS,
    Area,
    Dot,
    Frame,
    Line,
    Picture,
    Point,
    Shape,
    Text,
)

_FONT = "'DejaVu Sans', 'Bitstream Vera Sans', Verdana, Geneva, Arial, Helvetica, sans-serif"
_BASELINE = 0.27
"""How far below the middle of a text its baseline is, in its size."""
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


def svg_of(picture: Picture, paper: str = "white") -> str:
    """The picture as an element of SVG. paper: the colour behind it; none if empty."""
    left, top = _length(-MARGIN), _length(-picture.top)
    width = _length(picture.width + 2 * MARGIN)
    height = _length(picture.height + picture.top + MARGIN)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}pt" height="{height}pt" '
        f'viewBox="{left} {top} {width} {height}" font-family="{_FONT}" xml:space="preserve">'
    ]
    if paper:
        lines.append(f'<path d="M{left},{top}h{width}v{height}h-{width}z" fill="{paper}"/>')
    return "\n".join([*lines, *map(_element, picture.shapes), "</svg>\n"])


def _element(shape: Shape) -> str:
    name = getattr(shape, "name", "")
    name = f" id={quoteattr(name)}" if name else ""
    if isinstance(shape, Line):
        stroke = _stroke(shape.colour, shape.width, shape.dashes)
        points = _points(shape.points)
        return f'<polyline{name} points="{points}" fill="none" stroke-linejoin="round"{stroke}/>'
    if isinstance(shape, Area):
        return f'<polygon points="{_points(shape.points)}" fill="{shape.colour}"/>'
    if isinstance(shape, Dot):
        x, y, radius = (_length(v) for v in (shape.x, shape.y, shape.radius))
        stroke = _stroke(shape.edge, shape.line, ()) if shape.line else ""
        return f'<circle{name} cx="{x}" cy="{y}" r="{radius}" fill="{shape.fill}"{stroke}/>'
    if isinstance(shape, Frame):
        x, y, width, height, radius = (
            _length(v) for v in (shape.x, shape.y, shape.width, shape.height, shape.radius)
        )
        stroke = _stroke(shape.edge, shape.line, shape.dashes)
        return (
            f'<rect{name} x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}" '
            f'fill="{shape.fill}"{stroke}/>'
        )
    assert isinstance(shape, Text)
    y = _length(shape.y + _BASELINE * shape.size / POINTS)
    weight = ' font-weight="bold"' if shape.bold else ""
    anchor = "" if shape.align == "left" else f' text-anchor="{_ANCHORS[shape.align]}"'
    look = f'font-size="{shape.size:g}" fill="{shape.colour}"{weight}{anchor}'
    return f'<text x="{_length(shape.x)}" y="{y}" {look}>{escape(shape.text)}</text>'


def _stroke(colour: str, width: float, dashes: tuple[float, ...]) -> str:
    """Attributes of a line. Dashes are told in its widths, and written in points."""
    lengths = " ".join(f"{length * width:g}" for length in dashes)
    dashed = f' stroke-dasharray="{lengths}"' if dashes else ""
    return f' stroke="{colour}" stroke-width="{width:g}"{dashed}'


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{_length(x)},{_length(y)}" for x, y in points)


def _length(value: float) -> str:
    """A length or place in points."""
    return f"{round(value * POINTS, 3):g}"
