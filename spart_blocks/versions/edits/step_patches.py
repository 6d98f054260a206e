"""Changes of values as patches of the text that holds them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.document import Keys, value_at
from spart_blocks.versions.edits.lines import (
    break_at,
    break_before,
    column_of,
    line_end,
    line_start,
)
from spart_blocks.versions.edits.origins import Origins
from spart_blocks.versions.edits.patches import Patch
from spart_blocks.versions.edits.spans import Span, spans
from spart_blocks.versions.edits.steps import InsertItem, RenameKey, SetValue, Step
from spart_blocks.versions.edits.values import (
    IN_LINES,
    WIDTH,
    entry_text,
    flow_text,
    in_lines,
    item_text,
    same,
    scalar_text,
)

SECTIONS = (
    *("name", "description", "inputs", "outputs", "params", "tunable", "robots", "clocks"),
    *("subsystems", "variants", "blocks", "wires", "run", "compare", "sweep", "export"),
    *("realtime", "expect"),
)
"""The order in which a file has its sections, where a new one has to find its place."""
_COMMENT = re.compile(r"#[^\n\r]*")


class NotHere(Exception):  # noqa: N818 - a signal within this folder
    """The text has no simple place for a change, at a path."""

    def __init__(self, path: Keys = ()) -> None:
        self.path = path
        super().__init__(path)


def patches_of(text: str, steps: Sequence[Step], before: Any, texts: Origins) -> list[Patch]:
    """The patches of steps whose paths are all those of the text before the first of them. before:
    the data of the text. texts: of values that are written as they were. Raises NotHere with the
    path for which the text has no place."""
    root = spans(text)
    writer = _Writer(text, texts)
    newline = "\r\n" if "\r\n" in text else "\n"
    found: list[Patch] = []
    for step in steps:
        if root is None:
            raise NotHere(step.path)
        try:
            found += writer.patches(root, step, before)
        except NotHere:
            raise NotHere(step.path) from None
    return [Patch(p.start, p.end, p.text.replace("\n", newline)) for p in found]


@dataclass(frozen=True)
class _Writer:
    text: str
    texts: Origins

    def patches(self, root: Span, step: Step, before: Any) -> list[Patch]:
        if isinstance(step, InsertItem):
            items = self._of(root, step.path)
            at = len(items.items) if step.index is None else step.index
            first = self._in_lines(root, step.path, items, [step.value])
            return first or self._insert(items, at, step.value)
        if not step.path:
            raise NotHere
        holder = self._of(root, step.path[:-1])
        key = step.path[-1]
        index = holder.index(key)
        if isinstance(step, SetValue):
            if index is None:
                entry = {str(key): step.value}
                first = self._in_lines(root, step.path[:-1], holder, entry)
                return first or self._add(root, step.path, holder, str(key), step.value)
            value = value_at(before, step.path)
            old = holder.items[index]
            if not value and (first := self._in_lines(root, step.path, old, step.value)):
                return first
            return self._replace(holder, index, value, step.value)
        if index is None:
            raise NotHere
        if isinstance(step, RenameKey):
            span = holder.keys[index]
            return [Patch(span.start, span.end, scalar_text(step.name, in_flow=holder.flow))]
        return self._remove(root, step.path, holder, index)

    def _of(self, root: Span, path: Keys) -> Span:
        span = root.at(path)
        if span is None:
            raise NotHere
        return span

    # A value in place of another.

    def _replace(self, holder: Span, index: int, old: Any, new: Any) -> list[Patch]:
        span = holder.items[index]
        if same(old, new):
            return []
        if span.kind == "mapping" and isinstance(new, dict) and isinstance(old, dict):
            inner = self._mapping(span, old, new)
            if inner is not None:
                return inner
        if span.kind == "sequence" and isinstance(new, list) and isinstance(old, list):
            inner = self._list(span, old, new)
            if inner is not None:
                return inner
        column = column_of(self.text, span.start)
        written = self._like(span, new, column, holder.flow)
        start = span.start
        if span.kind in ("mapping", "sequence") and not span.flow:
            if self._comments(span.start, span.end):
                raise NotHere
            if holder.kind == "mapping":  # to the line of its key
                colon = holder.behind_colon(self.text, index)
                if self.text[colon : span.start].strip():
                    raise NotHere
                column = column_of(self.text, colon) + 1
                start, written = colon, " " + flow_text(new, column)
        elif span.start == span.end:
            written = " " + written
        return [Patch(start, span.end, written)]

    def _like(self, span: Span, value: Any, column: int, in_flow: bool) -> str:
        """A value's text, a text in the quotes that the one before had."""
        quote = self.text[span.start : span.start + 1]
        if isinstance(value, str) and span.kind == "scalar" and quote in "'\"" and quote:
            if quote == "'" and value.isprintable():
                return "'" + value.replace("'", "''") + "'"
            written = scalar_text(value, in_flow=True)
            return written if written.startswith('"') else f'"{written}"'
        return flow_text(value, column, in_flow=in_flow)

    def _mapping(self, span: Span, old: dict[str, Any], new: dict[str, Any]) -> list[Patch] | None:
        """Patches of values alone, if the keys are the same."""
        if old.keys() != new.keys():
            return None
        found: list[Patch] = []
        for name, value in new.items():
            index = span.index(name)
            if index is None:
                return None
            found += self._replace(span, index, old[name], value)
        return found

    def _list(self, span: Span, old: list[Any], new: list[Any]) -> list[Patch] | None:
        """Patches of the items that differ, between the first and the last ones that are equal."""
        if len(span.items) != len(old) or not (old and new):
            return None
        if len(old) != len(new) and span.flow:
            return None
        first, most = 0, min(len(old), len(new))
        while first < most and same(old[first], new[first]):
            first += 1
        last = 0
        while last < most - first and same(old[-1 - last], new[-1 - last]):
            last += 1
        changed = min(len(old), len(new)) - last
        found: list[Patch] = []
        for index in range(first, changed):
            found += self._replace(span, index, old[index], new[index])
        for index in range(changed, len(old) - last):
            found += self._line_less(span, index)
        for index in range(changed, len(new) - last):
            found += self._insert(span, changed, new[index])
        return found

    # A new entry.

    def _add(self, root: Span, path: Keys, holder: Span, key: str, value: Any) -> list[Patch]:
        if holder.kind == "scalar" and holder.start == holder.end:  # nothing is behind the colon
            return [Patch(holder.start, holder.end, " " + flow_text({key: value}))]
        if holder.kind != "mapping":
            raise NotHere
        if holder.flow:
            name = scalar_text(key, in_flow=True)
            return self._into_flow(
                holder,
                len(holder.items),
                lambda column: f"{name}: {flow_text(value, column + len(name) + 2, in_flow=True)}",
            )
        last = self._predecessor(holder, key) if holder is root else len(holder.items) - 1
        if last < 0:
            at = holder.start
            return [Patch(at, at, entry_text(key, value, 0, self.texts) + "\n")]
        return [self._line_after(holder.items[last].end, holder.column,
                                 entry_text(key, value, holder.column, self.texts))]  # fmt: skip

    def _in_lines(self, root: Span, path: Keys, empty: Span, value: Any) -> list[Patch] | None:
        """The first entries of a section whose entries have lines of their own, which is empty."""
        if not path or path[-1] not in IN_LINES or not value or empty.items:
            return None
        outer = root.at(path[:-1])
        index = outer.index(path[-1]) if outer is not None else None
        if outer is None or outer.flow or index is None or not isinstance(value, dict | list):
            return None
        colon = outer.behind_colon(self.text, index)
        hollow = not self.text[empty.start : empty.end].strip("{}[] \t")
        if not hollow or self.text[colon : empty.start].strip(" \t"):
            return None
        column = column_of(self.text, outer.keys[index].start)
        written = "\n" + in_lines(value, column + 2, self.texts)
        end = line_end(self.text, empty.end)
        if empty.start == empty.end:  # a comment may be behind the colon
            return [Patch(end, end, written)]
        return None if self.text[empty.end : end].strip() else [Patch(colon, empty.end, written)]

    def _predecessor(self, root: Span, key: str) -> int:
        """The section after which a new one has its place."""
        if key not in SECTIONS:
            return len(root.items) - 1
        earlier = SECTIONS[: SECTIONS.index(key)]
        before = [k for k, name in enumerate(root.names) if name in earlier]
        return max(before, default=-1)

    def _line_after(self, end: int, column: int, entry: str) -> Patch:
        """A new line behind the one in which a value ends."""
        at = line_end(self.text, end)
        return Patch(at, at, "\n" + " " * column + entry)

    def _into_flow(self, holder: Span, index: int, entry: Callable[[int], str]) -> list[Patch]:
        """A new entry of a collection in brackets."""
        if not holder.items:
            at = holder.start + 1
            return [Patch(at, holder.end - 1, entry(column_of(self.text, at)))]
        if index < len(holder.items):
            at = holder.head(index).start
            return [Patch(at, at, entry(column_of(self.text, at)) + ", ")]
        at = holder.items[-1].end
        comma = self._comma(at, holder.end - 1)
        if comma is not None:  # behind the last entry too
            at = comma + 1
        column = column_of(self.text, at) + 2
        written = entry(column)
        if column + len(written.partition("\n")[0]) + 1 > WIDTH:
            first = holder.head(0)
            column = column_of(self.text, first.start)
            written = "\n" + " " * column + entry(column)
        else:
            written = " " + written
        return [Patch(at, at, written if comma is not None else "," + written)]

    def _insert(self, items: Span, index: int, value: Any) -> list[Patch]:
        if items.kind == "scalar" and items.start == items.end:
            return [Patch(items.start, items.end, " " + flow_text([value]))]
        if items.kind != "sequence":
            raise NotHere
        if items.flow:
            return self._into_flow(
                items, index, lambda column: flow_text(value, column, in_flow=True)
            )
        written = item_text(value, items.column, self.texts)
        if index > 0:
            return [self._line_after(items.items[index - 1].end, items.column, written)]
        return [Patch(items.start, items.start, written + "\n" + " " * items.column)]

    # An entry less.

    def _remove(self, root: Span, path: Keys, holder: Span, index: int) -> list[Patch]:
        if len(holder.items) == 1:
            return self._emptied(root, path[:-1], holder)
        first = holder.head(index)
        if holder.flow:
            return self._out_of_flow(holder, index, first.start, holder.items[index].end)
        return self._line_less(holder, index)

    def _line_less(self, holder: Span, index: int) -> list[Patch]:
        """An entry that begins a line, with its line or lines."""
        first = holder.head(index)
        start = line_start(self.text, first.start)
        if holder.kind == "sequence":
            dash = self.text.rfind("-", start, first.start)
            lead = self.text[start:dash] if dash >= 0 else "?"
        else:
            lead = self.text[start : first.start]
        end = line_end(self.text, holder.items[index].end)
        if lead.strip() == "" and (lead or holder.column == 0):
            if end < len(self.text):
                return [Patch(start, end + break_at(self.text, end), "")]
            return [Patch(max(0, start - break_before(self.text, start)), end, "")]
        if index + 1 < len(holder.items):  # it shares its line with the dash of a list
            following = holder.head(index + 1).start
            if holder.kind == "mapping" and not self.text[end:following].strip():
                return [Patch(first.start, following, "")]
        raise NotHere

    def _emptied(self, root: Span, path: Keys, holder: Span) -> list[Patch]:
        """The last entry less: the empty collection on the line of its key."""
        if holder is root:
            raise NotHere
        empty = "{}" if holder.kind == "mapping" else "[]"
        if holder.flow:
            if self._comments(holder.start, holder.end):
                raise NotHere
            return [Patch(holder.start, holder.end, empty)]
        owner = root.at(path[:-1])
        index = owner.index(path[-1]) if owner is not None else None
        if owner is None or index is None or owner.kind != "mapping":
            raise NotHere
        colon = owner.behind_colon(self.text, index)
        between = self.text[colon : holder.start]
        if between.strip():  # a comment stays where it is
            return [Patch(holder.start, holder.end, empty)]
        return [Patch(colon, holder.end, " " + empty)]

    def _out_of_flow(self, holder: Span, index: int, start: int, end: int) -> list[Patch]:
        """An entry between brackets, with one of the commas beside it."""
        last = index + 1 == len(holder.items)
        comma = self._comma(end, holder.end - 1 if last else holder.head(index + 1).start)
        if comma is None:  # the one before
            comma = self._comma(holder.items[index - 1].end, start)
            if comma is None:
                raise NotHere
            if not self.text[comma + 1 : start].strip():
                return [Patch(comma, end, "")]
            return [Patch(comma, comma + 1, ""), *self._cleared(start, end)]
        following = holder.end - 1 if last else holder.head(index + 1).start
        if not self.text[comma + 1 : following].strip() and not last:
            return [Patch(start, following, "")]
        return self._cleared(start, comma + 1)

    def _cleared(self, start: int, end: int) -> list[Patch]:
        """A part of a line less, and the line itself if nothing else is on it."""
        first, last = line_start(self.text, start), line_end(self.text, end)
        if not self.text[first:start].strip() and not self.text[end:last].strip() and first:
            return [Patch(first, min(last + break_at(self.text, last), len(self.text)), "")]
        while self.text[start - 1 : start] == " " and self.text[first:start].strip():
            start -= 1
        return [Patch(start, end, "")]

    # The text around.

    def _comma(self, start: int, end: int) -> int | None:
        """The comma between two places, not one in a comment."""
        at = start
        while at < end:
            if self.text[at] == "#":
                at = line_end(self.text, at)
            elif self.text[at] == ",":
                return at
            else:
                at += 1
        return None

    def _comments(self, start: int, end: int) -> bool:
        return _COMMENT.search(self.text, start, end) is not None
