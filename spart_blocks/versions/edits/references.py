"""Finds the names of blocks and parameters in sections such as `run:`, `expect:` and `sweep:`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from spart_blocks.base.document import Keys
from spart_blocks.diagram.sections.table import Sections
from spart_blocks.versions.edits.steps import RenameKey, SetValue, Step

SECTIONS = tuple(Sections.model_fields)
_WHOLE = ("signal", "signals", "log", "effort", "part", "outputs", "loop_start", "track", "keep")
"""Keys under which a text can be just the name of a block."""
_WORDS = ("title", "message", "labels", "name", "description")
"""Keys whose texts are for people; names in them are not changed."""


def strings(value: Any, path: Keys) -> Iterator[tuple[Keys, str, bool]]:
    """Each text at or under a path, with its path, and whether it is a key. Inner texts come
    first.
    """
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in _WORDS:
                yield from strings(item, (*path, key))
        for key in value:
            yield (*path, key), key, True
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from strings(item, (*path, index))
    elif isinstance(value, str):
        yield path, value, False


def signals_renamed(data: dict[str, Any], names: dict[str, str]) -> list[Step]:
    """The steps that rename blocks in the sections that name their signals or parameters. names:
    new names by old ones, as in signal paths (`ctrl`, `arm/ctrl`).
    """
    if not names:
        return []
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    inside = re.compile(rf"(?<![\w./$])(blocks\.)?({known})(?=[.\[/)\s,*+\-<>=]|$)")
    return _changed(
        data, lambda text: inside.sub(lambda m: (m[1] or "") + names[m[2]], text), names
    )


def uses(data: dict[str, Any], name: str) -> Iterator[Keys]:
    """Paths in the sections at which a block is named."""
    for step in signals_renamed(data, {name: name + "\0"}):
        yield step.path


def parameter_renamed(data: dict[str, Any], old: str, new: str) -> list[Step]:
    """Steps that give the paths of a parameter another name in the sections."""
    inside = re.compile(rf"^(params\.)?{re.escape(old)}(?=[.\[]|$)")
    sweep = {"sweep": data.get("sweep")}
    return [
        step
        for step in _changed(sweep, lambda text: inside.sub(lambda m: (m[1] or "") + new, text),
                             {old: new})
        if "over" in step.path or "zip" in step.path or "set" in step.path
    ]  # fmt: skip


def _changed(
    data: dict[str, Any], change: Callable[[str], str], names: dict[str, str]
) -> list[Step]:
    values: list[Step] = []
    keys: list[Step] = []
    for section in SECTIONS:
        for path, text, is_key in strings(data.get(section), (section,)):
            found = change(text)
            if found == text or len(path) < 2:
                continue
            alone = text in names and not _may_be_alone(path[:-1] if is_key else path)
            if is_key and (not alone or path[-2] == "over"):
                keys.append(RenameKey(path, found))
            elif not is_key and not alone:
                values.append(SetValue(path, found))
    return values + keys


def _may_be_alone(path: Keys) -> bool:
    return any(key in _WHOLE for key in path) or "zip" in path
