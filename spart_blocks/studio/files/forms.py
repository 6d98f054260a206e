"""Forms: the editable parameters of blocks, files and runs, with their descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from spart_blocks.base.document import Keys, mapping_at
from spart_blocks.base.errors import InputError
from spart_blocks.base.paths import written_path
from spart_blocks.diagram.build.registry import BlockType, Parameter
from spart_blocks.diagram.sections.declarations import NOTHING, declarations_of
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.diagram.written.sheets import Sheet
from spart_blocks.studio.files.connections import Web, signals_of
from spart_blocks.studio.files.ports import described, kind_of
from spart_blocks.studio.files.reading import Reading
from spart_blocks.studio.files.scopes import Scope
from spart_blocks.studio.files.sheets import described_sides, type_of
from spart_blocks.versions.differences.units import section_unit
from spart_blocks.versions.edits.values import flow_text

_LONGEST_DEFAULT = 500


class Texts:
    """Gives values as text, as written in the file. own: whether the block is in the opened
    file."""

    def __init__(self, reading: Reading, own: bool = True) -> None:
        self._reading, self._own = reading, own

    def text(self, keys: Keys, value: Any) -> str:
        """A value in one line: its text in the file if that is one line, otherwise as YAML."""
        node = self._reading.document.root.at(keys) if self._own else None
        if node is not None and node.flow and not node.alias:
            written = self._reading.text[node.start : node.end]
            if written and "\n" not in written and "#" not in written:
                return written
        return plain_text(value)


def plain_text(value: Any) -> str:
    """A value as YAML in one line; "" if it cannot be written as YAML."""
    try:
        value = value.tolist() if hasattr(value, "tolist") else value
        return " ".join(flow_text(value).split("\n"))
    except (InputError, RecursionError):
        return ""


def form_of(scope: Scope, name: str) -> dict[str, Any]:
    """The form of a block: its type, fields and ports. Raises InputError for an unknown block."""
    web = signals_of(scope)
    if name not in web.sides:
        raise InputError(f"there is no block {name[:200]!r}")
    kind = type_of(scope, name)
    texts = described(kind)
    summary = texts.get("summary", "")
    inner = scope.inner(name)
    if inner is not None:
        summary = str(inner.sheet.section.get("description") or "")
    alone = Web({name: web.sides[name]}, web.connections)
    sides = described_sides(scope, alone)[name]
    return {
        "block": name,
        "type": kind,
        "summary": summary,
        "description": list(texts.get("description", ())),
        "fields": list(block_fields(scope, name)) if name in scope.blocks else [],
        "ports": [
            {key: port[key] for key in ("name", "shape", "unit", "doc")} | {"output": output}
            for output, ports in sides.items()
            for port in ports
        ],
    }


def file_form(scope: Scope) -> dict[str, Any]:
    """The form of what is a file's own: its run options and parameters, and the parameters of the
    subsystem whose sheet is shown."""
    reading = scope.reading
    return {
        "block": "",
        "type": "",
        "summary": str(reading.data.get("description") or ""),
        "description": [],
        "fields": [*run_fields(reading), *param_fields(reading), *_own_fields(scope)],
        "ports": [],
    }


# --- blocks ---------------------------------------------------------------------------------


def block_fields(scope: Scope, name: str) -> Iterator[dict[str, Any]]:
    section, keys = scope.blocks[name], scope.written[name].keys
    own = scope.within is not None
    texts = Texts(scope.reading, own)
    full = f"{scope.at}/{name}" if scope.at else name
    inner, kind = scope.inner(name), kind_of(section.get("type"))
    sheet = None if inner is None else inner.sheet
    known = {field["name"]: field for field in type_fields(kind, sheet)}
    for key in known if inner is None else ():
        choices = _objects(scope, key)
        if choices is not None:
            known[key] |= {"kind": "choice", "choices": choices}
    for field in known.values():
        field["choices"] = [*field["choices"], *_references(scope, field)]
    known.pop("for_each", None)  # a part of what kind of subsystem it is
    elsewhere = ("type", "use", *(("for_each",) if inner is not None else ()))
    for key in section:
        if key not in elsewhere and key not in known:
            known[key] = field_of(key, kind=_kind_of_value(section[key]))
    for key, field in known.items():
        field["path"] = ".".join(map(str, (*keys, key))) if own else ""
        if key in section:
            field["text"] = texts.text((*keys, key), section[key])
        if not scope.copies:
            field["tunable"] = scope.reading.parameters.get(f"{full}.{key}")
        yield field


def type_fields(kind: BlockType | None, sheet: Sheet | None = None) -> Iterator[dict[str, Any]]:
    """The fields of a block type, or of the subsystem of a sheet."""
    if sheet is not None:
        for key, value in sheet.params.items():
            yield field_of(key, kind=_kind_of_value(value), default=plain_text(value))
        yield field_of("for_each", doc="a copy for each entry of its inputs")
    elif kind is not None:
        for parameter in kind.parameters.values():
            yield dict(_of_parameter(kind.name, parameter.name))


def _objects(scope: Scope, name: str) -> list[str] | None:
    """The names that a parameter `robot` or `clock` can take; None for other parameters."""
    if name not in ("robot", "clock"):
        return None
    files = (scope.file, scope.reading.file)
    return list(dict.fromkeys(key for one in files for key in mapping_at(one.data, f"{name}s")))


def _references(scope: Scope, field: Mapping[str, Any]) -> list[str]:
    """`$name` of the parameters of the sheet or its file whose values a field with choices can
    take."""
    choices = [True, False] if field["kind"] == "flag" else field["choices"]
    params = mapping_at(scope.file.data, "params") | scope.sheet.params
    return [f"${key}" for key, value in params.items()
            if any(type(value) is type(one) and value == one for one in choices)]  # fmt: skip


@lru_cache(maxsize=4096)
def _of_parameter(kind: str, name: str) -> tuple[tuple[str, Any], ...]:
    found = kind_of(kind)
    assert found is not None
    parameter = found.parameters[name]
    rows = described(kind).get("parameters", ())
    row: Mapping[str, Any] = next((row for row in rows if row["name"] == parameter.name), {})
    default = "" if parameter.default is None else plain_text(parameter.default)
    choices = parameter.choices
    field = field_of(
        parameter.name,
        doc=row.get("text", parameter.doc),
        unit=parameter.unit,
        kind=parameter.kind or _kind_of_parameter(parameter, row.get("type", "")),
        choices=list(choices),
        lines="list[str]" in parameter.annotation,
        required=parameter.required,
        default=default if len(default) <= _LONGEST_DEFAULT else "",
    )
    return tuple(field.items())


def _kind_of_parameter(parameter: Parameter, documented: str) -> str:
    """The kind of value that an undeclared parameter takes, guessed from its type or default."""
    if parameter.choices:
        return "choice"
    words = f"{parameter.annotation} {documented}".lower()
    if parameter.takes_only_truth or isinstance(parameter.default, bool):
        return "flag"
    if re.search(r"array|ndarray|list|sequence|vector", words):
        return "array"
    if re.search(r"\bint\b", words) and not re.search(r"float|str", words):
        return "integer"
    if re.search(r"float|\bint\b|scalar|number", words) and "str" not in words:
        return "number"
    if parameter.takes_only_text or re.search(r"^\W*str\b|path", words):
        return "text"
    return _kind_of_value(parameter.default) if parameter.default is not None else "any"


def _kind_of_value(value: Any) -> str:
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "any" if value.startswith("$") else "text"
    return "array" if isinstance(value, list | tuple) or hasattr(value, "tolist") else "any"


_FIELD = {
    "path": "",
    "doc": "",
    "unit": "",
    "kind": "any",
    "choices": (),
    "lines": False,
    "required": False,
    "default": "",
    "text": None,
    "tunable": None,
}
"""The entries of a field, apart from its name, and what they are if nothing else is given."""


def field_of(name: str, **given: Any) -> dict[str, Any]:
    """A field with some entries of _FIELD given."""
    found = {"name": name, **_FIELD, **given}
    return found | {"choices": list(found["choices"])}


# --- the file --------------------------------------------------------------------------------


def param_fields(reading: Reading) -> list[dict[str, Any]]:
    """A field for each entry of the file's section `params`, with what the file declares of it."""
    declared = declarations_of(reading.data)
    found = []
    for field, value in _entries(reading, "params"):
        one = declared.get(field["name"], NOTHING)
        about: dict[str, Any] = {"doc": one.doc or "", "unit": one.unit or ""}
        bounds = {"min": one.min, "max": one.max}
        about |= {name: bound for name, bound in bounds.items() if bound is not None}
        tunable = reading.parameters.get(field["name"])
        found.append(field | about | {"kind": _kind_of_value(value), "tunable": tunable})
    return found


def _own_fields(scope: Scope) -> Iterator[dict[str, Any]]:
    """A field for each parameter of the subsystem that a sheet shows, if it is of this file."""
    if scope.within:
        for field, value in _entries(scope.reading, "subsystems", scope.within, "params"):
            yield field | {"kind": _kind_of_value(value)}


def robot_fields(reading: Reading) -> list[dict[str, Any]]:
    """A field for each entry of the file's section `robots`."""
    doc = "a file, relative to this one, and how its base is held"
    return [field | {"doc": doc} for field, _ in _entries(reading, "robots")]


def clock_fields(reading: Reading) -> list[dict[str, Any]]:
    """A field for each entry of the file's section `clocks`."""
    doc = "{T: period [s]} or {rate: ticks per second [Hz]}, and offset [s]"
    return [field | {"doc": doc} for field, _ in _entries(reading, "clocks")]


def _entries(reading: Reading, *section: str) -> Iterator[tuple[dict[str, Any], Any]]:
    """A field for each entry of a section, and its value."""
    texts = Texts(reading)
    for name, value in mapping_at(reading.data, *section).items():
        keys = (*section, name)
        text = texts.text(keys, value)
        yield field_of(name, path=written_path(keys), required=True, text=text), value


def run_fields(reading: Reading) -> Iterator[dict[str, Any]]:
    """A field for each run option of RunOptions."""
    return section_fields(RunOptions, ("run",), Texts(reading), mapping_at(reading.data, "run"))


def section_fields(
    model: type[BaseModel], keys: Keys, texts: Texts | None = None, written: Any = None
) -> Iterator[dict[str, Any]]:
    """A field for each entry that a section, or an item of its list, can have by its model. keys:
    path of the section in the file; texts, written: its texts and value, if it is in the file."""
    for attribute, entry in model.model_fields.items():
        name = entry.alias or attribute
        kind, choices = _kind_of_annotation(entry.annotation)
        default = None
        if not entry.is_required():
            default = entry.get_default(call_default_factory=True, validated_data={})
        text = None
        if texts is not None and isinstance(written, dict) and name in written:
            text = texts.text((*keys, name), written[name])
        yield field_of(
            name,
            path=written_path((*keys, name)),
            doc=entry.description or "",
            unit=section_unit((*map(str, keys), attribute)),
            kind=kind,
            choices=choices,
            required=entry.is_required(),
            default="" if default is None else plain_text(default),
            text=text,
        )


def _kind_of_annotation(annotation: Any) -> tuple[str, list[str]]:
    literals = list(_literals(annotation))
    if literals:
        return "choice", literals
    parts = [part for part in get_args(annotation) or (annotation,) if part is not NoneType]
    if any(part is float or float in get_args(part) for part in parts):
        return "number", []
    if parts == [str]:
        return "text", []
    return ("array", []) if get_origin(annotation) is tuple else ("any", [])


def _literals(annotation: Any) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        for part in get_args(annotation):
            if get_origin(part) is Literal:
                yield from _literals(part)
            else:
                yield str(part)
    else:
        for part in get_args(annotation):
            yield from _literals(part)
