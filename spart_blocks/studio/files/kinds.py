"""How subsystems are shown that run on conditions or have copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from spart_blocks.base.document import mapping_at
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.written.conditions import CONDITIONS
from spart_blocks.diagram.written.sheets import Sheet
from spart_blocks.studio.files.faces import Face
from spart_blocks.studio.files.scopes import Scope, scope_at

FOR_EACH = "for_each"
_EDGES = {"rising": "↑", "falling": "↓", "either": "↕"}
GLYPHS = ("enabled", "reset", *_EDGES)
"""The drawings of the page for conditions; of several they are joined by hyphens."""
_WORDS = {"rising": "each rising edge", "falling": "each falling edge", "either": "each edge"}


def marks_of(sheet: Sheet) -> dict[str, str]:
    """The symbols of the conditions of a subsystem, by the input that is the condition."""
    found: dict[str, str] = {}
    for kind in CONDITIONS:
        section = mapping_at(sheet.section, kind)
        if "by" in section:
            mark = {"enabled": "⊓", "reset": "↺"}.get(kind) or _EDGES.get(_edge(section), "↑")
            found[str(section["by"])] = found.get(str(section["by"]), "") + mark
    return found


def _edge(section: Mapping[str, Any]) -> str:
    return str(section.get("edge", "rising"))


def kind_face(scope: Scope, name: str) -> Face:
    """The face of a subsystem's block: its conditions, and the number of its copies."""
    inner = scope.inner(name)
    section = inner.sheet.section if inner is not None else {}
    kinds = [kind for kind in CONDITIONS if isinstance(section.get(kind), dict)]
    glyph = "-".join(
        _edge(mapping_at(section, kind)) if kind == "triggered" else kind
        for kind in kinds
        if kind != "triggered" or _edge(mapping_at(section, kind)) in _EDGES
    )
    return Face(glyph, _copies_text(scope, name) if FOR_EACH in scope.blocks[name] else "")


def _copies_text(scope: Scope, name: str) -> str:
    count = copies_of(scope, name)
    return "for each" if count is None else f"for each, {count}"


def copies_of(scope: Scope, name: str) -> int | None:
    """The number of copies of a block with `for_each`; None where it is not known."""
    built = scope.built(name)
    inner = attribute(built, "subsystem") if built is not None else None
    if inner is not None:
        return sum(str(one.name).isdecimal() for one in inner.blocklist)
    count = mapping_at(scope.blocks[name], FOR_EACH).get("count")
    return count if isinstance(count, int) and not isinstance(count, bool) else None


def runs_of(scope: Scope) -> list[str]:
    """When the subsystem that a sheet shows runs, and how many copies of it there are, in words."""
    found = list(_conditions_told(scope.sheet))
    around, _, name = scope.at.rpartition("/")
    outer = scope_at(scope.reading, around) if name else None
    if outer is not None and FOR_EACH in outer.blocks.get(name, {}):
        over = mapping_at(outer.blocks[name], FOR_EACH).get("over")
        entries = ", ".join(map(str, over)) if isinstance(over, list) else "?"
        count = copies_of(outer, name)
        told = f": {count} {'copy' if count == 1 else 'copies'}" if count is not None else ""
        found.append(f"for each entry of {entries}{told}")
    return found


def _conditions_told(sheet: Sheet) -> Iterator[str]:
    for kind in CONDITIONS:
        section = mapping_at(sheet.section, kind)
        if "by" not in section:
            continue
        by, edge = section["by"], _edge(section)
        if kind == "enabled":
            yield f"⊓ runs while {by} is above 0"
        elif kind == "triggered":
            yield f"{_EDGES.get(edge, '↑')} runs once at {_WORDS.get(edge, edge)} of {by}"
        elif edge == "level":
            yield f"↺ states stay at their start while {by} is above 0"
        else:
            yield f"↺ states return to their start at {_WORDS.get(edge, edge)} of {by}"
