"""Values that keep the text in which they were written, with its comments, at another place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.versions.edits.lines import line_end
from spart_blocks.versions.edits.spans import Span, spans


@dataclass
class Origins:
    """Where values stand in some texts: mappings that are entries of others, and items of lists,
    each written in lines. A value is known by its identity."""

    files: Iterable[tuple[str, Any]]
    _found: dict[int, tuple[str, int, int, int]] | None = field(default=None, repr=False)

    def text(self, value: Any, column: int) -> str | None:
        """The text of a value from behind its colon or dash to the end of its last line, in lines
        for an entry at a column."""
        if not isinstance(value, dict | str) or not value:
            return None
        if self._found is None:
            self._found = {}
            for text, data in self.files:
                root = spans(text)
                if root is not None:
                    self._note(text, root, data)
        place = self._found.get(id(value))
        if place is None:
            return None
        text, start, end, before = place
        first, *others = text[start:end].replace("\r\n", "\n").split("\n")
        return "\n".join([first, *(_shifted(line, column - before) for line in others)])

    def _note(self, text: str, span: Span, value: Any) -> None:
        if span.flow or not isinstance(value, dict | list):
            return
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for index, (_, item) in enumerate(items):
            if index >= len(span.items):
                return
            inner = span.items[index]
            kind = dict if isinstance(value, dict) else str
            if isinstance(item, kind) and inner.kind != "alias":
                start = inner.start
                if kind is dict:
                    start = span.behind_colon(text, index)
                assert self._found is not None
                self._found[id(item)] = (text, start, line_end(text, inner.end), span.column)
            self._note(text, inner, item)


def _shifted(line: str, by: int) -> str:
    """A line with more or fewer spaces at its beginning."""
    if by >= 0 or not line.strip():
        return " " * by + line if line.strip() else line
    blanks = len(line) - len(line.lstrip(" "))
    return line[min(-by, blanks) :]
