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
