"""Edits files: reads, changes and checks them, and writes them if they were not changed
meanwhile.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spart_blocks.base.cache import cache_folder, key_of
from spart_blocks.base.document import Document, parse_document, read_file
from spart_blocks.base.errors import DiagramError, Fault, InputError, Place
from spart_blocks.diagram.build.loader import load_document, structure_faults
from spart_blocks.diagram.written.sheets import File
from spart_blocks.results.files import write_bytes, write_whole
from spart_blocks.versions.edits.patches import Patch, applied
from spart_blocks.versions.edits.steps import Operation
from spart_blocks.versions.edits.text import Edited, edited_file, mistakes

_MOST_UNDONE = 100
"""Number of edits of a file that can be undone."""


@dataclass(frozen=True)
class EditedFile:
    """The text of a file before and after operations. bytes: the contents of the file before."""

    path: Path
    edited: Edited
    bytes: bytes


def edit(
    path: str | Path,
    operations: Sequence[Operation] | Operation,
    *,
    check: bool = True,
    root: str | Path | None = None,
) -> EditedFile:
    """Change a diagram file by operations; all other lines stay the same, byte for byte.

    check: a diagram without faults must have none afterwards; in a diagram with faults, no section
    may get new ones. root: as for `load`. Nothing is written if an operation or the check fails,
    or if the file has changed meanwhile. `undo` reverts the edit. Raises DiagramError, InputError.
    """
    found = changed(Path(path), operations, check=check, root=root)
    write(found)
    return found


def changed(
    path: Path,
    operations: Sequence[Operation] | Operation,
    *,
    check: bool = True,
    root: str | Path | None = None,
) -> EditedFile:
    """As `edit`, without writing."""
    raw, text = read_file(path)
    before = parse_document(text, str(path))
    found = edited_file(File(before), operations)
    if check and found.after != text:
        after = found.file.document
        if mistakes(before, path, root) is None:
            load_document(after, path, root)
        else:
            _refuse_wrong_sections(before, after, path)
    return EditedFile(path, found, raw)


def _refuse_wrong_sections(before: Document, after: Document, path: Path) -> None:
    """Raise DiagramError if an edit adds faults to the sections of a diagram that already had
    some.
    """
    known = {fault.message for fault in structure_faults(before, path)}
    new = [one for one in structure_faults(after, path) if one.message not in known]
    if new:
        raise DiagramError(new)


def write(file: EditedFile) -> None:
    """Write the edited text. Raises InputError if the file has changed since it was read."""
    if file.edited.after == file.edited.before:
        return
    if not file.path.is_file() or file.path.read_bytes() != file.bytes:
        problem = "the file has been changed since it was read; nothing was written"
        raise InputError(Fault(problem, Place(str(file.path)), "edit it again"))
    bom = codecs.BOM_UTF8 if file.bytes.startswith(codecs.BOM_UTF8) else b""
    made = bom + file.edited.after.encode("utf-8")
    write_bytes(file.path, made)
    _remember(file.path, made, file.edited)


def undo(path: str | Path) -> bool:
    """Revert the last edit of a file. Returns whether there was one. Raises InputError if the file
    has been changed otherwise since then.
    """
    file = Path(path)
    raw, text = read_file(file)
    history = _history(file)
    if not history:
        return False
    if history[-1]["after"] != key_of(text):
        problem = "the file has been changed since its last edit, which cannot be undone"
        raise InputError(Fault(problem, Place(str(file))))
    mark = raw[: len(raw) - len(text.encode("utf-8"))]  # of the byte order
    before = mark + undone(text, history[-1]["back"]).encode("utf-8")
    write_bytes(file, before)
    _store(file, history[:-1])
    return True


def undone(text: str, rounds: Sequence[Sequence[Any]]) -> str:
    """A text after rounds of patches; each round is a list of patches (start, end, text)."""
    for patches in rounds:
        text = applied(text, [Patch(*patch) for patch in patches])
    return text


def read_text(path: Path) -> str:
    """The text of a YAML file, with its line breaks unchanged. Raises DiagramError."""
    text = read_file(path)[1]
    parse_document(text, str(path))
    return text


def write_text(path: Path, text: str) -> None:
    """Write a text unchanged. Raises InputError."""
    write_bytes(path, text.encode("utf-8"))


# --- what can be undone ---------------------------------------------------------------------


def _place(path: Path) -> Path | None:
    folder = cache_folder()
    return None if folder is None else folder / "edits" / f"{key_of(str(path.resolve()))}.json"


def _history(path: Path) -> list[Any]:
    place = _place(path)
    try:
        found = json.loads(place.read_text(encoding="utf-8")) if place else []
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def _remember(path: Path, made: bytes, done: Edited) -> None:
    back = [[[p.start, p.end, p.text] for p in patches] for patches in done.back]
    entry = {"after": key_of(made.decode("utf-8-sig")), "back": back}
    _store(path, [*_history(path), entry][-_MOST_UNDONE:])


def _store(path: Path, history: list[Any]) -> None:
    place = _place(path)
    if place is None:
        return
    try:
        write_whole(place, json.dumps(history).encode("utf-8"))
    except (OSError, InputError):  # undoing is a help: without its place the edit counts
        return
