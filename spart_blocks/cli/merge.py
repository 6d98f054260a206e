"""`spart merge`: merges two versions of a diagram file that have a common ancestor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from spart_blocks.base.errors import counted
from spart_blocks.cli.commands import argument, command, option
from spart_blocks.cli.terminal import FAILED, complain, say

if TYPE_CHECKING:
    from spart_blocks.versions.merge import Merged


@command(
    "spart merge base.yaml ours.yaml theirs.yaml --out merged.yaml",
    "spart merge base.yaml ours.yaml theirs.yaml --prefer ours",
)
def merge(
    *,
    base: Path = argument("BASE", "The version both come from."),
    ours: Path = argument("OURS", "The version whose text stays."),
    theirs: Path = argument("THEIRS", "The other version."),
    out: Path | None = option("--out -o FILE", "Where the result goes; else printed."),
    path: Path | None = option(
        "--path FILE",
        "Where the result will stand, for the files that it names; OURS by default.",
    ),
    prefer: Literal["ours", "theirs"] | None = option(
        "--prefer <ours|theirs>", "Whose value stands where both changed it."
    ),
) -> int:
    """Merge two versions of a diagram file that come from a third, by blocks, wires and values.

    The text is that of OURS with the changes of THEIRS in place. Two diagrams without mistakes must
    give one without. If both changed one value, or the result has mistakes, the conflicts are told,
    nothing is written, and the exit code is 1; --prefer settles conflicts of values. `spart
    git-setup` lets git merge so.
    """
    from spart_blocks.versions.edits.files import read_text, write_text
    from spart_blocks.versions.merge import merge as merged

    before, mine, other = (read_text(file) for file in (base, ours, theirs))
    names = (str(base), str(ours), str(theirs))
    found = merged(before, mine, other, path or ours, names)
    text = found.text
    if prefer is not None and found.sides is not None:
        text = found.sides[prefer == "theirs"]
    if text is None:
        tell(found, "nothing is merged")
        if found.sides is not None:
            say("  --prefer ours, or theirs, settles them")
        return FAILED
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)
        say(f"written: {out}")
    return 0


def tell(found: Merged, outcome: str) -> None:
    """Print the conflicts."""
    complain(f"{counted(len(found.conflicts), 'conflict')}; {outcome}")
    for conflict in found.conflicts:
        complain(f"  {conflict}")
