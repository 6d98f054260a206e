"""What a block type is, as plain data: its ports, its parameters, and what is said of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from spart_blocks.descriptions.docstrings import BlockText, PortText, read_docstring
from spart_blocks.descriptions.subjects import subject_of
from spart_blocks.diagram.check.other_names import names_elsewhere
from spart_blocks.diagram.standard import STANDARD

if TYPE_CHECKING:
    from spart_blocks.block_support.ports import Port
    from spart_blocks.blocks import PortSpec
    from spart_blocks.diagram.build.registry import BlockType


_LONGEST_SUMMARY = 130
_HERE = (
    "Here it shows at its tick what it makes of its input at that tick, or, where it delays, of "
    "its state until then: docs/diagrams.md, Clocks. bdsim's own rule is run: {first_tick: bdsim}."
)
"""Of bdsim's sampled blocks, whose own texts count ticks in another way."""


def describe(kind: BlockType) -> dict[str, Any]:
    """A block type as plain data: of the ports that its class declares, and of its docstring."""
    takes, gives = kind.declared
    text = read_docstring(kind.doc)
    summary, more = _first_sentence(text.prose[0] if text.prose else "")
    record = {
        "name": kind.name,
        "package": kind.package,
        "subject": _subject(kind),
        "summary": summary,
        "description": [*more, *text.prose[1:], *([_HERE] if _ticks_otherwise(kind) else [])],
        "elsewhere": [{"tool": o.tool, "name": o.name} for o in names_elsewhere(kind.name)],
        "inputs": _ports(text.inputs, takes, kind.inputs),
        "outputs": _ports(text.outputs, gives, kind.outputs),
        "parameters": _parameters(kind, text),
    }
    return record | ({"refused": kind.refusal} if kind.refusal else {})


def _ticks_otherwise(kind: BlockType) -> bool:
    return kind.cls.__module__ == "bdsim.blocks.sampled"


def _first_sentence(text: str) -> tuple[str, list[str]]:
    """A summary for a list and the remaining text; a long summary is cut after its first
    sentence.
    """
    first, *rest = re.split(r"(?<=[.])\s+(?=[A-Z])", text, maxsplit=1)
    return (text, []) if len(text) <= _LONGEST_SUMMARY else (first, rest)


def _subject(kind: BlockType) -> str:
    """The subject of a block, as lists have it; of a user's block its package."""
    own = kind.package not in STANDARD
    return kind.package if own else subject_of(kind.cls.__module__.rpartition(".")[2])


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
