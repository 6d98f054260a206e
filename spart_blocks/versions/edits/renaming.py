"""Renames blocks, subsystems, slots, clocks and robots, with all that refers to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.base.document import Keys
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.sections.table import Sections
from spart_blocks.diagram.written.sheets import SUBSYSTEM, TOP, VARIANT, File, Name, blocks_path
from spart_blocks.versions.edits.drawings import renamed_blocks
from spart_blocks.versions.edits.steps import Operation, RenameKey, SetValue, Step, ordered

SECTIONS = tuple(Sections.model_fields)
_WHOLE = ("signal", "signals", "log", "effort", "part", "outputs", "loop_start", "track", "keep")
"""Keys under which a text can be just the name of a block."""
PATHS = ("over", "set", "parameters", "estimate")
"""Keys of mappings from paths of parameters, in sweeps, fits and designs."""
OF_VARIANTS = ("sweep", "tune")
"""Sections that name slots of variants and their choices."""
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
    some = {name: data.get(name) for name in ("sweep", "fit", "tune")}
    return [
        step
        for step in _changed(some, lambda text: inside.sub(lambda m: (m[1] or "") + new, text),
                             {old: new}, PATHS)
        if not {*PATHS, "zip"}.isdisjoint(step.path)
    ]  # fmt: skip


def _changed(
    data: dict[str, Any],
    change: Callable[[str], str],
    names: dict[str, str],
    paths: tuple[str, ...] = ("over",),
) -> list[Step]:
    """The steps that change texts in the sections. names: texts that can stand alone, which are
    changed as keys only under one of `paths`.
    """
    values: list[Step] = []
    keys: list[Step] = []
    for section in SECTIONS:
        for path, text, is_key in strings(data.get(section), (section,)):
            found = change(text)
            if found == text or len(path) < 2:
                continue
            alone = text in names and not _may_be_alone(path[:-1] if is_key else path)
            if is_key and (not alone or path[-2] in paths):
                keys.append(RenameKey(path, found))
            elif not is_key and not alone:
                values.append(SetValue(path, found))
    return values + keys


def _may_be_alone(path: Keys) -> bool:
    return any(key in _WHOLE for key in path) or "zip" in path


@dataclass(frozen=True)
class NewNames:
    """New names of parts of a file, by their old ones. sheets: paths of subsystems and slots.
    blocks: on their sheets. sections: entries of `params:`, `clocks:` and `robots:`, by section."""

    sheets: Mapping[Keys, Keys] = field(default_factory=dict)
    blocks: Mapping[Name, str] = field(default_factory=dict)
    sections: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Rename(Operation):
    """Give blocks, sheets, clocks and robots new names at once, also where they are named. Raises
    InputError where two swap their names."""

    names: NewNames

    def steps(self, file: File) -> list[Step]:
        steps: list[Step] = []
        by_sheet = self._by_sheet()
        for sheet in file.sheets:
            names = by_sheet.get(sheet.keys, {})
            for number, wire in sheet.wires.items() if names else ():
                text = wire.renamed(names)
                if text != wire.text:
                    steps.append(SetValue((*sheet.keys, "wires", number), text))
            steps += renamed_blocks(sheet, names)
        steps += self._references(file)
        steps += signals_renamed(file.data, self._signals(file))
        for path, keys in self._keys():
            steps += [RenameKey((*path, old), new) for old, new in _free_first(keys)]
        return ordered(steps)

    def _by_sheet(self) -> dict[Keys, dict[str, str]]:
        """The new names of blocks by the path of their sheet; slots are on the file's own."""
        found: dict[Keys, dict[str, str]] = {TOP: self._sheets(VARIANT)}
        for (sheet, name), new in self.names.blocks.items():
            found.setdefault(sheet, {})[name] = new
        return found

    def _sheets(self, kind: str) -> dict[str, str]:
        """The new names of subsystems, or of slots."""
        return {str(a[-1]): str(b[-1]) for a, b in self.names.sheets.items() if a[0] == kind}

    def _references(self, file: File) -> Iterator[Step]:
        """The types, clocks and robots of blocks, and the defaults of slots."""
        names = {"type": self._sheets(SUBSYSTEM)} | {
            key: self.names.sections.get(f"{key}s", {}) for key in ("clock", "robot")
        }
        for block in file.blocks():
            for key, new in names.items():
                if isinstance(text := block.section.get(key), str) and text in new:
                    yield SetValue((*block.keys, key), new[text])
        for slot in file.slots.values():
            name = slot.keys, slot.default or ""
            if name in self.names.blocks:
                yield SetValue((*slot.keys, "default"), self.names.blocks[name])

    def _signals(self, file: File) -> dict[str, str]:
        """New paths of signals and of overrides by the old ones, of what has a name of its own."""
        found: dict[str, str] = {}
        by_sheet = self._by_sheet()
        within = {"": ("", by_sheet[()])}
        for prefix, sheet in file.instances():
            if prefix:
                around, slash, name = prefix[:-1].rpartition("/")
                outer, names = within[around + slash]
                inner = by_sheet.get(sheet.keys, {})
                within[prefix] = f"{outer}{names.get(name, name)}/", inner
            begun, names = within[prefix]
            found |= {prefix + old: begun + new for old, new in names.items()}
        for section in ("clocks", "robots"):
            for name, other in self.names.sections.get(section, {}).items():
                found[f"{section}.{name}"] = f"{section}.{other}"
                if name not in file.top.blocks:
                    found.setdefault(name, other)
        return found

    def _keys(self) -> Iterator[tuple[Keys, Mapping[str, str]]]:
        """The mappings in which keys are renamed, with the new ones by the old."""
        blocks: dict[Keys, dict[str, str]] = {}
        for (sheet, name), new in self.names.blocks.items():
            blocks.setdefault(blocks_path(sheet), {})[name] = new
        yield from blocks.items()
        for kind in (VARIANT, SUBSYSTEM):
            yield (kind,), self._sheets(kind)
        for section in ("clocks", "robots"):
            yield (section,), self.names.sections.get(section, {})


def _free_first(names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The names in an order in which each new one is free. Raises InputError if
    blocks swap names."""
    waiting = dict(names)
    while waiting:
        free = [old for old, new in waiting.items() if new not in waiting]
        if not free:
            raise InputError(f"{', '.join(waiting)} have each other's names")
        for old in free:
            yield old, waiting.pop(old)
