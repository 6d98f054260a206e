"""`spart show`: draw a diagram, or the graph of a file of bodies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from spart_blocks.base.errors import InputError
from spart_blocks.cli.commands import (
    Loading,
    argument,
    command,
    diagram_file,
    holds_bodies,
    holds_robot,
    option,
    switch,
)
from spart_blocks.cli.outputs import (
    PAGES,
    checked_file,
    default_folder,
    default_name,
    page_and_size,
)
from spart_blocks.cli.robot import robots_of
from spart_blocks.cli.terminal import has_display, say

if TYPE_CHECKING:
    from spart_blocks.diagram.diagram import Diagram
    from spart_blocks.drawing.picture import Picture

PICTURES = (".svg", ".png", ".pdf")


@command(
    "spart show diagrams/spacecraft_pd.yaml",
    "spart show diagrams/spacecraft_pd.yaml --out spacecraft.png",
    "spart show models/delta_robot.yaml",
    "spart show modes.yaml --block modes",
    "spart show --3d models/delta_robot.yaml --out delta.html",
)
def show(
    *,
    file: Path = argument("FILE", "A diagram, or a file of bodies: YAML; with --3d any robot."),
    out: Path | None = option(
        "--out -o FILE",
        "The picture: .svg, .png or .pdf; with --3d .html. By default out/ and the "
        "diagram's name, and a window where there is a display.",
    ),
    block: str | None = option(
        "--block NAME", "Draw the chart of this STATE_MACHINE of the diagram."
    ),
    solid: bool = switch(
        "--3d",
        "Show the robots at rest as an HTML page: those of the diagram where they start, "
        "or the robot of the file, also of a URDF file.",
    ),
    headless: bool = switch("--headless", "Open no window."),
    loading: Loading,
) -> None:
    """Draw a diagram: blocks as boxes, wires as lines. For a file of bodies, draw its graph:
    bodies as boxes, joints as arrows, dashed where a loop is cut. --block draws a state machine:
    its states as nested boxes, its transitions as lines.
    """
    out = checked_file(out, PAGES if solid else PICTURES)
    if solid:
        if block is not None:
            raise InputError("--block draws a state machine: omit --3d")
        typer.echo(page_and_size(_robots_page(file, out, loading)))
        return
    if holds_bodies(file):
        if block is not None:
            raise InputError(f"{file} has bodies and no blocks: omit --block")
        name, picture = _bodies(file)
    else:
        name, picture = _diagram(diagram_file(file, loading).load(), block)
    from spart_blocks.drawing.files import opened, write

    typer.echo(str(write(picture, out or _default(name))))
    if out is None and has_display() and not headless:
        opened(picture)


def _diagram(diagram: Diagram, block: str | None) -> tuple[str, Picture]:
    """The name and the picture of a diagram, or of one of its state machines."""
    if block is not None:
        from spart_blocks.diagram.chart_drawing import draw_machine

        return f"{diagram.name}-{block}", draw_machine(diagram, block)
    from spart_blocks.diagram.diagram_drawing import draw

    return diagram.name, draw(diagram)


def _bodies(file: Path) -> tuple[str, Picture]:
    """The name and the picture of the graph of bodies in a file."""
    from spart_blocks.cli.body_graph_drawing import draw_graph
    from spart_blocks.robot.bodies import read_bodies

    read = read_bodies(file)
    return read.name, draw_graph(read.graph, read.name)


def _robots_page(file: Path, out: Path | None, loading: Loading) -> Path:
    """Write the 3-D page of the robots of a file; returns its path."""
    from spart_blocks.animation.animate import diagram_page, robots_page, write_page
    from spart_blocks.animation.recording import Options

    given = Options(root=loading.root)
    if file.suffix in (".yaml", ".yml") and not holds_robot(file):
        diagram = diagram_file(file, loading).load()
        name, page = diagram.name, diagram_page(diagram, given, say)
    else:
        robots = robots_of(file)
        name, page = robots[0].name, robots_page(robots, given, say)
    path = out or _default(name, "html")
    write_page(path, page)
    return path


def _default(name: str, suffix: str = "svg") -> Path:
    return default_folder() / f"{default_name(name)}.{suffix}"
