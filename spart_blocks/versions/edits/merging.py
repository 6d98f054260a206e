"""Three versions of a diagram's file become one, by paths and values; text is patched, not joined.

Mappings are merged by key. Wires are merged by the input that they lead to: two sources for one
input are a conflict. Lists in which the order means nothing, such as `run: log`, are merged as
sets, lists of one length by their items. What both sides have changed otherwise is a conflict.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spart_blocks.base.document import Keys, parse_document
from spart_blocks.base.errors import DiagramError, InputError, brief
from spart_blocks.diagram.sections.expectations import CLAIMS
from spart_blocks.diagram.written.sheets import File, Sheet
from spart_blocks.versions.edits.operations import Operation
from spart_blocks.versions.edits.steps import InsertItem, RemoveValue, SetValue, Step, ordered
from spart_blocks.versions.edits.text import edited_file, mistakes
from spart_blocks.versions.edits.values import same
from spart_blocks.versions.edits.wire_changes import read_wire, wire_steps, wires_of

_AS_SETS = ("log", "effort", "tunable", "part", "keep", "signals", *CLAIMS)
"""Lists in which the order means nothing, by key; claims among them."""
_MISSING: Any = object()
_Connections = set[tuple[str, str]]


@dataclass(frozen=True)
class Conflict:
    """A place that both sides have changed. Values are texts for people; "" where there is none."""

    path: Keys
    base: str
    ours: str
    theirs: str
    told: str = ""

    def __str__(self) -> str:
        if self.told:
            return self.told
        where = ".".join(map(str, self.path))
        before = f" (before: {self.base})" if self.base else ""
        return f"{where}: ours {_says(self.ours)}, theirs {_says(self.theirs)}{before}"


def _says(value: str) -> str:
    return f"has {value}" if value else "removes it"


@dataclass(frozen=True)
class Merged:
    """The text of a merge, or its conflicts and no text."""

    text: str | None
    conflicts: tuple[Conflict, ...] = ()


def merge(
    base: str,
    ours: str,
    theirs: str,
    path: str | Path | None = None,
    names: tuple[str, str, str] = ("base", "ours", "theirs"),
) -> Merged:
    """Merge two versions of a diagram file that come from a third. path: where the result will
    stand; with it the result must load if both versions do. The text is that of ours with the
    changes of theirs. names: of the versions in errors. Raises DiagramError for one that
    is no YAML.
    """
    if theirs == base or ours == theirs:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    texts = zip(names, (base, ours, theirs), strict=True)
    documents = [parse_document(text, name) for name, text in texts]
    work = _Merge()
    work.values((), *(document.data for document in documents))
    if work.conflicts:
        return Merged(None, tuple(work.conflicts))
    try:
        steps = _Steps(tuple(ordered(work.steps)))
        text = edited_file(File(documents[1]), steps, documents[2:]).after
    except InputError as error:
        return Merged(None, (Conflict((), "", "", "", str(error)),))
    if path is None or any(mistakes(side, Path(path)) for side in (ours, theirs)):
        return Merged(text)
    wrong = mistakes(text, Path(path))
    if wrong:
        told = f"both sides are right, but together they are not:\n{wrong}"
        return Merged(None, (Conflict((), "", "", "", told),))
    return Merged(text)


def is_diagram(text: str) -> bool:
    """Whether a text is a diagram, or a file with ports, and no other YAML."""
    try:
        data = parse_document(text, "it").data
    except DiagramError:
        return False
    return isinstance(data.get("blocks"), dict)


@dataclass(frozen=True)
class _Steps(Operation):
    given: tuple[Step, ...]

    def steps(self, file: File) -> list[Step]:
        return list(self.given)


@dataclass
class _Merge:
    """The steps that lead from ours to the merge."""

    steps: list[Step] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)

    def values(self, path: Keys, base: Any, ours: Any, theirs: Any) -> None:
        if _same(ours, theirs) or _same(base, theirs):
            return
        if base is _MISSING and _is_section(path) and _of(dict, ours, theirs):
            base = {}
        if base is _MISSING and path[-1:] == ("wires",) and _of(list, ours, theirs):
            base = []
        if _of(dict, base, ours, theirs):
            for key in dict.fromkeys([*base, *ours, *theirs]):
                inner = (value.get(key, _MISSING) for value in (base, ours, theirs))
                self.values((*path, key), *inner)
        elif path[-1:] == ("wires",) and _of(list, base, ours, theirs):
            self.wires(path, base, ours, theirs)
        elif path and path[-1] in _AS_SETS and _of(list, base, ours, theirs):
            self.sets(path, base, ours, theirs)
        elif _of(list, base, ours, theirs) and len(base) == len(ours) == len(theirs):
            for index, values in enumerate(zip(base, ours, theirs, strict=True)):
                self.values((*path, index), *values)
        else:
            self.whole(path, base, ours, theirs)

    def whole(self, path: Keys, base: Any, ours: Any, theirs: Any) -> None:
        """A value that is not merged in parts: theirs, if ours is as it was."""
        if not _same(base, ours):
            self.conflict(path, base, ours, theirs)
        elif theirs is _MISSING:
            self.steps.append(RemoveValue(path))
        else:
            self.steps.append(SetValue(path, theirs))

    def conflict(self, path: Keys, base: Any, ours: Any, theirs: Any) -> None:
        self.conflicts.append(Conflict(path, *(_shown(v) for v in (base, ours, theirs))))

    def sets(self, path: Keys, base: list[Any], ours: list[Any], theirs: list[Any]) -> None:
        """Lists whose order means nothing."""
        keys = [[_key(item) for item in items] for items in (base, ours, theirs)]
        before, mine, other = map(set, keys)
        both_gone = before - mine - other
        added = [list(side - before) for side in (mine, other)]
        if both_gone and sorted(added[0]) != sorted(added[1]):
            self.conflict(path, base, ours, theirs)  # perhaps one entry changed in two ways
            return
        for index, key in enumerate(keys[1]):
            if key in before and key not in other:
                self.steps.append(RemoveValue((*path, index)))
        for item, key in zip(theirs, keys[2], strict=True):
            if key not in before and key not in mine:
                self.steps.append(InsertItem(path, item))

    def wires(self, path: Keys, base: list[Any], ours: list[Any], theirs: list[Any]) -> None:
        try:
            before, mine, other = (_sources(wires) for wires in (base, ours, theirs))
        except InputError:  # a wire that cannot be read
            self.whole(path, base, ours, theirs)
            return
        gone: _Connections = set()
        added: _Connections = set()
        for end in dict.fromkeys([*before, *mine, *other]):
            old, left, right = (wires.get(end, ()) for wires in (before, mine, other))
            if left == right or old == right:
                continue
            if old != left:
                where = (*path[:-1], "wires", f"to {end}")
                texts = [", ".join(sources) for sources in (old, left, right)]
                self.conflicts.append(Conflict(where, *texts))
                continue
            bare = end.split("\0")[0]
            gone |= {(source, bare) for source in left}
            added |= {(source, bare) for source in right}
        self.steps += _wire_steps(path, ours, theirs, gone, added)


def _wire_steps(
    path: Keys, ours: list[str], theirs: list[str], gone: _Connections, added: _Connections
) -> Iterator[Step]:
    """The steps on the wires of ours. New wires are written as theirs has them."""
    mine, other = (Sheet(path[:-1], {"wires": wires}) for wires in (ours, theirs))
    yield from wire_steps(mine, lambda wire: wire.without_connections(gone))
    for wire in wires_of(other).values():
        new = wire.without_connections(set(wire.connections()) - added)
        if new is not None:
            yield InsertItem(path, new)


def _sources(wires: list[Any]) -> dict[str, tuple[str, ...]]:
    """The sources of each input, in the order of the wires. A wire of several signals is an input
    of its own."""
    found: dict[str, tuple[str, ...]] = {}
    for text in wires:
        if not isinstance(text, str):
            raise InputError("a wire must be text")
        if not text.strip():
            continue
        wire = read_wire(text)
        for source, key in wire.connections():
            if wire.source.names is not None:
                key = f"{key}\0{source}"
            found[key] = (*found.get(key, ()), source)
    return found


def _is_section(path: Keys) -> bool:
    """Whether a mapping holds entries that are merged one by one, also where both sides made it."""
    return len(path) == 1 or (len(path) == 3 and path[0] == "subsystems" and path[2] == "blocks")


def _same(one: Any, other: Any) -> bool:
    if one is _MISSING or other is _MISSING:
        return one is other
    return same(one, other)


def _of(kind: type, *values: Any) -> bool:
    return all(isinstance(value, kind) for value in values)


def _key(item: Any) -> str:
    return json.dumps(item, sort_keys=True)


def _shown(value: Any) -> str:
    return "" if value is _MISSING else brief(value)
