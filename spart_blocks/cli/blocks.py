"""`spart blocks`: the block types, and what one of them takes and gives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spart_blocks.cli.docstrings import FORMULA, BlockText, PortText, read_docstring
from spart_blocks.cli.options import Blocks
from spart_blocks.cli.reporting import Debug, reporting
from spart_blocks.cli.tables import grid
from spart_blocks.cli.terminal import put
from spart_blocks.errors import Fault, InputError, did_you_mean

if TYPE_CHECKING:
    from spart_blocks.blocks._ports import Port
    from spart_blocks.diagram.registry import BlockType


def blocks(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="A block type; all are listed without it."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    packages: Blocks = None,
    debug: Debug = False,
) -> None:
    """List the block types, or show one with its ports and parameters."""
    with reporting(debug):
        from spart_blocks.diagram.own_blocks import add_blocks, add_installed
        from spart_blocks.diagram.registry import block_types

        add_installed()
        add_blocks(*packages or ())
        if name is not None:
            record = describe(_named(name))
            typer.echo(_json(record)) if as_json else put(*_page(record))
            return
        records = [describe(kind) for kind in block_types()]
        records.sort(key=lambda r: (r["package"] != "spart_blocks", r["package"], r["subject"]))
        typer.echo(_json(records)) if as_json else put(*_listing(records), as_list=True)


def _named(name: str) -> BlockType:
    from spart_blocks.diagram.registry import find_type, type_names

    kind = find_type(name.upper())
    if kind is None:
        hint = did_you_mean(name.upper(), type_names())
        raise InputError(Fault(f"there is no block type {name!r}", hint=hint))
    return kind


# What a type is, as plain data


def describe(kind: BlockType) -> dict[str, Any]:
    """A block type as plain data; what its docstring leaves out comes from its class."""
    text = read_docstring(str(kind.info.get("doc") or kind.cls.__doc__ or ""))
    record = {
        "name": kind.name,
        "package": kind.package,
        "subject": _subject(kind),
        "summary": text.prose[0] if text.prose else "",
        "description": text.prose[1:],
        "inputs": _ports(text.inputs, kind.inputs),
        "outputs": _ports(text.outputs, kind.outputs),
        "parameters": _parameters(kind, text),
    }
    return record | ({"refused": kind.refusal} if kind.refusal else {})


def _subject(kind: BlockType) -> str:
    """What a block is about: the module that it is in. A user's module is not told twice."""
    from spart_blocks.diagram.model import STANDARD

    return kind.cls.__module__.rpartition(".")[2] if kind.package in STANDARD else "own"


def _ports(told: Sequence[PortText], declared: Sequence[Port]) -> list[dict[str, str]]:
    if not told:
        return [
            {"port": str(i), "name": port.name, "type": "", "unit": port.unit, "text": ""}
            for i, port in enumerate(declared)
        ]
    names = [port.name for port in declared] if len(declared) == len(told) else []
    return [
        {
            "port": port.number,
            "name": port.name or (names[i] if names else port.number),
            "type": port.types,
            "unit": port.unit,
            "text": port.text,
        }
        for i, port in enumerate(told)
    ]


def _parameters(kind: BlockType, text: BlockText) -> list[dict[str, Any]]:
    return [
        {
            "name": item.name,
            "type": _type(text.fields.get(("type", item.name), item.annotation)),
            "required": item.required,
            "default": _plain(item.default),
            "text": text.fields.get(("param", item.name), item.doc),
        }
        for item in kind.parameters.values()
    ]


def _type(told: str) -> str:
    """A type in words: what a docstring or an annotation tells, without Python's frills."""
    return re.sub(r"<class '(\w+)'>", r"\1", told).removesuffix(", optional")


def _plain(value: Any) -> Any:
    """A default as JSON can hold it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)


# On a page


def _listing(records: Iterable[dict[str, Any]]) -> list[Any]:
    from rich.text import Text

    page: list[Any] = []
    for (package, subject), group in groupby(records, lambda r: (r["package"], r["subject"])):
        table = grid("name", "summary")
        for record in group:
            table.add_row(f"  {record['name']}", record["summary"])
        page += [Text(f"{package}: {subject}", style="bold"), table, ""]
    return [*page, "spart blocks NAME shows the ports and parameters of one"]


def _page(record: dict[str, Any]) -> list[Any]:
    from rich.text import Text

    title = Text(record["name"], style="bold")
    title.append(f"  ({record['package']}: {record['subject']})", style="not bold")
    page: list[Any] = [title, record["summary"]]
    if "refused" in record:
        page += ["", f"Not for diagram files: {record['refused']}."]
    for section in ("inputs", "outputs"):
        page += ["", Text(section, style="bold"), _port_rows(record[section])]
    page += ["", Text("parameters", style="bold"), _parameter_rows(record["parameters"])]
    before = ""
    for paragraph in record["description"]:
        listed = paragraph.startswith("* ") or (paragraph.startswith(FORMULA) and before == FORMULA)
        page += [paragraph] if listed else ["", paragraph]
        before = paragraph[: len(FORMULA)]
    return page


def _port_rows(ports: Sequence[dict[str, str]]) -> Any:
    if not ports:
        return "  none"
    table = grid("name", "name", "type", "text")
    for port in ports:
        unit = f"[{port['unit']}]" if port["unit"] else ""
        name = port["name"] if port["name"] != port["port"] else ""
        table.add_row(f"  {port['port']}", name, port["type"], f"{unit} {port['text']}".strip())
    return table


def _parameter_rows(parameters: Sequence[dict[str, Any]]) -> Any:
    if not parameters:
        return "  none"
    table = grid("name", "type", "default", "text")
    for item in parameters:
        default = "required" if item["required"] else f"default {_shown(item['default'])}"
        table.add_row(f"  {item['name']}", item["type"], default, item["text"])
    return table


def _shown(value: Any) -> str:
    """A default as one would write it in a diagram file."""
    return "none" if value is None else json.dumps(value)
