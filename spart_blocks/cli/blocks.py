"""`spart blocks`: the block types, and the ports and parameters of one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import typer

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.cli.commands import BLOCKS, Texts, argument, command, switch
from spart_blocks.cli.terminal import grid, put
from spart_blocks.descriptions import describe
from spart_blocks.descriptions.markdown import block, index
from spart_blocks.descriptions.restructured import KEPT
from spart_blocks.descriptions.subjects import place_of
from spart_blocks.diagram.check.other_names import other_names_like, type_hint

if TYPE_CHECKING:
    from spart_blocks.block_support.ports import Port

_ITEM = re.compile(r"\s*(\*|\d+[.)]) ")


@command(
    "spart blocks",
    "spart blocks JOINT_PD",
    "spart blocks transport delay",
    "spart blocks --json > blocks.json",
    "spart blocks my_blocks --markdown > docs/blocks.md",
)
def blocks(
    *,
    words: Texts = argument(
        "NAME",
        "A block type, a package with blocks, or words to search for: of a name, a summary, or "
        "what Simulink or Drake call it. All are listed without it.",
        None,
    ),
    as_json: bool = switch("--json", "Print JSON, for programs."),
    as_markdown: bool = switch("--markdown", "Print Markdown, for a page of documentation."),
    packages: Texts = BLOCKS,
) -> None:
    """List the block types, show one with its ports and parameters, or search for one."""
    from spart_blocks.diagram.build.installed_blocks import warn_of_installed
    from spart_blocks.diagram.build.own_blocks import add_blocks
    from spart_blocks.diagram.build.registry import block_types, find_type

    add_blocks(*packages or ())
    warn_of_installed()
    text = " ".join(words or ())
    kind = find_type(re.sub(r"[\s-]+", "_", text.strip()).upper())
    if kind is not None:
        record = describe(kind) | fmu_ports(kind.cls, packages or ())
        if as_json:
            typer.echo(_json(record))
        elif as_markdown:
            typer.echo(block(record))
        else:
            put(*_page(record))
        return
    records = [describe(kind) for kind in block_types()]
    records.sort(key=lambda record: (place_of(record["subject"]), record["subject"]))
    page: list[Any] = []
    if text:
        records, page = _found(text, records)
    if as_json:
        typer.echo(_json(records))
    elif as_markdown:
        typer.echo("\n".join([index(records), *map(block, records)]))
    else:
        put(*page, *_listing(records), as_list=True)


def _found(text: str, records: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[Any]]:
    """The types that match a search text, and lines on blocks of other tools that match it."""
    if of_package := [record for record in records if record["package"] == text]:
        return of_package, []
    others = other_names_like(text)
    kinds = {name for other in others for name in other.types}
    words = text.split()
    found = [r for r in records if r["name"] in kinds or _matched(_heading(r), words) == len(words)]
    if not found and not others:
        found = [r for r in records if _matched(_all_of(r), words) == len(words)]
    if not found and not others:
        counts = [_matched(_heading(record), words) for record in records]
        if most := max(counts):
            found = [r for r, count in zip(records, counts, strict=True) if count == most]
            return found, [f"no block is about all of {text!r}; about some of it:", ""]
        hint = type_hint(text, [record["name"] for record in records])
        hint = hint or "`spart blocks` lists them"
        raise InputError(
            Fault(f"there is no block type {text!r}, nor one that is about it", hint=hint)
        )
    told = [f"{other}: {other.here}" for other in others]
    return found, [*told, ""] if told else []


def _heading(record: dict[str, Any]) -> str:
    """A type's name, its summary and its names in other tools."""
    names = (other["name"] for other in record["elsewhere"])
    return " ".join([record["name"], record["summary"], *names])


def _all_of(record: dict[str, Any]) -> str:
    """All that is said of a type, where no type has the words in its heading."""
    parameters = [f"{p['name']} {p['text']}" for p in record["parameters"]]
    return " ".join([_heading(record), *parameters, *record["description"]])


def _matched(told: str, words: Sequence[str]) -> int:
    """How many of the words occur in what is told of a type."""
    about = told.casefold()
    bare = re.sub(r"[\W_]+", "", about)
    folded = map(str.casefold, words)
    return sum(word in about or re.sub(r"[\W_]+", "", word) in bare for word in folded)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)


# On a page


def _listing(records: Iterable[dict[str, Any]]) -> list[Any]:
    from rich.text import Text

    page: list[Any] = []
    for subject, group in groupby(records, lambda record: record["subject"]):
        rows = ((f"  {record['name']}", record["summary"]) for record in group)
        table = grid(("name", "summary"), rows)
        page += [Text(subject, style="bold"), table, ""]
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
    """Whether a line belongs to the same list, table or code as the previous one, so that no blank
    line is printed between."""
    return _ITEM.match(line) is not None or (line.startswith(KEPT) and before.startswith(KEPT))


def _by_tool(others: Sequence[dict[str, str]]) -> str:
    """Names in other tools as text, grouped by tool."""
    told = groupby(others, lambda other: other["tool"])
    return "; ".join(f"{', '.join(o['name'] for o in group)} ({tool})" for tool, group in told)


def _port_rows(ports: Sequence[dict[str, str]]) -> Any:
    if not ports:
        return "  none"
    rows = []
    for port in ports:
        unit = f"[{port['unit']}]" if port["unit"] else ""
        name = port["name"] if port["name"] != port["port"] else ""
        rows.append((f"  {port['port']}", name, port["type"], f"{unit} {port['text']}".strip()))
    return grid(("name", "name", "type", "text"), rows)


def _parameter_rows(parameters: Sequence[dict[str, Any]]) -> Any:
    if not parameters:
        return "  none"
    rows = []
    for item in parameters:
        written = "none" if item["default"] is None else json.dumps(item["default"])
        default = "required" if item["required"] else f"default {written}"
        rows.append((f"  {item['name']}", item["type"], default, item["text"]))
    return grid(("name", "type", "default", "text"), rows)


# --- ports of an FMU ------------------------------------------------------------------------------


def fmu_ports(cls: type[Any], packages: Sequence[str]) -> dict[str, Any]:
    """The ports of the FMU named with --blocks; if none is named, a text that says how to see them.
    Empty for blocks other than those of FMUs. Raises InputError for several FMUs."""
    if not hasattr(cls, "ports_of"):
        return {}
    fmus = [package for package in packages if package.lower().endswith(".fmu")]
    if not fmus:
        return {"ports_by": "those of the FMU: add --blocks NAME.fmu to see them"}
    if len(fmus) > 1:
        raise InputError("the ports of one FMU are shown at a time; name one with --blocks")
    try:
        inputs, outputs = cls.ports_of(fmus[0])
    except ValueError as error:
        raise InputError(Fault(str(error))) from None
    return {"inputs": _rows(inputs), "outputs": _rows(outputs), "ports_by": f"those of {fmus[0]}"}


def _rows(ports: Sequence[Port]) -> list[dict[str, str]]:
    return [
        {
            "port": str(k),
            "name": port.name,
            "type": f"ndarray{port.shape}" if port.shape else "float",
            "unit": port.unit,
            "text": "",
        }
        for k, port in enumerate(ports)
    ]
