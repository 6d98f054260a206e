"""Values that replace those of a file: `params.kp=[1, 2]`, `ctrl.kp[0]=3`, `run.T=5`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spart_blocks.base import argument_checks as checked
from spart_blocks.base.document import Document, Keys, parse_value
from spart_blocks.base.errors import DiagramError, Fault, InputError, Place, brief, warn
from spart_blocks.diagram.written.paths import path_in

Overrides = Mapping[str, Any] | Sequence[str]


def as_texts(overrides: Overrides) -> tuple[str, ...]:
    """Overrides as texts `path=value`. Raises InputError for a value that cannot be in a file."""
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
    """The document with the overrides applied; faults at these values name the override as their
    place. root: folder that must contain the files it uses.
    """
    data: dict[str, Any] = document.data
    replaced = dict(document.replaced)
    for written, path, value in _parsed(overrides, faults):
        place = Place(f"override {written}")
        try:
            keys = path_in(path, replace(document, data=data), root, place)
            data = _with(data, keys, value, place)
            replaced[keys] = place
            _tell_unread(written, keys, data)
        except InputError as error:
            faults += error.faults
    return replace(document, data=data, replaced=replaced)


def _tell_unread(written: str, keys: Keys, data: dict[str, Any]) -> None:
    """Warn of a parameter that no text of the file names: another value of it changes nothing."""
    if keys[0] != "params" or len(keys) < 2:
        return
    name = re.compile(rf"(?<!\w){re.escape(str(keys[1]))}(?!\w)")
    if not any(name.search(text) for text in _texts(data)):
        warn(
            f"{written} changes nothing: no ${keys[1]} is in the file\n"
            f"  write ${keys[1]} where its value is to be, as in K: ${keys[1]}"
        )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _texts(part)


def _parsed(overrides: Overrides, faults: list[Fault]) -> list[tuple[str, str, Any]]:
    """Each override as text for messages, with its path and its value."""
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
    """A tuple as a list; other values unchanged."""
    return list(value) if isinstance(value, tuple) else value


def _with(container: Any, keys: Keys, value: Any, place: Place) -> Any:
    """A copy of the container with another value at a path; unchanged parts are shared."""
    if not keys:
        return value
    key, rest = keys[0], keys[1:]
    if isinstance(container, list):
        if not isinstance(key, int) or key >= len(container):
            raise InputError(
                Fault(f"{str(key)!r} is not an index of a list of {len(container)}", place)
            )
        return [_with(v, rest, value, place) if i == key else v for i, v in enumerate(container)]
    if isinstance(key, int):
        raise InputError(Fault(f"there is no entry [{key}] in a value that is not a list", place))
    if container is None:
        container = {}
    if not isinstance(container, dict):
        text = f"there is no entry {key!r} in a value that is not a mapping or list"
        raise InputError(Fault(text, place))
    return {**container, key: _with(container.get(key), rest, value, place)}
