"""Changes of one value in a file: on the plain data, and as patches of the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from spart_blocks.document import Key, Keys, value_at
from spart_blocks.edits.patches import Patch
from spart_blocks.edits.spans import Span, spans
from spart_blocks.edits.values import (
    WIDTH,
    Texts,
    entry_text,
    flow_text,
    item_text,
    same,
    scalar_text,
)
from spart_blocks.errors import InputError

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


@dataclass(frozen=True)
class SetValue:
    """The value at a path, whose holder exists, is another one, or a new one of a mapping."""

    path: Keys
    value: Any


@dataclass(frozen=True)
class RemoveValue:
    """The entry at a path is removed."""

    path: Keys


@dataclass(frozen=True)
class RenameKey:
    """The key at the end of a path becomes another."""

    path: Keys
    name: str


@dataclass(frozen=True)
class InsertItem:
    """A value is put into the list at a path, before the item of an index, or behind the last."""

    path: Keys
    value: Any
    index: int | None = None


Step = SetValue | RemoveValue | RenameKey | InsertItem


# --- on the data ----------------------------------------------------------------------------


def stepped(data: Any, step: Step) -> Any:
    """The data with a step done, as a copy of what it changes. Raises InputError."""
    if isinstance(step, SetValue):
        return _changed(data, step.path, lambda holder, key: _with(holder, key, step.value))
    if isinstance(step, RemoveValue):
        return _changed(data, step.path, _without)
    if isinstance(step, RenameKey):
        return _changed(data, step.path, lambda holder, key: _renamed(holder, key, step.name))
    return _changed(data, (*step.path, 0), lambda items, _: _inserted(items, step))


def _changed(data: Any, path: Keys, change: Callable[[Any, Key], Any]) -> Any:
    if len(path) == 1:
        return change(data, path[0])
    try:
        inner = data[path[0]]
    except (KeyError, IndexError, TypeError):
        raise _missing(path) from None
    copy = data.copy()
    copy[path[0]] = _changed(inner, path[1:], change)
    return copy


def _missing(path: Keys) -> InputError:
    return InputError(f"there is no {'.'.join(map(str, path))} in the file")


def _with(holder: Any, key: Key, value: Any) -> Any:
    if isinstance(holder, list):
        if not isinstance(key, int) or not 0 <= key < len(holder):
            raise InputError(f"{key!r} is not an index of a list of {len(holder)}")
        return [value if k == key else item for k, item in enumerate(holder)]
    if holder is None or isinstance(holder, dict):
        return {**(holder or {}), key: value}
    raise InputError(f"there is no entry {key!r} in a value that is not a mapping or list")


def _without(holder: Any, key: Key) -> Any:
    if isinstance(holder, dict) and key in holder:
        return {name: item for name, item in holder.items() if name != key}
    if isinstance(holder, list) and isinstance(key, int) and 0 <= key < len(holder):
        return [item for k, item in enumerate(holder) if k != key]
    raise _missing((key,))


def _renamed(holder: Any, key: Key, name: str) -> Any:
    if not isinstance(holder, dict) or key not in holder:
        raise _missing((key,))
    if name in holder:
        raise InputError(f"there is already {name!r}")
    return {name if old == key else old: item for old, item in holder.items()}


def _inserted(items: Any, step: InsertItem) -> Any:
    if not isinstance(items, list):
        raise InputError(f"{'.'.join(map(str, step.path))} is not a list")
    at = len(items) if step.index is None else step.index
    return [*items[:at], step.value, *items[at:]]


# --- in the text ----------------------------------------------------------------------------


def patches_of(text: str, steps: Sequence[Step], before: Any, texts: Texts) -> list[Patch]:
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
    texts: Texts

    def patches(self, root: Span, step: Step, before: Any) -> list[Patch]:
        if isinstance(step, InsertItem):
            items = self._of(root, step.path)
            at = len(items.items) if step.index is None else step.index
            return self._insert(items, at, step.value)
        if not step.path:
            raise NotHere
        holder = self._of(root, step.path[:-1])
        key = step.path[-1]
        index = holder.index(key)
        if isinstance(step, SetValue):
            if index is None:
                return self._add(root, step.path, holder, str(key), step.value)
            value = value_at(before, step.path)
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
        column = span.start - self._line(span.start)
        written = self._like(span, new, column, holder.flow)
        start = span.start
        if span.kind in ("mapping", "sequence") and not span.flow:
            if self._comments(span.start, span.end):
                raise NotHere
            if holder.kind == "mapping":  # to the line of its key
                colon = self.text.index(":", holder.keys[index].end) + 1
                if self.text[colon : span.start].strip():
                    raise NotHere
                start, written = colon, " " + flow_text(new, colon + 1 - self._line(colon))
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

    def _predecessor(self, root: Span, key: str) -> int:
        """The section after which a new one has its place."""
        if key not in SECTIONS:
            return len(root.items) - 1
        earlier = SECTIONS[: SECTIONS.index(key)]
        before = [k for k, name in enumerate(root.names) if name in earlier]
        return max(before, default=-1)

    def _line_after(self, end: int, column: int, entry: str) -> Patch:
        """A new line behind the one in which a value ends."""
        at = self._line_end(end)
        return Patch(at, at, "\n" + " " * column + entry)

    def _into_flow(self, holder: Span, index: int, entry: Callable[[int], str]) -> list[Patch]:
        """A new entry of a collection in brackets."""
        if not holder.items:
            at = holder.start + 1
            return [Patch(at, holder.end - 1, entry(at - self._line(at)))]
        if index < len(holder.items):
            at = (holder.keys or holder.items)[index].start
            return [Patch(at, at, entry(at - self._line(at)) + ", ")]
        at = holder.items[-1].end
        comma = self._comma(at, holder.end - 1)
        if comma is not None:  # behind the last entry too
            at = comma + 1
        column = at - self._line(at) + 2
        written = entry(column)
        if column + len(written.partition("\n")[0]) + 1 > WIDTH:
            first = (holder.keys or holder.items)[0]
            column = first.start - self._line(first.start)
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
        first = (holder.keys or holder.items)[index]
        if holder.flow:
            return self._out_of_flow(holder, index, first.start, holder.items[index].end)
        return self._line_less(holder, index)

    def _line_less(self, holder: Span, index: int) -> list[Patch]:
        """An entry that begins a line, with its line or lines."""
        first = (holder.keys or holder.items)[index]
        start = self._line(first.start)
        if holder.kind == "sequence":
            dash = self.text.rfind("-", start, first.start)
            lead = self.text[start:dash] if dash >= 0 else "?"
        else:
            lead = self.text[start : first.start]
        end = self._line_end(holder.items[index].end)
        if lead.strip() == "" and (lead or holder.column == 0):
            if end < len(self.text):
                return [Patch(start, end + self._break(end), "")]
            return [Patch(max(0, start - self._break_before(start)), end, "")]
        if index + 1 < len(holder.items):  # it shares its line with the dash of a list
            following = (holder.keys or holder.items)[index + 1].start
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
        colon = self.text.index(":", owner.keys[index].end) + 1
        between = self.text[colon : holder.start]
        if between.strip():  # a comment stays where it is
            return [Patch(holder.start, holder.end, empty)]
        return [Patch(colon, holder.end, " " + empty)]

    def _out_of_flow(self, holder: Span, index: int, start: int, end: int) -> list[Patch]:
        """An entry between brackets, with one of the commas beside it."""
        last = index + 1 == len(holder.items)
        comma = self._comma(end, holder.end - 1 if last else self._first(holder, index + 1))
        if comma is None:  # the one before
            comma = self._comma(holder.items[index - 1].end, start)
            if comma is None:
                raise NotHere
            if not self.text[comma + 1 : start].strip():
                return [Patch(comma, end, "")]
            return [Patch(comma, comma + 1, ""), *self._cleared(start, end)]
        following = holder.end - 1 if last else self._first(holder, index + 1)
        if not self.text[comma + 1 : following].strip() and not last:
            return [Patch(start, following, "")]
        return self._cleared(start, comma + 1)

    def _first(self, holder: Span, index: int) -> int:
        return (holder.keys or holder.items)[index].start

    def _cleared(self, start: int, end: int) -> list[Patch]:
        """A part of a line less, and the line itself if nothing else is on it."""
        first, last = self._line(start), self._line_end(end)
        if not self.text[first:start].strip() and not self.text[end:last].strip() and first:
            return [Patch(first, min(last + self._break(last), len(self.text)), "")]
        while self.text[start - 1 : start] == " " and self.text[first:start].strip():
            start -= 1
        return [Patch(start, end, "")]

    # The text around.

    def _comma(self, start: int, end: int) -> int | None:
        """The comma between two places, not one in a comment."""
        at = start
        while at < end:
            if self.text[at] == "#":
                at = self._line_end(at)
            elif self.text[at] == ",":
                return at
            else:
                at += 1
        return None

    def _comments(self, start: int, end: int) -> bool:
        return _COMMENT.search(self.text, start, end) is not None

    def _line(self, at: int) -> int:
        """Where the line of a place begins."""
        return max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1

    def _line_end(self, at: int) -> int:
        found = [k for k in (self.text.find("\n", at), self.text.find("\r", at)) if k >= 0]
        return min(found, default=len(self.text))

    def _break(self, at: int) -> int:
        """Characters of the line break at a place."""
        return 2 if self.text[at : at + 2] == "\r\n" else int(at < len(self.text))

    def _break_before(self, at: int) -> int:
        return 2 if self.text[max(0, at - 2) : at] == "\r\n" else int(at > 0)
