"""Values that are moved together with the text in which they were written, including comments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.base.document import Document, YamlNode
from spart_blocks.versions.edits.lines import column_of, line_end


@dataclass
class Origins:
    """Finds the text of values in some documents: of entries of mappings, and of items of lists,
    that are written on lines of their own. A value is recognized by its identity (`is`).
    """

    documents: Iterable[Document]
    _found: dict[int, tuple[str, int, int, int]] | None = field(default=None, repr=False)

    def text(self, value: Any, column: int) -> str | None:
        """The original text of a value, from behind its colon or dash to the end of its last line,
        indented for an entry at a column. None if the value is not from the documents.
        """
        if not isinstance(value, dict | str) or not value:
            return None
        if self._found is None:
            self._found = {}
            for document in self.documents:
                self._note(document.text, document.root)
        place = self._found.get(id(value))
        if place is None:
            return None
        text, start, end, before = place
        first, *others = text[start:end].replace("\r\n", "\n").split("\n")
        return "\n".join([first, *(_shifted(line, column - before) for line in others)])

    def _note(self, text: str, holder: YamlNode) -> None:
        if holder.flow or holder.alias:
            return
        kind = dict if holder.keys else str
        column = column_of(text, holder.start)
        for key, item in holder.children.items():
            if isinstance(item.value, kind) and not item.alias:
                start = text.index(":", holder.keys[key].end) + 1 if holder.keys else item.start
                assert self._found is not None
                self._found[id(item.value)] = (text, start, line_end(text, item.end), column)
            self._note(text, item)


def _shifted(line: str, by: int) -> str:
    """A line with its indentation changed by some spaces."""
    if by >= 0 or not line.strip():
        return " " * by + line if line.strip() else line
    blanks = len(line) - len(line.lstrip(" "))
    return line[min(-by, blanks) :]
