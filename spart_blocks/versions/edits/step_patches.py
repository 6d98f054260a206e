"""Translates changes of values into patches of the text that defines them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from spart_blocks.base.document import Document, Key, Keys, YamlNode
from spart_blocks.diagram.sections.table import FILE_SECTIONS
from spart_blocks.diagram.written.conditions import CONDITIONS
from spart_blocks.versions.edits.patches import (
    Patch,
    break_at,
    break_before,
    column_of,
    line_end,
    line_start,
)
from spart_blocks.versions.edits.steps import InsertItem, MoveEntry, RenameKey, SetValue, Step
from spart_blocks.versions.edits.values import (
    IN_LINES,
    WIDTH,
    Origins,
    entry_text,
    flow_text,
    in_lines,
    item_text,
    same,
    scalar_text,
)

SECTIONS = tuple(FILE_SECTIONS)
PARTS = ("description", "inputs", "outputs", *CONDITIONS, "params", "blocks", "wires", "drawing")
"""The entries of a subsystem, in the order in which they are written."""
"""The order of sections in a file; a new section is inserted accordingly."""
_COMMENT = re.compile(r"#[^\n\r]*")


class NotHere(Exception):  # noqa: N818 - a signal within this folder
    """The change at a path cannot be made by a simple patch of the text."""

    def __init__(self, path: Keys = ()) -> None:
        self.path = path
        super().__init__(path)


def patches_of(before: Document, steps: Sequence[Step], texts: Origins) -> list[Patch]:
    """The patches of a document's text for some steps.

    The paths of all steps are valid before the first of them. texts: original texts of moved
    values. Raises NotHere with the path that cannot be changed by a simple patch.
    """
    writer = _Writer(before.text, before.root, texts)
    newline = "\r\n" if "\r\n" in before.text else "\n"
    found: list[Patch] = []
    for step in steps:
        try:
            found += writer.patches(step)
        except NotHere:
            raise NotHere(step.path) from None
    return [Patch(p.start, p.end, p.text.replace("\n", newline)) for p in found]


@dataclass(frozen=True)
class _Writer:
    text: str
    root: YamlNode
    texts: Origins

    def patches(self, step: Step) -> list[Patch]:
        if isinstance(step, InsertItem):
            items = self._of(step.path)
            at = len(items.children) if step.index is None else step.index
            first = self._in_lines(step.path, items, [step.value])
            return first or self._insert(items, at, step.value)
        if not step.path:
            raise NotHere
        holder = self._of(step.path[:-1])
        key = step.path[-1]
        if isinstance(step, SetValue):
            if key not in holder.children:
                first = self._in_lines(step.path[:-1], holder, {str(key): step.value})
                return first or self._add(step.path, holder, str(key), step.value, step.before)
            old = holder.children[key]
            if not old.value and (first := self._in_lines(step.path, old, step.value)):
                return first
            return self._replace(holder, key, step.value)
        if key not in holder.children:
            raise NotHere
        if isinstance(step, RenameKey):
            name = holder.keys[key]
            return [Patch(name.start, name.end, scalar_text(step.name, in_flow=holder.flow))]
        if isinstance(step, MoveEntry):
            return self._move(holder, key, step.index)
        return self._remove(step.path, holder, key)

    def _of(self, path: Keys) -> YamlNode:
        node = self.root.at(path)
        if node is None or node.alias:
            raise NotHere
        return node

    # A value in place of another.

    def _replace(self, holder: YamlNode, key: Key, new: Any) -> list[Patch]:
        span = holder.children[key]
        old = span.value
        if same(old, new):
            return []
        if span.kind == "mapping" and isinstance(new, dict) and isinstance(old, dict):
            inner = self._mapping(span, new)
            if inner is not None:
                return inner
        if span.kind == "list" and isinstance(new, list) and isinstance(old, list):
            inner = self._list(span, new)
            if inner is not None:
                return inner
        column = column_of(self.text, span.start)
        written = self._like(span, new, column, holder.flow)
        start = span.start
        if span.kind in ("mapping", "list") and not span.flow:
            if self._comments(span.start, span.end):
                raise NotHere
            if holder.kind == "mapping":  # to the line of its key
                colon = self._behind_colon(holder, key)
                if self.text[colon : span.start].strip():
                    raise NotHere
                column = column_of(self.text, colon) + 1
                start, written = colon, " " + flow_text(new, column)
        elif span.start == span.end:
            written = " " + written
        return [Patch(start, span.end, written)]

    def _like(self, span: YamlNode, value: Any, column: int, in_flow: bool) -> str:
        """The YAML text of a value; a string gets the same kind of quotes as the string that it
        replaces.
        """
        quote = self.text[span.start : span.start + 1]
        if isinstance(value, str) and span.kind == "scalar" and quote in "'\"" and quote:
            if quote == "'" and value.isprintable():
                return "'" + value.replace("'", "''") + "'"
            written = scalar_text(value, in_flow=True)
            return written if written.startswith('"') else f'"{written}"'
        return flow_text(value, column, in_flow=in_flow)

    def _mapping(self, span: YamlNode, new: dict[str, Any]) -> list[Patch] | None:
        """Patches of the values of a mapping if its keys stay the same; None otherwise."""
        if span.children.keys() != new.keys():
            return None
        return [patch for name, value in new.items() for patch in self._replace(span, name, value)]

    def _list(self, span: YamlNode, new: list[Any]) -> list[Patch] | None:
        """Patches of the items of a list that differ: equal items at its start and end are kept.
        None if the list must be written anew.
        """
        old: list[Any] = span.value
        if not (old and new):
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
            found += self._replace(span, index, new[index])
        for index in range(changed, len(old) - last):
            found += self._line_less(span, index)
        for index in range(changed, len(new) - last):
            found += self._insert(span, changed, new[index])
        return found

    # A new entry.

    def _add(
        self, path: Keys, holder: YamlNode, key: str, value: Any, before: str | None = None
    ) -> list[Patch]:
        if holder.kind == "scalar" and holder.start == holder.end:  # nothing is behind the colon
            return [Patch(holder.start, holder.end, " " + flow_text({key: value}))]
        if holder.kind != "mapping":
            raise NotHere
        if holder.flow:
            name, keys = scalar_text(key, in_flow=True), list(holder.children)
            return self._into_flow(
                holder,
                keys.index(before) if before in keys else len(keys),
                lambda column: f"{name}: {flow_text(value, column + len(name) + 2, in_flow=True)}",
            )
        last = self._predecessor(holder, key)
        if last is None:
            at = holder.start
            return [Patch(at, at, entry_text(key, value, 0, self.texts) + "\n")]
        column = self._column(holder)
        entry = entry_text(key, value, column, self.texts)
        if before in holder.children and (start := self._lines_of(holder, before)[0]) is not None:
            return [Patch(start, start, " " * column + entry + "\n")]
        return [self._line_after(holder.children[last].end, column, entry)]

    def _in_lines(self, path: Keys, empty: YamlNode, value: Any) -> list[Patch] | None:
        """Patches that fill an empty section whose entries are written on lines of their own; None
        if this does not apply.
        """
        if not path or path[-1] not in IN_LINES or not value or empty.children:
            return None
        outer = self.root.at(path[:-1])
        if outer is None or outer.flow or path[-1] not in outer.keys:
            return None
        if not isinstance(value, dict | list):
            return None
        colon = self._behind_colon(outer, path[-1])
        hollow = not self.text[empty.start : empty.end].strip("{}[] \t")
        if not hollow or self.text[colon : empty.start].strip(" \t"):
            return None
        column = column_of(self.text, outer.keys[path[-1]].start)
        written = "\n" + in_lines(value, column + 2, self.texts)
        end = line_end(self.text, empty.end)
        if empty.start == empty.end:  # a comment may be behind the colon
            return [Patch(end, end, written)]
        return None if self.text[empty.end : end].strip() else [Patch(colon, empty.end, written)]

    def _predecessor(self, holder: YamlNode, key: str) -> Key | None:
        """The entry or section after which a new one is inserted; None if it becomes the first."""
        before = list(holder.children)
        subsystems = self.root.children.get("subsystems")
        inside = subsystems is not None and any(
            one is holder for one in subsystems.children.values()
        )
        order = SECTIONS if holder is self.root else PARTS if inside else ()
        if key in order:
            before = [name for name in before if name in order[: order.index(key)]]
        return before[-1] if before else None

    def _line_after(self, end: int, column: int, entry: str) -> Patch:
        """A patch that inserts a line after the line on which a value ends."""
        at = line_end(self.text, end)
        return Patch(at, at, "\n" + " " * column + entry)

    def _into_flow(self, holder: YamlNode, index: int, entry: Callable[[int], str]) -> list[Patch]:
        """Patches that insert an entry into a collection in flow style (in brackets)."""
        keys = list(holder.children)
        if not keys:
            at = holder.start + 1
            return [Patch(at, holder.end - 1, entry(column_of(self.text, at)))]
        if index < len(keys):
            at = _head(holder, keys[index]).start
            return [Patch(at, at, entry(column_of(self.text, at)) + ", ")]
        at = holder.children[keys[-1]].end
        comma = self._comma(at, holder.end - 1)
        if comma is not None:  # behind the last entry too
            at = comma + 1
        column = column_of(self.text, at) + 2
        written = entry(column)
        if column + len(written.partition("\n")[0]) + 1 > WIDTH:
            column = column_of(self.text, _head(holder, keys[0]).start)
            written = "\n" + " " * column + entry(column)
        else:
            written = " " + written
        return [Patch(at, at, written if comma is not None else "," + written)]

    def _insert(self, items: YamlNode, index: int, value: Any) -> list[Patch]:
        if items.kind == "scalar" and items.start == items.end:
            return [Patch(items.start, items.end, " " + flow_text([value]))]
        if items.kind != "list":
            raise NotHere
        if items.flow:
            return self._into_flow(
                items, index, lambda column: flow_text(value, column, in_flow=True)
            )
        column = self._column(items)
        written = item_text(value, column, self.texts)
        if index > 0:
            return [self._line_after(items.children[index - 1].end, column, written)]
        return [Patch(items.start, items.start, written + "\n" + " " * column)]

    # An entry elsewhere.

    def _move(self, holder: YamlNode, key: Key, index: int) -> list[Patch]:
        """Patches that move an entry to an index among its siblings, with its text."""
        others = [one for one in holder.children if one != key]
        if holder.flow:
            head = _head(holder, key)
            text = self.text[head.start : holder.children[key].end]
            if "\n" in text or self._comments(holder.start, holder.end):
                raise NotHere
            texts = [self.text[_head(holder, k).start : holder.children[k].end] for k in others]
            texts.insert(index, text)
            between = [
                self.text[holder.children[a].end : _head(holder, b).start]
                for a, b in pairwise(holder.children)
            ]
            first = _head(holder, next(iter(holder.children))).start
            last = holder.children[list(holder.children)[-1]].end
            parts = [
                texts[0],
                *(f"{gap}{one}" for gap, one in zip(between, texts[1:], strict=True)),
            ]
            return [Patch(first, last, "".join(parts))]
        start, end = self._lines_of(holder, key)
        if index < len(others):
            at = self._lines_of(holder, others[index])[0]
        else:
            at = self._lines_of(holder, others[-1])[1]
        if start is None or at is None:
            raise NotHere
        text = self.text[start:end].replace("\r\n", "\n")
        gone = Patch(start, end, "")
        if not text.endswith("\n"):  # the last line of the file
            text, gone = text + "\n", Patch(start - break_before(self.text, start), end, "")
        elif at == len(self.text) and not self.text.endswith("\n"):
            text = "\n" + text.rstrip("\r\n")
        return [gone, Patch(at, at, text)]

    def _lines_of(self, holder: YamlNode, key: Key) -> tuple[int | None, int]:
        """The start and end of the lines of an entry that has lines of its own, with the comments
        directly above it; the start is None if it shares its first line."""
        first, end = _head(holder, key).start, line_end(self.text, holder.children[key].end)
        start = line_start(self.text, first)
        lead = self.text[start:first].strip()
        if lead != ("-" if holder.kind == "list" else ""):
            return None, end
        while start:
            above = line_start(self.text, start - 1)
            line = self.text[above:start]
            if not line.lstrip().startswith("#"):
                break
            start = above
        return start, min(end + break_at(self.text, end), len(self.text))

    # An entry less.

    def _remove(self, path: Keys, holder: YamlNode, key: Key) -> list[Patch]:
        if len(holder.children) == 1:
            return self._emptied(path[:-1], holder)
        return self._out_of_flow(holder, key) if holder.flow else self._line_less(holder, key)

    def _line_less(self, holder: YamlNode, key: Key) -> list[Patch]:
        """Patches that remove an entry that starts a line, with all its lines."""
        first = _head(holder, key)
        start = line_start(self.text, first.start)
        if holder.kind == "list":
            dash = self.text.rfind("-", start, first.start)
            lead = self.text[start:dash] if dash >= 0 else "?"
        else:
            lead = self.text[start : first.start]
        end = line_end(self.text, holder.children[key].end)
        if lead.strip() == "" and (lead or self._column(holder) == 0):
            if end < len(self.text):
                return [Patch(start, end + break_at(self.text, end), "")]
            return [Patch(max(0, start - break_before(self.text, start)), end, "")]
        after = _beside(holder, key)[1]
        if after is not None:  # it shares its line with the dash of a list
            following = _head(holder, after).start
            if holder.kind == "mapping" and not self.text[end:following].strip():
                return [Patch(first.start, following, "")]
        raise NotHere

    def _emptied(self, path: Keys, holder: YamlNode) -> list[Patch]:
        """Patches that remove the last remaining entry: the collection becomes {} or [] on the
        line of its key.
        """
        if holder is self.root:
            raise NotHere
        empty = "{}" if holder.kind == "mapping" else "[]"
        if holder.flow:
            if self._comments(holder.start, holder.end):
                raise NotHere
            return [Patch(holder.start, holder.end, empty)]
        owner = self.root.at(path[:-1])
        if owner is None or path[-1] not in owner.keys:
            raise NotHere
        colon = self._behind_colon(owner, path[-1])
        between = self.text[colon : holder.start]
        if between.strip():  # a comment stays where it is
            return [Patch(holder.start, holder.end, empty)]
        return [Patch(colon, holder.end, " " + empty)]

    def _out_of_flow(self, holder: YamlNode, key: Key) -> list[Patch]:
        """Patches that remove an entry of a collection in flow style, with one of the commas
        beside it.
        """
        start, end = _head(holder, key).start, holder.children[key].end
        before, after = _beside(holder, key)
        following = holder.end - 1 if after is None else _head(holder, after).start
        comma = self._comma(end, following)
        if comma is None:  # the one before
            if before is not None:
                comma = self._comma(holder.children[before].end, start)
            if comma is None:
                raise NotHere
            if not self.text[comma + 1 : start].strip():
                return [Patch(comma, end, "")]
            return [Patch(comma, comma + 1, ""), *self._cleared(start, end)]
        if not self.text[comma + 1 : following].strip() and after is not None:
            return [Patch(start, following, "")]
        return self._cleared(start, comma + 1)

    def _cleared(self, start: int, end: int) -> list[Patch]:
        """Patches that remove a part of a line, and the whole line if nothing else is on it."""
        first, last = line_start(self.text, start), line_end(self.text, end)
        if not self.text[first:start].strip() and not self.text[end:last].strip() and first:
            return [Patch(first, min(last + break_at(self.text, last), len(self.text)), "")]
        while self.text[start - 1 : start] == " " and self.text[first:start].strip():
            start -= 1
        return [Patch(start, end, "")]

    # The text around.

    def _column(self, collection: YamlNode) -> int:
        """The column of the entries of a collection in block style."""
        return column_of(self.text, collection.start)

    def _behind_colon(self, holder: YamlNode, key: Key) -> int:
        """The position after the colon of a key."""
        return self.text.index(":", holder.keys[key].end) + 1

    def _comma(self, start: int, end: int) -> int | None:
        """The position of the first comma between two positions, comments ignored; None if there
        is none.
        """
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


def _head(holder: YamlNode, key: Key) -> YamlNode:
    """The first node of an entry: its key in a mapping, the item itself in a list."""
    return holder.keys.get(key) or holder.children[key]


def _beside(holder: YamlNode, key: Key) -> tuple[Key | None, Key | None]:
    """The keys before and after a key in the text; None at the ends."""
    keys = list(holder.children)
    at = keys.index(key)
    return keys[at - 1] if at else None, keys[at + 1] if at + 1 < len(keys) else None
