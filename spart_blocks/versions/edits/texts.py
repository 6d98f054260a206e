"""Replaces lines of a file's text as they were typed by a person, comments included."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spart_blocks.base.document import parse_document
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.written.sheets import File
from spart_blocks.versions.edits.patches import Patch, applied
from spart_blocks.versions.edits.steps import Operation, Step

_BREAK = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class LineChange:
    """Replaces the lines first to last - 1 of a text, counted from 0, by other lines, which have no
    line breaks. A text that ends in a line break has an empty last line.
    """

    first: int
    last: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class ReplaceLines(Operation):
    """Replace lines of the text. All others stay the same, byte for byte; new ones get the line
    break of the file. changes: in the order of the text, without overlap.
    """

    changes: tuple[LineChange, ...]

    def steps(self, file: File) -> list[Step]:
        """Raises InputError: a text is not changed by steps of values."""
        raise InputError("lines are replaced in the text, not in its values")

    def replaced(self, file: File) -> tuple[File, tuple[Patch, ...]]:
        """The file with the lines replaced, and the patches of its text. Raises InputError for
        lines that the text does not have, and DiagramError if the result cannot be parsed.
        """
        text = file.document.text
        patches = tuple(_patches(text, self.changes))
        return File(parse_document(applied(text, patches), file.document.file)), patches


def _patches(text: str, changes: Sequence[LineChange]) -> Iterator[Patch]:
    breaks = [found.span() for found in _BREAK.finditer(text)]
    starts, ends = [0, *(end for _, end in breaks)], [*(start for start, _ in breaks), len(text)]
    eol = text[slice(*breaks[0])] if breaks else "\n"
    done = 0
    for change in changes:
        first, last, new = change.first, change.last, eol.join(change.lines)
        if not done <= first <= last <= len(starts):
            raise InputError(f"the text has no lines {first} to {last}")
        if any(_BREAK.search(line) for line in change.lines):
            raise InputError("a line has no line breaks")
        done = last
        if change.lines and first < last:
            yield Patch(starts[first], ends[last - 1], new)
        elif change.lines:  # inserted
            is_end = first == len(starts)
            at = len(text) if is_end else starts[first]
            yield Patch(at, at, eol + new if is_end else new + eol)
        elif first < last < len(starts):  # removed
            yield Patch(starts[first], starts[last], "")
        elif first < last:
            yield Patch(ends[first - 1] if first else 0, len(text), "")
