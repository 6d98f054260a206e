"""The result of a diff: changes of a diagram, and of the files that it uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.versions.differences.changes import BLOCK, INITIAL, PARAMETER, WIRE, Change
from spart_blocks.versions.differences.text import html_of, text_of


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
