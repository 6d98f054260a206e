"""The shape of a diagram file: models that validate it and give its JSON Schema.

The models check structure only. Block parameters are checked against the block's
constructor, and wires against the ports, once the blocks are known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    StrictStr,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from spart_blocks.base.document import Document, Key, Keys
from spart_blocks.base.errors import Fault, brief, did_you_mean
from spart_blocks.diagram.sections.declarations import Declaration
from spart_blocks.diagram.sections.drawing_section import NO_DRAWING, DrawingSection
from spart_blocks.diagram.sections.robot_section import RobotSection
from spart_blocks.diagram.sections.run_options import solver_hint
from spart_blocks.diagram.sections.section import Section
from spart_blocks.diagram.sections.table import FILE_SECTIONS, MAPPING, STRUCTURE, Sections, rows
from spart_blocks.diagram.written.conditions import Conditional

MAX_COLLECTED = 2000
"""Mistakes of one kind after which no more are told."""

REFERENCE_PATTERN = r"^\$[A-Za-z_][A-Za-z0-9_]*$"


def _empty_list(value: Any) -> Any:
    return [] if value is None else value


_List = BeforeValidator(_empty_list)
Params = Annotated[dict[StrictStr, Any], MAPPING]
Wires = Annotated[tuple[StrictStr, ...], _List]
Drawing = Annotated[DrawingSection, MAPPING]


class ClockSection(Section):
    """A sampling clock: its period T [s] or its rate [Hz], and the offset of its ticks [s]."""

    T: PositiveFloat | None = Field(None, description="period [s]")
    rate: PositiveFloat | None = Field(None, description="ticks per second [Hz]")
    offset: NonNegativeFloat = Field(0.0, description="time of the first tick [s]")

    @model_validator(mode="after")
    def _one_period(self) -> ClockSection:
        if (self.T is None) == (self.rate is None):
            raise ValueError("a clock needs either T [s] or rate [Hz]")
        return self

    @property
    def period(self) -> float:
        """Seconds from tick to tick."""
        return self.T if self.T is not None else 1.0 / (self.rate or 1.0)


def _count(value: Any) -> Any:
    reference = isinstance(value, str) and re.fullmatch(REFERENCE_PATTERN, value)
    if value is not None and type(value) is not int and not reference:
        raise ValueError(f"count must be a whole number or a parameter, not {shown(value)}")
    return value


class ForEachSection(Section):
    """A subsystem for each entry of some of its inputs and parameters."""

    over: Annotated[tuple[StrictStr, ...], _List] = Field(
        min_length=1, description="the inputs and parameters of which each copy gets an entry"
    )
    count: Annotated[Any, BeforeValidator(_count)] = Field(
        None,
        description="how many copies; by default as many as entries",
        json_schema_extra={
            "anyOf": [
                {"type": ["integer", "null"], "minimum": 1},
                {"type": "string", "pattern": REFERENCE_PATTERN},
            ]
        },
    )


class BlockSection(BaseModel):
    """A block: its type, the name of a subsystem or a file of one, and its parameters."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        json_schema_extra={"oneOf": [{"required": ["type"]}, {"required": ["use"]}]},
    )

    type: StrictStr = Field("", description="a block type such as GAIN, or a subsystem's name")
    use: StrictStr = Field("", description="a YAML file with ports, to be used as this block")

    for_each: ForEachSection | None = Field(
        None, description="a copy of the subsystem for each entry of its inputs"
    )

    @model_validator(mode="after")
    def _one_kind(self) -> BlockSection:
        if "type" not in self.model_fields_set and not self.use:
            raise PydanticCustomError("no_type", "a block needs its type")
        if self.type and self.use:
            raise ValueError("a block has either a type or a file that it uses, not both")
        return self

    @property
    def kind(self) -> str:
        """What errors call it: its type, or the file it uses."""
        return self.type or self.use

    @property
    def parameters(self) -> dict[str, Any]:
        """Everything but the type."""
        return dict(self.model_extra or {})


class SubsystemSection(Section, Conditional):
    """A diagram to be used as a block: parameters with defaults, ports, blocks, wires."""

    params: Params = Field(default_factory=dict, description="parameters and their defaults")
    inputs: Wires = Field((), description="names of the input ports, outputs of block `in`")
    outputs: Wires = Field((), description="names of the output ports, inputs of block `out`")
    blocks: Annotated[dict[StrictStr, BlockSection], MAPPING] = Field(default_factory=dict)
    wires: Wires = Field(())
    drawing: Drawing = Field(NO_DRAWING, description="notes, areas and looks of its drawing")


class VariantSection(Section):
    """Alternatives for a block: one of its choices takes its place."""

    default: StrictStr = Field(description="the choice that is taken when none is asked for")
    choices: dict[StrictStr, BlockSection] = Field(
        description="the alternatives by name; all have the same ports and shapes"
    )


class FileSection(Section):
    """What every file of blocks has."""

    name: StrictStr | None = Field(None, description="by default the file's name")
    description: StrictStr | None = Field(None, description="free text")
    robots: Annotated[dict[StrictStr, RobotSection], MAPPING] = Field(default_factory=dict)
    params: Params = Field(default_factory=dict, description="values that $name refers to")
    clocks: Annotated[dict[StrictStr, ClockSection], MAPPING] = Field(default_factory=dict)
    subsystems: Annotated[dict[StrictStr, SubsystemSection], MAPPING] = Field(default_factory=dict)
    blocks: dict[StrictStr, BlockSection] = Field(description="the blocks, by name")
    wires: Wires = Field(
        (), description="wires such as `plant.qm[0:2] -> ctrl.qm, scope` or `plant.* -> ctrl`"
    )
    drawing: Drawing = Field(NO_DRAWING, description="notes, areas and looks of its drawing")


class PartSection(FileSection, Conditional):
    """A file that others use as a block: a diagram with ports."""

    inputs: Wires = Field((), description="names of the input ports, outputs of block `in`")
    outputs: Wires = Field((), description="names of the output ports, inputs of block `out`")


class _WholeFile(FileSection):
    """What only the file of a diagram has."""

    variants: Annotated[dict[StrictStr, VariantSection], MAPPING] = Field(
        default_factory=dict, description="blocks by name, and the alternatives for each"
    )
    declare: Annotated[dict[StrictStr, Declaration], MAPPING] = Field(
        default_factory=dict,
        description="unit, bounds and meaning of parameters: kp: {unit: N m, min: 0, max: 10}",
    )
    tunable: Wires = Field(
        (),
        description="robots' quantities that stay parameters: ROBOT.mass, ROBOT.com, ROBOT.inertia",
    )


class DiagramSection(Sections, _WholeFile):
    """A diagram file."""


_MAY_BE_EMPTY = tuple(name for name, row in STRUCTURE.items() if row.may_be_empty)
_DIVIDED = tuple(name for name, row in FILE_SECTIONS.items() if row.divided)


def json_schema(model: type[FileSection] = DiagramSection) -> str:
    """The JSON Schema of diagrams, as docs/diagram.schema.json holds it, or of files that
    are used."""
    schema = model.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = f"spart_blocks {'diagram' if model is DiagramSection else 'file with ports'}"
    definitions = schema["$defs"]
    reference = {"type": "string", "pattern": REFERENCE_PATTERN, "description": "a parameter"}
    definitions["Reference"] = reference
    for name in definitions.keys() & {model.__name__ for model in _referring()}:
        for key, entry in definitions[name]["properties"].items():
            definitions[name]["properties"][key] = _or_reference(entry)
    for holder in (schema, definitions["SubsystemSection"]):
        for key in _MAY_BE_EMPTY:
            entry = holder["properties"].get(key, {})
            if "type" in entry:
                entry["type"] = [entry["type"], "null"]
            elif "$ref" in entry:
                entry["anyOf"] = [{"$ref": entry.pop("$ref")}, {"type": "null"}]
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _referring() -> Iterator[type[BaseModel]]:
    """The models whose entries may be references to parameters."""
    yield ClockSection
    for name, row in rows():
        if row.refers:
            yield from _models_in(Sections.model_fields[name].annotation)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a type is made of, and those of their fields."""
    if _is_model(annotation):
        yield annotation
        for entry in annotation.model_fields.values():
            yield from _models_in(entry.annotation)
    else:
        for part in get_args(annotation):
            yield from _models_in(part)


def _or_reference(entry: dict[str, Any]) -> dict[str, Any]:
    outside: dict[str, Any] = {
        key: entry[key] for key in ("title", "description", "default") if key in entry
    }
    inside = {key: value for key, value in entry.items() if key not in outside}
    choices = inside.pop("anyOf", None) or [inside]
    return {**outside, "anyOf": [*choices, {"$ref": "#/$defs/Reference"}]}


AnyFile = TypeVar("AnyFile", bound=FileSection)


def validate(
    document: Document, data: dict[str, Any], model: type[AnyFile], bad: Iterable[Keys] = ()
) -> tuple[AnyFile, list[Fault], set[Keys]]:
    """Check a file's structure. data: that of the document with overrides and references resolved;
    the values at the paths bad are already known to be wrong. Returns the valid sections, the
    faults, and the paths of the entries left out because of a fault.
    """
    faults: list[Fault] = []
    known = {path[:2] for path in bad}
    dropped = set(known)
    data = _without(data, known)
    for _ in range(100):
        try:
            return model.model_validate(data), faults, dropped
        except ValidationError as error:
            wrong: set[Keys] = set()
            for entry in error.errors(include_url=False):
                path = _path(entry["loc"])
                wrong.add(_entry_path(path))
                if path[:2] not in known and len(faults) < MAX_COLLECTED:
                    faults.append(_fault(document, path, entry, model))
            dropped |= wrong
            data = _without(data, wrong)
    raise AssertionError("validation does not settle")


def is_whole(path: Keys, value: Any) -> bool:
    """Whether an entry at a path of a diagram's file, such as ('blocks', 'ctrl'), has all that its
    model needs. Values of the wrong kind within it are another matter."""
    try:
        _model_at(path, DiagramSection).model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        return not any(one["type"] in ("missing", "no_type") or not one["loc"] for one in found)
    return True


def _path(loc: tuple[int | str, ...]) -> Keys:
    return tuple(key for key in loc if key != "[key]")


def _entry_path(path: Keys) -> Keys:
    """The smallest part of the file that can be left out because of a fault at path."""
    if path and path[0] in _DIVIDED:
        return path[:2]
    return path[:1]


def _without(data: dict[str, Any], paths: Collection[Keys]) -> dict[str, Any]:
    """A copy of data without the entries at these paths; `blocks` itself is left empty."""
    if () in paths:
        return {"blocks": {}}
    sections = {path[0] for path in paths if len(path) == 1}
    kept = {key: value for key, value in data.items() if key not in sections}
    if "blocks" in sections:
        kept["blocks"] = {}
    entries: dict[str, set[Key]] = {}
    for path in paths:
        if len(path) > 1 and path[0] in kept:
            entries.setdefault(str(path[0]), set()).add(path[1])
    return kept | {name: _without_keys(kept[name], keys) for name, keys in entries.items()}


def _without_keys(section: Any, keys: set[Key]) -> Any:
    """A section without these entries; an empty text in their place in a list."""
    if isinstance(section, dict):
        return {key: value for key, value in section.items() if key not in keys}
    if isinstance(section, list):
        return ["" if index in keys else item for index, item in enumerate(section)]
    return section


def _model_at(path: Keys, top: type[FileSection]) -> type[BaseModel]:
    """The innermost model around what stands at this path of a file."""
    found: type[BaseModel] = top
    inside: Any = top
    for key in path:
        inside = _entry_type(inside, key)
        if _is_model(inside):
            found = inside
    return found


def _entry_type(holder: Any, key: Key) -> Any:
    """The type of an entry of a model, a mapping or a list; None where none is known."""
    entry: Any = None
    if _is_model(holder):
        fields = holder.model_fields.items()
        entry = next((f.annotation for name, f in fields if key in (name, f.alias)), None)
    elif get_origin(holder) in (dict, tuple):
        entry = get_args(holder)[1 if get_origin(holder) is dict else 0]
    if get_origin(entry) is Annotated:
        entry = get_args(entry)[0]
    models = [part for part in get_args(entry) if _is_model(part)]
    return models[0] if get_origin(entry) in (Union, UnionType) and models else entry


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _unknown_key(document: Document, path: Keys, top: type[FileSection]) -> Fault:
    where, key = ".".join(str(key) for key in path[:-1]), str(path[-1])
    inside = f" in {where}" if where else ""
    fields = _model_at(path[:-1], top).model_fields.items()
    hint = did_you_mean(key, (field.alias or name for name, field in fields))
    if not where and top is PartSection and key in DiagramSection.model_fields:
        inside, hint = " in a file that is used", "only the diagram that is run has this section"
    elif not where and key in PartSection.model_fields:
        inside = " in a diagram"
        hint = "a file with ports is for others to use: write use: and its path in their block"
    return Fault(f"unknown key {key!r}{inside}", document.key_place(*path), hint)


def _fault(document: Document, path: Keys, entry: Any, top: type[FileSection]) -> Fault:
    kind, given = entry["type"], entry["input"]
    where = ".".join(str(key) for key in path[:-1])
    key = str(path[-1]) if path else ""
    if kind == "extra_forbidden":
        return _unknown_key(document, path, top)
    if kind == "missing":
        message = f"{where or 'the file'} needs {key!r}"
        return Fault(message, document.place(*path[:-1]))
    if kind == "no_type":
        message = f"{where}.{key} needs 'type'"
        choices = "write type: and a block type, or use: and the path of a file with ports"
        return Fault(message, document.place(*path), choices)
    name = f"{where}.{key}" if where else key
    if kind == "value_error":
        return Fault(f"{name}: {entry['ctx']['error']}", document.place(*path))
    hint = solver_hint(given) if path == ("run", "solver") else None
    if key == "type" and given is None:  # YAML reads NULL so
        hint = "for the block of that name write type: 'NULL', with quotes"
    hint = hint or hint_on_unit(given)
    if kind in ("list_type", "tuple_type") and isinstance(given, str):
        hint = f"write {key}: [...], or each on a line of its own after a dash"
    return Fault(f"{name} {_expected(entry)}, not {shown(given)}", document.place(*path), hint)


_EXPECTED = {
    "string_type": "must be text",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
}


def _expected(entry: Any) -> str:
    kind, context = entry["type"], entry.get("ctx", {})
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind == "greater_than":
        return f"must be greater than {context['gt']:g}"
    if kind == "greater_than_equal":
        return f"must be {context['ge']:g} or more"
    if kind == "less_than":
        return f"must be less than {context['lt']:g}"
    if kind == "less_than_equal":
        return f"must be {context['le']:g} or less"
    if kind == "too_short":
        least = context["min_length"]
        return "must not be empty" if least == 1 else f"must have {least:,} entries or more"
    if kind == "too_long":
        return f"must have {context['max_length']:,} entries or fewer"
    if kind == "literal_error":
        return f"must be {context['expected']}"
    return str(entry["msg"]).lower().replace("input should", "must")


_WITH_UNIT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*[^\W\d][\w/^*%.-]*", re.IGNORECASE)


def hint_on_unit(value: Any) -> str | None:
    """The hint for a text that is a number with a unit, such as '5 ms'."""
    if not isinstance(value, str) or not _WITH_UNIT.fullmatch(value.strip()):
        return None
    return "units are SI and angles radians; a number stands alone, as in 0.005 for 5 ms"


def shown(value: Any) -> str:
    """A value as an error shows it: short, on one line."""
    if isinstance(value, dict):
        return "a mapping"
    return "a long list" if isinstance(value, list) and len(value) > 20 else brief(value)
