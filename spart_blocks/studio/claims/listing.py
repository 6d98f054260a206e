"""The claims of a file, as the page shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from spart_blocks.base.document import Keys, mapping_at
from spart_blocks.base.errors import InputError
from spart_blocks.base.paths import split_index, written_path
from spart_blocks.diagram.sections.expectations import CLAIMS, ONCE, ExpectSection
from spart_blocks.studio.files.forms import Texts, section_fields
from spart_blocks.studio.files.reading import Reading
from spart_blocks.versions.edits.values import flow_text

SECTION = "expect"
MODELS: Mapping[str, type[BaseModel]] = {**CLAIMS, **ONCE}
"""The kinds of claims, with the model of each."""


def claims_of(reading: Reading) -> dict[str, Any]:
    """The claims of a file, and the kinds of claims that can be added."""
    return {
        "tested": SECTION in reading.data,
        "claims": list(_claims(reading)),
        "kinds": list(kinds()),
    }


@cache
def kinds() -> tuple[dict[str, Any], ...]:
    """The kinds of claims, each with its description and fields."""
    return tuple(
        {
            "kind": kind,
            "doc": ExpectSection.model_fields[kind].description or "",
            "several": kind in CLAIMS,
            "fields": [
                {**field, "path": field["name"]} for field in section_fields(model, _home(kind))
            ],
        }
        for kind, model in MODELS.items()
    )


def _home(kind: str) -> Keys:
    return (SECTION, kind, 0) if kind in CLAIMS else (SECTION, kind)


def key_of_claim(kind: str, value: Any) -> str:
    """A claim as text, by which the findings of a test are assigned to it."""
    try:
        return f"{kind} {flow_text(value)}"
    except (InputError, RecursionError):
        return kind


def keys_in(data: dict[str, Any]) -> dict[Keys, str]:
    """The text of each claim of a file by its path in the section; see `key_of_claim`."""
    return {path: key_of_claim(str(path[0]), value) for path, value in _written(data)}


def _written(data: dict[str, Any]) -> Iterator[tuple[Keys, Any]]:
    """Each claim of a file, also invalid ones, with its path in the section."""
    section = mapping_at(data, SECTION)
    for kind in MODELS:
        value = section.get(kind)
        if kind in CLAIMS and isinstance(value, list):
            yield from (((kind, number), claim) for number, claim in enumerate(value))
        elif kind not in CLAIMS and kind in section and value is not False:
            yield (kind,), value


def _claims(reading: Reading) -> Iterator[dict[str, Any]]:
    texts = Texts(reading)
    for path, value in _written(reading.data):
        kind, keys = str(path[0]), (SECTION, *path)
        signal = value.get("signal") if isinstance(value, dict) else None
        named = signal if isinstance(signal, str) else ""
        yield {
            "path": written_path(keys),
            "kind": kind,
            "signal": named,
            "unit": _unit(reading, named),
            "line": reading.document.place(*keys).line,
            "key": key_of_claim(kind, value),
            "fields": list(section_fields(MODELS[kind], keys, texts, value)),
        }


def _unit(reading: Reading, signal: str) -> str:
    base, _ = split_index(signal.strip())
    signals = reading.signals
    return signals.units.get(signals.names.get(base, base), "")
