"""`spart animate`: the motion of a run's robots as one page of HTML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from spart_blocks.base.errors import InputError
from spart_blocks.cli.commands import (
    END,
    QUIET,
    Loading,
    argument,
    command,
    diagram_file,
    option,
)
from spart_blocks.cli.outputs import checked_page, page_and_size, write_page
from spart_blocks.cli.run import ENGINE, Engine, begun, finished_run, tell_incomplete
from spart_blocks.cli.terminal import FAILED

if TYPE_CHECKING:
    from spart_blocks.results import Results


@command(
    "spart animate diagrams/spacecraft_pd.yaml -o run.html",
    "spart animate diagrams/dual_arm.yaml --t 5 --set run.rtol=1e-8",
    "spart animate run.npz --diagram diagrams/spacecraft_pd.yaml -o run.html",
)
def animate(
    *,
    file: Path = argument(
        "FILE", "A diagram, which is run; or the .npz or .mcap file of a run, with --diagram."
    ),
    out: Path | None = option(
        "--out -o FILE", "The page: .html. By default out/ and the diagram's name."
    ),
    diagram: Path | None = option("--diagram FILE", "The diagram of a saved run."),
    engine: Engine = ENGINE,
    end: float | None = END,
    triangles: int | None = option(
        "--triangles N",
        "Triangles of all meshes of the page; larger meshes are simplified.",
        min=1,
    ),
    loading: Loading,
    quiet: bool = QUIET,
) -> int:
    """Show the motion of a run as one HTML file, which a browser opens without a network.

    It has the robots of all plants, their poses over time, scopes and the diagram. Links look as
    in their URDF; those without visuals are boxes with the link's inertia. Meshes need `pip
    install 'spart_blocks[animate]'`.

    Ctrl-C ends the run early: the page has what was computed, and the exit code is 1.
    """
    out = checked_page(out, quiet=quiet)
    from spart_blocks.results.files import LOADABLE

    saved = file.suffix.lower() in LOADABLE
    if diagram is not None and not saved:
        raise InputError("--diagram goes with the .npz or .mcap file of a run")
    failure = None
    if saved:
        results = _saved_run(file, diagram, end)
    read = diagram_file(diagram or file, loading, quiet)
    if not saved:
        results, failure = finished_run(begun(read, engine, end, None), None, quiet)
    typer.echo(page_and_size(write_page(results, read, out, quiet, triangles)))
    tell_incomplete(results, failure)
    return 0 if failure is None and (results.complete or saved) else FAILED


def _saved_run(file: Path, diagram: Path | None, end: float | None) -> Results:
    """Load a saved run. Raises InputError if its diagram is not named, or an end time is given."""
    if diagram is None:
        raise InputError(f"{file} has no robots: name its diagram with --diagram FILE")
    if end is not None:
        raise InputError("--t goes with a diagram: a saved run is shown as it is")
    from spart_blocks.results import Results

    return Results.load(file)
