"""The diagrams and robot files of a project with their pictures, for the start page."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from spart_blocks.base.cache import cache_folder, key_of
from spart_blocks.base.document import parse_document, read_document, read_file
from spart_blocks.base.errors import DiagramError, InputError
from spart_blocks.diagram.written.sheets import File
from spart_blocks.drawing.boxes import LOOKS, framed
from spart_blocks.drawing.picture import MUTED, Line, Picture, Shape
from spart_blocks.drawing.placed import GRID
from spart_blocks.drawing.svg import svg_of
from spart_blocks.results.files import write_whole
from spart_blocks.studio.client import Client, Handler, Session
from spart_blocks.studio.files.mistakes import Mistakes
from spart_blocks.studio.files.reading import unbuilt
from spart_blocks.studio.files.scopes import whole
from spart_blocks.studio.files.session import path_in
from spart_blocks.studio.files.sheets import make_sheet, sheet_parts
from spart_blocks.studio.requests import text_of
from spart_blocks.versions.edits.values import scalar_text

FOLDER = "diagrams"
"""The folder for a project's diagrams, if it exists."""
MOST_FILES = 2000
"""Largest number of files that are examined."""
_SKIPPED = {"node_modules", "build", "dist", "venv", "out", "__pycache__"}
_SUFFIXES = (".yaml", ".yml")


async def project(client: Client, given: dict[str, Any]) -> dict[str, Any]:
    """The project's name and its diagrams."""
    session = client.session
    diagrams = await asyncio.to_thread(diagrams_of, session.root)
    folder = f"{FOLDER}/" if (session.root / FOLDER).is_dir() else ""
    return {"name": session.root.name, "diagrams": diagrams, "folder": folder}


async def named(client: Client, given: dict[str, Any]) -> str | None:
    """The file that the command line named."""
    return client.session.opened


def diagrams_of(root: Path) -> list[dict[str, Any]]:
    """The diagrams below a folder, with name, description and number of blocks."""
    found = (_listed(path, root) for path in _files(root))
    return [diagram for diagram in found if diagram is not None]


def _files(root: Path, suffixes: tuple[str, ...] = _SUFFIXES) -> Iterator[Path]:
    """The files below a folder with these suffixes; those of a folder come before those of its
    subfolders. No link leads out of the folder."""
    seen, whole = 0, root.resolve()
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(n for n in inner if n not in _SKIPPED and not n.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if not name.endswith(suffixes) or seen >= MOST_FILES:
                continue
            if not path.is_symlink() or Path(os.path.realpath(path)).is_relative_to(whole):
                seen += 1
                yield path


def _listed(path: Path, root: Path) -> dict[str, Any] | None:
    """The description of a diagram, also if it cannot be read; None for other YAML files."""
    found = {"path": path.relative_to(root).as_posix(), "name": path.stem}
    try:
        data = read_document(path).data
    except DiagramError as error:
        known = path.parent.name == FOLDER
        problem = str(error.faults[0])
        return {**found, "description": "", "blocks": 0, "problem": problem} if known else None
    blocks = data.get("blocks")
    if not isinstance(blocks, dict) or "inputs" in data or "outputs" in data:
        return None
    title = data.get("name")
    text = data.get("description")
    return {
        **found,
        "name": title if isinstance(title, str) else path.stem,
        "description": text if isinstance(text, str) else "",
        "blocks": len(blocks),
        "problem": None,
    }


async def models(client: Client, given: dict[str, Any]) -> list[dict[str, str]]:
    """The robot files of the project, each with the section that refers to it in a diagram."""
    root = client.session.root.resolve()
    path, _ = path_in(root, text_of(given, "path"))
    return await asyncio.to_thread(models_of, root, path.parent)


def models_of(root: Path, home: Path) -> list[dict[str, str]]:
    """The robot files below a folder, each with the section that refers to it in a diagram in
    folder `home`."""
    found = []
    for path in _files(root, (".urdf", *_SUFFIXES)):
        kind = "urdf" if path.suffix == ".urdf" else _kind(path)
        if kind is not None:
            given = Path(os.path.relpath(path, home)).as_posix()
            name = re.sub(r"\W", "_", path.stem)
            text = f"{{{kind}: {scalar_text(given, in_flow=True)}}}"
            found.append({"path": path.relative_to(root).as_posix(), "name": name, "text": text})
    return found


def _kind(path: Path) -> str | None:
    """The key by which a diagram refers to a robot file: bodies, links or dh; None for other
    files."""
    try:
        data = read_document(path).data
    except DiagramError:
        return None
    return next((kind for key, kind in _ROBOTS.items() if key in data), None)


_ROBOTS = {"bodies": "bodies", "links": "links", "man": "dh"}


HANDLERS: dict[str, Handler] = {"project": project, "named": named, "models": models}


# --- thumbnails: boxes and wires without texts ----------------------------------------------------


_MOST_DRAWN = 400
"""Largest number of blocks that are drawn."""
_MANNER = "3"
"""Version of the drawing; a new one invalidates cached thumbnails."""


async def thumbnail(session: Session, path: str) -> tuple[str, str, bytes]:
    """A small picture of a diagram: its file name, media type and bytes. Raises InputError or
    DiagramError."""
    place, _ = path_in(session.root, path)
    picture = await asyncio.to_thread(_picture, place, session.root.resolve())
    return f"{Path(path).stem}.svg", "image/svg+xml", picture


def _picture(place: Path, root: Path) -> bytes:
    """The thumbnail of a file, cached by its text. Blocks from other files are drawn as boxes."""
    text = read_file(place)[1]
    folder, name = cache_folder(), f"{key_of(_MANNER + text)}.svg"
    kept = None if folder is None else folder / "studio" / "pictures" / name
    if kept is not None:
        with suppress(OSError):
            return kept.read_bytes()
    scope = whole(unbuilt(place, root, File(parse_document(text, str(place))), {}))
    sheet = make_sheet(sheet_parts(scope, Mistakes()), {}, None).data
    picture = svg_of(_picture_of_sheet(sheet), "").encode()
    if kept is not None:
        with suppress(InputError):  # a picture is drawn again where there is no room
            write_whole(kept, picture)
    return picture


def _picture_of_sheet(sheet: dict[str, Any]) -> Picture:
    """A sheet as a picture without texts."""
    blocks = sheet["blocks"][:_MOST_DRAWN]
    wires = sheet["wires"] if len(blocks) < _MOST_DRAWN else []
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
