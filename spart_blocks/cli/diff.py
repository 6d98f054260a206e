"""`spart diff`: what has changed from one diagram to another, or in all since a revision."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.cli.commands import (
    BLOCKS,
    END,
    ROOT,
    Texts,
    argument,
    check_seconds,
    command,
    option,
    refuse_given,
    switch,
)
from spart_blocks.cli.outputs import check_folder, checked_file, import_matplotlib
from spart_blocks.cli.terminal import FAILED, WRONG_INPUT, ProgressBar, complain, say

if TYPE_CHECKING:
    from spart_blocks.analysis.behaviour import Behaviour
    from spart_blocks.versions.differences import Change, Difference, DiffSide

PICTURES = (".svg", ".png", ".pdf")


Format = Literal["text", "json", "markdown"]
"""Output format of the changes."""


@dataclass(frozen=True)
class Runs:
    """Options: whether and how both sides are run."""

    behaviour: bool = switch("--behaviour", "Run both, and tell which signals differ.")
    plots: Path | None = option(
        "--plots DIR",
        "With --behaviour: write the signals that differ, one over the other, into DIR.",
    )
    end: float | None = END
    blocks: Texts = BLOCKS


@dataclass(frozen=True)
class Changed:
    """Options: the revision with which every diagram of the repository is compared, and the
    output."""

    changed: str | None = option(
        "--changed REV", "Compare every diagram of the repository with this revision."
    )
    out: Path | None = option(
        "--out -o DIR",
        "With --changed: write changes.md and a picture of each diagram into DIR.",
    )
    pictures: str = option(
        "--pictures URL",
        "With --out: the address of the pictures, which changes.md puts before their names.",
        "",
        show_default=False,
    )


@command(
    "spart diff servo.yaml",
    "spart diff HEAD~1:servo.yaml servo.yaml",
    "spart diff servo.yaml other.yaml --svg changes.svg",
    "spart diff servo.yaml --behaviour --plots out/changes",
    "spart diff --changed main --out out/changes",
)
def diff(
    *,
    old: str | None = argument(
        "[OLD]", "A diagram: a YAML file, or REV:FILE of a git revision.", None
    ),
    new: str | None = argument(
        "[NEW]", "The other. Without it, OLD is compared with the same file at HEAD.", None
    ),
    fmt: Format = option("--format -f", "How the changes are printed.", "text"),
    text: bool = switch("--text", "Tell also what differs in the text only: comments, layout."),
    svg: Path | None = option(
        "--svg FILE", "Draw both in one layout, with what differs: .svg, .png or .pdf."
    ),
    runs: Runs,
    since: Changed,
    root: Path | None = ROOT,
) -> int:
    """Tell what has changed from one diagram to another: blocks, parameters, wires, robots, used
    files. Other ways to write the same are no changes. /dev/null is no diagram.

    Exit codes: 0 both mean the same, 1 they differ, 2 a side cannot be read.
    """
    if since.changed is not None:
        given = (old, svg, runs.plots, runs.behaviour or None)
        hint = "leave out files, --svg and --behaviour; --out DIR writes a picture of each diagram"
        refuse_given(given, "--changed compares every diagram", hint)
        out = since.out.expanduser() if since.out is not None else None
        return tell_changes(since.changed, out, since.pictures, root)
    if old is None or since.out is not None:
        hint = "spart diff FILE, spart diff OLD NEW, or spart diff --changed REV --out DIR"
        raise InputError(Fault("name a diagram, or a revision with --changed", hint=hint))
    svg = checked_file(svg, PICTURES, "--svg")
    from spart_blocks.versions.differences import difference_of, two_sides

    with two_sides(old, new, root) as (before, after):
        found = difference_of(before, after, text=text)
        if svg is not None:
            _draw(before, after, found, svg)
        behaviour = _behaviour(before, after, runs) if runs.behaviour else None
    typer.echo(_printed(found, behaviour, fmt))
    return FAILED if found or behaviour else 0


def _behaviour(old: DiffSide, new: DiffSide, runs: Runs) -> Behaviour:
    """Run both sides and compare them; with --plots, also write plots of the signals that
    differ."""
    check_seconds("--t", runs.end)
    plots = runs.plots.expanduser() if runs.plots is not None else None
    check_folder(plots)
    from spart_blocks.analysis.behaviour import compare_behaviour
    from spart_blocks.versions.differences import signal_names

    names = signal_names(old, new)
    with ProgressBar(wanted=True) as progress:
        found = compare_behaviour(
            old, new, names, T=runs.end, blocks=tuple(runs.blocks or ()), progress=progress
        )
    if plots is not None:
        import_matplotlib()
        for path in found.save_plots(plots):
            say(str(path))
    return found


def _printed(found: Difference, runs: Behaviour | None, fmt: Format) -> str:
    from spart_blocks.versions.differences.changes import as_code, markdown_of, text_of

    if fmt == "json":
        data = found.as_data() | ({"behaviour": runs.as_data()} if runs is not None else {})
        return json.dumps(data, indent=2, ensure_ascii=False)
    if fmt == "markdown":
        text = markdown_of(found).rstrip()
        if runs is not None:
            lines = "\n".join(f"- {as_code(line)}" for line in runs.lines())
            text += f"\n\n**behaviour to t = {runs.until:g} s**\n\n{lines}"
        return text
    parts = [text_of(found, _painted)] + ([str(runs)] if runs is not None else [])
    return "\n".join(parts)


def _draw(old: DiffSide, new: DiffSide, found: Difference, path: Path) -> None:
    """Write one picture that shows both sides."""
    import_matplotlib()
    from spart_blocks.drawing.files import write
    from spart_blocks.versions.differences import union_of
    from spart_blocks.versions.differences.difference_drawing import draw_unions

    write(draw_unions(union_of(old, new, found), f"{found.old} → {found.new}"), path)


_COLOURS = {"added": "green", "removed": "red"}


def _painted(line: str, change: Change) -> str:
    """A line with a colour. Typer's echo removes the colour if the output is no terminal."""
    if os.environ.get("NO_COLOR"):
        return line
    kind = change.kind
    if change.subject == "text":
        kind = {"+": "added", "-": "removed"}.get(line.strip()[:1], "changed")  # type: ignore[assignment]
    return typer.style(line, fg=_COLOURS.get(kind, "yellow"))


# --- every diagram that differs from a revision ---------------------------------------------------


REPORT = "changes.md"


@dataclass
class ChangesReport:
    """Collects the changes of all diagrams as Markdown, with a picture of each. folder: where they
    are written; pictures: address put before the names of pictures in the Markdown."""

    folder: Path
    pictures: str = ""
    parts: list[str] = field(default_factory=list)

    def add(self, old: DiffSide, new: DiffSide, found: Difference) -> None:
        """Write the picture of a diagram and keep its Markdown."""
        import_matplotlib()
        from spart_blocks.drawing.files import write
        from spart_blocks.versions.differences import union_of
        from spart_blocks.versions.differences.changes import markdown_of
        from spart_blocks.versions.differences.difference_drawing import draw_unions

        name = _file_name(new.label if new.document is not None else old.label.partition(":")[2])
        picture = draw_unions(union_of(old, new, found), f"{found.old} → {found.new}")
        write(picture, self.folder / name)
        self.parts.append(markdown_of(found, self.pictures + name))

    def refuse(self, name: str, error: InputError) -> None:
        """Add a note that a diagram cannot be read."""
        from spart_blocks.versions.differences.changes import as_code

        told = str(error).splitlines()[0]
        self.parts.append(f"### {as_code(name)}\n\ncannot be read: {as_code(told)}\n")

    def write(self) -> Path:
        """Write the Markdown file; returns its path."""
        from spart_blocks.results.files import write_bytes

        path = self.folder / REPORT
        text = "\n".join(self.parts) or "No diagram means anything else than before.\n"
        write_bytes(path, text.encode())
        return path


def tell_changes(base: str, folder: Path | None, pictures: str, root: Path | None) -> int:
    """Print the changes of each diagram since a revision, or write them into a folder; returns the
    exit code."""
    from spart_blocks.results.files import make_folder
    from spart_blocks.versions.differences import difference_of
    from spart_blocks.versions.differences.changed_files import changes_since

    report = None
    if folder is not None:
        make_folder(folder)
        report = ChangesReport(folder, pictures)
    code = 0
    with changes_since(base, Path.cwd()) as changes:
        for file in changes.files:
            try:
                old, new = changes.sides(file, root)
                found = difference_of(old, new)
            except InputError as error:
                complain(str(error))
                code = WRONG_INPUT
                if report is not None:
                    report.refuse(file.name, error)
                continue
            if not found:
                continue
            code = code or FAILED
            if report is not None:
                report.add(old, new, found)
            else:
                typer.echo(f"{found}\n")
    if report is not None:
        typer.echo(str(report.write()))
    return code


def _file_name(path: str) -> str:
    """The file name of a diagram's picture, such as `diagrams-servo.yaml.svg`; special characters
    are replaced."""
    from urllib.parse import quote

    return quote(path.replace("/", "-"), safe="").replace("%", "_") + ".svg"
