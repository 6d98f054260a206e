"""`spart git-setup`: sets up git to merge and compare diagram files block by block."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from spart_blocks.base.errors import InputError
from spart_blocks.cli.commands import command, switch
from spart_blocks.cli.terminal import say

PATTERNS = ("*.yaml", "*.yml")
LINES = tuple(f"{pattern} merge=spart diff=spart" for pattern in PATTERNS)


@command("spart git-setup", "spart git-setup --shared", "spart git-setup --remove")
def git_setup(
    *,
    shared: bool = switch(
        "--shared", "Name the file types in .gitattributes, which others get too."
    ),
    remove: bool = switch("--remove", "Take the setup back."),
) -> None:
    """Let git merge diagram files with `spart merge` and show their changes with `spart diff`.

    The drivers are written into this clone's configuration, the file types into
    .git/info/attributes. YAML files that are no diagrams are merged and shown as text, and so is a
    diagram with conflicts, with git's marks in it. `git diff --no-ext-diff` shows text at any time.
    """
    from spart_blocks.versions.differences.revisions import git

    top = _top()
    local = os.fsdecode(git("rev-parse", "--git-path", "info/attributes").rstrip(b"\n"))
    attributes = top / ".gitattributes" if shared else Path(local)
    given = git("config", "--local", "--list", "--name-only", "-z").split(b"\0")
    for key, value in _drivers().items():
        if not remove:
            git("config", "--local", key, value)
        elif key.encode() in given:
            git("config", "--local", "--unset-all", key)
    _attributes(attributes, remove)
    say(f"{'removed from' if remove else 'written into'} .git/config and {attributes}")


def _drivers() -> dict[str, str]:
    command = f"'{Path(sys.executable).as_posix()}' -m spart_blocks.cli.git_drivers"
    return {
        "merge.spart.name": "block diagrams of spart_blocks",
        "merge.spart.driver": f"{command} merge %O %A %B %P",
        "diff.spart.command": f"{command} diff",
    }


def _attributes(path: Path, remove: bool) -> None:
    try:
        before = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        kept = [line for line in before if line not in LINES]
        after = kept if remove else [*kept, *LINES]
        if after != before:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in after), encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot change {path}: {error}") from None


def _top() -> Path:
    """The top folder of the clone that contains the working folder."""
    from spart_blocks.versions.differences.revisions import top_of

    try:
        return top_of(Path.cwd())
    except InputError as error:
        fault = error.faults[0]
        raise InputError(replace(fault, hint=fault.hint or "run it in a clone")) from None
