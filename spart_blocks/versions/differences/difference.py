"""The result of a diff: changes of a diagram, and of the files that it uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.versions.differences.changes import BLOCK, INITIAL, PARAMETER, WIRE, Change
from spart_blocks.versions.differences.text import html_of, text_of


@dataclass(frozen=True, repr=False)
class Difference:
    """The changes from one diagram to another. It is true where there are any.

    old, new: the sides as they are called. changes: those of the diagram's own file. files: the
    differences of the files that both use. names: for each block that goes by another name in the
    new file, its old name (with its subsystem, as `servo/gain`) and the new one. notes: what could
    not be compared.
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
        """The changes of these subjects, those in used files left out."""
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
        """This difference and those of the used files, each before what it uses."""
        yield self
        for one in self.files:
            yield from one.whole()

    def as_data(self) -> dict[str, Any]:
        """It as plain values, as `--format json` writes them."""
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
        """The changes in lines, grouped by subject."""
        return text_of(self)

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        return html_of(self)
