"""Three versions of a diagram's file become one: a base, and two sides that come from it.

What the sides have renamed or moved is found as `diff` finds it, and gets one name and place in all
three versions. Then these are merged by paths and values, and the text of ours is patched, so that
its comments and layout stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from spart_blocks.base.document import Document, parse_document
from spart_blocks.base.errors import DiagramError, InputError
from spart_blocks.diagram.written.files import project_root
from spart_blocks.diagram.written.sheets import File, block_path
from spart_blocks.versions.differences.compare import pair_of
from spart_blocks.versions.differences.matched_versions import DiagramVersion
from spart_blocks.versions.differences.references import references_of
from spart_blocks.versions.differences.sides import DiffSide
from spart_blocks.versions.edits.files import edited_file, mistakes
from spart_blocks.versions.edits.operations import RenameParameter, data_after
from spart_blocks.versions.edits.renaming import NewNames, Rename
from spart_blocks.versions.edits.steps import Operation, Step, ordered
from spart_blocks.versions.merge.moves import moving
from spart_blocks.versions.merge.names import CommonNames, Matched, common_names
from spart_blocks.versions.merge.ports import ports_renamed
from spart_blocks.versions.merge.three_way import Conflict, ThreeWay


@dataclass(frozen=True)
class Merged:
    """The text of a merge, or its conflicts and no text. sides: the merge with the values of ours
    and of theirs where they are in conflict; None if it cannot be made for other reasons."""

    text: str | None
    conflicts: tuple[Conflict, ...] = ()
    sides: tuple[str, str] | None = None

    @property
    def marked(self) -> str | None:
        """The text with git's marks around the lines that are in conflict alone; None without
        sides."""
        if self.sides is None:
            return None
        ours, theirs = (text.splitlines(keepends=True) for text in self.sides)
        found: list[str] = []
        for tag, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
            if tag == "equal":
                found += ours[a:b]
            else:
                found += ["<<<<<<< ours\n", *_ended(ours[a:b]), "=======\n"]
                found += [*_ended(theirs[c:d]), ">>>>>>> theirs\n"]
        return "".join(found)


def _ended(lines: Sequence[str]) -> list[str]:
    """Lines of which the last has a line break, too."""
    return [line if line.endswith("\n") else f"{line}\n" for line in lines]


def merge(
    base: str,
    ours: str,
    theirs: str,
    path: str | Path | None = None,
    names: tuple[str, str, str] = ("base", "ours", "theirs"),
) -> Merged:
    """Merge two versions of a diagram file that come from a third. path: where the result will
    stand; with it the result must load if both versions do. The text is that of ours with the
    changes of theirs. names: of the versions in errors. Raises DiagramError for one that
    is no YAML.
    """
    if theirs == base or ours == theirs:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    texts = zip(names, (base, ours, theirs), strict=True)
    documents = [parse_document(text, name) for name, text in texts]
    sides = [_side(document, path) for document in documents]
    pairs = [pair_of(sides[0], side) for side in sides[1:]]
    common = common_names(
        sides[0].data,
        *(
            Matched(pair, references_of(pair, sides[0].data, side.data), side.data)
            for pair, side in zip(pairs, sides[1:], strict=True)
        ),
    )
    files = [File(document) for document in documents]
    try:
        files = _by_common_names(files, common)
    except InputError:  # a name that the file cannot be given: as if nothing were renamed
        common = CommonNames((), (), {}, common.conflicts)
    ports = (half.ports_of_file for half in (pairs[0].old, pairs[0].new, pairs[1].new))
    work = ThreeWay(
        [DiagramVersion(file, of_file) for file, of_file in zip(files, ports, strict=True)],
        {block_path(name): former for name, former in common.former.items()},
    )
    work.values((), *(file.data for file in files))
    conflicts = (*(Conflict((), message=text) for text in common.conflicts), *work.conflicts)
    try:
        found = _with_steps(files, work.steps)
        if conflicts and not common.conflicts and work.to_theirs is not None:
            both = found, _with_steps(files, [*work.steps, *work.to_theirs])
            return Merged(None, conflicts, both)
    except InputError as error:
        return Merged(None, conflicts or (Conflict((), message=str(error)),))
    return Merged(None, conflicts) if conflicts else _loaded(found, (ours, theirs), path)


def _with_steps(files: Sequence[File], steps: Sequence[Step]) -> str:
    """The text of ours after these steps, with the text of theirs for its values."""
    return edited_file(files[1], _Steps(tuple(ordered(list(steps)))), [files[2].document]).after


def _side(document: Document, path: str | Path | None) -> DiffSide:
    """A version as a side of a diff, whose used files are those beside the result."""
    if path is None:
        return DiffSide(document.file, document)
    file = Path(path).absolute()
    return DiffSide(document.file, document, file, project_root(file))


def _loaded(text: str, sides: Sequence[str], path: str | Path | None) -> Merged:
    """A merge of two sides, refused if both load at the path and it does not."""
    if path is None or any(mistakes(side, Path(path)) for side in sides):
        return Merged(text)
    wrong = mistakes(text, Path(path))
    if wrong is None:
        return Merged(text)
    message = f"both sides are right, but together they are not:\n{wrong}"
    return Merged(None, (Conflict((), message=message),))


def _by_common_names(files: Sequence[File], names: CommonNames) -> list[File]:
    """Base, ours and theirs with what is renamed or moved at one place; of the base the values
    alone. Raises InputError."""
    renamed = [
        _after(file, _renaming(new), with_text=number > 0)
        for number, (file, new) in enumerate(zip(files, names.versions, strict=True))
    ]
    moves = moving(renamed, names.moves)
    origins = [file.document for file in renamed[1:]]
    moved = [
        _after(file, steps, origins, with_text=number > 0)
        for number, (file, steps) in enumerate(zip(renamed, moves, strict=True))
    ]
    return [
        _after(file, steps, with_text=number > 0)
        for number, (file, steps) in enumerate(zip(moved, ports_renamed(moved), strict=True))
    ]


def _renaming(names: NewNames) -> list[Operation]:
    """The operations that give a version its new names."""
    params = names.sections.get("params", {})
    found: list[Operation] = [RenameParameter(old, new) for old, new in params.items()]
    return [*found, Rename(names)]


def _after(
    file: File,
    operations: Sequence[Operation],
    origins: Sequence[Document] = (),
    *,
    with_text: bool,
) -> File:
    """The file after the operations. origins: documents from which values are taken with their
    text. with_text: patch the text too; otherwise change the data only. Raises InputError."""
    if with_text:
        return edited_file(file, operations, origins).file
    data = file.data
    for operation in operations:
        data = data_after(data, operation)
    return File.of(data) if operations else file


@dataclass(frozen=True)
class _Steps(Operation):
    given: tuple[Step, ...]

    def steps(self, file: File) -> list[Step]:
        return list(self.given)


def is_diagram(text: str) -> bool:
    """Whether a text is a diagram, or a file with ports, and no other YAML."""
    try:
        data = parse_document(text, "it").data
    except DiagramError:
        return False
    return isinstance(data.get("blocks"), dict)
