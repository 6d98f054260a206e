"""`spart blocks`: the block types, and the ports and parameters of one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spart_blocks.cli.docstrings import BlockText, PortText, read_docstring
from spart_blocks.cli.fmu_ports import fmu_ports
from spart_blocks.cli.help_texts import with_examples
from spart_blocks.cli.options import Blocks
from spart_blocks.cli.reporting import Debug, reporting
from spart_blocks.cli.restructured import KEPT
from spart_blocks.cli.terminal import put
from spart_blocks.cli.text_tables import grid
from spart_blocks.errors import Fault, InputError

if TYPE_CHECKING:
    from spart_blocks.blocks import PortSpec
    from spart_blocks.diagram.registry import BlockType
    from spart_blocks.ports import Port


_LONGEST_SUMMARY = 130
_ITEM = re.compile(r"\s*(\*|\d+[.)]) ")


@with_examples(
    "spart blocks",
    "spart blocks JOINT_PD",
    "spart blocks transport delay",
    "spart blocks --json > blocks.json",
)
def blocks(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="A block type, or words to search for: of its name, its summary, or what "
            "Simulink or Drake call it. All are listed without it.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    packages: Blocks = None,
    debug: Debug = False,
) -> None:
    """List the block types, show one with its ports and parameters, or search for one."""
    with reporting(debug):
        from spart_blocks.diagram.own_blocks import add_blocks, add_installed
        from spart_blocks.diagram.registry import block_types, find_type

        add_installed()
        add_blocks(*packages or ())
        text = " ".join(words or ())
        kind = find_type(re.sub(r"[\s-]+", "_", text.strip()).upper())
        if kind is not None:
            record = describe(kind) | fmu_ports(kind.cls, packages or ())
            typer.echo(_json(record)) if as_json else put(*_page(record))
            return
        records = [describe(kind) for kind in block_types()]
        records.sort(key=lambda r: (r["package"] != "spart_blocks", r["package"], r["subject"]))
        page: list[Any] = []
        if text:
            records, page = _found(text, records)
        typer.echo(_json(records)) if as_json else put(*page, *_listing(records), as_list=True)


def _found(text: str, records: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[Any]]:
    """The types that match a text, and the type with this name in another tool."""
    from spart_blocks.diagram.other_names import other_names_like, type_hint

    others = other_names_like(text)
    kinds = {name for other in others for name in other.types}
    found = [r for r in records if r["name"] in kinds or _is_about(r, text)]
    if not found and not others:
        hint = type_hint(text, [record["name"] for record in records])
        hint = hint or "`spart blocks` lists them"
        raise InputError(
            Fault(f"there is no block type {text!r}, nor one that is about it", hint=hint)
        )
    told = [f"{other}: {other.here}" for other in others]
    return found, [*told, ""] if told else []


def _is_about(record: dict[str, Any], text: str) -> bool:
    """Whether each word of a text is in a type's name, its summary or its names elsewhere."""
    names = (other["name"] for other in record["elsewhere"])
    about = " ".join([record["name"], record["summary"], *names]).casefold()
    bare = re.sub(r"[\W_]+", "", about)
    words = text.casefold().split()
    return all(word in about or re.sub(r"[\W_]+", "", word) in bare for word in words)


# What a type is, as plain data


def describe(kind: BlockType) -> dict[str, Any]:
    """A block type as plain data: of the ports that its class declares, and of its docstring."""
    from spart_blocks.diagram.other_names import names_elsewhere

    takes, gives = kind.declared
    text = read_docstring(kind.doc)
    summary, more = _first_sentence(text.prose[0] if text.prose else "")
    record = {
        "name": kind.name,
        "package": kind.package,
        "subject": _subject(kind),
        "summary": summary,
        "description": [*more, *text.prose[1:]],
        "elsewhere": [{"tool": o.tool, "name": o.name} for o in names_elsewhere(kind.name)],
        "inputs": _ports(text.inputs, takes, kind.inputs),
        "outputs": _ports(text.outputs, gives, kind.outputs),
        "parameters": _parameters(kind, text),
    }
    return record | ({"refused": kind.refusal} if kind.refusal else {})


def _first_sentence(text: str) -> tuple[str, list[str]]:
    """A summary for a list and the remaining text; a long summary is cut after its first
    sentence.
    """
    first, *rest = re.split(r"(?<=[.])\s+(?=[A-Z])", text, maxsplit=1)
    return (text, []) if len(text) <= _LONGEST_SUMMARY else (first, rest)


def _subject(kind: BlockType) -> str:
    """The subject of a block: its module. The module of a user's block is not repeated."""
    from spart_blocks.diagram.diagram import STANDARD

    return kind.cls.__module__.rpartition(".")[2] if kind.package in STANDARD else "own"


def _ports(
    told: Sequence[PortText], specs: Sequence[PortSpec], named: Sequence[Port]
) -> list[dict[str, str]]:
    """The inputs or the outputs: from a table in the docstring, from the declaration of the
    class, or names only.
    """
    if told:
        return _told_ports(told, named)
    if specs:
        return [
            _row(str(i), spec.name, spec.type, spec.unit, spec.told) for i, spec in enumerate(specs)
        ]
    return [_row(str(i), port.name, "", port.unit, "") for i, port in enumerate(named)]


def _told_ports(told: Sequence[PortText], named: Sequence[Port]) -> list[dict[str, str]]:
    names = [port.name for port in named] if len(named) == len(told) else []
    return [
        _row(
            port.number,
            port.name or _spoken(names[i] if names else "") or port.number,
            port.types,
            port.unit,
            port.text,
        )
        for i, port in enumerate(told)
    ]


def _row(number: str, name: str, types: str, unit: str, text: str) -> dict[str, str]:
    return {"port": number, "name": name, "type": types, "unit": unit, "text": text}


def _spoken(name: str) -> str:
    """A port's name, unless it is its number."""
    return "" if name.isdigit() else name


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
    """A type in words, from a docstring or an annotation, without Python syntax."""
    return re.sub(r",?\s+optional$", "", re.sub(r"<class '(\w+)'>", r"\1", told))


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
    told = "spart blocks NAME shows the ports and parameters of one"
    return [*page, told] if page else []


def _page(record: dict[str, Any]) -> list[Any]:
    from rich.text import Text

    title = Text(record["name"], style="bold")
    title.append(f"  ({record['package']}: {record['subject']})", style="not bold")
    page: list[Any] = [title, record["summary"]]
    if record["elsewhere"]:
        page += [f"elsewhere: {_by_tool(record['elsewhere'])}"]
    if "refused" in record:
        page += ["", f"Not for diagram files: {record['refused']}."]
    if "ports_by" in record:
        page += ["", f"The ports are {record['ports_by']}."]
    for section in ("inputs", "outputs"):
        page += ["", Text(section, style="bold"), _port_rows(record[section])]
    page += ["", Text("parameters", style="bold"), _parameter_rows(record["parameters"])]
    before = ""
    for paragraph in record["description"]:
        page += [paragraph] if _goes_on(before, paragraph) else ["", paragraph]
        before = paragraph
    return page


def _goes_on(before: str, line: str) -> bool:
    """Whether a line follows the previous one without a blank line: in a list, a table, code."""
    return _ITEM.match(line) is not None or (line.startswith(KEPT) and before.startswith(KEPT))


def _by_tool(others: Sequence[dict[str, str]]) -> str:
    """Names in other tools, with each tool named once."""
    told = groupby(others, lambda other: other["tool"])
    return "; ".join(f"{', '.join(o['name'] for o in group)} ({tool})" for tool, group in told)


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
    """A default as written in a diagram file."""
    return "none" if value is None else json.dumps(value)
