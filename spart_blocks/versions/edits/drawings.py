"""Changes of the drawings of sheets that follow where blocks are renamed, removed or moved."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from spart_blocks.base.document import Keys, mapping_at
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.written.sheets import Sheet
from spart_blocks.versions.edits.steps import (
    RemoveValue,
    RenameKey,
    SetValue,
    Step,
)

LISTS = ("notes", "areas")
Change = Callable[[Any], Any]
"""From an entry to what it becomes; None where it goes."""


def drawing_steps(sheet: Sheet, note: Change, area: Change) -> list[Step]:
    """The steps that change the notes and areas of a sheet."""
    path, steps = (*sheet.keys, "drawing"), list[Step]()
    for part, change in (("notes", note), ("areas", area)):
        items = sheet.drawing.get(part)
        for k, item in enumerate(items if isinstance(items, list) else ()):
            after = change(item) if isinstance(item, dict) else item
            if after is None:
                steps.append(RemoveValue((*path, part, k)))
            elif after != item:
                steps.append(SetValue((*path, part, k), after))
    return steps


def pruned(sheet: Sheet, steps: list[Step]) -> list[Step]:
    """The steps without those that leave empty lists and mappings in the drawing of a sheet: the
    whole list, mapping or drawing goes."""
    path = (*sheet.keys, "drawing")
    kept = {step.path[: len(path) + 2] for step in steps if not isinstance(step, RemoveValue)}
    gone = {step.path for step in steps if isinstance(step, RemoveValue)}
    more: list[Step] = []
    left = len(sheet.drawing)
    for part, items in sheet.drawing.items():
        if not isinstance(items, dict | list):
            continue
        names = items if isinstance(items, dict) else range(len(items))
        if all((*path, part, name) in gone for name in names) and not any(
            one[: len(path) + 1] == (*path, part) for one in kept
        ):
            more.append(RemoveValue((*path, part)))
            left -= 1
    if not left and sheet.drawing and not any(one[: len(path)] == path for one in kept):
        more = [RemoveValue(path)]
    return [*steps, *more]


def without_blocks(sheet: Sheet, names: Collection[str], put: str = "") -> list[Step]:
    """The steps that take blocks out of the drawing of a sheet. Notes beside them stay, and areas
    around other blocks. put: the block that takes their place in areas."""
    path = (*sheet.keys, "drawing")
    steps = drawing_steps(
        sheet,
        lambda one: _without(one, "by") if one.get("by") in names else one,
        lambda one: _around_others(one, names, put),
    )
    looks = mapping_at(sheet.drawing, "looks")
    steps += [RemoveValue((*path, "looks", name)) for name in looks if name in names]
    return pruned(sheet, steps)


def _without(entry: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != key}


def _around_others(area: Mapping[str, Any], names: Collection[str], put: str) -> Any:
    """An area without some blocks; None if it is around no others."""
    blocks = area.get("blocks")
    if not isinstance(blocks, list) or not any(name in names for name in blocks):
        return area
    left = [name for name in blocks if name not in names]
    if left and put:
        left.append(put)
    return {**area, "blocks": left} if left else None


def renamed_blocks(sheet: Sheet, new: Mapping[str, str]) -> list[Step]:
    """The steps that rename blocks in the drawing of a sheet. new: names by the old ones."""
    path = (*sheet.keys, "drawing")
    steps: list[Step] = []
    for part in LISTS:
        items = sheet.drawing.get(part)
        for k, item in enumerate(items if isinstance(items, list) else ()):
            entry = item if isinstance(item, dict) else {}
            by, blocks = entry.get("by"), entry.get("blocks")
            if isinstance(by, str) and by in new:
                steps.append(SetValue((*path, part, k, "by"), new[by]))
            for n, name in enumerate(blocks if isinstance(blocks, list) else ()):
                if isinstance(name, str) and name in new:
                    steps.append(SetValue((*path, part, k, "blocks", n), new[name]))
    looks = mapping_at(sheet.drawing, "looks")
    return [
        *steps,
        *(RenameKey((*path, "looks", old), other) for old, other in new.items() if old in looks),
    ]


def drawing_of(drawing: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """What of a drawing is about these blocks alone: for the sheet to which they go."""
    found: dict[str, Any] = {}
    notes = [one for one in _entries(drawing, "notes") if one.get("by") in names]
    areas = [one for one in _entries(drawing, "areas") if set(_blocks(one)) <= set(names)]
    looks = {key: one for key, one in mapping_at(drawing, "looks").items() if key in names}
    for part, value in (("notes", notes), ("areas", areas), ("looks", looks)):
        if value:
            found[part] = value
    return found


def _entries(drawing: Mapping[str, Any], part: str) -> list[dict[str, Any]]:
    items = drawing.get(part)
    return [one for one in items if isinstance(one, dict)] if isinstance(items, list) else []


def _blocks(area: Mapping[str, Any]) -> list[str]:
    blocks = area.get("blocks")
    return [one for one in blocks if isinstance(one, str)] if isinstance(blocks, list) else []


def moved_out(sheet: Sheet, names: Collection[str], put: str) -> list[Step]:
    """The steps that take blocks out of the drawing of a sheet with what is about them alone. put:
    the block that takes their place in areas around others."""
    path = (*sheet.keys, "drawing")
    steps = drawing_steps(
        sheet,
        lambda one: None if one.get("by") in names else one,
        lambda one: _around_others(one, names, put),
    )
    looks = mapping_at(sheet.drawing, "looks")
    steps += [RemoveValue((*path, "looks", name)) for name in looks if name in names]
    return pruned(sheet, steps)


def with_looks(sheet: Sheet, looks: Mapping[str, Any]) -> list[Step]:
    """The steps that give blocks of a sheet their looks."""
    path = (*sheet.keys, "drawing", "looks")
    if isinstance(sheet.drawing.get("looks"), dict):
        return [SetValue((*path, name), look) for name, look in looks.items()]
    return entry_steps(sheet, ("looks",), dict(looks))


def entry_steps(sheet: Sheet, keys: Keys, value: Any) -> list[Step]:
    """The step that sets a value; mappings that are not there yet are made around it."""
    found: Any = sheet.section.get("drawing")
    path = (*sheet.keys, "drawing")
    for depth, key in enumerate(keys):
        if not isinstance(found, dict | list):
            made = value
            for name in reversed(keys[depth:]):
                if isinstance(name, int):
                    raise InputError(f"the drawing has no {'.'.join(map(str, keys[:depth]))}")
                made = {name: made}
            return [SetValue(path, made)]
        path = (*path, key)
        if isinstance(found, list) and (not isinstance(key, int) or not 0 <= key < len(found)):
            raise InputError(f"there is no entry {key!r} in the drawing")
        found = found.get(key) if isinstance(found, dict) else found[int(key)]
    return [SetValue(path, value)]
