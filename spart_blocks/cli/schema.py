"""`spart schema`: the JSON Schema of diagram files."""

from __future__ import annotations

import typer

from spart_blocks.cli.reporting import Debug, reporting


def schema(debug: Debug = False) -> None:
    """Print the JSON Schema of diagram files, for editors.

    With it an editor completes and checks what one types.
    """
    with reporting(debug):
        from spart_blocks.diagram.schema import json_schema

        typer.echo(json_schema().rstrip())
