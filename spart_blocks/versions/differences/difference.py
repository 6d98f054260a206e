"""The result of a diff: changes of a diagram, and of the files that it uses; and its text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.base import html
from spart_blocks.versions.differences.changes import (
    BLOCK,
    INITIAL,
    PARAMETER,
    SIGNS,
    WIRE,
    Change,
)
from spart_blocks.versions.differences.text import as_code, groups_of, lines_of, sentence


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
