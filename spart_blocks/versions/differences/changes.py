"""Changes between two diagram files, one by one and as a whole, and their text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from spart_blocks.base import html
from spart_blocks.base.errors import readable

Kind = Literal["added", "removed", "renamed", "retyped", "moved", "changed", "rerouted"]

SIGNS: Mapping[str, str] = {
    "added": "+",
    "removed": "-",
    "renamed": "~",
    "retyped": "~",
    "moved": ">",
    "changed": "~",
    "rerouted": "~",
}
"""The sign in front of each kind of change in a list."""


class _Absent:
    """The type of ABSENT: no value, where None is a value."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()


def kind_of(old: Any, new: Any) -> Kind:
    """Whether a value was added, removed or changed."""
    return "added" if old is ABSENT else "removed" if new is ABSENT else "changed"


BLOCK, PARAMETER, INITIAL, WIRE = "block", "parameter", "initial state", "wire"


@dataclass(frozen=True)
class Change:
    """One change. subject: what has changed, such as block, parameter, wire or run. path: its name,
    `law.kp`, or `servo/gain` in a subsystem, as in the new file; of something removed, as in the
    old one. old, new: the values, ABSENT for none; the names of a renamed block, the types of a
    retyped one, the paths of a moved one, the ends of a rerouted wire. unit: of a number. note: a
    remark."""

    subject: str
    kind: Kind
    path: str
    old: Any = ABSENT
    new: Any = ABSENT
    unit: str = ""
    note: str = ""

    def as_data(self) -> dict[str, Any]:
        """The change as plain values for JSON, without what is empty or ABSENT."""
        data: dict[str, Any] = {"subject": self.subject, "kind": self.kind, "path": self.path}
        values = {"old": self.old, "new": self.new}
        data |= {name: value for name, value in values.items() if value is not ABSENT}
        texts = {"unit": self.unit, "note": self.note}
        return data | {name: text for name, text in texts.items() if text}


# --- values as texts of one line ------------------------------------------------------------------


LONGEST = 70
"""Characters of a value that are shown."""


def value_text(value: Any) -> str:
    """A value in one line as a file has it, cut if it is long; empty for ABSENT."""
    return "" if value is ABSENT else shortened(whole_text(value))


def shortened(text: str) -> str:
    """A text whose end is left out if it is long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def whole_text(value: Any, depth: int = 0) -> str:
    """A value in one line as a file has it. The ends of very long lists are left out."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}" if float(f"{value:.6g}") == value else repr(value)
    if isinstance(value, Mapping):
        if depth > 3:
            return "{...}"
        items = list(value.items())[: LONGEST // 4]
        return "{" + ", ".join(f"{k}: {whole_text(v, depth + 1)}" for k, v in items) + "}"
    if isinstance(value, list | tuple):
        if depth > 3:
            return "[...]"
        return "[" + ", ".join(whole_text(one, depth + 1) for one in value[: LONGEST // 2]) + "]"
    text = str(value)
    return text if text and "\n" not in text and text == text.strip() else repr(text)


# --- changes as text ------------------------------------------------------------------------------


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


# --- the whole difference -------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Difference:
    """The changes from one diagram file to another. It is true if there are any.

    old, new: labels of the files. changes: those of the diagram's own file. files: the differences
    of the files that both use. names: new names of renamed and moved blocks by the old ones
    (`servo/gain`). notes: what could not be compared.
    """

    old: str
    new: str
    changes: tuple[Change, ...] = ()
    files: tuple[Difference, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changes) or any(self.files)

    def of(self, *subjects: str) -> tuple[Change, ...]:
        """The changes of these subjects, without those of used files."""
        return tuple(change for change in self.changes if change.subject in subjects)

    @property
    def blocks(self) -> tuple[Change, ...]:
        """Blocks added, removed, renamed, retyped and moved."""
        return self.of(BLOCK)

    @property
    def parameters(self) -> tuple[Change, ...]:
        """Parameters of blocks, initial states included."""
        return self.of(PARAMETER, INITIAL)

    @property
    def wires(self) -> tuple[Change, ...]:
        """Connections added, removed and rerouted."""
        return self.of(WIRE)

    def whole(self) -> Iterator[Difference]:
        """This difference, then those of used files, each before those that it uses."""
        yield self
        for one in self.files:
            yield from one.whole()

    def as_data(self) -> dict[str, Any]:
        """The difference as plain values, as `--format json` writes it."""
        return {
            "old": self.old,
            "new": self.new,
            "equal": not self,
            "changes": [change.as_data() for change in self.changes],
            "files": [one.as_data() for one in self.files if one],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        count = sum(len(one.changes) for one in self.whole())
        return f"<difference of {self.old} and {self.new}: {count} changes>"

    def __str__(self) -> str:
        """The changes as lines of text, grouped by subject."""
        return text_of(self)

    def _repr_html_(self) -> str:
        """The changes as HTML, for notebooks."""
        return html_of(self)


# --- text, Markdown and HTML ----------------------------------------------------------------

Paint = Callable[[str, Change], str]
"""A function that colours a line of a change."""


def unpainted(line: str, change: Change) -> str:
    """The line without colours."""
    return line


def text_of(difference: Difference, paint: Paint = unpainted) -> str:
    """The changes as lines of text, then those of used files."""
    return "\n".join(_lines(difference, paint))


def _lines(difference: Difference, paint: Paint) -> Iterator[str]:
    """The lines of a difference."""
    told = False
    for one in difference.whole():
        if one.changes:
            if told:
                yield ""
            told = True
            yield f"{one.old} -> {one.new}"
            for heading, changes in groups_of(one.changes):
                yield heading
                for change in changes:
                    yield from (paint(line, change) for line in lines_of(change))
    if not told:
        yield f"{difference.old} and {difference.new} mean the same"
    for one in difference.whole():
        yield from (f"note: {note}" for note in one.notes)


def markdown_of(difference: Difference, picture: str | None = None) -> str:
    """The changes as Markdown. picture: path or address of a drawing that is shown."""
    lines = [f"### {as_code(_title(difference))}", ""]
    if picture is not None:
        lines += [f"![what has changed]({picture})", ""]
    if not difference:
        lines += ["Both mean the same.", ""]
    for one in difference.whole():
        if one is not difference and one.changes:
            lines += [f"#### {as_code(_title(one))}", ""]
        for heading, changes in groups_of(one.changes):
            lines += [f"**{heading}**", ""]
            if heading == "text":
                shown = (str(line) for change in changes for line in change.new)
                lines += ["```diff", *(line.replace("```", "` ` `") for line in shown), "```", ""]
                continue
            lines += [f"- {change.kind} {as_code(sentence(change))}" for change in changes] + [""]
    for one in difference.whole():
        lines += [f"> {as_code(note)}" for note in one.notes]
    return "\n".join(lines).rstrip() + "\n"


def _title(difference: Difference) -> str:
    """The labels of both files."""
    return f"{difference.old} -> {difference.new}"


def html_of(difference: Difference) -> str:
    """The changes as tables for notebooks."""
    parts = []
    for one in difference.whole():
        if one.changes or one is difference:
            parts.append(html.heading(_title(one), "" if one.changes else "they mean the same"))
        rows = [
            (heading, f"{SIGNS[change.kind]} {sentence(change)}")
            for heading, changes in groups_of(one.changes)
            for change in changes
            if heading != "text"
        ]
        if rows:
            parts.append(html.table(("", "change"), rows))
        parts.append(html.lines(one.notes))
    return "".join(parts)
