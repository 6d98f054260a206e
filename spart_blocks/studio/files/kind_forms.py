"""The forms of what kind a subsystem is: on which conditions it runs, and whether it has copies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from spart_blocks.base.document import Keys
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.sections.schema import ForEachSection
from spart_blocks.diagram.written.conditions import EnabledSection, ResetSection, TriggeredSection
from spart_blocks.diagram.written.sheets import Sheet
from spart_blocks.studio.files.forms import Texts, section_fields
from spart_blocks.studio.files.kinds import FOR_EACH
from spart_blocks.studio.files.scopes import Scope, scope_at

_MODELS: dict[str, type[BaseModel]] = {
    "enabled": EnabledSection,
    "triggered": TriggeredSection,
    "reset": ResetSection,
}


def kinds_form(scope: Scope, name: str) -> dict[str, Any]:
    """The form of what kind of subsystem a block is; of the subsystem that the sheet shows for the
    name "". Raises InputError for a block that is no subsystem."""
    if not name and scope.at:
        around, _, name = scope.at.rpartition("/")
        scope = scope_at(scope.reading, around)
    inner = scope.inner(name) if name in scope.blocks else None
    if name and inner is None:
        raise InputError(f"{name[:200]} is no subsystem")
    within = scope.within if inner is None else inner.within
    sheet = scope.sheet if inner is None else inner.sheet
    kinds = list(_condition_forms(scope, sheet, within)) if sheet.has_gates else []
    if inner is not None:
        kinds.append(_each_form(scope, name, inner.sheet))
    used = sum(scope.file.subsystem_of(one) is sheet for one in scope.file.blocks())
    return {
        "block": name,
        "within": within,
        "sheet": scope.within,
        "used": used,
        "inputs": list(sheet.inputs),
        "kinds": kinds,
    }


def _condition_forms(scope: Scope, sheet: Sheet, within: str | None) -> Iterator[dict[str, Any]]:
    texts = Texts(scope.reading, within is not None)
    for kind, model in _MODELS.items():
        keys: Keys = (*sheet.keys, kind)
        written = sheet.section.get(kind)
        fields = list(section_fields(model, keys, texts, written))
        for field in fields:
            if field["name"] == "by":
                field |= {"kind": "choice", "choices": list(sheet.inputs)}
            if field["name"] in ("outputs", "initial"):
                field |= {"kind": "any", "choices": []}
        yield _kind(kind, model.__doc__, isinstance(written, dict), fields)


def _each_form(scope: Scope, name: str, sheet: Sheet) -> dict[str, Any]:
    own, keys = scope.within is not None, (*scope.written[name].keys, FOR_EACH)
    written = scope.blocks[name].get(FOR_EACH)
    fields = list(section_fields(ForEachSection, keys, Texts(scope.reading, own), written))
    for field in fields:
        if field["name"] == "over":
            field["choices"] = [*sheet.inputs, *sheet.params]
    return _kind(FOR_EACH, ForEachSection.__doc__, isinstance(written, dict), fields)


def _kind(kind: str, doc: str | None, given: bool, fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"kind": kind, "doc": doc or "", "given": given, "fields": fields}
