"""A picture as a Matplotlib figure, for windows, PNG and PDF."""

from __future__ import annotations

import warnings
from io import BytesIO
from typing import Any

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyBboxPatch, Polygon
from matplotlib.text import Text as TextArtist

from spart_blocks.drawing.picture import GRID, MARGIN, Area, Dot, Frame, Line, Picture, Shape, Text

_DPI, _MOST_PIXELS = 150.0, 8_000


def figure_of(picture: Picture) -> Figure:
    """The picture as a figure of its size, with one axes in units of the grid."""
    width, height = picture.width + 2 * MARGIN, picture.height + picture.top + MARGIN
    figure = Figure(figsize=(width * GRID, height * GRID), dpi=_DPI, facecolor="white")
    axis = figure.add_axes((0, 0, 1, 1))
    axis.set_xlim(-MARGIN, picture.width + MARGIN)
    axis.set_ylim(picture.height + MARGIN, -picture.top)
    axis.axis("off")
    for shape in picture.shapes:
        artist = _artist(shape, axis.transData)
        artist.set_zorder(2)  # of one height, so that those of later shapes lie above
        artist.set_gid(getattr(shape, "name", "") or None)
        axis.add_artist(artist)
    return figure


def _artist(shape: Shape, data: Any) -> Artist:
    if isinstance(shape, Line):
        xs, ys = zip(*shape.points, strict=True)
        return Line2D(
            xs, ys, color=shape.colour, linewidth=shape.width, linestyle=_dashes(shape.dashes),
            solid_joinstyle="round", solid_capstyle="butt", dash_capstyle="butt",
        )  # fmt: skip
    if isinstance(shape, Area):
        return Polygon(list(shape.points), facecolor=shape.colour, linewidth=0)
    if isinstance(shape, Dot):
        return Circle(
            (shape.x, shape.y), shape.radius, facecolor=shape.fill, edgecolor=shape.edge,
            linewidth=shape.line,
        )  # fmt: skip
    if isinstance(shape, Frame):
        return FancyBboxPatch(
            (shape.x, shape.y), shape.width, shape.height,
            boxstyle=f"round,pad=0,rounding_size={shape.radius}", facecolor=shape.fill,
            edgecolor=shape.edge, linewidth=shape.line, linestyle=_dashes(shape.dashes),
        )  # fmt: skip
    assert isinstance(shape, Text)
    return TextArtist(
        shape.x, shape.y, shape.text, size=shape.size, color=shape.colour, ha=shape.align,
        weight="bold" if shape.bold else "normal", va="center", parse_math=False, transform=data,
    )  # fmt: skip


def _dashes(dashes: tuple[float, ...]) -> Any:
    return (0, dashes) if dashes else "-"


def rendered_figure(picture: Picture, fmt: str) -> bytes:
    """The picture as png or pdf, with the same bytes each time."""
    figure = figure_of(picture)
    dpi = min(_DPI, _MOST_PIXELS / max(figure.get_size_inches()))
    metadata = {"CreationDate": None} if fmt == "pdf" else None
    faster: dict[str, Any] = {"pil_kwargs": {"compress_level": 4}} if fmt == "png" else {}
    image = BytesIO()
    with rc_context({"svg.hashsalt": "spart"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(image, format=fmt, dpi=dpi, metadata=metadata, **faster)
    return image.getvalue()
