"""Assigns mistakes of a file to the blocks, parameters, ports and wires that they concern."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spart_blocks.base.document import Document, Keys, YamlNode
from spart_blocks.base.errors import Fault, Place
from spart_blocks.base.paths import written_path
from spart_blocks.diagram.written.sheets import File
from spart_blocks.studio.files.reading import Reading
from spart_blocks.studio.requests import problem_of_fault

_NO_WIRE = re.compile(r"(?:input|output) (\S+) of .* has no wire")


@dataclass(frozen=True)
class Mistakes:
    """The mistakes of a file, as the page shows them. all: every mistake. blocks: by the path of
    the sheet in the file, such as ("subsystems", "servo"), and the block; wires: by that path and
    the number of the wire."""

    all: list[dict[str, Any]] = field(default_factory=list)
    blocks: dict[tuple[Keys, str], list[dict[str, Any]]] = field(default_factory=dict)
    wires: dict[tuple[Keys, int], list[dict[str, Any]]] = field(default_factory=dict)


def mistakes_of(reading: Reading) -> Mistakes:
    """The mistakes of a file, each with its block and argument if they can be found from its
    position."""
    found = Mistakes()
    instances = {sheet.name: prefix for prefix, sheet in reversed([*reading.file.instances()])}
    users = _users(reading)
    for fault in reading.faults:
        problem = problem_of_fault(called(fault, reading.root))
        home = _home(reading.document, fault.place, users)
        if (path := _deep_path(reading.document, fault.place)) is not None:
            problem["path"] = path
        if home is not None:
            scope, block, argument, wire = home
            prefix = instances.get(str(scope[1]) if scope else "")
            if wire is not None:
                found.wires.setdefault((scope, wire), []).append(problem)
                block, argument = _end(reading.file, scope, wire, fault.place)
            lacking = _NO_WIRE.match(fault.message)
            argument = argument or (lacking[1] if lacking else None)
            if block is not None:
                if prefix is not None:
                    problem["block"] = f"{prefix}{block}"
                if argument is not None:
                    problem["argument"] = argument
                if wire is None:
                    found.blocks.setdefault((scope, block), []).append(problem)
            elif argument is not None:
                problem["argument"] = argument
        found.all.append(problem)
    return found


def added(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The new problems, apart from inputs that have no wire. Their places do not matter."""
    known = Counter(map(_meaning, before))
    left = Counter(map(_meaning, after)) - known
    return [one for one in after if left[_meaning(one)] and not _NO_WIRE.match(one["message"])]


def _meaning(problem: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(problem.get(key) for key in ("message", "block", "argument"))


def called(fault: Fault, root: Path) -> Fault:
    """A fault whose file name is relative to the project's root."""
    place = fault.place
    if place is None or not place.file.startswith(f"{root}{os.sep}"):
        return fault
    return replace(fault, place=replace(place, file=place.file[len(str(root)) + 1 :]))


def path_at(document: Document, line: int, column: int) -> Keys:
    """The path of the innermost value that begins at or before a position of the file; on a key,
    the path of its value. line, column: from 1, as in Place."""
    at, node, path = (line - 1, column - 1), document.root, []
    while node.children:
        step = _step(node, at)
        if step is None:
            break
        path.append(step)
        node = node.children[step]
    return tuple(path)


def _step(node: YamlNode, at: tuple[int, int]) -> Any:
    """The key of the child that contains a position: the last one that begins at or before it."""
    best, found = (-1, -1), None
    for key, child in node.children.items():
        named = node.keys.get(key, child)
        begins = named.line, named.column
        if best <= begins <= at:
            best, found = begins, key
    return found


_Home = tuple[Keys, str | None, str | None, int | None]


def _deep_path(document: Document, place: Place | None) -> str | None:
    """The path at a position within a parameter of a block, or of a choice; None elsewhere."""
    if place is None or place.line is None or place.file != document.file:
        return None
    path = path_at(document, place.line, place.column or 1)
    start = 4 if path[:1] in (("subsystems",), ("variants",)) else 2
    deep = len(path) > start + 1 and path[start - 2] in ("blocks", "choices")
    return written_path(path) if deep else None


def _home(document: Document, place: Place | None, users: Mapping[str, _Home]) -> _Home | None:
    """The sheet, block, argument and wire at a position; None if unknown."""
    if place is None or place.line is None:
        return None
    if place.file != document.file:
        return users.get(place.file)
    return _meant(path_at(document, place.line, place.column or 1))


def _end(file: File, scope: Keys, wire: int, place: Place | None) -> tuple[str | None, str | None]:
    """The block and port of the wire's end at a position, or of the last one before it."""
    text = file.sheet_at(scope).wires.get(wire)
    if text is None:
        return None, None
    first = file.document.place_inside((*scope, "wires", wire), 0).column or 1
    at = (place.column or first) - first if place is not None else 0
    ends = [end for end in (text.source, *text.ends) if end.offset <= at]
    best = ends[-1] if ends else text.ends[0]
    return best.block, best.port


def _meant(path: Keys) -> _Home | None:
    scope: Keys = path[:2] if path[:1] == ("subsystems",) and len(path) > 1 else ()
    inner = path[len(scope) :]
    if len(inner) > 1 and inner[0] == "blocks":
        return scope, str(inner[1]), str(inner[2]) if len(inner) > 2 else None, None
    if len(inner) > 1 and inner[0] == "variants":
        argument = str(inner[4]) if len(inner) > 4 else None
        return scope, str(inner[1]), argument, None
    if len(inner) > 1 and inner[0] == "wires" and isinstance(inner[1], int):
        return scope, None, None, inner[1]
    if inner[:1] == ("outputs",):
        return scope, "out", None, None
    return (scope, None, str(inner[1]), None) if len(inner) > 1 and inner[0] == "params" else None


def _users(reading: Reading) -> dict[str, _Home]:
    """For each used file, the block that uses it. Files are named as in faults."""
    found: dict[str, _Home] = {}
    folder = Path(reading.document.file).parent
    for sheet in reading.file.sheets:
        blocks = dict(sheet.blocks)
        if not sheet.keys:
            slots = reading.file.slots
            blocks |= {name: slots[name].choices[one] for name, one in reading.chosen.items()}
        for name, block in blocks.items():
            if block.use is not None:
                file = os.path.normpath(folder / block.use)
                found.setdefault(file, (sheet.keys, name, None, None))
    return found
