"""`spart diff --changed`: every diagram that differs from a revision."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from spart_blocks.base.errors import InputError
from spart_blocks.cli.outputs import import_matplotlib
from spart_blocks.cli.reporting import FAILED, WRONG_INPUT
from spart_blocks.cli.terminal import complain

if TYPE_CHECKING:
    from spart_blocks.versions.differences import Difference, DiffSide

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
        from spart_blocks.versions.differences.difference import markdown_of
        from spart_blocks.versions.differences.difference_drawing import draw_unions

        name = _file_name(new.label if new.document is not None else old.label.partition(":")[2])
        picture = draw_unions(union_of(old, new, found), f"{found.old} → {found.new}")
        write(picture, self.folder / name)
        self.parts.append(markdown_of(found, self.pictures + name))

    def refuse(self, name: str, error: InputError) -> None:
        """Add a note that a diagram cannot be read."""
        from spart_blocks.versions.differences.text import as_code

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
