"""`spart show`: draw a diagram."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spart_blocks.cli.options import Blocks, DiagramFile, Root, Variants, diagram_file
from spart_blocks.cli.outputs import check_files, default_name
from spart_blocks.cli.reporting import Debug, reporting
from spart_blocks.cli.terminal import has_display
from spart_blocks.errors import InputError

PICTURES = (".svg", ".png", ".pdf")


def show(
    file: DiagramFile,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The picture: .svg, .png or .pdf. By default out/ and the diagram's name, "
            "and a window where there is a display.",
        ),
    ] = None,
    headless: Annotated[bool, typer.Option("--headless", help="Open no window.")] = False,
    variants: Variants = None,
    blocks: Blocks = None,
    root: Root = None,
    debug: Debug = False,
) -> None:
    """Draw a diagram: its blocks as boxes, its wires as lines."""
    with reporting(debug):
        if out is not None:
            out = out.expanduser()
            check_files([out], PICTURES)
        diagram = diagram_file(file, None, root, variants, blocks).load()
        from spart_blocks.diagram.drawing import draw

        path = out or _default(diagram.name)
        figure = draw(diagram, path)
        typer.echo(str(path))
        if out is None and has_display() and not headless:
            from spart_blocks.results import show_windows

            show_windows([figure])


def _default(name: str) -> Path:
    folder = Path("out")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror}") from error
    return folder / f"{default_name(name)}.svg"
