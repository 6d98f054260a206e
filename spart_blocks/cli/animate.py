"""`spart animate`: the motion of a run's robots as one page of HTML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spart_blocks.base.errors import InputError, SpartError
from spart_blocks.cli.animation_page import PAGES, told, write_page
from spart_blocks.cli.help_texts import with_examples
from spart_blocks.cli.options import Blocks, EndTime, Quiet, Root, Settings, Variants, diagram_file
from spart_blocks.cli.outputs import check_files
from spart_blocks.cli.reporting import FAILED, Debug, report, reporting
from spart_blocks.cli.run import Engine, begun, finished_run
from spart_blocks.cli.terminal import complain

if TYPE_CHECKING:
    from spart_blocks.results import Results
    from spart_blocks.run import DiagramFile

Detail = Annotated[
    int | None,
    typer.Option(
        "--triangles",
        min=1,
        metavar="N",
        help="Triangles of all meshes of the page; larger meshes are simplified.",
    ),
]


@with_examples(
    "spart animate diagrams/spacecraft_pd.yaml -o run.html",
    "spart animate diagrams/dual_arm.yaml --t 5 --set run.rtol=1e-8",
    "spart animate run.npz --diagram diagrams/spacecraft_pd.yaml -o run.html",
)
def animate(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A diagram, which is run; or the .npz file of a run, with --diagram.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The page: .html. By default out/ and the diagram's name.",
        ),
    ] = None,
    diagram: Annotated[
        Path | None,
        typer.Option("--diagram", metavar="FILE", help="The diagram of a saved run."),
    ] = None,
    settings: Settings = None,
    engine: Annotated[Engine, typer.Option(help="What runs the diagram.")] = Engine.auto,
    end: EndTime = None,
    triangles: Detail = None,
    variants: Variants = None,
    blocks: Blocks = None,
    root: Root = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show the motion of a run as one HTML file, which a browser opens without a network.

    It has the robots of all plants, their poses over time, scopes and the diagram. Links look as
    in their URDF; those without visuals are boxes with the link's inertia. Meshes need `pip
    install 'spart_blocks[animate]'`.

    Ctrl-C ends the run early: the page has what was computed, and the exit code is 1.
    """
    with reporting(debug):
        if out is not None:
            out = out.expanduser()
            check_files([out], PAGES)
        results, read, failure = _run_of(
            file, diagram, (settings, root, variants, blocks), engine, end, quiet
        )
        typer.echo(told(write_page(results, read, out, quiet, triangles)))
        if failure is not None:
            report(failure)
        elif not results.complete:
            complain(f"the run was {results.stopped or 'stopped early'}")
        if failure is not None or (not results.complete and file.suffix.lower() != ".npz"):
            raise typer.Exit(FAILED)


_Loading = tuple[list[str] | None, Path | None, list[str] | None, list[str] | None]


def _run_of(
    file: Path,
    diagram: Path | None,
    loading: _Loading,
    engine: Engine,
    end: float | None,
    quiet: bool,
) -> tuple[Results, DiagramFile, SpartError | None]:
    """The run to show, its diagram, and the error that ended it."""
    if file.suffix.lower() != ".npz":
        if diagram is not None:
            raise InputError("--diagram goes with the .npz file of a run")
        read = diagram_file(file, *loading, quiet)
        results, failure = finished_run(begun(read, engine, end, None), None, quiet)
        return results, read, failure
    if diagram is None:
        raise InputError(f"{file} has no robots: name its diagram with --diagram FILE")
    if end is not None:
        raise InputError("--t goes with a diagram: a saved run is shown as it is")
    from spart_blocks.results import Results

    results = Results.load(file)
    return results, diagram_file(diagram, *loading, quiet), None
