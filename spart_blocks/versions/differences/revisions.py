"""Files of a git revision, copied to a temporary folder when they are needed.

Only git's plumbing commands are run, with names of revisions checked first. What a repository holds
is written as plain files within the folder, never as links.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from spart_blocks.base.errors import Fault, InputError, Place
from spart_blocks.diagram.written.files import ROOT_MARKS

MAX_BYTES = 64_000_000
"""Size of a revision's file that is copied at most."""
SHOWN_DIGITS = 10
"""Number of digits of a commit's hash in titles, legends and messages."""
_HASH = re.compile("[0-9a-fA-F]{11,64}")
_BLOB = "100"
"""The beginning of the modes of plain files; others are links and submodules."""
_TIME = 60.0
"""Time limit of a command of git [s]."""


def git(*words: str, cwd: Path | None = None) -> bytes:
    """The output of a git command. Raises InputError with git's own words if it fails."""
    command = ["git", "--no-pager", *words]
    quiet = os.environ | {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        run = subprocess.run(command, cwd=cwd, capture_output=True, env=quiet, timeout=_TIME)
    except FileNotFoundError:
        problem = "this needs git, which is not installed"
        raise InputError(Fault(problem, hint="install git")) from None
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise InputError(f"git {words[0]} failed: {error}") from None
    if run.returncode:
        lines = run.stderr.decode(errors="replace").strip().splitlines()
        problem = lines[0].removeprefix("fatal: ") if lines else f"exit code {run.returncode}"
        raise InputError(f"git {words[0]}: {problem}")
    return run.stdout


def top_of(folder: Path) -> Path:
    """The top folder of the repository around a folder. Raises InputError if there is none."""
    return Path(os.fsdecode(git("rev-parse", "--show-toplevel", cwd=folder).rstrip(b"\n")))


@dataclass
class Revision:
    """A revision of a repository. top: the repository's top folder. files: hash and size of its
    plain files by path. `close` removes its copies."""

    name: str
    top: Path
    commit: str
    files: dict[str, tuple[str, int]]
    _folder: tempfile.TemporaryDirectory[str] = field(
        default_factory=lambda: tempfile.TemporaryDirectory(prefix="spart-revision-")
    )

    @staticmethod
    def of(name: str, folder: Path) -> Revision:
        """The revision of a name in the repository around a folder. Raises InputError if there is
        no git, repository or revision."""
        top = top_of(folder)
        try:
            asked = f"{name}^{{commit}}"
            found = git("rev-parse", "--verify", "--quiet", "--end-of-options", asked, cwd=top)
        except InputError:
            hint = "name a commit, a branch or a tag, as in HEAD~1:servo.yaml"
            raise InputError(Fault(f"there is no revision {name!r}", hint=hint)) from None
        commit = found.decode().strip()
        listed = git("ls-tree", "-r", "-l", "-z", commit, cwd=top)
        made = Revision(name, top, commit, dict(_entries(listed)))
        made._mark()
        return made

    @property
    def label(self) -> str:
        """The name as it is shown: of a hash as many digits as tell commits apart."""
        return self.name[:SHOWN_DIGITS] if _HASH.fullmatch(self.name) else self.name

    @property
    def folder(self) -> Path:
        """The temporary folder that stands for the top folder."""
        return Path(self._folder.name).resolve()

    def close(self) -> None:
        """Remove the copies."""
        self._folder.cleanup()

    def _mark(self) -> None:
        """Mark the folders in which projects begin, so that the files that may be read are those of
        the repository."""
        (self.folder / "spart.toml").touch()
        for path in self.files:
            pure = PurePosixPath(path)
            if pure.name in ROOT_MARKS:
                place = self.place(str(pure.parent / "spart.toml"))
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()

    def place(self, path: str) -> Path:
        """The path of a file's copy. Raises InputError for a path that leaves the folder."""
        target = Path(os.path.normpath(self.folder / path))
        if not target.is_relative_to(self.folder):
            raise InputError(f"{path} leaves the repository")
        return target

    def copy(self, path: str) -> Path | None:
        """The path of a copy of a file, made if need be; None if the revision lacks the file. path:
        from the top folder. Raises InputError for a file that is too large."""
        if path not in self.files:
            return None
        target = self.place(path)
        if not target.is_file() or target.name in ROOT_MARKS:
            blob, size = self.files[path]
            if size > MAX_BYTES:
                place = Place(f"{self.name}:{path}")
                raise InputError(Fault(f"is larger than {MAX_BYTES} bytes", place))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(git("cat-file", "blob", blob, cwd=self.top))
        return target


@dataclass(frozen=True)
class Commit:
    """A commit. id: its whole hash. when: date and time of its author. subject: the first line of
    its message."""

    id: str
    when: str
    author: str
    subject: str


MOST_COMMITS = 300
_FORMAT = "%x1f".join(("%H", "%aI", "%an", "%s"))


def commits_of(path: Path, most: int = MOST_COMMITS) -> list[Commit]:
    """The last commits that have changed a file, the latest first. Raises InputError if there is no
    git or no repository; without a commit there is none."""
    folder = path.parent
    top_of(folder)
    try:
        head = git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", cwd=folder).decode().strip()
    except InputError:
        return []  # a repository without commits
    asked = ("rev-list", f"--max-count={most}", f"--format={_FORMAT}", head, "--")
    listed = git(*asked, f":(literal){path.name}", cwd=folder).decode(errors="replace")
    parts = (line.split("\x1f", 3) for line in listed.splitlines())
    return [Commit(*part) for part in parts if len(part) == 4]


def _entries(listed: bytes) -> Iterator[tuple[str, tuple[str, int]]]:
    """The plain files in git's listing of a revision: path, hash and size."""
    for entry in listed.split(b"\0"):
        about, tab, path = entry.partition(b"\t")
        if tab:
            mode, _, blob, size = about.decode().split()
            if mode.startswith(_BLOB):
                yield os.fsdecode(path), (blob, int(size))
