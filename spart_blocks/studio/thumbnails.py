"""Thumbnails of diagrams: their boxes and wires without texts."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

from spart_blocks.base.cache import cache_folder, key_of
from spart_blocks.base.document import parse_document, read_file
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.written.sheets import File
from spart_blocks.drawing.boxes import LOOKS, framed
from spart_blocks.drawing.picture import MUTED, Line, Picture, Shape
from spart_blocks.drawing.placed import GRID
from spart_blocks.drawing.svg import svg_of
from spart_blocks.results.files import write_whole
from spart_blocks.studio.client import Session
from spart_blocks.studio.files.mistakes import Mistakes
from spart_blocks.studio.files.reading import unbuilt
from spart_blocks.studio.files.scopes import whole
from spart_blocks.studio.files.session import path_in
from spart_blocks.studio.files.sheets import make_sheet

_MOST = 400
"""Largest number of blocks that are drawn."""
_MANNER = "3"
"""Version of the drawing; a new one invalidates cached thumbnails."""


async def picture_of(session: Session, path: str) -> bytes:
    """The thumbnail of a diagram file as SVG. Raises InputError or DiagramError."""
    place, _ = path_in(session.root, path)
    return await asyncio.to_thread(_picture, place, session.root.resolve())


def _picture(place: Path, root: Path) -> bytes:
    """The thumbnail of a file, cached by its text. Blocks from other files are drawn as boxes."""
    text = read_file(place)[1]
    folder, name = cache_folder(), f"{key_of(_MANNER + text)}.svg"
    kept = None if folder is None else folder / "studio" / "pictures" / name
    if kept is not None:
        with suppress(OSError):
            return kept.read_bytes()
    scope = whole(unbuilt(place, root, File(parse_document(text, str(place))), {}))
    sheet, _ = make_sheet(scope, Mistakes(), {}, None)
    picture = svg_of(picture_of_sheet(sheet), "").encode()
    if kept is not None:
        with suppress(InputError):  # a picture is drawn again where there is no room
            write_whole(kept, picture)
    return picture


def picture_of_sheet(sheet: dict[str, Any]) -> Picture:
    """A sheet as a picture without texts."""
    blocks = sheet["blocks"][:_MOST]
    wires = sheet["wires"] if len(blocks) < _MOST else []
    corners = [(b["x"] + dx, b["y"] + dy) for b in blocks
               for dx, dy in ((0, 0), (b["width"], b["height"]))]  # fmt: skip
    corners += [point for wire in wires for point in wire["points"]]
    xs, ys = zip(*corners, strict=True) if corners else ((0, 100), (0, 60))
    left, top = min(xs), min(ys)
    shapes: list[Shape] = [
        Line([((x - left) / GRID, (y - top) / GRID) for x, y in wire["points"]], MUTED)
        for wire in wires
    ]
    for block in blocks:
        look = LOOKS.get(block["look"], LOOKS["subsystem"])
        corner = (block["x"] - left) / GRID, (block["y"] - top) / GRID
        shapes.append(framed(look, *corner, block["width"] / GRID, block["height"] / GRID))
    return Picture((max(xs) - left) / GRID, (max(ys) - top) / GRID, shapes)
