"""Files of pictures, and pictures in notebooks and windows."""

from __future__ import annotations

from pathlib import Path

from spart_blocks.base import html
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.drawing.picture import Picture
from spart_blocks.drawing.svg import svg_of
from spart_blocks.results import show_windows
from spart_blocks.results.files import write_bytes

FORMATS = ("svg", "png", "pdf")


def rendered(picture: Picture, fmt: str) -> bytes:
    """A picture as svg, png or pdf, with the same bytes each time."""
    if fmt == "svg":
        return f'<?xml version="1.0" encoding="utf-8"?>\n{svg_of(picture)}'.encode()
    from spart_blocks.drawing.figures import rendered_figure

    return rendered_figure(picture, fmt)


def write(picture: Picture, path: str | Path, fmt: str | None = None) -> Path:
    """Write a picture atomically, by default as the suffix of the path says; returns the path.
    Raises InputError where this cannot be done."""
    chosen, place = picture_format(path, fmt), Path(path).expanduser()
    write_bytes(place, rendered(picture, chosen))
    return place


def picture_format(path: str | Path, fmt: str | None = None) -> str:
    """svg, png or pdf: the given one, or that of the path's suffix, svg without any. Raises
    InputError for others."""
    chosen = (fmt or Path(path).suffix.removeprefix(".") or "svg").lower()
    if chosen not in FORMATS:
        hint = "choose one of " + ", ".join(FORMATS)
        raise InputError(Fault(f"cannot draw a diagram as {chosen!r}", hint=hint))
    return chosen


def show(picture: Picture) -> None:
    """Show a picture in the notebook, or in a window until that is closed. Raises InputError where
    no window can be opened."""
    display = html.notebook()
    if display is not None:
        display({"image/svg+xml": rendered(picture, "svg").decode()}, raw=True)
    elif not opened(picture):
        hint = "name a file instead: diagram.show('diagram.svg')"
        raise InputError(Fault("no window can be opened here", hint=hint))


def opened(picture: Picture) -> bool:
    """Show a picture in a window until that is closed; False where none can be opened."""
    from spart_blocks.drawing.figures import figure_of

    return show_windows([figure_of(picture)])
