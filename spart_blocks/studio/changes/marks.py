"""The difference of two files as data for the page: a list of changes, and marks on the sheets."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from spart_blocks.diagram.written.sheets import TOP
from spart_blocks.studio.files.reading import Reading
from spart_blocks.studio.files.scopes import whole
from spart_blocks.versions.differences import Change, Difference, DiffSide, marks_between
from spart_blocks.versions.differences.changes import BLOCK, SIGNS, groups_of, value_text
from spart_blocks.versions.differences.union import SheetMarks

MOST_CHANGES = 2000
"""Largest number of changes that are listed."""
_OF_BLOCKS = ("block", "parameter", "initial state")
_WHERE = ("renamed", "moved", "retyped", "rerouted")


def changes_data(reading: Reading, old: DiffSide, new: DiffSide, found: Difference) -> Any:
    """The difference, as `Changes` of the protocol without its revision. reading: the new file."""
    places = instances(reading)
    left = MOST_CHANGES
    groups = []
    for heading, changes in groups_of(found.changes):
        listed, left = changes[:left], left - len(changes[:left])
        lines = [_line(change, places) for change in listed]
        groups.append({"heading": heading, "changes": lines})
    for one in found.whole():
        if one is not found and one.changes:
            lines = [_line(change, {}) for change in one.changes[:left]]
            groups.append({"heading": f"in {one.new}", "changes": lines})
            left -= len(lines)
    sheets = {_within(marks): _marks(marks) for marks in marks_between(old, new, found)}
    notes = [note for one in found.whole() for note in one.notes]
    if left <= 0:
        notes.append(f"only the first {MOST_CHANGES:,} changes are listed")
    return {"old": old.label, "groups": groups, "sheets": sheets, "notes": notes}


def instances(reading: Reading) -> dict[str, str]:
    """The sheet of the first instance of each subsystem of a file, by the subsystem's name; "" for
    the whole."""
    found = {"": ""}
    waiting = deque([whole(reading)])
    while waiting:
        scope = waiting.popleft()
        for name in scope.blocks:
            inner = scope.inner(name)
            if inner is not None and inner.within is not None and inner.within not in found:
                found[inner.within] = inner.at
                waiting.append(inner)
    return found


def _line(change: Change, places: Mapping[str, str]) -> dict[str, Any]:
    within, block = _block_of(change)
    old, new = value_text(change.old), value_text(change.new)
    what = change.path
    if change.subject == BLOCK and change.kind in ("added", "removed"):
        side = change.new if change.kind == "added" else change.old
        old, new = "", ""
        what = (
            f"{change.path} ({side.get('type') or side.get('use')})" if _is_section(side) else what
        )
    if change.subject == "text" and isinstance(change.new, list):
        what, new = change.path or "text", ""
    return {
        "sign": SIGNS[change.kind],
        "what": what + (f" ({change.note})" if change.note else ""),
        "before": old,
        "after": new,
        "unit": change.unit,
        "at": places.get(within),
        "block": block if within in places else None,
    }


def _is_section(value: Any) -> bool:
    return isinstance(value, Mapping)


def _block_of(change: Change) -> tuple[str, str | None]:
    """The subsystem and the block that a change is about; no block for other changes."""
    path = change.path
    if change.subject in _OF_BLOCKS:
        within, _, rest = path.rpartition("/")
        slot, chosen, _ = rest.partition("=")
        return within, slot if chosen and "." not in slot else rest.partition(".")[0]
    if change.subject == "wire":
        within, prefix, wire = path.rpartition(": ")
        end = wire.rpartition(" -> ")[2] if " -> " in wire else wire
        return (within if prefix else ""), end.partition(".")[0].partition("[")[0]
    if change.subject == "variant":
        return "", path.partition(".")[0].partition("=")[0]
    return "", None


def _within(marks: SheetMarks) -> str:
    return "" if marks.sheet == TOP else str(marks.sheet[-1])


def _marks(marks: SheetMarks) -> dict[str, Any]:
    return {
        "blocks": {name: state for name, state in marks.blocks.items() if state != "removed"},
        "gone": [{"name": name, "type": kind} for name, kind in marks.gone.items()],
        "wires": [{"source": one.ends[0], "target": one.ends[1]} for one in marks.added],
        "lost": [
            {"source": one.start, "target": one.end, "start": one.source, "end": one.target}
            for one in marks.removed
        ],
    }
