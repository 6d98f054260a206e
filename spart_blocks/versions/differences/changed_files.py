"""The diagrams of a repository that differ between a revision and the working tree."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from spart_blocks.base.document import MAX_BYTES
from spart_blocks.versions.differences.revisions import Revision, git
from spart_blocks.versions.differences.sides import NOTHING, DiffSide, at_revision, file_side

SUFFIXES = (".yaml", ".yml")
"""Endings of the names of diagram files."""


@dataclass(frozen=True)
class ChangedFile:
    """A diagram file that may differ. old, new: its paths from the top of the repository, None if
    it is not there."""

    old: str | None
    new: str | None

    @property
    def name(self) -> str:
        """Its new path, or its old one if it was removed."""
        return self.new or self.old or ""


@dataclass(frozen=True)
class ChangedDiagrams:
    """A repository since a revision. base: the revision. files: the diagrams that may differ."""

    base: Revision
    files: tuple[ChangedFile, ...]

    def sides(self, file: ChangedFile, root: Path | None = None) -> tuple[DiffSide, DiffSide]:
        """Both versions of a diagram. Raises InputError if one cannot be read."""
        old = new = DiffSide(NOTHING)
        if file.old is not None:
            old = at_revision(self.base, file.old, root)
        if file.new is not None:
            new = file_side(self.base.top / file.new, file.new, root)
        return old, new


@contextmanager
def changes_since(base: str, folder: Path) -> Iterator[ChangedDiagrams]:
    """Find the diagrams of the repository around a folder that were changed, added, renamed or
    removed since a revision, and those that name a changed file, such as a robot. Raises InputError
    if there is no such revision."""
    revision = Revision.of(base, folder)
    try:
        changed = list(_changed(revision))
        known = {file.new for file in changed}
        names = {PurePosixPath(file.name).name.encode() for file in changed}
        files = [file for file in changed if _is_diagram(revision, file)]
        for path in sorted(_tracked(revision) - known):
            if names and any(name in _content(revision.top / path) for name in names):
                file = ChangedFile(path, path)
                files += [file] if _is_diagram(revision, file) else []
        yield ChangedDiagrams(revision, tuple(sorted(files, key=lambda file: file.name)))
    finally:
        revision.close()


def _changed(base: Revision) -> Iterator[ChangedFile]:
    """All files that differ, of any kind. An untracked file is a new one."""
    asked = ("diff", "--no-ext-diff", "--name-status", "-z", "-M", base.commit, "--")
    words = iter(_words(git(*asked, cwd=base.top)))
    for status in words:
        path = next(words)
        if status.startswith(("R", "C")):
            yield ChangedFile(path if status.startswith("R") else None, next(words))
        else:
            yield ChangedFile(None if status == "A" else path, None if status == "D" else path)
    for path in _words(git("ls-files", "--others", "--exclude-standard", "-z", cwd=base.top)):
        yield ChangedFile(path if path in base.files else None, path)


def _tracked(base: Revision) -> set[str]:
    """The YAML files that both the revision and the working tree have."""
    paths = _words(git("ls-files", "-z", cwd=base.top))
    return {path for path in paths if path.endswith(SUFFIXES) and path in base.files}


def _words(output: bytes) -> list[str]:
    """The words of an output of git that ends each with a zero byte."""
    return [os.fsdecode(word) for word in output.split(b"\0") if word]


def _is_diagram(base: Revision, file: ChangedFile) -> bool:
    """Whether a version of a file is YAML with a section `blocks:`, judged by its lines."""
    if not file.name.endswith(SUFFIXES):
        return False
    contents = []
    if file.new is not None:
        contents.append(_content(base.top / file.new))
    if file.old is not None and file.old in base.files and base.files[file.old][1] <= MAX_BYTES:
        copy = base.copy(file.old)
        contents.append(_content(copy) if copy is not None else b"")
    return any(line.startswith(b"blocks:") for content in contents for line in content.splitlines())


def _content(path: Path) -> bytes:
    """The bytes of a file; none of a large file, of a link, or of one that cannot be read."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
            return b""
        return path.read_bytes()
    except OSError:
        return b""
