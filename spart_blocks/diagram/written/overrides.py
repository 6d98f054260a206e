"""Values that replace those of a file: `params.kp=[1, 2]`, `blocks.ctrl.kp=3`, `run.T=5`.

A short path is looked up: `kp` is a parameter, else the one run option or block
parameter of that name; `ctrl.kp` is block ctrl's (or clock ctrl's) kp.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spart_blocks.base import argument_checks as checked
from spart_blocks.base.document import MAX_DEPTH, Document, Key, Keys, mapping_at, parse_value
from spart_blocks.base.errors import DiagramError, Fault, InputError, Place, brief, did_you_mean
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.diagram.sections.table import FILE_SECTIONS, STRUCTURE
from spart_blocks.diagram.written.unwritten import blocks_that_take

SECTIONS = tuple(name for name, row in FILE_SECTIONS.items() if row.settable)

WHOLE = tuple(name for name, row in STRUCTURE.items() if row.settable and not row.named)
"""Sections that are replaced as a whole."""

MOST_CHOICES = 6
"""Paths that a hint names."""

Overrides = Mapping[str, Any] | Sequence[str]


def as_texts(overrides: Overrides) -> tuple[str, ...]:
    """Overrides as `path=value`. Raises InputError for a value that no file could hold."""
    if isinstance(overrides, Mapping):
        return tuple(f"{path}={_text(str(path), value)}" for path, value in overrides.items())
    return checked.as_texts(overrides, "an override such as 'params.kp=3'")


def _text(path: str, value: Any) -> str:
    def plain(part: Any) -> Any:
        if hasattr(part, "tolist"):  # an array or a number of NumPy
            return part.tolist()
        raise TypeError

    try:
        return json.dumps(value, default=plain, allow_nan=False)
    except (TypeError, ValueError):
        text = f"override {path}: {brief(value)} has no place in a diagram file"
        raise InputError(Fault(text, hint="give a number, a text, a list or a mapping")) from None


def apply_overrides(
    document: Document, overrides: Overrides, faults: list[Fault], root: Path
) -> Document:
    """The document with the overrides in place; its places name the override. root: the folder
    that the files it uses must lie in."""
    data: dict[str, Any] = document.data
    replaced = dict(document.replaced)
    for written, path, value in _parsed(overrides, faults):
        place = Place(f"override {written}")
        try:
            keys = _full_path(path, data)
            data = _with(data, keys, value)
            replaced[keys] = place
        except _WrongPath as error:
            faults.append(_told(error, place, document, root))
    return replace(document, data=data, replaced=replaced)


def path_in(path: str, document: Document, root: Path, place: Place | None = None) -> Keys:
    """The path from the top of a document that a full or short path means. place: where it is
    written. Raises InputError if there is no such thing."""
    try:
        return _full_path(path, document.data)
    except _WrongPath as error:
        raise InputError(_told(error, place, document, root)) from None


def _told(error: _WrongPath, place: Place | None, document: Document, root: Path) -> Fault:
    """The fault of a wrong path, with the blocks that take a parameter of its name."""
    if isinstance(error, _UnknownName):
        holders = blocks_that_take(error.name, document, root)
        if holders:
            hint = " or ".join(f"{block}.{error.name}" for block in holders[:MOST_CHOICES])
            return Fault(error.message, place, f"write {hint}")
    return Fault(error.message, place, error.hint)


class _WrongPath(Exception):  # noqa: N818 - becomes a Fault in this file
    def __init__(self, message: str, hint: str | None = None) -> None:
        self.message, self.hint = message, hint
        super().__init__(message)


class _UnknownName(_WrongPath):
    """A short path of one name that the file does not have."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        super().__init__(f"there is nothing named {name!r}", did_you_mean(name, known))


def _parsed(overrides: Overrides, faults: list[Fault]) -> list[tuple[str, str, Any]]:
    """Each override as it is shown, its path and its value."""
    if isinstance(overrides, Mapping):
        return [(str(path), str(path), _plain(value)) for path, value in overrides.items()]
    parsed: list[tuple[str, str, Any]] = []
    for text in [overrides] if isinstance(overrides, str) else overrides:
        path, equals, value = text.partition("=")
        origin = f"override {text}"
        if not equals or not path.strip():
            hint = "write path=value, for instance params.kp=3"
            faults.append(Fault("has no path or no value", Place(origin), hint))
            continue
        try:
            parsed.append((text, path.strip(), parse_value(value, origin)))
        except DiagramError as error:
            faults += error.faults
    return parsed


def _plain(value: Any) -> Any:
    """A tuple is written as a list is; arrays and other values are left as they are."""
    return list(value) if isinstance(value, tuple) else value


def _full_path(path: str, data: dict[str, Any]) -> Keys:
    """The path from the top of the file that a full or short path means."""
    keys: Keys = tuple(path.split("."))
    if len(keys) > MAX_DEPTH:
        raise _WrongPath(f"the path has more than {MAX_DEPTH} levels", "write path=value")
    if keys[0] in SECTIONS:
        if len(keys) == 1 and keys[0] not in WHOLE:
            raise _WrongPath(f"{path!r} is a whole section", f"name a value, as {path}.NAME")
        return _checked(keys, data)
    choices = _named(keys, data)
    if len(choices) == 1:
        return _checked(choices[0], data)
    if choices:
        raise _WrongPath(f"{path!r} is ambiguous", f"write {_listed(choices)}")
    blocks = mapping_at(data, "blocks")
    known = {*mapping_at(data, "params"), *blocks, *RunOptions.model_fields}
    if len(keys) > 1:
        raise _WrongPath(f"there is nothing named {keys[0]!r}", did_you_mean(str(keys[0]), known))
    if keys[0] in blocks:
        raise _WrongPath(f"{path!r} is a whole block", f"name an argument, as {path}.NAME")
    written = {name for entry in blocks.values() if isinstance(entry, dict) for name in entry}
    raise _UnknownName(path, known | written - {"type", "use"})


def _named(keys: Keys, data: dict[str, Any]) -> list[Keys]:
    """The meanings of a short path; a parameter of the file takes precedence."""
    name = keys[0]
    holders = [part for part in ("blocks", "clocks", "robots") if name in mapping_at(data, part)]
    others: list[Keys] = [(part, *keys) for part in holders] if len(keys) > 1 else []
    params = mapping_at(data, "params")
    if name in params:
        if others and not isinstance(params[name], (dict, list)):
            raise _WrongPath(f"parameter {name!r} is a value by itself", f"write {_listed(others)}")
        return [("params", *keys)]
    if len(keys) > 1:
        return others
    options: list[Keys] = [("run", name)] if name in RunOptions.model_fields else []
    blocks = mapping_at(data, "blocks").items()
    found: list[Keys] = [
        ("blocks", block, name)
        for block, entry in blocks
        if isinstance(entry, dict) and name in entry and name != "type"
    ]
    return options + found


def _listed(choices: Sequence[Keys]) -> str:
    return " or ".join(".".join(map(str, choice)) for choice in choices[:MOST_CHOICES])


def _checked(keys: Keys, data: dict[str, Any]) -> Keys:
    """keys, if the entry to replace exists; a new entry would have no effect."""
    section, name = str(keys[0]), str(keys[1]) if len(keys) > 1 else ""
    if FILE_SECTIONS[section].named:
        known = mapping_at(data, section)
        if name not in known:
            kind = {"params": "parameter"}.get(section, section.rstrip("s"))
            raise _WrongPath(f"there is no {kind} {name!r}", did_you_mean(name, known))
        if len(keys) == 2 and section != "params":
            raise _WrongPath(f"{section}.{name} holds several values", "name one of them")
    return keys


def _with(container: Any, keys: Keys, value: Any) -> Any:
    """A copy of container with the value at keys; what is shared elsewhere stays as it is."""
    if not keys:
        return value
    key, rest = keys[0], keys[1:]
    if isinstance(container, list):
        index = _index(key, len(container))
        return [_with(v, rest, value) if i == index else v for i, v in enumerate(container)]
    if container is None:
        container = {}
    if not isinstance(container, dict):
        raise _WrongPath(f"there is no entry {key!r} in a value that is not a mapping or list")
    return {**container, key: _with(container.get(str(key)), rest, value)}


def _index(key: Key, length: int) -> int:
    text = str(key)
    if not text.isdecimal() or len(text) > 9 or int(text) >= length:
        raise _WrongPath(f"{key!r} is not an index of a list of {length}")
    return int(text)
