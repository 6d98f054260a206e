"""`spart diff`: what has changed from one diagram to another."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.cli.changed_diagrams import tell_changes
from spart_blocks.cli.help_texts import with_examples
from spart_blocks.cli.options import Blocks, EndTime, Root, check_seconds
from spart_blocks.cli.outputs import check_files, check_folder, import_matplotlib
from spart_blocks.cli.progress import ProgressBar
from spart_blocks.cli.reporting import FAILED, Debug, reporting
from spart_blocks.cli.terminal import say

if TYPE_CHECKING:
    from spart_blocks.analysis.behaviour import Behaviour
    from spart_blocks.versions.differences import Change, Difference, Side

PICTURES = (".svg", ".png", ".pdf")


class Format(StrEnum):
    """Of the changes."""

    text = "text"
    json = "json"
    markdown = "markdown"


@with_examples(
    "spart diff servo.yaml",
    "spart diff HEAD~1:servo.yaml servo.yaml",
    "spart diff servo.yaml other.yaml --svg changes.svg",
    "spart diff servo.yaml --behaviour --plots out/changes",
    "spart diff --changed main --out out/changes",
)
def diff(
    old: Annotated[
        str | None,
        typer.Argument(
            metavar="[OLD]",
            help="A diagram: a YAML file, or REV:FILE of a git revision.",
            show_default=False,
        ),
    ] = None,
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
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg",
            metavar="FILE",
            help="Draw both in one layout, with what differs: .svg, .png or .pdf.",
        ),
    ] = None,
    behaviour: Annotated[
        bool,
        typer.Option("--behaviour", help="Run both, and tell which signals differ."),
    ] = False,
    plots: Annotated[
        Path | None,
        typer.Option(
            "--plots",
            metavar="DIR",
            help="With --behaviour: write the signals that differ, one over the other, into DIR.",
        ),
    ] = None,
    end: EndTime = None,
    blocks: Blocks = None,
    changed: Annotated[
        str | None,
        typer.Option(
            "--changed",
            metavar="REV",
            help="Compare every diagram of the repository with this revision.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="With --changed: write changes.md and a picture of each diagram into DIR.",
        ),
    ] = None,
    pictures: Annotated[
        str,
        typer.Option(
            "--pictures",
            metavar="URL",
            help="With --out: the address of the pictures, which changes.md puts before their "
            "names.",
            show_default=False,
        ),
    ] = "",
    root: Root = None,
    debug: Debug = False,
) -> None:
    """Tell what has changed from one diagram to another: blocks, parameters, wires, robots, used
    files. Other ways to write the same are no changes. /dev/null is no diagram.

    Exit codes: 0 both mean the same, 1 they differ, 2 a side cannot be read.
    """
    with reporting(debug):
        if changed is not None:
            _refuse_with_changed(old, svg, plots, behaviour or None)
            out = out.expanduser() if out is not None else None
            code = tell_changes(changed, out, pictures, root)
            if code:
                raise typer.Exit(code)
            return
        if old is None or out is not None:
            hint = "spart diff FILE, spart diff OLD NEW, or spart diff --changed REV --out DIR"
            raise InputError(Fault("name a diagram, or a revision with --changed", hint=hint))
        if svg is not None:
            svg = svg.expanduser()
            check_files([svg], PICTURES, "--svg")
        from spart_blocks.versions.differences import difference_of, two_sides

        with two_sides(old, new, root) as (before, after):
            found = difference_of(before, after, text=text)
            if svg is not None:
                _draw(before, after, found, svg)
            runs = _runs(before, after, end, blocks, plots) if behaviour else None
        typer.echo(_printed(found, runs, fmt))
        if found or runs:
            raise typer.Exit(FAILED)


def _refuse_with_changed(*given: object) -> None:
    """Refuse a file or a picture beside --changed."""
    if any(one is not None for one in given):
        hint = "leave out files, --svg and --behaviour; --out DIR writes a picture of each diagram"
        raise InputError(Fault("--changed compares every diagram", hint=hint))


def _runs(
    old: Side, new: Side, end: float | None, blocks: list[str] | None, plots: Path | None
) -> Behaviour:
    """Run both sides, and draw the signals that differ."""
    check_seconds("--t", end)
    if plots is not None:
        plots = plots.expanduser()
        check_folder(plots)
    from spart_blocks.analysis.behaviour import compare_behaviour
    from spart_blocks.versions.differences import signal_names

    names = signal_names(old, new)
    with ProgressBar(wanted=True) as progress:
        found = compare_behaviour(
            old, new, names, T=end, blocks=tuple(blocks or ()), progress=progress
        )
    if plots is not None:
        import_matplotlib()
        for path in found.save_plots(plots):
            say(str(path))
    return found


def _printed(found: Difference, runs: Behaviour | None, fmt: Format) -> str:
    from spart_blocks.versions.differences.text import as_code, markdown_of, text_of

    if fmt is Format.json:
        data = found.as_data() | ({"behaviour": runs.as_data()} if runs is not None else {})
        return json.dumps(data, indent=2, ensure_ascii=False)
    if fmt is Format.markdown:
        text = markdown_of(found).rstrip()
        if runs is not None:
            lines = "\n".join(f"- {as_code(line)}" for line in runs.lines())
            text += f"\n\n**behaviour to t = {runs.until:g} s**\n\n{lines}"
        return text
    parts = [text_of(found, _painted)] + ([str(runs)] if runs is not None else [])
    return "\n".join(parts)


def _draw(old: Side, new: Side, found: Difference, path: Path) -> None:
    """Write the picture of both sides."""
    import_matplotlib()
    from spart_blocks.versions.differences import union_of
    from spart_blocks.versions.differences.difference_drawing import write_unions

    write_unions(union_of(old, new, found), f"{found.old} → {found.new}", path)


_COLOURS = {"added": "green", "removed": "red"}


def _painted(line: str, change: Change) -> str:
    """A coloured line; Typer's echo takes the colour out where there is no terminal."""
    if os.environ.get("NO_COLOR"):
        return line
    kind = change.kind
    if change.subject == "text":
        kind = {"+": "added", "-": "removed"}.get(line.strip()[:1], "changed")  # type: ignore[assignment]
    return typer.style(line, fg=_COLOURS.get(kind, "yellow"))
