"""The two files that a diff compares: of the working tree, of git revisions, or none."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from os.path import normpath
from pathlib import Path
from typing import Any

from spart_blocks.base.document import MAX_BYTES, Document, read_document, texts_in
from spart_blocks.base.errors import DiagramError, Fault, InputError, Place
from spart_blocks.diagram.build.paused_collector import collector_paused
from spart_blocks.diagram.build.subsystems import MAX_LEVELS
from spart_blocks.diagram.written.files import existing, project_root
from spart_blocks.diagram.written.sheets import File
from spart_blocks.versions.differences.revisions import Revision

NOTHING = "/dev/null"
"""The path that stands for no file."""
MAX_FILES = 2000
"""Number of files that a diagram may use, directly and through others."""


@dataclass
class DiffSide:
    """One of the two files of a diff. label: its name in messages. document: the parsed file, None
    if there is no file. path: of the file, or of the copy of a revision's file. root: folder in
    which used files must lie. revision: git revision that the file is from, None in the working
    tree."""

    label: str
    document: Document | None = None
    path: Path | None = None
    root: Path | None = None
    revision: Revision | None = None

    @property
    def data(self) -> dict[str, Any]:
        """The values of the file; empty if there is no file."""
        return self.file.data

    @cached_property
    def file(self) -> File:
        """The blocks and wires of the file; none if there is no file."""
        return File(self.document) if self.document is not None else File.of({})

    def text(self) -> str:
        """The text of the file; empty if there is no file."""
        return self.path.read_text(encoding="utf-8-sig") if self.path is not None else ""

    def path_of(self, given: str) -> tuple[Path | None, tuple[Fault, ...]]:
        """The path of a file that this file names as `given`, or None with the faults."""
        if self.document is None or self.path is None or self.root is None:
            return None, ()
        if self.revision is not None:
            self._fetch(given)
        faults: list[Fault] = []
        beside = Document(str(self.path), {}, self.document.root)
        found = existing(given, beside, self.root, Place(self.label), faults)
        return found, tuple(Fault(fault.message, fault.place) for fault in faults)

    def used(self, given: str) -> DiffSide:
        """The file that this file uses under the path `given`. Raises InputError if it cannot be
        read."""
        path, faults = self.path_of(given)
        if path is None:
            raise InputError(faults)
        label = self.beside(given)
        return DiffSide(label, _document(path, label), path, self.root, self.revision)

    def beside(self, given: str) -> str:
        """The label of a file that this file names as `given`."""
        name, colon, path = self.label.rpartition(":") if self.revision else ("", "", self.label)
        return f"{name}{colon}{normpath(os.path.join(os.path.dirname(path), given))}"

    def fetch_all(self) -> None:
        """Copy all files out of the revision that this file, or one that it uses, names, so that
        the diagram can be run."""
        if self.revision is None:
            return
        waiting, known = [self], {self.label}
        while waiting:
            side = waiting.pop()
            for text in texts_in(side.data):
                side._fetch(text)
            for given in side.file.used:
                if side.beside(given) not in known:
                    known.add(side.beside(given))
                    with suppress(InputError):
                        waiting.append(side.used(given))

    def _fetch(self, given: str) -> None:
        """Copy a file out of the revision that this file may name as `given`."""
        if self.revision is None or self.path is None or not given or "\0" in given:
            return
        beside = os.path.normpath(self.path.parent / given)
        inner = os.path.relpath(beside, self.revision.folder).replace(os.sep, "/")
        self.revision.copy(inner)


@contextmanager
def two_sides(
    old: str | Path, new: str | Path | None, root: str | Path | None = None
) -> Iterator[tuple[DiffSide, DiffSide]]:
    """Open the two files of a diff.

    old, new: paths, `REV:FILE`, or /dev/null for no file. Without new, old is a path of the working
    tree, and this file is compared with its version at HEAD, or with nothing if HEAD has none.
    root: folder in which used files must lie. Raises InputError if a file cannot be read.
    """
    with ExitStack() as stack:
        revisions: dict[tuple[str, Path], Revision] = {}

        def revision(name: str, folder: Path) -> Revision:
            key = name, folder
            if key not in revisions:
                revisions[key] = Revision.of(name, folder)
                stack.callback(revisions[key].close)
            return revisions[key]

        def side(name: str | Path) -> DiffSide:
            return _side(name, root, revision)

        if new is not None:
            yield side(old), side(new)
            return
        path = Path(old)
        after = side(old)
        if after.revision is not None or after.document is None:
            raise InputError(Fault(f"{old} is compared with nothing", hint="name a second file"))
        head = revision("HEAD", path.absolute().parent)
        yield at_revision(head, inner_path(head.top, path), root, missing=True), after


def inner_path(top: Path, path: Path) -> str:
    """The path of a file of the working tree, from the top folder of its repository."""
    folder = Path(os.path.realpath(path.absolute().parent))
    inner = os.path.relpath(folder / path.name, os.path.realpath(top))
    return inner.replace(os.sep, "/")


def _side(
    name: str | Path, root: str | Path | None, revision: Callable[[str, Path], Revision]
) -> DiffSide:
    """The file of a name as `two_sides` takes it. revision: opens a revision of the repository
    around a folder."""
    text = str(name)
    path = Path(text)
    if text in (NOTHING, os.devnull):
        return DiffSide(text)
    rev, colon, inner = text.partition(":")
    if colon and not os.path.lexists(path) and rev and not re.fullmatch(r"[A-Za-z]:[\\/].*", text):
        here = revision(rev, Path.cwd())
        if inner.startswith(("./", "../")):
            inner = inner_path(here.top, Path(inner))
        return at_revision(here, normpath(inner).replace(os.sep, "/"), root)
    return file_side(path, text, root)


def file_side(path: Path, label: str, root: str | Path | None = None) -> DiffSide:
    """A file of the working tree. Raises DiagramError if it cannot be read."""
    document, absolute = _document(path, label), path.absolute()
    return DiffSide(label, document, absolute, Path(root) if root else project_root(absolute))


def at_revision(
    revision: Revision, inner: str, root: str | Path | None = None, missing: bool = False
) -> DiffSide:
    """A file of a revision. inner: its path from the top folder of the repository. missing: whether
    the revision may lack it."""
    label = f"{revision.label}:{inner}"
    copy = _small_enough(revision, inner, label)
    if copy is None:
        if missing:
            return DiffSide(label)
        hint = f"paths are those from the top of the repository, {revision.top}"
        raise DiagramError(Fault("the revision has no such file", Place(label), hint))
    limit = project_root(copy)
    if root is not None:
        limit = revision.place(inner_path(revision.top, Path(root) / "x").rpartition("/")[0])
    return DiffSide(label, _document(copy, label), copy, limit, revision)


def _small_enough(revision: Revision, inner: str, label: str) -> Path | None:
    """The path of a copy of a revision's file, None if the revision lacks it. Raises DiagramError
    for a file of more than MAX_BYTES."""
    if inner in revision.files and revision.files[inner][1] > MAX_BYTES:
        raise DiagramError(Fault(f"is larger than {MAX_BYTES} bytes", Place(label)))
    return revision.copy(inner)


def _document(path: Path, label: str) -> Document:
    """The parsed file of a path. Its errors name it by a label."""
    try:
        with collector_paused():
            document = read_document(path)
    except DiagramError as error:
        raise DiagramError(_called(error, label)) from None
    return Document(label, document.data, document.root)


def _called(error: DiagramError, label: str) -> list[Fault]:
    """The faults of an error, with a label in place of the file's path."""
    return [
        replace(fault, place=replace(fault.place or Place(label), file=label))
        for fault in error.faults
    ]


def check_uses(side: DiffSide) -> None:
    """Raise InputError if files use each other in a circle. Unreadable files are ignored."""
    around: list[str] = []
    done: set[str] = set()

    def visit(one: DiffSide) -> None:
        key = str(one.path)
        if key in around:
            chain = [*around[around.index(key) :], key]
            names = " uses ".join(Path(file).name for file in chain)
            hint = "take one of these uses out"
            raise InputError(
                Fault(f"{Path(key).name} uses itself: {names}", Place(side.label), hint)
            )
        if key in done:
            return
        if len(around) > MAX_LEVELS or len(done) > MAX_FILES:
            raise InputError(Fault("too many files use each other", Place(side.label)))
        around.append(key)
        for given in one.file.used:
            try:
                inner = one.used(given)
            except InputError:
                continue
            visit(inner)
        around.pop()
        done.add(key)

    if side.document is not None:
        visit(side)
