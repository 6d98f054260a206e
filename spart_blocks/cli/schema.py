"""`spart schema`: the JSON Schema of diagram files."""

from __future__ import annotations

from typing import Annotated

import typer

from spart_blocks.cli.reporting import Debug, reporting


def schema(
    ports: Annotated[
        bool, typer.Option("--ports", help="Of files with ports, which others use as a block.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Print the JSON Schema of diagram files, for editors.

    With it an editor completes and checks what one types.
    """
    with reporting(debug):
        from spart_blocks.diagram.schema import DiagramSection, PartSection, json_schema

        typer.echo(json_schema(PartSection if ports else DiagramSection).rstrip())
