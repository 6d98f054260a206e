"""Applies operations to the text of a diagram file, by patches, and parses the result again to
verify it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from spart_blocks.base.document import Document, Keys, parse_document
from spart_blocks.base.errors import DiagramError, Fault, InputError
from spart_blocks.diagram.build.loader import load_document
from spart_blocks.diagram.written.sheets import File
from spart_blocks.versions.edits.origins import Origins
from spart_blocks.versions.edits.patches import Patch, applied, inverse
from spart_blocks.versions.edits.step_patches import NotHere, patches_of
from spart_blocks.versions.edits.steps import Operation, Step, stepped
from spart_blocks.versions.edits.values import same

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
        try:
            file, patches = _round(file, [step], bare)
        except NotHere:
            raise _no_place(step.path) from None
        rounds.append(patches)
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
