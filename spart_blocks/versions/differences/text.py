"""Changes as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spart_blocks.base.errors import readable
from spart_blocks.versions.differences.changes import ABSENT, SIGNS, Change
from spart_blocks.versions.differences.value_texts import LONGEST, shortened, value_text, whole_text

HEADINGS: Mapping[str, str] = {
    "block": "blocks",
    "subsystem": "subsystems",
    "variant": "variants",
    "parameter": "parameters of blocks",
    "initial state": "initial states",
    "parameter of the diagram": "parameters of the diagram",
    "wire": "wires",
    "clock": "clocks",
    "robot": "robots",
    "run": "run",
}
"""The headings of subjects that come first, in this order. Other subjects have their own name as
heading."""
_MOST_ENTRIES = 6
"""Entries of a list that are told one by one."""


def groups_of(changes: Sequence[Change]) -> Iterator[tuple[str, list[Change]]]:
    """The changes by heading, in the order of a report."""
    found: dict[str, list[Change]] = {subject: [] for subject in HEADINGS}
    for change in changes:
        found.setdefault(change.subject, []).append(change)
    for subject, ones in found.items():
        if ones:
            yield HEADINGS.get(subject, subject), ones


def lines_of(change: Change) -> Iterator[str]:
    """The lines of one change."""
    if isinstance(change.new, list) and change.subject == "text":
        yield from (f"  {readable(line)}" for line in change.new)
        if change.note:
            yield f"  {change.note}"
        return
    yield readable(f"  {SIGNS[change.kind]} {sentence(change)}")


def sentence(change: Change) -> str:
    """One change in a line, without its sign."""
    path, note, unit = change.path, change.note, f" {change.unit}" if change.unit else ""
    old, new = (value_text(value) for value in (change.old, change.new))
    aside = f" ({note})" if note else ""
    if change.kind == "renamed":
        return f"{old} is now {new}{aside}"
    if change.kind == "moved":
        return f"{old} is now {new}{aside}" if old != new else f"{path}{aside}"
    if change.kind == "retyped":
        return f"{path}: type {old}, now {new}{aside}"
    if change.kind == "rerouted":
        return f"{path}: {note} {old}, now {note} {new}"
    if change.subject == "wire" and change.kind in ("added", "removed"):
        return path + aside
    if change.subject == "block":
        block = change.new if change.kind == "added" else change.old
        return f"{path}: {_block(block)}"
    if change.kind == "changed":
        if isinstance(change.old, list) and isinstance(change.new, list):
            entries = _entries(change.old, change.new)
            if entries:
                return f"{path}: {entries}{unit}{aside}"
        if change.old is ABSENT and change.new is ABSENT:
            return path + aside
        return f"{path}: {old}, now {new}{unit}{aside}"
    value = new if change.kind == "added" else old
    return f"{path}: {value}{unit}{aside}" if value else path + aside


def _block(written: Any) -> str:
    """A block in a line: `GAIN, K: 3`."""
    if not isinstance(written, Mapping):
        return value_text(written)
    kind, *others = written.items()
    text = ", ".join(f"{key}: {value_text(value)}" for key, value in others)
    return shortened(f"{kind[1]}, {text}" if text else str(kind[1]))


def _entries(old: list[Any], new: list[Any]) -> str:
    """The entries that differ of long lists and matrices; empty if the whole lists are shorter or
    many entries differ."""
    if len(whole_text(old)) + len(whole_text(new)) < LONGEST:
        return ""
    found = list(_differing(old, new))
    if not found or len(found) > _MOST_ENTRIES:
        return ""
    return "; ".join(f"{place} {value_text(a)}, now {value_text(b)}" for place, a, b in found)


def _differing(old: Any, new: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The innermost entries that differ, each with its place, `[0][2]`."""
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for k, (a, b) in enumerate(zip(old, new, strict=True)):
            yield from _differing(a, b, f"{place}[{k}]")
    elif old != new:
        yield place, old, new


def as_code(text: str) -> str:
    """A text as code of Markdown, in which nothing is markup."""
    plain = readable(" ".join(text.split()))
    fence = "`" * (1 + max(map(len, re.findall("`+", plain)), default=0))
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{pad}{plain}{pad}{fence}"
