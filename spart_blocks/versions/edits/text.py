"""Operations on the text of a diagram file: patches of it, whose result is read again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spart_blocks.base.document import Keys, parse_document
from spart_blocks.base.errors import DiagramError, Fault, InputError
from spart_blocks.diagram.build.loader import load_text
from spart_blocks.versions.edits.operations import Operation
from spart_blocks.versions.edits.origins import Origins
from spart_blocks.versions.edits.patches import Patch, applied, inverse
from spart_blocks.versions.edits.step_patches import NotHere, patches_of
from spart_blocks.versions.edits.steps import Step, stepped
from spart_blocks.versions.edits.values import same

_BY_HAND = "change the file by hand there"


def mistakes(text: str, path: Path, root: str | Path | None = None) -> DiagramError | None:
    """What is wrong with a diagram of this text at a path; None where it loads. root: as for
    `load`."""
    try:
        load_text(text, path, root)
    except DiagramError as error:
        return error
    return None


@dataclass(frozen=True)
class Edited:
    """A text before and after operations. rounds: the patches that lead there, each round on the
    text that the one before gives."""

    before: str
    after: str
    rounds: tuple[tuple[Patch, ...], ...] = ()

    @property
    def back(self) -> tuple[tuple[Patch, ...], ...]:
        """The rounds that lead back from after to before."""
        found: list[tuple[Patch, ...]] = []
        text = self.before
        for patches in self.rounds:
            found.insert(0, inverse(text, patches))
            text = applied(text, patches)
        return tuple(found)


def edited(text: str, operations: Sequence[Operation] | Operation, file: str = "it") -> Edited:
    """A diagram's text after operations, all other lines as they are. file: its name in errors.

    The result is parsed: it holds what the operations ask for, and nothing else has changed.
    Raises DiagramError for a text that cannot be read, InputError for an operation that the
    diagram does not allow, or whose place in the text is not simple.
    """
    return edited_data(text, parse_document(text, file).data, operations, file)


def edited_data(
    text: str,
    data: dict[str, Any],
    operations: Sequence[Operation] | Operation,
    file: str = "it",
    others: Sequence[tuple[str, dict[str, Any]]] = (),
) -> Edited:
    """As `edited`, of a text whose data have been read. others: texts with their data, values of
    which the operations take."""
    after, rounds = text, []
    for operation in [operations] if isinstance(operations, Operation) else operations:
        texts = Origins([(after, data), *others])
        after, data, done = _done(after, operation.steps(data), data, file, texts)
        rounds += done
    return Edited(text, after, tuple(rounds))


def _done(
    text: str, steps: Sequence[Step], data: dict[str, Any], file: str, texts: Origins
) -> tuple[str, dict[str, Any], list[tuple[Patch, ...]]]:
    """The text after steps, its data, and the rounds of patches: one for all, or one for each."""
    if not steps:
        return text, data, []
    bare = Origins(())
    for found in (texts, bare):
        with suppress(NotHere):
            return _round(text, steps, data, file, found)
    if len(steps) < 2:
        raise _no_place(steps[0].path)
    rounds: list[tuple[Patch, ...]] = []
    for step in steps:
        try:
            text, data, done = _round(text, [step], data, file, bare)
        except NotHere:
            raise _no_place(step.path) from None
        rounds += done
    return text, data, rounds


def _round(
    text: str, steps: Sequence[Step], data: dict[str, Any], file: str, texts: Origins
) -> tuple[str, dict[str, Any], list[tuple[Patch, ...]]]:
    """All steps at once. Raises NotHere, also if the text then holds something else."""
    wanted = data
    for step in steps:
        wanted = stepped(wanted, step)
    try:
        patches = tuple(patches_of(text, steps, data, texts))
        after = applied(text, patches)
        found = parse_document(after, file).data
    except (ValueError, DiagramError):
        raise NotHere(steps[0].path) from None
    if not same(found, wanted):
        raise NotHere(steps[0].path)
    return after, found, [patches]


def _no_place(path: Keys) -> InputError:
    where = ".".join(map(str, path))
    problem = f"{where} is written in a way that cannot be changed without the text around it"
    return InputError(Fault(problem, hint=_BY_HAND))
