"""The files that blocks use, read once each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from os.path import normpath
from pathlib import Path

from spart_blocks.base.document import Document, read_document
from spart_blocks.base.errors import DiagramError, Fault
from spart_blocks.diagram.written.files import existing
from spart_blocks.diagram.written.sheets import File


@dataclass
class UsedFiles:
    """The files that blocks of a diagram use. root: the folder that they must lie in. known: those
    read so far by their paths; None for one that cannot be read.
    """

    root: Path
    known: dict[Path, File | None] = field(default_factory=dict)

    def use(self, given: str, user: Document) -> tuple[Path, File] | None:
        """The file of a path as a document has it; None where it cannot be read."""
        faults: list[Fault] = []
        path = existing(given, user, self.root, user.place(), faults)
        file = None if path is None else self.read(path, given, user, faults)
        return None if path is None or file is None else (path, file)

    def read(self, path: Path, given: str, user: Document, faults: list[Fault]) -> File | None:
        """The file at a path, which a document gives as it is written there; None where it cannot
        be read, the first time with its faults."""
        if path not in self.known:
            shown = normpath(Path(user.file).parent / given)
            self.known[path] = None
            try:
                self.known[path] = File(replace(read_document(path), file=shown))
            except DiagramError as error:
                faults += _called(error.faults, shown)
        return self.known[path]


def _called(faults: Iterable[Fault], file: str) -> Iterable[Fault]:
    """Faults whose places name a file otherwise."""
    for fault in faults:
        place = fault.place
        yield fault if place is None else replace(fault, place=replace(place, file=file))
