"""`spart studio`: diagrams in the browser, to see, run, tune and edit."""

from __future__ import annotations

import sys
import webbrowser
from importlib.util import find_spec
from pathlib import Path

import typer

from spart_blocks.base.errors import Fault, InputError, MissingExtraError, Place
from spart_blocks.base.web_build import STUDIO, built
from spart_blocks.cli.commands import (
    BLOCKS,
    ROOT,
    Texts,
    argument,
    check_diagram,
    command,
    option,
    switch,
)
from spart_blocks.cli.terminal import has_display, say, warn

_NEEDED = ("starlette", "uvicorn", "websockets")


@command(
    "spart studio",
    "spart studio diagrams/spacecraft_pd.yaml",
    "spart studio --no-browser --port 8500",
)
def studio(
    *,
    file: Path | None = argument(
        "FILE",
        "A diagram: a YAML file. Without it the page lists the project's diagrams.",
        None,
    ),
    port: int = option(
        "--port N", "The port to listen on; 0 for any that is free.", 0, min=0, max=65535
    ),
    host: str = option(
        "--host ADDRESS",
        "The address to listen on. Others than this machine's own let everybody who has "
        "the link, and sees the traffic, change the project's files.",
        "127.0.0.1",
    ),
    no_browser: bool = switch("--no-browser", "Print the link, and open no browser."),
    blocks: Texts = BLOCKS,
    root: Path | None = ROOT,
) -> None:
    """Open diagrams in the browser: see, run, tune, scrub and edit them.

    The page is served by this machine to this machine, without a network. Every edit is written to
    the diagram's file at once, the rest of its text stays, and it can be undone. Ctrl-C ends it.
    """
    for package in _NEEDED:
        if find_spec(package) is None:
            raise MissingExtraError(package, "studio", "spart studio")
    folder, opened = _places(file, root)
    page = built(STUDIO, say)
    from spart_blocks.diagram.build.own_blocks import add_blocks
    from spart_blocks.studio.client import Session
    from spart_blocks.studio.gate import AccessGate, is_loopback
    from spart_blocks.studio.serve import serve

    if not is_loopback(host):
        warn(f"{host} may be reached by others; the traffic is not encrypted")
    add_blocks(*blocks or ())
    stdout = sys.stdout  # the thread that imports bdsim silences it meanwhile

    def begun(link: str) -> None:
        say(f"the studio of {folder} is open at")
        typer.echo(link, file=stdout)
        say("end it with Ctrl-C")
        if not no_browser and has_display():
            webbrowser.open(link)

    session = Session(folder, opened, tuple(blocks or ()))
    serve(session, AccessGate(host, port), page, say, begun)
    say("the studio has ended")


def _places(file: Path | None, root: Path | None) -> tuple[Path, str | None]:
    """The project's folder, and the path of the file relative to it."""
    from spart_blocks.diagram.written.files import project_root

    if file is None:
        return (root or project_root(Path.cwd() / "diagram.yaml")).resolve(), None
    check_diagram(file)
    path = file.resolve()
    folder = (root or project_root(path)).resolve()
    if not path.is_relative_to(folder):
        hint = "name a folder with --root that it is in"
        raise InputError(Fault(f"is not in {folder}", Place(str(file)), hint))
    return folder, path.relative_to(folder).as_posix()
