"""`spart merge`: three versions of a diagram file become one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spart_blocks.cli.help_texts import with_examples
from spart_blocks.cli.reporting import FAILED, Debug, reporting
from spart_blocks.cli.terminal import complain, say

if TYPE_CHECKING:
    from spart_blocks.versions.edits.merging import Merged


@with_examples(
    "spart merge base.yaml ours.yaml theirs.yaml --out merged.yaml",
)
def merge(
    base: Annotated[Path, typer.Argument(metavar="BASE", help="The version both come from.")],
    ours: Annotated[Path, typer.Argument(metavar="OURS", help="The version whose text stays.")],
    theirs: Annotated[Path, typer.Argument(metavar="THEIRS", help="The other version.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Where the result goes; else printed."),
    ] = None,
    path: Annotated[
        Path | None,
        typer.Option(
            "--path",
            metavar="FILE",
            help="Where the result will stand, for the files that it names; OURS by default.",
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Merge two versions of a diagram file that come from a third, by blocks, wires and values.

    The text is that of OURS with the changes of THEIRS in place. Two diagrams without mistakes must
    give one without. If both changed one value, or the result has mistakes, the conflicts are told,
    nothing is written, and the exit code is 1. `spart git-setup` lets git merge so.
    """
    with reporting(debug):
        from spart_blocks.versions.edits.files import read_text, write_text
        from spart_blocks.versions.edits.merging import merge as merged

        before, mine, other = (read_text(file) for file in (base, ours, theirs))
        names = (str(base), str(ours), str(theirs))
        found = merged(before, mine, other, path or ours, names)
        if found.text is None:
            tell(found)
            raise typer.Exit(FAILED)
        if out is None:
            typer.echo(found.text, nl=False)
        else:
            write_text(out, found.text)
            say(f"written: {out}")


def tell(found: Merged) -> None:
    """The conflicts, for people."""
    many = len(found.conflicts)
    complain(f"{many} conflict{'s' if many > 1 else ''}; nothing is merged")
    for conflict in found.conflicts:
        complain(f"  {conflict}")
