"""Where each value of a YAML text stands: from the first to the last of its characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml

from spart_blocks.base.document import Keys
from spart_blocks.versions.edits.lines import column_of

Kind = Literal["scalar", "mapping", "sequence", "alias"]
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_COLON = re.compile(r"[ \t]*:")


@dataclass(slots=True)
class Span:
    """A value in a text. start, end: of its characters, without an anchor; comments and blank lines
    behind a collection in lines are not part of it. column: of its first character, 0-based. keys:
    of a mapping, in the order of items.
    """

    kind: Kind
    start: int
    end: int
    column: int
    flow: bool = False
    keys: list[Span] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    items: list[Span] = field(default_factory=list)

    def at(self, path: Keys) -> Span | None:
        """The value at a path, or None: also for what lies in the value of an alias."""
        span = self
        for key in path:
            index = span.index(key)
            if index is None:
                return None
            span = span.items[index]
        return span

    def index(self, key: str | int) -> int | None:
        """Which of the items has a key."""
        if self.kind == "mapping":
            return self.names.index(str(key)) if key in self.names else None
        if self.kind == "sequence" and isinstance(key, int) and 0 <= key < len(self.items):
            return key
        return None

    def head(self, index: int) -> Span:
        """What an entry begins with: its key, or itself in a list."""
        return (self.keys or self.items)[index]

    def behind_colon(self, text: str, index: int) -> int:
        """The place behind the colon of a key, in the text of this mapping."""
        return text.index(":", self.keys[index].end) + 1


def spans(text: str) -> Span | None:
    """The value that a text holds, None for an empty one. The text must be one document that
    `parse_document` accepts.
    """
    stack: list[Span] = []
    keys: list[tuple[Span, str] | None] = []
    root: Span | None = None

    def put(span: Span, value: str | None) -> None:
        nonlocal root
        if not stack:
            root = span
        elif stack[-1].kind == "mapping":
            if keys[-1] is None:
                keys[-1] = (span, value or "")
                return
            key, name = keys[-1]
            keys[-1] = None
            if span.kind == "scalar" and span.start == span.end:
                _settle(span, key, text)
            stack[-1].keys.append(key)
            stack[-1].names.append(name)
            stack[-1].items.append(span)
        else:
            stack[-1].items.append(span)

    events: Iterator[Any] = yaml.parse(text, Loader=_Loader)
    for event in events:
        if isinstance(event, yaml.ScalarEvent):
            put(_scalar(event, text), event.value)
        elif isinstance(event, yaml.AliasEvent):
            first: Any = event.start_mark
            last: Any = event.end_mark
            put(Span("alias", first.index, last.index, first.column), None)
        elif isinstance(event, yaml.CollectionStartEvent):
            kind: Kind = "mapping" if isinstance(event, yaml.MappingStartEvent) else "sequence"
            start = _behind_anchor(text, event)
            span = Span(kind, start, start, column_of(text, start), flow=bool(event.flow_style))
            put(span, None)
            stack.append(span)
            keys.append(None)
        elif isinstance(event, yaml.CollectionEndEvent):
            span = stack.pop()
            keys.pop()
            end: Any = event.end_mark
            span.end = end.index if span.flow else _last(span)
    return root


def _scalar(event: Any, text: str) -> Span:
    start, end = _behind_anchor(text, event), event.end_mark.index
    if event.style in ("|", ">"):
        end = start + len(text[start:end].rstrip())
    return Span("scalar", start, max(start, end), event.start_mark.column, flow=True)


def _behind_anchor(text: str, event: Any) -> int:
    start: int = event.start_mark.index
    if event.anchor and text[start : start + 1] == "&":
        start += len(event.anchor) + 1
        while text[start : start + 1].isspace():
            start += 1
    return start


def _settle(span: Span, key: Span, text: str) -> None:
    """The place of an empty value: right behind its colon."""
    colon = _COLON.match(text, key.end)
    if colon:
        span.start = span.end = colon.end()


def _last(span: Span) -> int:
    return max([span.start, *(item.end for item in span.items[-1:])])
