"""`spart schema`: the JSON Schema of diagram files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from spart_blocks.cli.commands import BLOCKS, Texts, command, switch

if TYPE_CHECKING:
    from spart_blocks.diagram.build.registry import BlockType, Parameter

SUBSYSTEM = "[^A-Z0-9_]"
"""Pattern that distinguishes a subsystem's name from a misspelt type, which is in capitals."""


@command(
    "spart schema > diagram.schema.json",
    "spart schema --blocks controllers.py > diagram.schema.json",
    "spart schema --ports > part.schema.json",
)
def schema(
    *,
    ports: bool = switch("--ports", "The schema of files with ports, which are used as blocks."),
    blocks: Texts = BLOCKS,
) -> None:
    """Print the JSON Schema of diagram files, for editors.

    With it an editor completes and checks sections, block types, and their parameters. Put '#
    yaml-language-server: $schema=diagram.schema.json' in a file's first line, and leave the editor
    at YAML 1.2 (in VS Code yaml.yamlVersion, its default), for 1.1 takes STEP's on and off for true
    and false. Blocks of your own are included with --blocks; a subsystem's name needs a lower-case
    letter.
    """
    from spart_blocks.diagram.build.installed_blocks import warn_of_installed
    from spart_blocks.diagram.build.own_blocks import add_blocks
    from spart_blocks.diagram.sections.schema import DiagramSection, PartSection, json_schema

    add_blocks(*blocks or ())
    warn_of_installed()
    whole = json.loads(json_schema(PartSection if ports else DiagramSection))
    _add_types(whole)
    typer.echo(json.dumps(whole, indent=2, ensure_ascii=False))


def _add_types(whole: dict[str, Any]) -> None:
    """Add the block types, and the parameters of each, to the schema of a block."""
    from spart_blocks.descriptions import describe
    from spart_blocks.diagram.build.registry import block_types

    kinds = [kind for kind in block_types() if not kind.refusal]
    records = {kind.name: describe(kind) for kind in kinds}
    names = [{"const": name, "description": r["summary"]} for name, r in records.items()]
    section, definitions = whole["$defs"]["BlockSection"], whole["$defs"]
    definitions["KnownType"] = {"type": "string", "enum": list(records)}
    kind_of = section["properties"]["type"]
    del kind_of["type"], kind_of["default"]
    small = {"type": "string", "pattern": SUBSYSTEM}
    kind_of["anyOf"] = [*names, small]
    section["allOf"] = [_of_type(kind, records[kind.name]) for kind in kinds]
    # Without subsystems a name with a lower-case letter is a misspelt type too.
    known = {
        "if": {"properties": {"type": small}, "required": ["type"]},
        "then": {"properties": {"type": {"$ref": "#/$defs/KnownType"}}},
    }
    only_known: dict[str, Any] = {"blocks": {"additionalProperties": known}}
    if "variants" in whole["properties"]:
        choices = {"properties": {"choices": {"additionalProperties": known}}}
        only_known["variants"] = {"additionalProperties": choices}
    some = {"required": ["subsystems"], "properties": {"subsystems": {"minProperties": 1}}}
    whole["allOf"] = [{"if": some, "else": {"properties": only_known}}]


def _of_type(kind: BlockType, record: dict[str, Any]) -> dict[str, Any]:
    """The schema of the parameters of a block type; other keys are not allowed."""
    told = {item["name"]: item for item in record["parameters"]}
    parameters = {
        name: _parameter(parameter, told[name]) for name, parameter in kind.parameters.items()
    }
    required = [name for name, parameter in kind.parameters.items() if parameter.required]
    return {
        "if": {"properties": {"type": {"const": kind.name}}, "required": ["type"]},
        "then": {
            "properties": {"type": True, **parameters},
            "additionalProperties": False,
            "required": required,
        },
    }


def _parameter(parameter: Parameter, told: dict[str, Any]) -> dict[str, Any]:
    """The schema of a parameter: its description and allowed values, by the loader's rules as far
    as a schema can express them."""
    text = f"{told['type']}: {told['text']}" if told["type"] else told["text"]
    default = told["default"]
    shown = {} if told["required"] or default is None else {"default": default}
    return {"description": text, **shown, **_values(parameter)}


def _values(parameter: Parameter) -> dict[str, Any]:
    if parameter.choices:
        null = [None] if parameter.takes_nothing else []
        return _or_reference({"enum": [*parameter.choices, *null]})
    if parameter.is_callable:
        return {"type": "null"}
    if parameter.name in ("robot", "clock"):
        return {"type": ["string", "null"] if parameter.takes_nothing else "string"}
    if parameter.takes_only_truth:
        truth = ["boolean", "null"] if parameter.takes_nothing else "boolean"
        return _or_reference({"type": truth})
    if parameter.is_file or parameter.takes_only_text:
        return {"type": ["string", "null"]}
    if not parameter.takes_text:
        return _or_reference({"type": ["number", "boolean", "array", "null"], **_bounds(parameter)})
    return {}


def _bounds(parameter: Parameter) -> dict[str, Any]:
    """The bounds of a number, which say nothing about a list."""
    words = {"exclusiveMinimum": "above", "minimum": "least", "maximum": "most"}
    given = {word: getattr(parameter, name) for word, name in words.items()}
    return {word: bound for word, bound in given.items() if bound is not None}


def _or_reference(values: dict[str, Any]) -> dict[str, Any]:
    """A schema that allows these values, or `$name` in their place."""
    return {"anyOf": [values, {"$ref": "#/$defs/Reference"}]}
