"""Edits diagram files: reads, changes and checks them, and writes them if they were not changed
meanwhile. Operations are applied to the text by patches, and the result is parsed to verify it.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spart_blocks.base.cache import cache_folder, key_of
from spart_blocks.base.document import Document, Keys, parse_document, read_file
from spart_blocks.base.errors import DiagramError, Fault, InputError, Place
from spart_blocks.diagram.build.loader import load_document, structure_faults
from spart_blocks.diagram.written.sheets import File
from spart_blocks.results.files import write_bytes, write_whole
from spart_blocks.versions.edits.patches import Patch, applied, inverse
from spart_blocks.versions.edits.step_patches import NotHere, patches_of
from spart_blocks.versions.edits.steps import Operation, Step, stepped
from spart_blocks.versions.edits.texts import ReplaceLines
from spart_blocks.versions.edits.values import Origins, same

_BY_HAND = "change the file by hand there"


def mistakes(
    text: str | Document, path: Path, root: str | Path | None = None
) -> DiagramError | None:
    """The error with which a diagram of this text does not load; None if it loads. path: of its
    file. root: as for `load`.
    """
    try:
        load_document(
            parse_document(text, str(path)) if isinstance(text, str) else text, path, root
        )
    except DiagramError as error:
        return error
    return None


@dataclass(frozen=True)
class Edited:
    """A text before and after operations.

    rounds: the patches from before to after; each round applies to the text after the round before
    it. file: the parsed text after.
    """

    before: str
    after: str
    file: File = field(compare=False, repr=False)
    rounds: tuple[tuple[Patch, ...], ...] = ()

    @property
    def back(self) -> tuple[tuple[Patch, ...], ...]:
        """The rounds of patches that turn `after` back into `before`."""
        found: list[tuple[Patch, ...]] = []
        text = self.before
        for patches in self.rounds:
            found.insert(0, inverse(text, patches))
            text = applied(text, patches)
        return tuple(found)


def edited(text: str, operations: Sequence[Operation] | Operation, file: str = "it") -> Edited:
    """Apply operations to the text of a diagram; all other lines stay the same. file: its name in
    errors.

    The result is parsed, to verify that it contains what the operations set and that nothing else
    has changed. Raises DiagramError for a text that cannot be parsed. Raises InputError for an
    operation that the diagram does not allow, or that needs more than a simple patch.
    """
    return edited_file(File(parse_document(text, file)), operations)


def edited_file(
    before: File,
    operations: Sequence[Operation] | Operation,
    others: Sequence[Document] = (),
) -> Edited:
    """As `edited`, for a text that is already parsed. others: documents from which the operations
    take values with their text.
    """
    file, rounds = before, []
    for operation in [operations] if isinstance(operations, Operation) else operations:
        if isinstance(operation, ReplaceLines):
            file, patches = operation.replaced(file)
            rounds.append(patches)
            continue
        origins = Origins([file.document, *others])
        file, done = _done(file, operation.steps(file), origins)
        rounds += done
    return Edited(before.document.text, file.document.text, file, tuple(rounds))


_Rounds = list[tuple[Patch, ...]]


def _done(file: File, steps: Sequence[Step], origins: Origins) -> tuple[File, _Rounds]:
    """The file after some steps, and the rounds of patches: one for all steps if possible,
    otherwise one for each.
    """
    if not steps:
        return file, []
    bare = Origins(())
    for found in (origins, bare):
        with suppress(NotHere):
            after, patches = _round(file, steps, found)
            return after, [patches]
    if len(steps) < 2:
        raise _no_place(steps[0].path)
    rounds: _Rounds = []
    for step in steps:
        for found in (origins, bare):
            with suppress(NotHere):
                file, patches = _round(file, [step], found)
                rounds.append(patches)
                break
        else:
            raise _no_place(step.path)
    return file, rounds


def _round(file: File, steps: Sequence[Step], origins: Origins) -> tuple[File, tuple[Patch, ...]]:
    """Apply all steps in one round. Raises NotHere, also if the patched text does not have the
    intended values.
    """
    wanted = file.data
    for step in steps:
        wanted = stepped(wanted, step)
    document = file.document
    try:
        patches = tuple(patches_of(document, steps, origins))
        after = parse_document(applied(document.text, patches), document.file)
    except (ValueError, DiagramError):
        raise NotHere(steps[0].path) from None
    if not same(after.data, wanted):
        raise NotHere(steps[0].path)
    return File(after), patches


def _no_place(path: Keys) -> InputError:
    where = ".".join(map(str, path))
    problem = f"{where} is written in a way that cannot be changed without the text around it"
    return InputError(Fault(problem, hint=_BY_HAND))


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
