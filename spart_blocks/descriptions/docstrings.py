"""The contents of a block's docstring in bdsim's form: prose, port table, parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from inspect import cleandoc

from spart_blocks.descriptions.restructured import ASIDES, aside, pieces, plain, shown, table_rows

_PORT = re.compile(r"``(?P<name>[^`{]+)``\s*(?:\[(?P<unit>[^\]]*)\])?\s*:?\s*(?P<text>.*)")


@dataclass(frozen=True)
class PortText:
    """A row of the port table; name is '' if the text does not begin with a name."""

    number: str
    types: str
    name: str
    unit: str
    text: str


@dataclass
class BlockText:
    """prose: paragraphs, the summary first; fields: ('param', 'kp') to its text."""

    prose: list[str] = field(default_factory=list)
    inputs: list[PortText] = field(default_factory=list)
    outputs: list[PortText] = field(default_factory=list)
    fields: dict[tuple[str, str], str] = field(default_factory=dict)


def read_docstring(doc: str) -> BlockText:
    """The parts of a docstring; fields go by their names, and its port table by its rows."""
    text = BlockText()
    for piece in pieces(cleandoc(doc).splitlines()):
        if piece.kind == "field":
            kind, _, name = piece.head.partition(" ")
            text.prose += aside(kind, piece.lines) if kind in ASIDES else []
            text.fields[kind, name] = plain(" ".join(piece.lines))
        elif piece.kind == "list-table" and _is_of_ports(rows := table_rows(piece)):
            _read_ports(rows[1:], text)
        elif not piece.lines or not piece.lines[0].startswith(":blockname:"):
            text.prose += shown(piece)
    return text


def _is_of_ports(rows: Sequence[Sequence[str]]) -> bool:
    return bool(rows) and rows[0][0] == "Port type"


def _read_ports(rows: Sequence[Sequence[str]], text: BlockText) -> None:
    for row in rows:
        target = {"input": text.inputs, "output": text.outputs}.get(row[0].lower())
        if target is not None and len(row) == 4:
            target.append(_port(*row[1:]))


def _port(number: str, types: str, description: str) -> PortText:
    found = _PORT.fullmatch(description.strip())
    if found is None:
        return PortText(number, plain(types), "", "", plain(description))
    return PortText(number, plain(types), found["name"], found["unit"] or "", plain(found["text"]))
