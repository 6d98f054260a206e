"""Writes pages with animations, for several commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spart_blocks.cli.ending import writing
from spart_blocks.cli.outputs import default_folder, default_name
from spart_blocks.cli.progress import ProgressBar
from spart_blocks.cli.terminal import say

if TYPE_CHECKING:
    from spart_blocks.results import Results
    from spart_blocks.run import DiagramFile

PAGES = (".html",)


def write_page(
    results: Results,
    read: DiagramFile,
    out: Path | None,
    quiet: bool = False,
    triangles: int | None = None,
) -> Path:
    """Write the page of a run, by default into out/; returns its path. triangles: number of
    triangles of all meshes."""
    from spart_blocks.animation.animate import run_page
    from spart_blocks.animation.animate import write_page as write
    from spart_blocks.animation.meshes import DETAIL
    from spart_blocks.animation.recording import Options

    with writing(), ProgressBar(wanted=not quiet) as progress:
        last = float(results.t[-1]) if len(results.t) else 0.0
        given = Options(
            root=read.root, detail=triangles or DETAIL, looked=lambda _, t: progress(t, last)
        )
        page = run_page(results, read.load(), given, None if quiet else say)
        path = out or default_folder() / f"{default_name(results.diagram_name)}.html"
        write(path, page)
    return path


def page_and_size(path: Path) -> str:
    """A page's path and size, as text."""
    return f"{path}  ({path.stat().st_size / 1000:.0f} kB)"
