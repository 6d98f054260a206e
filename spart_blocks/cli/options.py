"""Arguments and options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DiagramFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A diagram: a YAML file.", show_default=False)
]
Root = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        exists=True,
        file_okay=False,
        help="The folder in which the diagram may name files, when not its project's.",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Replace a value of the file: params.kp=3, ctrl.kd=[1,2], run.rtol=1e-8. "
        "May be repeated.",
    ),
]
EndTime = Annotated[
    float | None,
    typer.Option("--t", "-t", metavar="SECONDS", help="End time, in place of run.T."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]
