"""The files that blocks use; each is read once."""

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
    """The files that blocks of a diagram use. root: folder that must contain them. known: files
    read so far, by path; None if a file cannot be read.
    """

    root: Path
    known: dict[Path, File | None] = field(default_factory=dict)

    def use(self, given: str, user: Document) -> tuple[Path, File] | None:
        """The full path and the contents of a file. given: its path as written in the document
        `user`. None if it cannot be read.
        """
        faults: list[Fault] = []
        path = existing(given, user, self.root, user.place(), faults)
        file = None if path is None else self.read(path, given, user, faults)
        return None if path is None or file is None else (path, file)

    def read(self, path: Path, given: str, user: Document, faults: list[Fault]) -> File | None:
        """The file at a path. given: this path as written in `user`. None if it cannot be read;
        faults are added the first time.
        """
        if path not in self.known:
            shown = normpath(Path(user.file).parent / given)
            self.known[path] = None
            try:
                self.known[path] = File(replace(read_document(path), file=shown))
            except DiagramError as error:
                faults += _called(error.faults, shown)
        return self.known[path]


def _called(faults: Iterable[Fault], file: str) -> Iterable[Fault]:
    """Faults with the file name in their places replaced."""
    for fault in faults:
        place = fault.place
        yield fault if place is None else replace(fault, place=replace(place, file=file))
