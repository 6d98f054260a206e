"""A section of a diagram's file with what a call gives in place of some of its entries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel

from spart_blocks.base.document import Document, YamlNode
from spart_blocks.base.errors import DiagramError, Fault, InputError, did_you_mean
from spart_blocks.diagram.sections.schema import DiagramSection, validate
from spart_blocks.sweeps.plan.memory_source import FileSource, MemorySource
from spart_blocks.sweeps.plan.plan import plain_value

Model = TypeVar("Model", bound=BaseModel)


def asked_section(
    source: FileSource | MemorySource,
    name: str,
    model: type[Model],
    changes: Mapping[str, Any],
    added: Collection[str] = (),
) -> Model:
    """A section of a file, with some entries changed; None leaves an entry unchanged.

    model: that of the section. added: mappings to which entries are added. Raises InputError with
    all faults.
    """
    raw: Any = {}
    asked = {key: plain_value(value) for key, value in changes.items() if value is not None}
    if isinstance(source, FileSource) and (given := source.section(name)):
        raw = given
        found = _section(source.document(), name, raw, model)
        if not asked:
            return found
    unknown = asked.keys() - model.model_fields.keys()
    if unknown:
        hint = did_you_mean(min(unknown), model.model_fields)
        raise InputError(Fault(f"a {name} has no entry {min(unknown)!r}", hint=hint))
    for key in (key for key in added if key in asked):
        asked[key] = {**(raw.get(key) or {}), **asked[key]}
    try:
        return _section(_NOWHERE, name, {**raw, **asked}, model)
    except DiagramError as error:
        raise InputError(replace(fault, place=None) for fault in error.faults) from None


_NOWHERE = Document("", {}, YamlNode({}, 0, 0))


def _section(document: Document, name: str, raw: Any, model: type[Model]) -> Model:
    found, faults, _ = validate(document, {"blocks": {}, name: raw}, DiagramSection)
    if faults:
        raise DiagramError(faults)
    section = getattr(found, name)
    assert isinstance(section, model)
    return section
