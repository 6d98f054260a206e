"""`spart schema`: the JSON Schema of diagram files."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from spart_blocks.cli.options import Blocks
from spart_blocks.cli.reporting import Debug, reporting

OF_EVERY_BLOCK = ("type", "use", "name")


def schema(
    ports: Annotated[
        bool, typer.Option("--ports", help="Of files with ports, which others use as a block.")
    ] = False,
    blocks: Blocks = None,
    debug: Debug = False,
) -> None:
    """Print the JSON Schema of diagram files, for editors.

    With it an editor completes and checks what one types: sections, block types, and the
    parameters of each. Put '# yaml-language-server: $schema=diagram.schema.json' in a file's
    first line.
    """
    with reporting(debug):
        from spart_blocks.diagram.own_blocks import add_blocks, add_installed
        from spart_blocks.diagram.schema import DiagramSection, PartSection, json_schema

        add_installed()
        add_blocks(*blocks or ())
        whole = json.loads(json_schema(PartSection if ports else DiagramSection))
        section = whole["$defs"]["BlockSection"]
        section["allOf"] = _block_types(section)
        typer.echo(json.dumps(whole, indent=2, ensure_ascii=False))


def _block_types(section: dict[str, Any]) -> list[dict[str, Any]]:
    """What each block type adds to a block's section; its types are listed in that of `type`."""
    from spart_blocks.cli.blocks import describe
    from spart_blocks.diagram.registry import block_types

    records = [describe(kind) for kind in block_types()]
    records = [record for record in records if "refused" not in record]
    kind = section["properties"]["type"]
    names = [{"const": r["name"], "description": r["summary"]} for r in records]
    del kind["type"]  # a subsystem's name is one too
    kind["anyOf"] = [*names, {"type": "string"}]
    return [
        {
            "if": {"properties": {"type": {"const": r["name"]}}, "required": ["type"]},
            "then": {
                "properties": {p["name"]: _parameter(p) for p in r["parameters"]},
                "propertyNames": {
                    "enum": [*OF_EVERY_BLOCK, *(p["name"] for p in r["parameters"])],
                },
            },
        }
        for r in records
    ]


def _parameter(told: dict[str, Any]) -> dict[str, Any]:
    """What an editor shows of a parameter: `$name` may stand for any value."""
    text = f"{told['type']}: {told['text']}" if told["type"] else told["text"]
    default = told["default"]
    shown = {} if told["required"] or default is None else {"default": default}
    return {"description": text, **shown}
