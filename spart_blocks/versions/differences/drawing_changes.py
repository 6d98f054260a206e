"""Changes of the drawings of sheets: notes, areas and looks of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from spart_blocks.diagram.written.sheets import TOP, VARIANT, Sheet
from spart_blocks.versions.differences.changes import ABSENT, Change, kind_of
from spart_blocks.versions.differences.matched_versions import MatchedVersions, called
from spart_blocks.versions.differences.units import section_default
from spart_blocks.versions.differences.values import dotted, equal, value_changes


def drawing_changes(pair: MatchedVersions) -> Iterator[Change]:
    """What differs in the drawings of matched sheets. Blocks that are only renamed are no
    difference."""
    for name, other in pair.sheets.items():
        before, after = pair.old.sheets[name], pair.new.sheets[other]
        if not isinstance(before, Sheet) or not isinstance(after, Sheet):
            continue
        names = pair.names_on(name)
        if name == TOP:
            slots = ((a, b) for a, b in pair.sheets.items() if a[:1] == (VARIANT,))
            names = names | {str(a[-1]): str(b[-1]) for a, b in slots}
        for one in value_changes(_with_names(before.drawing, names), after.drawing):
            default = section_default(("drawing", *one.path))
            given = one.new if one.old is ABSENT else one.old
            if ABSENT in (one.old, one.new) and default is not ABSENT and equal(default, given):
                continue
            path = dotted((*((called(other),) if other else ()), "drawing", *one.path))
            yield Change("drawing", kind_of(one.old, one.new), path, one.old, one.new)


def _with_names(drawing: Mapping[str, Any], new: Mapping[str, str]) -> dict[str, Any]:
    """A drawing with other names of blocks. new: names by the old ones."""
    found = dict(drawing)
    for part, key in (("notes", "by"), ("areas", "blocks")):
        items = found.get(part)
        if isinstance(items, list):
            found[part] = [_with_name(item, key, new) for item in items]
    if isinstance(looks := found.get("looks"), dict):
        found["looks"] = {new.get(name, name): look for name, look in looks.items()}
    return found


def _with_name(entry: Any, key: str, new: Mapping[str, str]) -> Any:
    if not isinstance(entry, dict) or key not in entry:
        return entry
    named = entry[key]
    if isinstance(named, list):
        return {**entry, key: [new.get(one, one) if isinstance(one, str) else one for one in named]}
    return {**entry, key: new.get(named, named)} if isinstance(named, str) else entry
