"""Units and defaults of what diagrams are written with: block parameters and sections."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from spart_blocks.block_support.ports import Port
from spart_blocks.diagram.build.registry import BlockType, Parameter, find_type
from spart_blocks.diagram.sections.schema import DiagramSection
from spart_blocks.versions.differences.changes import ABSENT

if TYPE_CHECKING:
    from spart_blocks.blocks import PortSpec

_UNIT = re.compile(r"\[([^\]\d][^\]]*)\]")
"""A unit in a text; brackets that begin with a digit hold numbers."""
_VARIABLE = frozenset(("MUX", "SUM", "PROD", "BUS_CREATOR", "BUS_SELECTOR", "BUS_ASSIGNMENT"))
"""Types whose ports follow from their parameters."""


@cache
def _type(kind: str) -> BlockType | None:
    return find_type(kind) if kind.isupper() else None


def _parameter(kind: str, name: str) -> Parameter | None:
    found = _type(kind)
    return None if found is None else found.parameters.get(name)


def parameter_unit(kind: str, name: str, inner: Iterable[str] = ()) -> str:
    """The unit of a block's parameter, or of the entry at the keys within it; "" where there is
    none."""
    parameter = _parameter(kind, name)
    if parameter is None:
        return ""
    keys = tuple(inner)
    entries = parameter.entries or {}
    return next((entries[key] for key in keys if key in entries), "" if keys else parameter.unit)


def parameter_default(kind: str, name: str) -> Any:
    """The default of a block's parameter; ABSENT where it is required or not known."""
    parameter = _parameter(kind, name)
    return ABSENT if parameter is None or parameter.required else parameter.default


def port_names_of(
    kind: str, parameters: Mapping[str, Any]
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """The inputs and outputs of a block as far as its type, or lists of names among its parameters,
    tell them."""
    found = _type(kind)
    if found is None:
        return None, None
    takes, gives = found.declared
    inputs = _names(takes or (found.inputs if kind not in _VARIABLE else ()))
    outputs = _names(gives or found.outputs)
    named = {key: parameters.get(key) for key in ("arguments", "outputs")}
    if isinstance(named["arguments"], list):
        inputs = tuple(map(str, named["arguments"]))
    if isinstance(named["outputs"], list | dict):
        outputs = None
    return inputs, outputs


def _names(ports: Iterable[Port | PortSpec]) -> tuple[str, ...] | None:
    return tuple(port.name for port in ports) or None


def look_of(kind: str) -> str:
    """The class of a block type, such as source or continuous; of a subsystem, subsystem."""
    found = _type(kind)
    return found.blockclass if found is not None else "subsystem"


def section_unit(path: tuple[str, ...]) -> str:
    """The unit of an entry of a section, as its description has it."""
    entry = _entry(path)
    units = _UNIT.findall(entry.description or "") if entry is not None else []
    return units[0] if len(units) == 1 else ""


def section_default(path: tuple[str, ...]) -> Any:
    """The default of an entry of a section; ABSENT where it has none, or what may be left out is no
    such entry."""
    entry = _entry(path) if len(path) > 1 else None
    if entry is None or entry.is_required() or not path[-1].isidentifier():
        return ABSENT
    return entry.get_default(call_default_factory=True, validated_data={})


def _entry(path: tuple[str, ...]) -> FieldInfo | None:
    """The entry of the schema at a path."""
    entry: FieldInfo | None = None
    holder: Any = DiagramSection
    for key in path:
        holder = _inside(holder)
        if isinstance(holder, type) and issubclass(holder, BaseModel):
            entry = holder.model_fields.get(key)
            if entry is None:
                return None
            holder = entry.annotation
        else:
            arguments = [one for one in get_args(holder) if one is not Ellipsis]
            holder = arguments[-1] if arguments else None
            entry = None
    return entry


def _inside(annotation: Any) -> Any:
    """The model, mapping or list that a type is apart from None and its checks."""
    while True:
        parts = [part for part in get_args(annotation) if part is not type(None)]
        models = [p for p in parts if isinstance(p, type) and issubclass(p, BaseModel)]
        if get_origin(annotation) in (dict, tuple, list) or not parts:
            return annotation
        annotation = models[0] if models else parts[0]


def is_initial(kind: str, name: str) -> bool:
    """Whether a block's parameter is an initial state."""
    if name in ("x0", "initial"):
        return True
    parameter = _parameter(kind, name)
    return parameter is not None and parameter.doc.lower().startswith("initial")
