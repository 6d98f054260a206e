"""Small pictures of diagrams: their boxes and wires."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

from spart_blocks.base.cache import cache_folder, key_of
from spart_blocks.base.document import parse_document, read_file
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.diagram_drawing import LOOKS
from spart_blocks.diagram.written.sheets import File
from spart_blocks.results.files import write_whole
from spart_blocks.studio.client import Session
from spart_blocks.studio.files.mistakes import Mistakes
from spart_blocks.studio.files.reading import unbuilt
from spart_blocks.studio.files.scopes import whole
from spart_blocks.studio.files.session import path_in
from spart_blocks.studio.files.sheets import make_sheet

_MOST = 400
"""Blocks that are drawn."""
_MARGIN = 12
_MANNER = "2"
"""How pictures are drawn; another number makes them be drawn anew."""


async def picture_of(session: Session, path: str) -> bytes:
    """The picture of a diagram file as SVG. Raises InputError, DiagramError."""
    place, _ = path_in(session.root, path)
    return await asyncio.to_thread(_picture, place, session.root.resolve())


def _picture(place: Path, root: Path) -> bytes:
    """The picture of a file, kept by its text; blocks of other files are drawn as boxes."""
    text = read_file(place)[1]
    folder, name = cache_folder(), f"{key_of(_MANNER + text)}.svg"
    kept = None if folder is None else folder / "studio" / "pictures" / name
    if kept is not None:
        with suppress(OSError):
            return kept.read_bytes()
    scope = whole(unbuilt(place, root, File(parse_document(text, str(place))), {}))
    picture = svg_of(make_sheet(scope, Mistakes(), {}, None).sheet).encode()
    if kept is not None:
        with suppress(InputError):  # a picture is drawn again where there is no room
            write_whole(kept, picture)
    return picture


def svg_of(sheet: dict[str, Any]) -> str:
    """A sheet as SVG without texts."""
    blocks = sheet["blocks"][:_MOST]
    wires = sheet["wires"] if len(blocks) < _MOST else []
    corners = [(b["x"] + dx, b["y"] + dy) for b in blocks
               for dx, dy in ((0, 0), (b["width"], b["height"]))]  # fmt: skip
    corners += [point for wire in wires for point in wire["points"]]
    xs, ys = zip(*corners, strict=True) if corners else ((0, 100), (0, 60))
    x, y = min(xs) - _MARGIN, min(ys) - _MARGIN
    width, height = max(xs) + _MARGIN - x, max(ys) + _MARGIN - y
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{x:g} {y:g} {width:g} {height:g}">',
        '<g fill="none" stroke="#6b7280" stroke-width="1.5">',
    ]
    for wire in wires:
        points = " ".join(f"{px:g},{py:g}" for px, py in wire["points"])
        parts.append(f'<polyline points="{points}"/>')
    parts.append('</g><g stroke-width="2">')
    for block in blocks:
        fill, edge = LOOKS.get(block["look"], LOOKS["subsystem"])
        parts.append(
            f'<rect x="{block["x"]:g}" y="{block["y"]:g}" width="{block["width"]:g}" '
            f'height="{block["height"]:g}" rx="4" fill="{fill}" stroke="{edge}"/>'
        )
    return "".join([*parts, "</g></svg>"])
