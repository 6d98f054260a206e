"""Notes, areas and looks of blocks of a sheet, as the page draws them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from spart_blocks.diagram.sections.drawing_section import (
    AreaSection,
    LookSection,
    NoteSection,
)
from spart_blocks.drawing.placed import Spots
from spart_blocks.studio.files.scopes import Scope

Model = TypeVar("Model", bound=BaseModel)


def looks_of(scope: Scope) -> Mapping[str, LookSection]:
    """The looks of blocks by name. Those with mistakes are left out."""
    written = scope.sheet.drawing.get("looks")
    found = {}
    for name, given in written.items() if isinstance(written, dict) else ():
        look = _read(LookSection, given)
        if look is not None:
            found[name] = look
    return found


def notes_of(scope: Scope, spots: Spots) -> list[dict[str, Any]]:
    """The notes of a sheet. index: in the file; x, y: on the sheet [px]."""
    found = []
    for index, given in enumerate(_entries(scope, "notes")):
        note = _read(NoteSection, given)
        if note is None:
            continue
        by = note.by if note.by in spots else None
        x, y = (spots[by].x, spots[by].y) if by is not None else (0.0, 0.0)
        entry = {"index": index, "text": note.text, "by": by}
        found.append({**entry, "x": x + note.at[0], "y": y + note.at[1]})
    return found


def areas_of(scope: Scope, spots: Spots) -> list[dict[str, Any]]:
    """The areas of a sheet. index: in the file; blocks: those of the sheet that it is around."""
    found = []
    for index, given in enumerate(_entries(scope, "areas")):
        area = _read(AreaSection, given)
        names = [] if area is None else [name for name in area.blocks if name in spots]
        if area is not None and names:
            entry = {"index": index, "title": area.title, "colour": area.colour}
            found.append({**entry, "blocks": names})
    return found


def _entries(scope: Scope, part: str) -> list[Any]:
    written = scope.sheet.drawing.get(part)
    return written if isinstance(written, list) else []


def _read(model: type[Model], given: Any) -> Model | None:
    try:
        return model.model_validate(given)
    except ValidationError:
        return None
