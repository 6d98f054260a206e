"""`spart diff`: what has changed from one diagram to another."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from spart_blocks.cli.help_texts import with_examples
from spart_blocks.cli.options import Root
from spart_blocks.cli.reporting import FAILED, Debug, reporting

if TYPE_CHECKING:
    from spart_blocks.differences import Change, Difference


class Format(StrEnum):
    """Of the changes."""

    text = "text"
    json = "json"
    markdown = "markdown"


@with_examples(
    "spart diff servo.yaml",
    "spart diff HEAD~1:servo.yaml servo.yaml",
    "spart diff servo.yaml other.yaml --format markdown",
)
def diff(
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD",
            help="A diagram: a YAML file, or REV:FILE of a git revision.",
            show_default=False,
        ),
    ],
    new: Annotated[
        str | None,
        typer.Argument(
            metavar="[NEW]",
            help="The other. Without it, OLD is compared with the same file at HEAD.",
            show_default=False,
        ),
    ] = None,
    fmt: Annotated[
        Format, typer.Option("--format", "-f", help="How the changes are printed.")
    ] = Format.text,
    text: Annotated[
        bool,
        typer.Option("--text", help="Tell also what differs in the text only: comments, layout."),
    ] = False,
    root: Root = None,
    debug: Debug = False,
) -> None:
    """Tell what has changed from one diagram to another: blocks, parameters, wires, robots, used
    files. Other ways to write the same are no changes. /dev/null is no diagram.

    Exit codes: 0 both mean the same, 1 they differ, 2 a side cannot be read.
    """
    with reporting(debug):
        from spart_blocks.differences import difference_of, two_sides

        with two_sides(old, new, root) as (before, after):
            found = difference_of(before, after, text=text)
        typer.echo(_printed(found, fmt))
        if found:
            raise typer.Exit(FAILED)


def _printed(found: Difference, fmt: Format) -> str:
    from spart_blocks.differences.text import markdown_of, text_of

    if fmt is Format.json:
        return json.dumps(found.as_data(), indent=2, ensure_ascii=False)
    if fmt is Format.markdown:
        return markdown_of(found).rstrip()
    return text_of(found, _painted)


_COLOURS = {"added": "green", "removed": "red"}


def _painted(line: str, change: Change) -> str:
    """A coloured line; Typer's echo takes the colour out where there is no terminal."""
    if os.environ.get("NO_COLOR"):
        return line
    kind = change.kind
    if change.subject == "text":
        kind = {"+": "added", "-": "removed"}.get(line.strip()[:1], "changed")  # type: ignore[assignment]
    return typer.style(line, fg=_COLOURS.get(kind, "yellow"))
