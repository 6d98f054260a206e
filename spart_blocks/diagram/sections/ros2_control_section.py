"""The entry `ros2_control:` of `export:`: what inputs and outputs of a controller are in ROS 2."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictStr,
    WithJsonSchema,
    model_validator,
)

from spart_blocks.base.errors import brief
from spart_blocks.diagram.sections.expectations import (
    VALUE_SCHEMA,
    Positive,
    Signal,
    Values,
    number_or_numbers,
)
from spart_blocks.diagram.sections.section import Section

_TOPIC = re.compile(r"(?:~/|/)?[A-Za-z]\w*(?:/[A-Za-z]\w*)*", re.ASCII)
_PACKAGE = re.compile(r"[a-z](?:_?[a-z0-9])+")
_MAINTAINER = re.compile(r"[^<>]*[^<>\s]\s*<[^<>@\s]+@[^<>@\s]+>")
WAIT, START = "wait", "start"
"""Of an input: nothing is commanded before the first message; the value at the diagram's start."""
NO_COMMAND = "none"
"""In place of an output's interface: it is none."""


def _interface(word: str) -> str:
    if not word.strip() or "/" in word:
        raise ValueError(f"{brief(word)} is no interface, such as position, velocity or effort")
    return word


def _full_name(name: str) -> str:
    joint, _, word = name.rpartition("/")
    if not joint.strip() or not word.strip():
        raise ValueError(f"{brief(name)} is no full name of an interface, such as elbow/position")
    return name


def _topic(name: str) -> str:
    if not _TOPIC.fullmatch(name) or "__" in name:
        raise ValueError(f"{brief(name)} is no topic, such as ~/reference or /arm/reference")
    return name


def _package(name: str) -> str:
    if not _PACKAGE.fullmatch(name):
        hint = "lower-case letters, digits and single _, two characters at least, a letter first"
        raise ValueError(f"{brief(name)} cannot be the name of a package: {hint}")
    return name


def _maintainer(text: str) -> str:
    if not _MAINTAINER.fullmatch(text):
        raise ValueError(f"{brief(text)} is no maintainer, such as Ada Doe <ada@example.com>")
    return text


Interface = Annotated[StrictStr, AfterValidator(_interface)]
FullName = Annotated[StrictStr, AfterValidator(_full_name)]
Interfaces = Annotated[tuple[FullName, ...], Field(min_length=1)]


def _fixed(raw: Any) -> Any:
    return raw if raw in (None, START) else number_or_numbers(raw)


_FIXED_SCHEMA = {"anyOf": [{"const": START}, *VALUE_SCHEMA["anyOf"]]}
Fixed = Annotated[Any, BeforeValidator(_fixed), WithJsonSchema(_FIXED_SCHEMA)]


def _short(raw: Any) -> Any:
    """`position`, or a list of full names, in place of a mapping."""
    if isinstance(raw, str):
        return {"interface": raw}
    return {"interfaces": raw} if isinstance(raw, list | tuple) else raw


def _may_be_short(schema: dict[str, Any]) -> None:
    entry = schema["additionalProperties"]
    names = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    schema["additionalProperties"] = {"anyOf": [{"type": "string"}, names, entry]}


class _Side(Section):
    """An input or output: interfaces of the hardware, or something else."""

    interface: Interface | None = Field(
        None, description="this interface of the signal's joints, such as position or effort"
    )
    interfaces: Interfaces | None = Field(
        None, description="interfaces by their full names, one for each number of the signal"
    )


def _one_of(side: _Side, *names: str) -> None:
    given = [name for name in names if getattr(side, name) is not None]
    if len(given) != 1:
        told = " and ".join(given) if given else "none"
        raise ValueError(f"takes one of {', '.join(names)}, not {told}")


class ControllerInput(_Side):
    """Where an input comes from: state interfaces, messages on a topic, or a fixed value."""

    topic: Annotated[StrictStr, AfterValidator(_topic)] | None = Field(
        None, description="the topic whose messages bring it; inputs may share one"
    )
    message: Literal["Float64MultiArray", "JointState"] | None = Field(
        None, description="type of the messages on the topic, by default Float64MultiArray"
    )
    field: Literal["position", "velocity", "effort"] | None = Field(
        None, description="what of a JointState it takes, by default position"
    )
    initially: Signal | None = Field(
        None,
        description="its value until the first message: wait (nothing is commanded until then, the "
        "default), start (that at the start of the diagram), or another input, whose value at "
        "activation is held",
    )
    timeout: Positive | None = Field(
        None, description="the controller fails if no message comes for so long [s]"
    )
    value: Fixed | None = Field(
        None, description="a fixed value: start (that at the start of the diagram), or numbers"
    )

    @model_validator(mode="after")
    def _consistent(self) -> ControllerInput:
        _one_of(self, "interface", "interfaces", "topic", "value")
        of_topics = ("message", "initially", "timeout")
        extra = [name for name in of_topics if getattr(self, name) is not None]
        if self.topic is None and extra:
            raise ValueError(f"{extra[0]} is an entry of inputs that come over a topic")
        if self.field is not None and self.message != "JointState":
            raise ValueError("field is an entry of inputs that come in messages JointState")
        return self


class ControllerOutput(_Side):
    """Where an output goes to: command interfaces, or nowhere (`none`)."""

    safe: Values | None = Field(
        None, description="commands after a failure and at deactivation: a number, or one for each"
    )

    @model_validator(mode="after")
    def _consistent(self) -> ControllerOutput:
        _one_of(self, "interface", "interfaces")
        if self.interface == NO_COMMAND and self.safe is not None:
            raise ValueError("safe is an entry of outputs that are commands")
        return self


class Ros2ControlOptions(Section):
    """What `spart export ros2_control` does not know from the diagram."""

    package: Annotated[StrictStr, AfterValidator(_package)] | None = Field(
        None, description="the name of the package, by default that of the code"
    )
    maintainer: Annotated[StrictStr, AfterValidator(_maintainer)] = Field(
        "Maintainer <maintainer@example.com>", description="of the package: Name <address>"
    )
    license: Signal = Field("to be declared", description="of the package")
    joints: tuple[Signal, ...] = Field(
        (), description="names of the joints in ROS, in the diagram's order, where they differ"
    )
    inputs: Annotated[
        dict[Signal, Annotated[ControllerInput, BeforeValidator(_short)]],
        Field(json_schema_extra=_may_be_short),
    ] = Field(default_factory=dict, description="where inputs come from, by signal")
    outputs: Annotated[
        dict[Signal, Annotated[ControllerOutput, BeforeValidator(_short)]],
        Field(json_schema_extra=_may_be_short),
    ] = Field(default_factory=dict, description="the command interfaces of outputs, by signal")
