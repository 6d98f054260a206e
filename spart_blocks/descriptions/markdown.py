"""Descriptions of block types as Markdown: their index, and the ports and parameters of each."""

from __future__ import annotations

import json
from typing import Any

from spart_blocks.descriptions.restructured import KEPT


def index(records: list[dict[str, Any]]) -> str:
    """A table of block types that links to the heading of each."""
    rows = [[f"[{r['name']}](#{r['name'].lower()})", r["summary"]] for r in records]
    return table(["block", "what it does"], rows)


def block(record: dict[str, Any], companion: str = "") -> str:
    """A block type under a heading. companion: what is said of outputs that another block gives."""
    lines = [f"### {record['name']}\n", f"{_escaped(record['summary'])}\n"]
    rows = [
        [way, port["port"], f"`{port['name']}`", _shape(port["type"]), port["unit"], port["text"]]
        for way, ports in (("in", record["inputs"]), ("out", record["outputs"]))
        for port in ports
    ]
    if rows:  # the ports of some blocks are those of a file
        lines.append(table(["", "no.", "port", "shape", "unit", "what"], rows))
    if record["parameters"]:
        rows = [
            [f"`{item['name']}`", item["type"], _default(item), item["text"]]
            for item in record["parameters"]
        ]
        lines.append(table(["parameter", "type", "default", "what"], rows))
    lines += [_paragraph(text) for text in record["description"]]
    return "\n".join(lines + ([companion] if companion else []))


def _paragraph(text: str) -> str:
    """A paragraph, a list's entry, or a line that keeps its form, as Markdown has them."""
    if text.startswith("* "):
        return f"- {_escaped(text[2:])}\n"
    return f"    {text}" if text.startswith(KEPT) else f"{_escaped(text)}\n"


def _shape(text: str) -> str:
    """(3, 3) for 'ndarray(3, 3)', 'scalar' for 'ndarray()' and 'float'."""
    shape = text.removeprefix("ndarray")
    return "scalar" if shape in ("()", "float") else shape


def _default(item: dict[str, Any]) -> str:
    if item["required"]:
        return "required"
    return "none" if item["default"] is None else json.dumps(item["default"])


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table of texts."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(_escaped(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """Text that Markdown takes literally; our names and links are meant as they are."""
    signs = {"|": "\\|", "*": "\\*", "<": "\\<", "][": "]\\["}
    for sign, literal in signs.items():
        text = text.replace(sign, literal)
    return text
