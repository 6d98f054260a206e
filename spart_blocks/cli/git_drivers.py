"""The programs that git calls to merge and compare diagram files; `spart git-setup` registers them.

python -m spart_blocks.cli.git_drivers merge BASE OURS THEIRS PATH
python -m spart_blocks.cli.git_drivers diff PATH OLD HEX MODE NEW HEX MODE
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from spart_blocks.base.errors import DiagramError, InputError, SpartError
from spart_blocks.cli.merge import tell
from spart_blocks.cli.terminal import complain, say
from spart_blocks.versions.differences.revisions import git
from spart_blocks.versions.edits.files import read_text, write_text
from spart_blocks.versions.merge import is_diagram, merge


def merged(base: Path, ours: Path, theirs: Path, path: Path) -> int:
    """Merge into the file `ours`. In a diagram with conflicts of values git's markers stand around
    these alone; with other conflicts it is merged as text, as files that are no diagrams. Returns 1
    if there are conflicts."""
    try:
        before, mine, other = (read_text(file) for file in (base, ours, theirs))
        if is_diagram(mine) and is_diagram(other):
            found = merge(before, mine, other, path)
            if found.text is not None:
                write_text(ours, found.text)
                return 0
            if found.marked is not None:
                tell(found, "all else is merged")
                write_text(ours, found.marked)
                return 1
            tell(found, "merged as text")
    except DiagramError as error:
        say(f"{path} is merged as text: {error.faults[0]}")
    labels = ("-L", "ours", "-L", "base", "-L", "theirs")
    command = ["git", "merge-file", *labels, str(ours), str(base), str(theirs)]
    return int(subprocess.run(command, check=False).returncode != 0)


def shown(path: str, old: Path, new: Path, hashes: tuple[str, str]) -> int:
    """Print the difference of two versions; that of diagrams block by block. hashes: git's hash of
    each."""
    try:
        texts = [read_text(file) for file in (old, new) if str(file) != "/dev/null"]
        diagrams = bool(texts) and all(map(is_diagram, texts))
    except DiagramError:
        diagrams = False
    if diagrams:
        print(f"diff of {path}", flush=True)
        sides = [_named(path, *side) for side in zip((old, new), hashes, strict=True)]
        command = [sys.executable, "-m", "spart_blocks", "diff", *sides]
        if subprocess.run(command, check=False).returncode < 2:
            return 0
    as_text = ["git", "--no-pager", "diff", "--no-index", "--no-ext-diff", str(old), str(new)]
    subprocess.run(as_text, check=False)
    return 0


def _named(path: str, file: Path, given: str) -> str:
    """A version as an argument of `spart diff`: REV:path if a commit has it, so that the files that
    it uses are found; otherwise its file."""
    if str(file) == path:
        return path
    commit = _commit_of(path, given)
    return f"{commit}:{path}" if commit else str(file)


def _commit_of(path: str, given: str) -> str | None:
    """HEAD, or the last commit before it that gave a file this content; None if there is none.
    given: git's hash of the content."""
    try:
        if git("rev-parse", "--verify", "--quiet", f"HEAD:{path}").decode().strip() == given:
            return "HEAD"
    except InputError:  # HEAD does not have it
        pass
    try:
        found = git("log", "-m", "--raw", "--no-abbrev", "--format=%H", "--", path).decode()
    except InputError:  # there is no commit yet
        return None
    commit = None
    for line in found.splitlines():
        if line.startswith(":"):
            if line.split()[3] == given:
                return commit
        elif line:
            commit = line
    return None


def main(words: Sequence[str]) -> int:
    """Run the driver that the first word names; returns the exit code."""
    try:
        if words[:1] == ["merge"] and len(words) == 5:
            base, ours, theirs, path = map(Path, words[1:])
            return merged(base, ours, theirs, path)
        if words[:1] == ["diff"] and len(words) >= 8:  # two more for a renamed file
            return shown(words[1], Path(words[2]), Path(words[5]), (words[3], words[6]))
    except SpartError as error:
        complain(str(error))
        return 1
    complain("git calls this: see spart git-setup")
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:  # as of `git diff | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
