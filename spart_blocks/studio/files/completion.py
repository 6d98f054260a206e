"""What can be written at a place of a diagram's text: keys, values, wire ends and signals."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from spart_blocks.base.document import Keys, mapping_at
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.sections.schema import PartSection, json_schema
from spart_blocks.studio.files.connections import web_of
from spart_blocks.studio.files.forms import type_fields
from spart_blocks.studio.files.ports import kind_of, palette_types
from spart_blocks.studio.files.reading import LOADING, Reading
from spart_blocks.studio.files.scopes import scope_at

MOST = 5000
"""Largest number of completions that are listed."""
_HAVE_SIGNALS = ("signal", "signals", "log", "effort", "track", "outputs", "loop_start")
"""Entries of sections that name signals."""

Completion = dict[str, str]


@dataclass(frozen=True)
class Written:
    """A place in a text. keys: the path of a mapping that gets a key, or of a value, by `what`.
    given: the texts of the entries beside it. typed: what stands there already."""

    keys: Keys
    what: str
    given: Mapping[str, str]
    typed: str = ""


def completions(reading: Reading, place: Written) -> list[Completion]:
    """All that can be written at a place of a file's text. What the file does not have yet is known
    from `given`. Raises InputError for an unknown kind of place."""
    if place.what not in ("key", "value"):
        raise InputError("what is written is a key or a value")
    found = {one["label"]: one for one in _all(reading, place) if one["label"]}
    return list(found.values())[:MOST]


def _all(reading: Reading, place: Written) -> Iterator[Completion]:
    within, keys = _home(place.keys)
    if place.what == "key":
        if _is_block(keys):
            yield from _block_keys(reading, place.given)
            return
        yield from _schema_keys(place.keys)
        if keys[:2] == ("compare", "track"):
            yield from _signals(reading)
        return
    if keys[:1] == ("wires",):
        yield from _ends(reading, within, place.typed)
        return
    if _is_block(keys[:-1]) and keys:
        yield from _block_values(reading, str(keys[-1]), place.given)
    else:
        yield from _schema_values(place.keys)
        if any(key in _HAVE_SIGNALS for key in keys[1:]) and keys[0] != "blocks":
            yield from _signals(reading)
    if keys[:1] != ("params",) and (not keys or keys[-1] not in ("type", "use")):
        yield from _parameters(reading, within)


def _home(keys: Keys) -> tuple[str, Keys]:
    """The subsystem in which a path lies, "" for the file, and the path within it."""
    if keys[:1] == ("subsystems",) and len(keys) > 1:
        return str(keys[1]), keys[2:]
    return "", keys


def _is_block(keys: Keys) -> bool:
    """Whether a path is that of a block or of a choice."""
    return (len(keys) == 2 and keys[0] == "blocks") or (
        len(keys) == 4 and keys[0] == "variants" and keys[2] == "choices"
    )


def _of(label: str, detail: Any = "", doc: Any = "") -> Completion:
    return {"label": label, "detail": str(detail), "doc": str(doc)}


# --- blocks ---------------------------------------------------------------------------------


def _block_keys(reading: Reading, given: Mapping[str, str]) -> Iterator[Completion]:
    if "type" not in given and "use" not in given:
        yield _of("type", "", "a block type such as GAIN, or a subsystem's name")
        yield _of("use", "", "a YAML file with ports, to be used as this block")
    for field in _fields(reading, given.get("type", "")):
        if field["name"] not in given:
            kind = field["unit"] or field["kind"].replace("any", "")
            default = f" (by default {field['default']})" if field["default"] else ""
            needed = "needed: " if field["required"] else ""
            yield _of(field["name"], kind, f"{needed}{field['doc']}{default}")


def _fields(reading: Reading, kind: str) -> Iterator[Mapping[str, Any]]:
    """The parameters of a type or a subsystem, as fields of forms."""
    sheet = reading.file.subsystems.get(kind)
    return type_fields(None if sheet is not None else kind_of(kind), sheet)


def _block_values(reading: Reading, key: str, given: Mapping[str, str]) -> Iterator[Completion]:
    if key == "type":
        for name, sheet in reading.file.subsystems.items():
            yield _of(name, "subsystem", sheet.section.get("description") or "")
        with LOADING:
            types = palette_types()
        for one in types:
            yield _of(one["name"], one["subject"], one["summary"])
        return
    if key in ("robot", "clock"):
        yield from (_of(name, key) for name in mapping_at(reading.data, f"{key}s"))
    for field in _fields(reading, given.get("type", "")):
        if field["name"] == key:
            choices = field["choices"] or (["true", "false"] if field["kind"] == "flag" else [])
            default = field["default"]
            for choice in choices:
                yield _of(choice, "default" if choice == default.strip("\"'") else "")
            if default and not choices:
                yield _of(default, "default", field["doc"])


def _parameters(reading: Reading, within: str) -> Iterator[Completion]:
    """References to the parameters of the file, or of a subsystem."""
    holder = ("subsystems", within, "params") if within else ("params",)
    for name, value in mapping_at(reading.data, *holder).items():
        yield _of(f"${name}", "parameter", value)


# --- wires and signals ----------------------------------------------------------------------


def _ends(reading: Reading, within: str, typed: str) -> Iterator[Completion]:
    """The blocks of a sheet, or, once a block is typed, its ports."""
    sheets = reading.file.instances()
    prefix = next((prefix for prefix, sheet in sheets if sheet.name == within), None)
    if prefix is None:  # no block is of this subsystem
        yield from (_of(name) for name in reading.file.subsystems[within].blocks)
        return
    scope = scope_at(reading, prefix.rstrip("/"))
    web = web_of(scope)
    block, dot, _ = typed.partition(".")
    for name, (inputs, outputs) in web.sides.items():
        if dot and name == block:
            for side, kind in ((outputs, "output"), (inputs, "input")):
                yield from (_of(f"{name}.{port.name}", kind, port.unit) for port in side.ports)
        elif not dot:
            kind = scope.blocks.get(name, {}).get("type", "")
            yield _of(name, kind if isinstance(kind, str) else "")


def _signals(reading: Reading) -> Iterator[Completion]:
    found = reading.signals
    for name, full in found.names.items():
        yield _of(name, found.units.get(full, ""))


# --- sections -------------------------------------------------------------------------------


@cache
def _schema() -> Mapping[str, Any]:
    diagram, used = json.loads(json_schema()), json.loads(json_schema(PartSection))
    diagram["properties"] |= {
        key: one for key, one in used["properties"].items() if key not in diagram["properties"]
    }
    diagram["$defs"] |= used["$defs"]
    found: Mapping[str, Any] = diagram
    return found


def _resolved(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The alternatives of a node of the schema, without references."""
    if "$ref" in node:
        name = str(node["$ref"]).rpartition("/")[2]
        yield from _resolved(_schema()["$defs"].get(name, {}))
        return
    yield node
    for key in ("anyOf", "oneOf"):
        for one in node.get(key, ()):
            yield from _resolved(one)


def _at(keys: Keys) -> list[Mapping[str, Any]]:
    """The nodes of the schema that a value at a path may be of."""
    found: list[Mapping[str, Any]] = [_schema()]
    for key in keys:
        inner: list[Mapping[str, Any]] = []
        for node in found:
            named = node.get("properties", {}).get(key)
            items = node.get("items") if isinstance(key, int) else None
            for one in (named or node.get("additionalProperties"), items):
                inner += _resolved(one) if isinstance(one, dict) else ()
        found = inner
    return found


def _schema_keys(keys: Keys) -> Iterator[Completion]:
    for node in _at(keys):
        for name, entry in node.get("properties", {}).items():
            yield _of(name, "", next(_texts(entry), ""))


def _texts(entry: Mapping[str, Any]) -> Iterator[str]:
    for node in [entry, *_resolved(entry)]:
        if node.get("description"):
            yield node["description"]


def _schema_values(keys: Keys) -> Iterator[Completion]:
    for node in _at(keys):
        for value in node.get("enum", [node["const"]] if "const" in node else []):
            yield _of(_plain(value))
        if node.get("type") == "boolean":
            yield from (_of("true"), _of("false"))
        if isinstance(node.get("default"), str | int | float):
            yield _of(_plain(node["default"]), "default")


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
