"""All block types, for the palette of the page."""

from __future__ import annotations

from functools import cache
from typing import Any

from spart_blocks.descriptions import describe
from spart_blocks.descriptions.subjects import place_of
from spart_blocks.diagram.build.own_blocks import add_installed
from spart_blocks.diagram.build.registry import BlockType, find_type, type_names
from spart_blocks.studio.files.ports import told_sides, type_look


def block_types() -> list[dict[str, Any]]:
    """Every block type that a file can use, sorted by subject."""
    add_installed()
    found = [_type(name) for name in type_names() if not _refused(name)]
    return sorted(found, key=lambda one: (place_of(one["subject"]), one["subject"]))


@cache
def _refused(name: str) -> bool:
    kind = find_type(name)
    return kind is None or kind.refusal is not None


@cache
def _type(name: str) -> dict[str, Any]:
    kind = find_type(name)
    assert isinstance(kind, BlockType)
    told = describe(kind)
    inputs = [port["name"] for port in told["inputs"]]
    counted = list(told_sides({"type": name})[0].names)
    return {
        "name": kind.name,
        "subject": told["subject"],
        "summary": told["summary"],
        "elsewhere": list(dict.fromkeys(other["name"] for other in told["elsewhere"])),
        "inputs": counted if len(counted) > len(inputs) else inputs,
        "outputs": [port["name"] for port in told["outputs"]],
        "look": type_look(kind),
    }
